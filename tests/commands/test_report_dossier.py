"""`gristmill report --domain | --url | --person`: one page for whoever answers for a corpus. Own texts."""

from __future__ import annotations

import io
import json
import re
import shutil
import stat

import pytest

from crawler.document import ControlFile, DropReason
from crawler.storage.files.columns import arrow
from crawler.storage.files.records import record_of
from tests.support.corpus_folder import document
from tests.support.letters import OTHER, SITE, Letters
from tests.support.syllables import prose

NAME = "Ada Quillfeather"


@pytest.fixture
def asked(scrapy, corpus, tmp_path):
    """The exit code, what was printed, and the page."""

    def ask(*words):
        page = tmp_path / "page.html"
        done = scrapy("report", *words, "--out", str(page), "corpus")
        return done, page.read_text() if page.exists() else ""

    return ask


def plain(page: str) -> str:
    return " ".join(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL).split())


def test_the_page_of_a_domain_has_pages_basis_control_files_optouts_and_copies(scrapy, corpus, asked):
    made = corpus.opened("w2")
    signal = {"protocol": "tdmrep", "carrier": "header", "value": "1", "verdict": "allow"}
    fields = {"license_tag": "CC-BY-4.0", "license_tier": "A", "license_reviewer": "R. Reader"}
    fields |= {"license_reviewed": "2026-01-31", "robots_status": "allowed", "robots_sha256": "ab" * 32}
    read_at = {"robots_fetched_at": "2026-02-01T00:00:00Z", "pii_entity_types": ["EMAIL_ADDRESS"]}
    tdmrep = ControlFile("https://example.org/.well-known/tdmrep.json", "tdmrep", "cd" * 32, "2026-02-01T00:00:09Z")
    read_at["control_files"] = [tdmrep]
    made.keep(record_of(document(90, **fields, **read_at)) | {"optout_signals": [signal]})
    made.close()
    assert scrapy("dataset", "select", "--out", "subset", "corpus").code == 0
    done, page = asked("--domain", "example.org")
    said = plain(page)
    for wanted in (
        "R. Reader",
        "2026-01-31",
        "ab" * 32,
        "2026-02-01T00:00:00Z",
        "tdmrep",
        "EMAIL_ADDRESS 1",
        tdmrep.url,
        "cd" * 32,
        "2026-02-01T00:00:09Z",
    ):
        assert wanted in said, wanted
    assert "https://example.org/90" in said and "subset" in said and "dataset select" in said
    assert done.code == 0 and "written: " in done.out and "<script" not in page


def test_a_page_that_was_withdrawn_is_told_with_who_asked_and_when(scrapy, asked):
    url = "https://example.org/1"
    assert (
        scrapy("dataset", "exclude", "--url", url, "--reason", "request 17", "--by", "A. B.", "--yes", "corpus").code
        == 0
    )
    done, page = asked("--url", url)
    said = plain(page)
    assert done.code == 0 and "request 17" in said and "A. B." in said
    assert "kept, " not in said.partition("Pages")[2]


def test_a_person_is_found_where_the_name_stands_and_the_name_is_in_no_file_of_the_corpus_and_no_line(
    scrapy, corpus, asked, tmp_path
):
    made = corpus.opened("w2")
    made.keep(record_of(document(91, text=f"They say that {NAME} built the mill. " * 9)))
    made.close()
    before = {path for path in corpus.path.rglob("*") if path.is_file()}
    done, page = asked("--person", NAME)
    assert done.code == 0 and "https://example.org/91" in page and NAME in page
    assert "https://example.org/2<" not in page
    assert NAME not in done.out + done.err
    assert {path for path in corpus.path.rglob("*") if path.is_file()} == before
    assert stat.S_IMODE((tmp_path / "page.html").stat().st_mode) == 0o600
    told = json.loads(scrapy("report", "--person", NAME, "--out", str(tmp_path / "p.html"), "--json", "corpus").out)
    assert told["dossier"]["states"] == {"kept": 1} and NAME not in json.dumps(told)


