"""`gristmill llm questions`: a pair is taken only with a passage of its page that answers it, and is marked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.verify_derived import verify_derived
from crawler.operations import mix
from crawler.operations.declared import WrongCall
from crawler.operations.llm_questions import WORK
from crawler.storage.corpus.answers import LEDGER
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.shards import read_lines
from tests.support.corpus_folder import Folder
from tests.support.models import Ask, ModelServer, Say, Script
from tests.support.operations import answer_of

Serve = Callable[[Script], ModelServer]
PricesOf = Callable[..., str]
KETTLE = "The kettle of Ada Smith holds 1.7 l.\nIt has been sold in Oslo since 1926, mostly to bakers.\n"


def pair(passage: str, question: str, answer: str, kind: str = "fact") -> dict[str, str]:
    return {"passage": passage, "question": question, "answer": answer, "kind": kind, "difficulty": "easy"}


HOLDS = pair("The kettle of Ada Smith holds 1.7 l.", "How much does Ada Smith's kettle hold?", "1.7 l", "number")
WHERE = pair("It has been sold in Oslo since 1926", "In which town has the kettle been sold since 1926?", "in Oslo")


def checked(answer: str | None, *, yes_or_no: bool = False) -> Say:
    return Say(json.dumps({"answer": answer, "yes_or_no": yes_or_no}))


def is_check(ask: Ask) -> bool:
    return "QUESTION" in ask.user


def model(*pairs: dict[str, str], **verdicts: Say) -> Script:
    """A model that gives these pairs for every page, and answers each question as it did, or as `verdicts` says by
    the question's first word.
    """

    def script(ask: Ask) -> Say:
        if not is_check(ask):
            return Say(json.dumps({"pairs": list(pairs)}))
        question = ask.page.split("QUESTION\n", 1)[1]
        said = next(each["answer"] for each in pairs if each["question"] == question)
        return verdicts.get(question.split()[0], checked(said))

    return script


def run(folder: Folder, server: ModelServer, prices: str, out: Path, *more: object, **settings: object) -> Any:
    words = ("--model", server.model(), "--prices", prices, "--budget", "9000EUR", "--out", out, *more)
    return answer_of(WORK, folder.path, *words, **settings)


def texts(out: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for path in sorted((out / "data").iterdir()) for line in read_lines(path)]


def filled(folder: Folder, kept: Any, *pages: str, **values: Any) -> None:
    corpus = folder.opened()
    for number, text in enumerate(pages):
        corpus.keep(kept(number, text=text, **values))
    corpus.close()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "pairs"


def test_a_pair_stands_with_its_passage_and_says_who_wrote_it(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path
) -> None:
    filled(folder, kept, KETTLE)
    server = serve(model(HOLDS, WHERE))
    answer = run(folder, server, prices(), out)
    assert (answer.facts["texts"], answer.facts["refused"], answer.problems) == (2, {}, [])
    one, two = texts(out)
    assert one["text"] == f"{HOLDS['question']}\n\n1.7 l"
    assert [KETTLE[each["passage_begin"] : each["passage_end"]] for each in (one, two)] == [
        HOLDS["passage"],
        WHERE["passage"],
    ]
    assert (one["synthetic"], one["synthetic_model"]) == (True, server.model())
    assert (one["synthetic_sources"], one["question_kind"], one["difficulty"]) == (
        ["https://example.org/0"],
        "number",
        "easy",
    )
    assert one["canonical_url"] != two["canonical_url"]
    assert not verify_derived(Place(str(out))).damage


def test_a_check_sees_the_passage_alone(folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path) -> None:
    filled(folder, kept, KETTLE)
    server = serve(model(WHERE))
    run(folder, server, prices(), out)
    (check,) = [ask for ask in server.asks if is_check(ask)]
    assert check.page == f"{WHERE['passage']}\n\nQUESTION\n{WHERE['question']}"
    assert "1.7" not in check.user + check.system


REFUSED = {
    "passage_not_in_page": (pair("It was invented in Rome.", "Where was it invented?", "in Rome"), {}),
    "number_not_in_passage": (pair(HOLDS["passage"], "How much does it hold?", "2.7 l"), {}),
    "yes_or_no": (pair(WHERE["passage"], "Is it sold in Oslo?", "yes"), {"Is": checked("yes", yes_or_no=True)}),
    "not_answerable": (pair("mostly to bakers", "Who sells it?", "bakers"), {"Who": checked(None)}),
    "another_answer": (pair(WHERE["passage"], "Who sells it?", "Ada Smith"), {"Who": checked("nobody knows it")}),
    "unchecked": (pair(WHERE["passage"], "Who sells it?", "Ada Smith"), {"Who": Say("{", ended="length")}),
    "empty": (pair(WHERE["passage"], " ", "Ada Smith"), {}),
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_pair_that_does_not_hold_is_refused_and_counted(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path, why: str
) -> None:
    filled(folder, kept, KETTLE)
    bad, verdicts = REFUSED[why]
    facts = run(folder, serve(model(HOLDS, bad, **verdicts)), prices(), out).facts
    assert (facts["refused"], [one["question"] for one in texts(out)]) == ({why: 1}, [HOLDS["question"]])


def test_a_question_is_taken_once_and_one_nearly_like_it_never(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path
) -> None:
    long = "which of all the many towns along the coast of the north has the old kettle of Ada been sold since 1926"
    near = pair(WHERE["passage"], f"Say, {long}?", "in Oslo")
    filled(folder, kept, KETTLE, f"{KETTLE}Another page.")
    facts = run(folder, serve(model(WHERE, near, near | {"question": f"So, {long}?"})), prices(), out).facts
    assert (facts["refused"], facts["texts"]) == ({"duplicate": 2, "near_duplicate": 2}, 2)


def test_a_question_of_an_evaluation_set_is_refused(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path, tmp_path: Path
) -> None:
    known = pair(
        "sold in Oslo since 1926",
        "In which town on the northern coast of Europe has the famous old kettle been sold for a hundred years?",
        "Oslo",
    )
    benchmark = tmp_path / "exam.jsonl"
    benchmark.write_text(json.dumps({"question": known["question"], "answer": "Oslo"}) + "\n")
    filled(folder, kept, KETTLE)
    facts = run(folder, serve(model(HOLDS, known)), prices(), out, EVAL_SETS=str(benchmark)).facts
    assert (facts["refused"], facts["texts"]) == ({"contaminated": 1}, 1)


def test_nothing_is_written_until_all_is_asked_and_then_nothing_is_paid_twice(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path
) -> None:
    filled(folder, kept, *(f"{KETTLE}Page {number}." for number in range(4)))
    server = serve(model(HOLDS))
    words = ("--model", server.model(), "--prices", prices(), "--out", out)
    dry = answer_of(WORK, folder.path, *words[:4], "--budget", "1EUR", "--dry-run").facts
    assert (dry["requests"], dry["checks"], len(server.asks)) == (4, 20, 0)
    budget = f"{dry['most'] / 4 + 0.5:.2f}EUR"
    answer = answer_of(WORK, folder.path, *words, "--budget", budget, "--concurrency", 1)
    assert (answer.code, answer.facts["ended"], out.exists()) == (1, "budget", False)
    spent = len(server.asks)
    assert answer_of(WORK, folder.path, *words, "--budget", "9000EUR").facts["texts"] == 1
    assert len(server.asks) == 4 + 1 > spent > 0  # one passage and question: one check


def test_what_its_corpus_withdraws_is_in_no_mixture_and_no_ledger(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path, tmp_path: Path
) -> None:
    filled(folder, kept, KETTLE)
    run(folder, serve(model(HOLDS)), prices(), out)
    spec = tmp_path / "spec.yaml"
    spec.write_text("tokens: 12\ntolerance: 1\nsynthetic: 1\nsources: {made: {files: pairs/data}}\n")
    assert answer_of(mix.WORK, spec, "--dry-run").facts["documents"] == 1
    withdraw(Place(str(folder.path)), Wish(urls=frozenset(["https://example.org/0"]), reason="asked"), now=1e9)
    with pytest.raises(StorageError):
        answer_of(mix.WORK, spec, "--dry-run")
    assert b"Ada" not in (folder.path / LEDGER).read_bytes()


@pytest.mark.parametrize("given", [{"legal_document_type": "opinion"}, {"quality_signals": {"profile": "law"}}])
def test_legal_pages_need_somebody_who_looks_at_the_pairs(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path, given: dict[str, Any]
) -> None:
    filled(folder, kept, KETTLE, **given)
    server = serve(model(HOLDS))
    found = run(folder, server, prices(), out)
    assert (found.facts["left_out"], out.exists()) == ({"read as legal, and --reviewed-by names nobody": 1}, False)
    with pytest.raises(WrongCall, match="--reviewed-by"):
        run(folder, server, prices(), out, "--domain", "medical")
    assert server.asks == []
    run(folder, server, prices(), out, "--reviewed-by", "Dr Jo")
    assert texts(out)[0]["synthetic_reviewer"] == "Dr Jo"


def test_card_and_summary_name_the_texts_as_synthetic(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path
) -> None:
    filled(folder, kept, KETTLE)
    server = serve(model(HOLDS, WHERE))
    run(folder, server, prices(), out)
    tokens = sum(one["token_estimate"] for one in texts(out))
    whose = f"{server.model()} of 127.0.0.1:{server.port}"
    summary = orjson.loads((out / "eu_summary.json").read_bytes())
    (section,) = [each for each in summary["sections"] if each["number"] == "2.5"]
    said = {field["label"]: field["value"] for field in section["fields"]}
    assert said["Synthetic data in this folder"] == f"yes: 2 documents, {tokens} tokens (estimated), 100.0% of the text"
    assert said["Models that wrote it, and what"] == f"question by {whose} 2 documents"
    card = (out / "README.md").read_text()
    assert f"Language models wrote {tokens} of these tokens (100.0%)" in card
    assert f"| questions ({whose}; for texts in folders of their own) | 1 |" in card
    assert {one["synthetic_provider"] for one in texts(out)} == {f"127.0.0.1:{server.port}"}
    assert orjson.loads((out / "synthetic.json").read_bytes())["model"]["provider"] == f"127.0.0.1:{server.port}"
    assert "- synthetic\n" in card


def test_the_card_names_the_domains_of_the_pages_that_the_texts_rest_on(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path
) -> None:
    filled(folder, kept, KETTLE)
    run(folder, serve(model(HOLDS, WHERE)), prices(), out)
    said = (out / "README.md").read_text().split("## Largest domains", 1)[1].split("##", 1)[0]
    assert "| domain of the page that it rests on | documents |" in said
    assert f"| {texts(out)[0]['domain']} | 2 |" in said


def test_a_page_of_which_every_text_was_refused_is_asked_anew_with_again_and_no_other(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path
) -> None:
    filled(folder, kept, KETTLE)
    server = serve(model(pair("It was invented in Rome.", "Where was it invented?", "in Rome")))
    (said,) = run(folder, server, prices(), out).problems
    assert "no text was taken" in said
    assert "--again asks anew" in said
    server.script = model(HOLDS)
    words = ("--model", server.model(), "--prices", prices(), "--budget", "9000EUR")
    assert answer_of(WORK, folder.path, *words, "--again", "--dry-run").facts["requests"] == 1
    found = run(folder, server, prices(), out, "--again")
    assert (found.facts["texts"], len(server.asks)) == (1, 3)
    assert answer_of(WORK, folder.path, *words, "--again", "--dry-run").facts["requests"] == 0


def test_a_lost_ledger_is_told_and_the_budget_does_not_begin_anew(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path
) -> None:
    filled(folder, kept, KETTLE)
    server = serve(model(HOLDS))
    first = run(folder, server, prices(), out)
    (folder.path / LEDGER).unlink()
    again = run(folder, server, prices(), out.with_name("again"))
    assert again.facts["spent"] == pytest.approx(2 * first.facts["spent"])
    assert any("llm/ledger.jsonl lacks calls" in line for line in again.lines)
    third = run(folder, server, prices(), out.with_name("third"))
    assert third.facts["spent"] == again.facts["spent"]


def test_personal_data_goes_from_a_passage_and_a_pair_that_asks_for_it_is_refused(
    folder: Folder, serve: Serve, prices: PricesOf, kept: Any, out: Path
) -> None:
    mail = "ada.smith@bakers.example"
    filled(folder, kept, f"{KETTLE}It can be ordered in Oslo from {mail} until May.\n")
    passage = f"It can be ordered in Oslo from {mail} until May."
    when = pair(passage, "Until which month can the kettle be ordered?", "until May")
    whom = pair(passage, "From which address can the kettle be ordered?", mail)
    found = run(folder, serve(model(when, whom)), prices(), out)
    assert (found.facts["texts"], found.facts["refused"]) == (1, {"personal_data": 1})
    (one,) = texts(out)
    assert one["passage"] == "It can be ordered in Oslo from [EMAIL_ADDRESS] until May."
    assert mail not in json.dumps(one)