def test_a_name_may_come_from_standard_input_so_that_no_history_of_a_shell_has_it(
    scrapy, corpus, tmp_path, monkeypatch
):
    made = corpus.opened("w2")
    made.keep(record_of(document(91, text=f"They say that {NAME} built the mill. " * 9)))
    made.close()
    monkeypatch.setattr("sys.stdin", io.StringIO(f"  {NAME} \nnot this line\n"))
    done = scrapy("report", "--person", "-", "--out", str(tmp_path / "page.html"), "corpus")
    page = (tmp_path / "page.html").read_text()
    assert done.code == 0 and "https://example.org/91" in page and "https://example.org/2<" not in page
    assert NAME not in done.out + done.err
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    done = scrapy("report", "--person", "-", "--out", str(tmp_path / "none.html"), "corpus")
    assert done.code == 2 and not (tmp_path / "none.html").exists()
    assert "standard input has no name" in done.err


@pytest.fixture
def letters(tmp_path, monkeypatch):
    """In place of the corpus: pages that name the person, in several forms and places."""
    monkeypatch.chdir(tmp_path)
    made = Letters(tmp_path / "corpus", "w2")
    text = f"{prose(150, 2)} Long before the flood {NAME} built the mill with her brother. {prose(50, 3)}"
    made.add(f"{SITE}/mill", text)
    made.add(f"{OTHER}/copy", text, reason=DropReason.EXACT_DUPLICATE, dup_of=f"{SITE}/mill")
    made.add(f"{SITE}/short", f"Quillfeather, Ada. {prose(20, 4)}", reason=DropReason.LOW_QUALITY, html="")
    made.add(f"{SITE}/initial", f"{prose(150, 5)} The letter is signed A. Quillfeather. {prose(50, 6)}", html="")
    made.hold(f"{SITE}/held", f"{prose(150, 7)} {NAME} lives there. {prose(50, 8)}", html="")
    redacted = f"{prose(150, 9)} [PERSON] {prose(50, 10)}"
    made.add(f"{SITE}/redacted", redacted, html=f"<p>{redacted.replace('[PERSON]', f'<b>{NAME}</b>')}</p>")
    made.add(f"{SITE}/other", prose(200, 11))
    made.close()
    return tmp_path


@pytest.fixture
def person(scrapy, letters):
    """The rows of the dossier by URL, and the page as plain text."""

    def ask(name=NAME):
        done = scrapy("report", "--person", name, "--out", "page.html", "--json", "corpus")
        assert done.code == 0, done.err
        told = json.loads(done.out)["dossier"]
        return {row["url"]: row for row in told["pages"]}, plain((letters / "page.html").read_text())

    return ask


def test_the_page_of_a_person_shows_the_passages_how_each_page_stands_and_what_is_left_to_do(person):
    rows, said = person()
    names = ("mill", "short", "initial", "held", "redacted")
    assert rows.keys() == {*(f"{SITE}/{name}" for name in names), f"{OTHER}/copy"}
    assert f"Long before the flood {NAME} built the mill with her brother." in said
    assert "The letter is signed A. Quillfeather" in said and f"{NAME} lives there." in said
    assert said.count("built the mill with her brother.") == 2  # the page and its copy, in record and archive alike
    assert rows[f"{SITE}/mill"]["standing"] == "kept"
    assert rows[f"{SITE}/short"]["standing"].startswith("rejected: low_quality (")
    assert rows[f"{SITE}/held"]["standing"].startswith("held: held_pii")
    assert rows[f"{OTHER}/copy"]["standing"].endswith(f", of {SITE}/mill")
    assert rows[f"{OTHER}/copy"]["dup_of"] == f"{SITE}/mill"
    assert rows[f"{SITE}/redacted"]["found_in"] == ["archive"]
    assert rows[f"{SITE}/initial"]["found_in"] == ["kept (perhaps)"]
    assert "it goes with `gristmill dataset exclude --url` alone" in rows[f"{SITE}/initial"]["left"][0]
    assert "exclude --containing" in rows[f"{SITE}/mill"]["left"][0]
    assert "Looked for without regard to case, accents" in said and "Not found: the surname" in said


def test_a_name_is_in_no_answer_in_json(person, scrapy):
    person()
    told = scrapy("report", "--person", NAME, "--out", "page.html", "--json", "corpus").out.lower()
    assert "ada" not in told.replace("metadata", "") and "quillfeather" not in told and "flood" not in told


def test_after_a_withdrawal_nothing_is_found_but_in_folders_made_before_and_these_are_named(person, scrapy, letters):
    assert scrapy("dataset", "select", "--out", "subset", "corpus").code == 0
    words = ("--containing", NAME, "--reason", "request 18", "--yes", "corpus")
    assert scrapy("dataset", "exclude", *words).code == 0
    rows, _ = person()
    assert rows.keys() == {f"{SITE}/mill", f"{SITE}/initial"}
    row, subset = rows[f"{SITE}/mill"], "subset"
    assert row["state"] is None and row["found_in"] == [subset]
    assert row["standing"].startswith("withdrawn: entry 1 of corpus/withdrawals.jsonl (")
    assert "request 18" in row["standing"] and row["left"][0].startswith(f"{subset} has it: `gristmill dataset lineage")
    assert scrapy("dataset", "exclude", "--again", "--yes", "subset").code == 0
    assert person()[0].keys() == {f"{SITE}/initial"}


def test_of_a_domain_or_a_page_nothing_is_said_of_a_name(letters, scrapy):
    for words in (("--domain", "birch.example"), ("--url", f"{SITE}/mill")):
        told = json.loads(scrapy("report", *words, "--out", "page.html", "--json", "corpus").out)["dossier"]
        assert told["pages"]
        assert all(row["standing"] is None and row["left"] is None and row["found_in"] == [] for row in told["pages"])
        assert "Looked for without regard" not in (letters / "page.html").read_text()


def test_a_page_that_was_visited_again_is_one_page_as_its_latest_verdict_says(letters, scrapy):
    more = Letters(letters / "corpus", "w3")
    more.add(f"{SITE}/other", "", reason=DropReason.UNCHANGED, when=3, html="")
    more.add(f"{SITE}/mill", "", reason=DropReason.GONE, when=3, html="")
    more.close()
    told = json.loads(scrapy("report", "--domain", "birch.example", "--out", "p.html", "--json", "corpus").out)
    rows = {row["url"]: row for row in told["dossier"]["pages"]}
    assert len(rows) == len(told["dossier"]["pages"]) == 6
    assert (rows[f"{SITE}/other"]["state"], rows[f"{SITE}/mill"]["state"]) == ("kept", "rejected")
    assert told["dossier"]["states"] == {"kept": 3, "rejected": 2, "held": 1} and told["dossier"]["records"] == 8


def test_a_control_file_counts_the_pages_that_it_was_read_for_and_not_their_visits(letters, scrapy):
    read = {"robots_status": "200", "robots_fetched_at": "2026-01-01T00:00:00Z", "robots_sha256": "sha256:1"}
    more = Letters(letters / "corpus", "w3")
    for when, page in enumerate(("new", "new", "newer"), 3):
        more.add(f"{SITE}/{page}", prose(150, when), when=when, html="", **read)
    more.close()
    told = json.loads(scrapy("report", "--domain", "birch.example", "--out", "p.html", "--json", "corpus").out)
    assert [(file["name"], file["pages"]) for file in told["dossier"]["control_files"]] == [("robots.txt", 2)]


def test_what_is_unknown_says_so(asked):
    done, page = asked("--domain", "nobody.example")
    assert done.code == 0 and "No record of this corpus is about the domain nobody.example" in page


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--domain", "example.org"], 2, "--out is missing"),
        (["--domain", "example.org", "--out", "corpus/page.html"], 1, "outside the corpus only"),
        (["--domain", "example.org", "--url", "https://example.org/1", "--out", "p.html"], 2, "cannot be combined"),
        (["--person", "Ada", "--html", "--out", "p.html"], 2, "cannot be combined"),
        (["--person", "", "--out", "p.html"], 2, "--person is empty"),
        (["--url", "example.org/1", "--out", "p.html"], 2, "did you mean 'https://example.org/1'"),
        (["--person", "…", "--out", "none/p.html"], 1, "cannot be written"),
        (["--out", "p.html"], 2, "--out goes with"),
    ],
)
def test_a_wrong_call_is_told_and_writes_nothing(scrapy, corpus, tmp_path, words, code, said):
    done = scrapy("report", *words, "corpus")
    assert done.code == code and said in done.err
    assert not list(tmp_path.rglob("p.html")) and not list(tmp_path.rglob("page.html"))


def test_strangers_text_is_escaped(corpus, asked):
    made = corpus.opened("w2")
    made.keep(record_of(document(92, url="https://example.org/<script>alert(1)</script>", robots_status="<b>")))
    made.close()
    _, page = asked("--domain", "example.org")
    assert "<script>" not in page and "&lt;b&gt;" in page


@pytest.mark.parametrize("form", ["webdataset", "mds", "dolma", "parquet", "jsonl"])
def test_every_form_of_export_is_searched_in_its_texts_and_not_in_titles_alone(person, scrapy, letters, form):
    assert scrapy("dataset", "export", "--to", form, "--out", "release", "corpus").code == 0
    rows, _ = person()
    assert rows[f"{SITE}/mill"]["found_in"] == ["archive", "kept", "release"]
    assert any(said.startswith("release has it: ") for said in rows[f"{SITE}/mill"]["left"])


def test_a_name_that_is_cut_between_two_chunks_is_found_in_them(scrapy, letters):
    more = Letters(letters / "corpus", "w3")
    text = f"{prose(60, 71)} signed Ada\nQuillfeather {prose(60, 72)}"
    more.add(f"{SITE}/cut", text, html="")
    more.close()
    assert scrapy("dataset", "chunks", "--tokens", "100", "--out", "passages", "corpus").code == 0
    done = scrapy("report", "--person", NAME, "--out", "page.html", "--json", "corpus")
    rows = {row["url"]: row for row in json.loads(done.out)["dossier"]["pages"]}
    pieces = arrow().parquet.read_table(next((letters / "passages" / "data").iterdir())).to_pylist()
    assert not any(NAME in " ".join(row["text"].split()) for row in pieces if row["url"] == f"{SITE}/cut")
    assert rows[f"{SITE}/cut"]["found_in"] == ["kept", "passages"]


def told_of(scrapy, *words):
    """The dossier as JSON."""
    return json.loads(scrapy("report", *words, "--out", "page.html", "--json", "corpus").out)["dossier"]


def test_a_page_that_was_never_asked_for_is_not_said_to_be_visited_and_a_redirect_says_where_to(letters, scrapy):
    more = Letters(letters / "corpus", "w3")
    more.add(f"{SITE}/private", "", reason=DropReason.ROBOTS_DISALLOWED, html="", when=7)
    more.add(f"{SITE}/aq", "", reason=DropReason.REDIRECTED, detail=f"{SITE}/mill", html="")
    more.close()
    rows = {row["url"]: row for row in told_of(scrapy, "--domain", "birch.example")["pages"]}
    assert [rows[f"{SITE}/{name}"]["requested"] for name in ("private", "aq", "mill")] == [False, True, True]
    said = plain((letters / "page.html").read_text())
    assert said.count("not asked for; decided 2026-01-08T00:00:00Z") == said.count("not asked for") == 1
    assert f"redirected to {SITE}/mill" in said
    assert {row["url"] for row in told_of(scrapy, "--url", f"{SITE}/aq")["pages"]} == {f"{SITE}/aq", f"{SITE}/mill"}


def test_pages_that_were_withdrawn_are_listed_counted_and_named_as_such(letters, scrapy):
    words = ("--url", f"{SITE}/mill", "--reason", "request 17", "--by", "A. B.", "--yes", "corpus")
    assert scrapy("dataset", "exclude", *words).code == 0
    found = told_of(scrapy, "--domain", "birch.example")
    assert found["states"] == {"kept": 3, "rejected": 1, "held": 1, "withdrawn": 1}
    rows = {row["url"]: row for row in found["pages"]}
    assert rows[f"{SITE}/mill"]["withdrawn"].startswith("withdrawn: entry 1 of corpus/withdrawals.jsonl (")
    (row,) = told_of(scrapy, "--url", f"{OTHER}/copy")["pages"]  # the decision stays
    assert row["state"] == "rejected" and "entry 1" in row["withdrawn"]
    said = plain((letters / "page.html").read_text())
    assert "what is refused since" in said and "the addresses, and the texts at any address" in said
    assert "No record" not in plain((letters / "page.html").read_text())


def test_of_a_withdrawal_that_was_taken_back_the_page_says_when_by_whom_and_why(letters, scrapy):
    words = ("--url", f"{SITE}/mill", "--reason", "request 17", "--yes", "corpus")
    assert scrapy("dataset", "exclude", *words).code == 0
    words = ("--undo", "1", "--reason", "wrong person", "--by", "J. Doe", "corpus")
    assert scrapy("dataset", "exclude", *words).code == 0
    (entry,) = told_of(scrapy, "--url", f"{SITE}/mill")["withdrawals"]
    assert entry["taken_back"] and entry["undone"].endswith(", J. Doe: wrong person")
    assert re.search(r"taken back : \S+, J. Doe: wrong person nothing 1", plain((letters / "page.html").read_text()))


def test_of_a_name_that_nothing_has_every_folder_was_read_and_no_withdrawal_is_denied(letters, scrapy):
    assert scrapy("dataset", "select", "--out", "subset", "corpus").code == 0
    assert scrapy("dataset", "select", "--out", "lost", "corpus").code == 0
    shutil.rmtree(letters / "lost")
    done = scrapy("report", "--person", "Nobody Atall", "--out", "page.html", "corpus")
    said = plain((letters / "page.html").read_text())
    assert "every version in 2 folders" in said and "Nothing of it was withdrawn" not in said
    assert "the log has no name" in said
    assert done.code == 1 and "lost: version" in done.err


def test_raw_pages_in_the_archive_are_counted_beside_the_copies(letters, scrapy):
    found = told_of(scrapy, "--domain", "birch.example")
    assert [(copy["folder"], copy["raw"]) for copy in found["copies"]] == [("corpus", 3)]
    assert told_of(scrapy, "--url", f"{SITE}/initial")["copies"][0]["raw"] == 0


def test_an_address_with_the_name_in_a_folder_made_before_is_no_work_left_in_the_corpus(letters, scrapy):
    more = Letters(letters / "corpus", "w3")
    more.add(f"{SITE}/ada-quillfeather", prose(150, 81), html="")
    more.close()
    assert scrapy("dataset", "select", "--out", "subset", "corpus").code == 0
    words = ("--containing", NAME, "--reason", "request 18", "--yes", "corpus")
    assert scrapy("dataset", "exclude", *words).code == 0
    rows = {row["url"]: row for row in told_of(scrapy, "--person", NAME)["pages"]}
    assert rows[f"{SITE}/ada-quillfeather"]["found_in"] == ["subset"]
    assert [said.partition(" has it")[0] for said in rows[f"{SITE}/ada-quillfeather"]["left"]] == ["subset"]
