"""`gristmill dataset exclude` of single pages: by URL, by a file, by words; taken back; and who still has them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from crawler.config import from_mapping
from crawler.dataset.exclude import WITHDRAWALS, withdrawals
from crawler.dataset.export import export
from crawler.dataset.merge.corpus import merge_corpora
from crawler.dataset.mix.sources import Counts, Sources
from crawler.dataset.mix.spec import Source
from crawler.dataset.refused import Refusals
from crawler.dataset.rewrite import rewrite
from crawler.dataset.select import Selection, select
from crawler.dataset.supersede import supersede
from crawler.dataset.verify import verify
from crawler.dataset.versions import Cause
from crawler.document import DropReason
from crawler.observe.publish import eu_summary
from crawler.observe.publish.provenance import gather
from crawler.operations import annotate, exclude, registry
from crawler.operations import verify as verify_operation
from crawler.operations.declared import WrongCall
from crawler.problems import InputError
from crawler.storage.files.place import Place
from tests.stages.documents.office_maker import docx
from tests.stages.documents.pdf_maker import pdf_of, text_pages
from tests.support.letters import MIRROR, OTHER, SITE, Letters, fill
from tests.support.operations import answer_of
from tests.support.syllables import prose
from tests.support.three_domains import Folder, everything

LETTER, PERSON = f"{SITE}/letter", f"{SITE}/person"
WHY = ("--reason", "letter of 3 May", "--by", "A. Owner")


@pytest.fixture
def corpus(tmp_path):
    fill(tmp_path / "corpus")
    return Folder(tmp_path / "corpus")


def call(corpus, *words, **settings):
    return answer_of(exclude.WORK, *words, corpus.path, **settings)


def remove(corpus, *words):
    done = call(corpus, *words, *WHY, "--yes")
    assert not done.problems
    return done.facts


def lineage(folder, *words):
    return answer_of(registry.LINEAGE, folder, *words or ["--withdrawn"])


def kept(folder):
    return {record["url"] for record in Folder(Path(folder)).records()}


def healthy(corpus):
    found = verify(corpus.place)
    return not found.damage and not found.surplus


# --- by URL ----------------------------------------------------------------------------------------------------------
def test_a_page_goes_with_its_copies_from_records_and_archive_and_nobody_was_at_hand_to_tell(corpus, capsys):
    done = remove(corpus, "--url", "HTTP://birch.example/letter?utm_source=mail")
    assert (done["kept"], done["rejected"], done["raw"], done["entry"]) == (3, 1, 4, 1)
    assert done["copies"] == [f"{OTHER}/copy", f"{MIRROR}/nearly", f"{MIRROR}/same"]
    assert kept(corpus.path) == {PERSON, f"{SITE}/other", f"{OTHER}/far"}
    assert prose(200, 1).encode() not in corpus.everything() and healthy(corpus)
    assert done["forgotten"] == {"queued": None, "claims": None, "untold": ("letters",)}
    said = capsys.readouterr().out
    assert "3 records of these are copies under other addresses:" in said and f"    {MIRROR}/nearly\n" in said
    assert "not updated: the frontier of crawl 'letters'" in said and "-s REDIS_URL=" in said
    assert lineage(corpus.path).code == 0


def test_a_page_that_is_held_is_counted_as_held_and_its_record_goes(corpus, capsys):
    more = Letters(corpus.path, "w2")
    more.hold(f"{SITE}/held", prose(200, 70))
    more.close()
    done = remove(corpus, "--url", f"{SITE}/held")
    assert (done["kept"], done["held"], done["rejected"]) == (0, 1, 0)
    said = capsys.readouterr().out
    assert "1 held page: the records go" in said and "rejected" not in said
    assert "0 documents, 1 held page and 1 raw page are gone" in said
    assert prose(200, 70).encode() not in corpus.everything() and healthy(corpus)


def test_with_the_address_alone_copies_stay(corpus):
    done = remove(corpus, "--url", LETTER, "--address-only")
    assert (done["kept"], done["copies"]) == (1, [])
    assert f"{MIRROR}/same" in kept(corpus.path) and LETTER not in kept(corpus.path)
    assert lineage(corpus.path).code == 0


def test_by_an_address_that_leads_to_a_page_the_page_goes_and_it_is_said(corpus, capsys):
    more = Letters(corpus.path, "w2")
    more.add(f"{SITE}/p", "", reason=DropReason.REDIRECTED, detail=f"{SITE}/q", html="")
    more.add(f"{SITE}/q", "", reason=DropReason.REDIRECTED, detail=f"{PERSON}#top", html="")
    more.add(f"{SITE}/loop", "", reason=DropReason.REDIRECTED, detail=f"{SITE}/loop?", html="")
    more.close()
    done = remove(corpus, "--url", f"{SITE}/p", "--url", f"{SITE}/loop")
    assert PERSON in done["pages"] and PERSON not in kept(corpus.path) and not done["unknown"]
    assert f"  {SITE}/q leads to {PERSON}, which goes, too\n" in capsys.readouterr().out
    assert Refusals.of([corpus.place]).refusal(PERSON) and lineage(corpus.path).code == 0


def test_pages_of_a_file_and_of_the_line_go_together_and_unknown_ones_are_refused_and_said(corpus, tmp_path, capsys):
    (tmp_path / "urls.txt").write_text(f"# a list\n\n{SITE}/other\nhttps://birch.example/lettr\n")
    done = remove(corpus, "--url", PERSON, "--urls", tmp_path / "urls.txt")
    assert done["kept"] == 2 and done["unknown"] == ["https://birch.example/lettr"]
    said = capsys.readouterr().out
    typo = "https://birch.example/lettr: no record of this corpus has it; it is refused from now on"
    assert f"{typo}; did you mean {LETTER}" in said
    assert Refusals.of([corpus.place]).refusal("https://birch.example/lettr")


def test_a_line_that_is_no_url_is_named_and_nothing_is_done(corpus, tmp_path):
    (tmp_path / "urls.txt").write_text(f"{LETTER}\nbirch.example\n\nftp://x.example/\n")
    before = corpus.everything()
    with pytest.raises(InputError) as told:
        call(corpus, "--urls", tmp_path / "urls.txt", *WHY, "--yes")
    assert [problem.partition(": ")[0][-2:] for problem in told.value.problems] == [":2", ":4"]
    (tmp_path / "urls.txt").write_text("\n")
    with pytest.raises(InputError, match="has no URL"):
        call(corpus, "--urls", tmp_path / "urls.txt", *WHY, "--yes")
    assert corpus.everything() == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--url", "birch.example/x", "--reason", "x"], "did you mean 'https://birch.example/x'"),
        (["--url", LETTER], "--reason is missing"),
        (["--again", "--url", LETTER], "--again goes with --reason and --by only"),
        (["--undo", "1", "--again", "--reason", "x"], "goes with --reason and --by only"),
        (["--undo", "1"], "--reason is missing"),
        (["--containing", "x", "--url", LETTER, "--reason", "x"], "finds the pages itself"),
        (["--containing", " \u00ad", "--reason", "x"], "expected words"),
        (["--undo", "1", "--address-only", "--reason", "x"], "says nothing about --undo"),
    ],
)
def test_options_that_do_not_go_together_are_told(corpus, words, told):
    with pytest.raises(WrongCall, match=told):
        call(corpus, *words)


def test_without_a_yes_it_is_shown_and_nothing_is_changed(corpus, capsys):
    before = corpus.everything()
    done = call(corpus, "--url", LETTER, *WHY)
    assert done.problems == ["nothing was changed; add --yes to do it"]
    assert "3 kept documents" in capsys.readouterr().out and corpus.everything() == before


def test_the_same_call_twice_changes_nothing_more_and_says_that_it_was_done_before(corpus, capsys):
    first, before = remove(corpus, "--url", LETTER), corpus.everything()
    capsys.readouterr()
    again = remove(corpus, "--url", LETTER)
    assert corpus.everything() == before and again["entry"] == first["entry"] and again["pages"] == first["pages"]
    said = capsys.readouterr().out
    assert f"{LETTER}: no record of this corpus has it: it was withdrawn before, by entry 1 of " in said
    assert "did you mean" not in said and "has 4 pages and fingerprints of 1 text, no" in said


def test_where_the_home_page_of_a_site_goes_it_is_said_that_a_crawl_cannot_begin_there(corpus, capsys):
    more = Letters(corpus.path, "w2")
    more.add(f"{SITE}/", prose(200, 80))
    more.close()
    remove(corpus, "--url", f"{SITE}/", "--url", PERSON)
    said = capsys.readouterr().out
    assert f"  {SITE}/ is a home page: a crawl that begins there finds nothing more" in said
    assert said.count("is a home page") == 1


def test_of_a_selection_no_frontier_is_said_to_be_left_behind(derived, corpus, capsys):
    remove(corpus, "--url", LETTER)
    capsys.readouterr()
    answer_of(exclude.WORK, "--again", "--yes", derived / "subset")
    said = capsys.readouterr().out
    assert "there is no frontier here" in said and "not updated" not in said


def test_older_versions_and_held_pages_go_with_the_page(corpus):
    rewrite(corpus.place, lambda record: record | {"title": "another"}, Cause("t", "t", 1.7e9))
    more = Letters(corpus.path, "w2")
    more.add(f"{SITE}/held", prose(200, 1), reason=DropReason.LOW_QUALITY)
    more.close()
    done = remove(corpus, "--url", LETTER)
    assert f"{SITE}/held" in done["copies"] and prose(200, 1).encode() not in corpus.everything() and healthy(corpus)


# --- by words --------------------------------------------------------------------------------------------------------
NAME = "Ada Quillfeather"


def test_the_pages_that_have_words_are_listed_and_go_and_the_words_are_nowhere(corpus, capsys):
    more = Letters(corpus.path, "w2")
    redacted = f"{prose(180, 20)} [PERSON] wrote this."
    more.add(
        f"{SITE}/redacted", redacted, html=f"<p>{prose(180, 20)} <b>ADA</b>&nbsp;<i>Quill&shy;feather</i> wrote</p>"
    )
    more.add(f"{SITE}/titled", prose(200, 21), title="On  ada\tquillfeather", html="")
    more.add(f"{SITE}/script", prose(200, 22), html='<script>x={"by": "\\u0041da Quillfeather"}</script>')
    more.add(f"{SITE}/thrown", f"{prose(190, 23)} {NAME}", reason=DropReason.LOW_QUALITY, html="")
    more.add(f"{SITE}/bare", prose(200, 24), reason=DropReason.OPTOUT, html=f"<meta content='{NAME}'>")
    more.add(f"{SITE}/namesake", f"{prose(200, 25)} Ada and Quillfeather", html="")
    more.close()
    shown = call(corpus, "--containing", "ada quillfeather", *WHY)
    said = capsys.readouterr().out
    assert shown.problems and f"  {SITE}/titled: title\n" in said and f"  {SITE}/redacted: archive\n" in said
    assert f"  {PERSON}: archive, kept\n" in said and f"  {SITE}/thrown: rejected\n" in said
    done = remove(corpus, "--containing", "ada quillfeather")
    gone = {f"{SITE}/{name}" for name in ("person", "redacted", "titled", "script", "thrown", "bare")}
    assert set(done["pages"]) == gone and f"{SITE}/namesake" in kept(corpus.path)
    left = corpus.everything().lower().replace(b"&nbsp;", b" ")
    assert b"ada quillfeather" not in left and b"quill&shy;feather" not in left
    assert b"quillfeather" not in (corpus.path / WITHDRAWALS).read_bytes().lower()
    (wish,) = withdrawals(corpus.place)
    assert set(wish["urls"]) == gone and healthy(corpus)


def test_an_older_version_that_has_the_words_is_found(corpus):
    rewrite(corpus.place, lambda r: r | {"text": "nothing"} if r["url"] == PERSON else r, Cause("t", "t", 1.7e9))
    for path in (corpus.path / "archive").iterdir():
        assert path.exists()
    done = call(corpus, "--containing", NAME, *WHY, "--yes")
    assert done.facts["pages"] == [PERSON] and NAME.encode() not in corpus.everything()


def test_words_that_no_page_has_change_nothing_are_not_repeated_and_the_call_fails(corpus, capsys):
    before = corpus.everything()
    done = call(corpus, "--containing", "Nobody Atall", *WHY, "--yes")
    assert done.code == 1 and done.facts["entry"] is None and corpus.everything() == before
    assert done.problems[0].startswith("no page of this corpus has these words, so nothing was changed")
    assert "Nobody" not in capsys.readouterr().out + done.problems[0]


def test_the_same_words_once_more_are_no_mistake(corpus, capsys):
    remove(corpus, "--containing", NAME)
    again = call(corpus, "--containing", NAME, *WHY, "--yes")
    assert again.code == 0 and "nothing in this corpus matches" in capsys.readouterr().out
    assert call(corpus, "--containing", NAME, "--reason", "another", "--yes").code == 1


def test_words_that_may_be_anothers_alone_change_nothing_and_the_call_says_how_to_go_on(corpus):
    more = Letters(corpus.path, "w2")
    more.add(f"{SITE}/initial", f"{prose(190, 32)} A. Quillfeather, mayor", html="")
    more.close()
    done = call(corpus, "--containing", "Anne Quillfeather", *WHY, "--yes")
    assert done.code == 1 and done.facts["perhaps"] == [f"{SITE}/initial"]
    assert "for sure" in done.problems[0] and "--url" in done.problems[0]


def test_other_forms_of_a_name_go_and_what_may_be_anothers_is_listed_and_stays(corpus, capsys):
    more = Letters(corpus.path, "w2")
    more.add(f"{SITE}/index", f"{prose(190, 31)} Quillfeather, Ada, page 12", html="")
    more.add(f"{SITE}/initial", f"{prose(190, 32)} A. Quillfeather, mayor", html="")
    more.add(f"{SITE}/ada-quillfeather", prose(190, 33), html="")
    more.add(f"{SITE}/other-ada", f"{prose(190, 34)} Anna Quillfeather", html="")
    more.close()
    done = remove(corpus, "--containing", NAME)
    assert set(done["pages"]) == {PERSON, f"{SITE}/index", f"{SITE}/ada-quillfeather"}
    assert done["perhaps"] == [f"{SITE}/initial"]
    said = capsys.readouterr().out
    assert f"  {SITE}/initial: kept (perhaps)\n" in said and "1 page where the name may be another's; it stays" in said
    assert f"  {SITE}/ada-quillfeather: its address\n" in said
    assert {f"{SITE}/initial", f"{SITE}/other-ada"} < kept(corpus.path)
    again = call(corpus, "--containing", NAME, *WHY, "--yes")
    assert again.facts["entry"] is None and again.facts["perhaps"] == [f"{SITE}/initial"]
    assert remove(corpus, "--containing", "A. Quillfeather")["pages"] == [f"{SITE}/initial"]


def in_runs(*words):
    """Paragraphs of a DOCX, each word a run of its own."""
    return "<w:p>" + "".join(f"<w:r><w:t>{word}</w:t></w:r>" for word in words) + "</w:p>"


def test_a_name_in_a_file_of_the_archive_is_found_where_the_text_has_it_redacted(corpus):
    """In a PDF; in parts of an office file that no text has: a comment, who wrote it; in RTF and in a mail."""
    more = Letters(corpus.path, "w2")
    files = {
        "a.pdf": pdf_of(text_pages(f"{prose(20, 41)}\nWrite to {NAME} for it.\n{prose(20, 42)}"[:400])),
        "b.docx": docx(in_runs("A", "da Quill", "feather", " wrote.")),
        "c.docx": docx(in_runs("Nothing."), word__comments=f"<w:comments>{in_runs(NAME)}</w:comments>"),
        "d.docx": docx(in_runs("Nothing."), docProps__core=f"<p><dc:creator>{NAME}</dc:creator></p>"),
        "e.rtf": rb"{\rtf1\ansi Written by Ada {\b Quill\'66eather}.}",
        "f.eml": f"From: <x@birch.example>\nSubject: =?utf-8?q?Ada_Quillfeather?=\n\n{prose(30, 43)}\n".encode(),
        "g.pdf": pdf_of(text_pages("Nobody is named in this file at all.")),
    }
    types = {"rtf": "application/rtf", "eml": "message/rfc822"}
    for number, (name, body) in enumerate(files.items()):
        more.add(
            f"{SITE}/{name}",
            f"[PERSON] {prose(190, 50 + number)}",
            html=body,
            sent_as=types.get(name[-3:], "text/html"),
        )
    more.close()
    done = remove(corpus, "--containing", NAME)
    assert set(done["pages"]) == {PERSON, *(f"{SITE}/{name}" for name in files if name != "g.pdf")}


def test_files_that_cannot_be_searched_are_counted_and_named_and_the_call_fails(corpus):
    more = Letters(corpus.path, "w2")
    for number, name in enumerate(("torn.pdf", "torn.docx", "none.pdf")):
        body = {
            "torn.pdf": b"%PDF-1.7\n1 0 obj",
            "torn.docx": docx(in_runs("x"))[:-30],
            "none.pdf": pdf_of(text_pages("Nobody.")),
        }[name]
        more.add(f"{OTHER}/{name}", f"{prose(190, 60 + number)}", html=body)
    more.close()
    done = call(corpus, "--containing", NAME, *WHY, "--yes")
    assert done.code == 1 and done.facts["pages"] == [PERSON]
    (said,) = done.problems
    assert said.startswith(f"2 files in the archive could not be searched: {OTHER}/torn.docx (truncated")
    narrowed = call(corpus, "--containing", "Nobody Atall", "--domain", "birch.example", *WHY, "--yes")
    assert not any("could not be searched" in problem for problem in narrowed.problems)


@pytest.mark.parametrize(
    "path",
    ["/people?name=Ada+Quillfeather", "/people/ada_quillfeather.html", "/p#/ada/quillfeather", "/a%64a-quillfeather"],
)
def test_an_address_that_has_the_words_is_found_wherever_it_has_them_and_once(corpus, path):
    more = Letters(corpus.path, "w2")
    more.add(f"{SITE}{path}", "", reason=DropReason.GONE, html="")
    more.close()
    assert set(remove(corpus, "--containing", NAME)["pages"]) == {PERSON, f"{SITE}{path}"}
    assert call(corpus, "--containing", NAME, *WHY, "--yes").facts["entry"] is None


def test_an_address_that_leads_to_one_with_the_words_goes_with_it(corpus):
    more = Letters(corpus.path, "w2")
    more.add(f"{SITE}/aq", "", reason=DropReason.REDIRECTED, detail=f"{SITE}/ada-quillfeather", html="")
    more.close()
    assert set(remove(corpus, "--containing", NAME)["pages"]) == {PERSON, f"{SITE}/aq"}


def test_what_was_said_of_a_page_in_an_annotation_is_searched_and_goes_with_it(corpus, tmp_path):
    (record,) = (each for each in corpus.records() if each["url"] == f"{SITE}/other")
    row = {"canonical_url": record["url"], "doc_id": record["doc_id"], "gist": f"A portrait of {NAME}."}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    given = (
        "--name",
        "gists",
        "--file",
        tmp_path / "rows.jsonl",
        "--kind",
        "summary",
        "--meaning",
        "gist=what it says",
    )
    assert answer_of(annotate.WORK, corpus.path, *given).code == 0
    assert set(remove(corpus, "--containing", NAME)["pages"]) == {PERSON, f"{SITE}/other"}
    assert NAME.encode() not in everything(corpus.path)


def test_words_may_be_narrowed_to_a_domain(corpus):
    more = Letters(corpus.path, "w2")
    more.add(f"{OTHER}/person", f"{prose(190, 30)} {NAME}", html="")
    more.close()
    assert remove(corpus, "--containing", NAME, "--domain", "alder.example")["pages"] == [f"{OTHER}/person"]
    assert PERSON in kept(corpus.path)
    assert Refusals.of([corpus.place]).refusal(f"{OTHER}/far") is None  # the domain itself is not refused


def test_an_archive_that_cannot_be_searched_is_named_and_the_call_fails(corpus):
    (archive,) = (corpus.path / "archive").glob("*.warc.gz")
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 0xFF
    archive.write_bytes(content)
    done = call(corpus, "--containing", "Nobody Atall", *WHY, "--yes")
    assert done.code == 1 and any("could not be searched" in problem for problem in done.problems)


# --- taken back, again -----------------------------------------------------------------------------------------------
def test_an_entry_is_taken_back_by_a_line_of_its_own(corpus, capsys):
    remove(corpus, "--url", LETTER)
    before = (corpus.path / WITHDRAWALS).read_bytes()
    done = call(corpus, "--undo", "1", "--reason", "wrong page", "--by", "Jo")
    assert (done.code, done.facts["undone"]) == (0, 1) and "entry 1 is taken back" in capsys.readouterr().out
    after = (corpus.path / WITHDRAWALS).read_bytes()
    assert after.startswith(before) and json.loads(after[len(before) :])["reason"] == "wrong page"
    assert not Refusals.of([corpus.place]).refusal(LETTER)
    assert "none so far; 1 withdrawal taken back" in eu_summary.as_markdown(gather(str(corpus.path)))


def test_what_another_entry_refuses_as_well_is_said(corpus, capsys):
    remove(corpus, "--url", LETTER)
    remove(corpus, "--domain", "birch.example")
    call(corpus, "--undo", "1", "--reason", "wrong page")
    assert "entry 2 refuses 1 page of it, too" in capsys.readouterr().out


def test_a_duplicate_without_a_text_goes_from_the_archive_with_the_page_whose_copy_it_is(corpus):
    more = Letters(corpus.path, "w2", REJECTED_TEXT="0")
    more.add(f"{OTHER}/bare", "", reason=DropReason.NEAR_DUPLICATE, dup_of=LETTER, html=f"<p>{prose(200, 1)} And more.")
    more.close()
    done = remove(corpus, "--url", LETTER)
    assert f"{OTHER}/bare" in done["copies"] and prose(200, 1).encode() not in corpus.everything()


def test_what_came_in_again_is_named_by_lineage_is_not_counted_as_removed_and_goes_by_its_advice(corpus):
    """As a program of an older version brings it: a changed page, a copy of its text, a raw page without a record."""
    remove(corpus, "--url", LETTER)
    assert "1 request, 3 documents removed" in eu_summary.as_markdown(gather(str(corpus.path)))
    old = Letters(corpus.path, "w2")
    old.add(f"{LETTER}?", prose(200, 40), when=20, canonical_url=LETTER)
    old.add("https://new.example/", prose(200, 1), html="", when=20)
    old.close()
    found = lineage(corpus.path)
    assert found.code == 1 and len(found.problems) == 1
    assert "still holds 2 withdrawn documents and 1 withdrawn raw page; run" in found.problems[0]
    assert "1 request, 2 documents removed" in eu_summary.as_markdown(gather(str(corpus.path)))
    assert f"gristmill dataset exclude --again {corpus.path}" in found.problems[0]
    done = call(corpus, "--again", "--yes")
    assert done.facts["kept"] == 2 and lineage(corpus.path).code == 0 and healthy(corpus)
    assert call(corpus, "--again", "--yes").facts["entry"] is None


@pytest.mark.parametrize("index", ["whole", "torn"])
def test_what_is_announced_are_the_raw_pages_that_go_each_capture_of_a_page_and_none_that_is_elsewhere(
    corpus, capsys, index
):
    more = Letters(corpus.path, "w2")
    for day in (19, 20):  # the page as of other visits
        more.add(LETTER, prose(200, 1), when=day)
    more.add(
        f"{LETTER}#top", prose(200, 1), when=21, html="", canonical_url=LETTER, warc_file="archive/of-another.warc.gz"
    )
    more.close()
    for name in corpus.place.listing("archive"):
        if name.endswith(".cdxj") and index == "torn":
            path = Path(corpus.path, "archive", name)
            path.write_bytes(path.read_bytes()[:-40])
    done = remove(corpus, "--url", LETTER, "--address-only")
    assert done["raw"] == 3 and "3 raw pages in the archive: their bytes go (2 files)" in capsys.readouterr().out


def test_a_raw_page_that_no_record_has_is_found_and_goes(corpus):
    remove(corpus, "--url", LETTER, "--address-only")
    old = Letters(corpus.path, "w2")
    old.add(LETTER, "few words", reason=DropReason.TOO_SHORT)
    old.close()
    rewrite(corpus.place, lambda r: None if r["url"] == LETTER else r, Cause("t", "t", 1.9e9), folders=("rejected",))
    assert [raw["pages"] for raw in lineage(corpus.path).facts["raw"]] == [1]
    assert call(corpus, "--again", "--yes").facts["raw"] == 1 and lineage(corpus.path).code == 0


# --- what was made of it ---------------------------------------------------------------------------------------------
@pytest.fixture
def derived(corpus, tmp_path):
    """A subset and an export, made before anybody asked."""
    select(corpus.place, Place(str(tmp_path / "subset")), Selection(), max_bytes=10**6, now=1.8e9)
    export(corpus.place, tmp_path / "release", "webdataset", max_bytes=10**6, now=1.8e9)
    return tmp_path


def test_folders_that_still_hold_it_are_named_before_and_after_with_a_way_that_works(derived, corpus, capsys):
    call(corpus, "--url", LETTER, *WHY)
    assert capsys.readouterr().out.count("3 documents there; they stay") == 2
    done = remove(corpus, "--url", LETTER)
    said = capsys.readouterr().out
    assert {each["folder"].rpartition("/")[2] for each in done["still_held"]} == {"subset", "release"}
    assert (
        "documents there" not in said  # with --yes each folder is read once
        and "release: still holds 3 withdrawn documents; remove it and make it again in the same place" in said
    )
    assert f"run `gristmill dataset exclude --again {derived / 'subset'}`" in said
    assert lineage(corpus.path).code == 1 and lineage(derived / "release").code == 1
    assert answer_of(exclude.WORK, "--again", "--yes", derived / "subset").facts["kept"] == 3
    shutil.rmtree(derived / "release")
    found = lineage(corpus.path)
    assert found.code == 1 and "if it was removed for good, remove" in found.problems[0]
    Path(found.problems[0].split(" remove ")[-1].removesuffix(" as well")).unlink()
    assert lineage(corpus.path).code == 0 and kept(derived / "subset") == kept(corpus.path)


def test_made_again_in_its_place_an_export_is_left_without_it_and_the_proof_ends_with_0(derived, corpus):
    remove(corpus, "--url", LETTER)
    assert answer_of(exclude.WORK, "--again", "--yes", derived / "subset").code == 0
    shutil.rmtree(derived / "release")
    export(corpus.place, derived / "release", "webdataset", max_bytes=10**6, now=1.9e9)
    assert lineage(corpus.path).code == 0


def test_an_export_of_one_file_is_verified_as_one_file(derived, capsys):
    assert answer_of(verify_operation.WORK, derived / "release").code == 0
    assert "ok: 1 file, 6 records" in capsys.readouterr().out


def test_after_a_withdrawal_was_taken_back_the_advice_names_the_entry_that_still_refuses_the_page(
    derived, corpus, capsys
):
    """Also where an export was made anew since: it has the page rightly."""
    remove(corpus, "--url", PERSON, "--address-only")
    subset = derived / "subset"
    answer_of(exclude.WORK, "--again", "--yes", subset)
    shutil.rmtree(derived / "release")
    capsys.readouterr()
    call(corpus, "--undo", "1", "--reason", "wrong page", "--by", "Jo")
    assert f"entry 1 of {subset} refuses 1 page of it, too" in capsys.readouterr().out
    call(corpus, "--undo", "1", "--reason", "wrong page", "--by", "Jo")
    assert re.search(r"entry 1 was taken back before \(\S+, Jo: wrong page\)", capsys.readouterr().out)
    more = Letters(corpus.path, "w2")
    more.add(PERSON, prose(200, 2), when=20)
    more.close()
    export(corpus.place, derived / "release", "jsonl", max_bytes=10**6, now=1.9e9)
    entry, found = f"entry 1 of {subset / WITHDRAWALS} does", lineage(corpus.path)
    told = left_in(found.problems, corpus.path)
    assert f"refuses none of it: {entry}; or take that back, if it is wrong" in told
    assert f"what it was made of does not refuse them: {entry};" in left_in(found.problems, derived / "release")
    answer_of(exclude.WORK, "--undo", "1", "--reason", "wrong page", subset)
    assert lineage(corpus.path).code == 0


def test_what_a_lifted_optout_took_out_of_a_subset_does_not_refuse_what_was_fetched_since(derived, corpus, capsys):
    more = Letters(corpus.path, "w2")
    more.add(PERSON, "", reason=DropReason.OPTOUT, html="", when=10)
    more.close()
    supersede(corpus.place, now=1.7683e9)  # 2026-01-13
    subset = derived / "subset"
    assert answer_of(exclude.WORK, "--again", "--yes", subset).facts["kept"] == 1
    assert "nothing in this corpus matches" not in capsys.readouterr().out
    shutil.rmtree(derived / "release")
    more = Letters(corpus.path, "w3")
    more.add(PERSON, f"{prose(150, 2)} Then Ada Quillfeather spoke. {prose(50, 3)}", when=20)
    more.close()
    supersede(corpus.place, now=1.7692e9)
    export(corpus.place, derived / "release", "jsonl", max_bytes=10**6, now=1.9e9)
    assert lineage(corpus.path).code == 0


def left_in(said, folder):
    """What is said of a folder that still holds something, once."""
    (line,) = [line for line in said if line.startswith(f"{folder}: still holds")]
    return line.partition(": ")[2]


def test_exclude_and_lineage_say_the_same_of_what_is_left_also_after_two_withdrawals(derived, corpus, capsys):
    """A near copy, two captures of one page, and a merged corpus that has the raw pages, too."""
    more = Letters(corpus.path, "w2")
    more.add(PERSON, f"{prose(150, 2)} Then Ada Quillfeather spoke again. {prose(50, 3)}", when=20)
    more.close()
    beside = Letters(derived / "beside")
    beside.add("https://cedar.example/", prose(200, 91))
    beside.close()
    merge_corpora(
        [corpus.place, Place(str(derived / "beside"))], Place(str(derived / "all")), from_mapping({}), now=1.8e9
    )
    remove(corpus, "--url", LETTER)
    capsys.readouterr()
    remove(corpus, "--url", PERSON, "--address-only")
    said, found = capsys.readouterr().out.splitlines(), lineage(corpus.path)
    for name in ("subset", "release", "all"):
        told = left_in(said, derived / name)
        assert told == left_in(found.problems, derived / name)
        assert told.startswith("still holds 4 withdrawn documents") or name == "all"
    assert "and 6 withdrawn raw pages; run `gristmill" in left_in(said, derived / "all")


def test_of_a_folder_that_does_not_refuse_it_itself_the_advice_is_the_one_that_works(derived, corpus):
    subset = derived / "subset"
    remove(Folder(subset), "--url", LETTER)
    found = lineage(subset, "--withdrawn", "--also-in", corpus.path)
    told = left_in(found.problems, corpus.path)
    assert "withdraw the same there with `gristmill dataset exclude`, as" in told and "--again" not in told
    remove(corpus, "--url", LETTER)
    assert not any(problem.startswith(f"{corpus.path}: ") for problem in lineage(subset, "--withdrawn").problems)


def test_a_revisit_record_that_came_in_again_is_no_raw_page(corpus):
    """It has the address alone, and `--again` has nothing to take out."""
    remove(corpus, "--url", LETTER)
    more = Letters(corpus.path, "w2")
    more.revisit(LETTER, f"{SITE}/other")
    more.close()
    assert lineage(corpus.path).code == 0 and call(corpus, "--again", "--yes").facts["raw"] == 0


def test_no_way_from_one_folder_to_another_brings_it_back(derived, corpus, tmp_path):
    """Also from a subset that was made before, and from files of an older export, whose corpus is behind them."""
    export(corpus.place, tmp_path / "old", "jsonl.gz", max_bytes=10**6, now=1.8e9)
    before = len(kept(corpus.path))
    remove(corpus, "--url", LETTER)
    subset = Place(str(derived / "subset"))
    assert export(subset, tmp_path / "e", "dolma", max_bytes=10**6, now=1.9e9).withdrawn == 3
    select(subset, Place(str(tmp_path / "s")), Selection(), max_bytes=10**6, now=1.9e9)
    assert kept(tmp_path / "s") == kept(corpus.path)
    old = Source("old", None, (str(tmp_path / "old" / "data"),), {}, {}, 1.0)
    counts = Counts()
    assert {r["url"] for r in Sources((old,)).read(0, counts)} == kept(corpus.path)
    assert (counts.read, counts.withdrawn) == (before, 3)


def test_a_mixture_leaves_out_copies_in_other_sources(corpus, tmp_path):
    remove(corpus, "--url", LETTER)
    (tmp_path / "theirs.jsonl").write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in (prose(200, 1), prose(200, 50)))
    )
    ours = Source("ours", str(corpus.path), (), {}, {}, 1.0)
    theirs = Source("theirs", None, (str(tmp_path / "theirs.jsonl"),), {}, {}, 1.0)
    counts = Counts()
    assert [r["text"] for r in Sources((ours, theirs)).read(1, counts)] == [prose(200, 50)] and counts.withdrawn == 1


def test_a_subset_made_after_refuses_it_by_itself_also_where_its_source_is_gone(corpus, tmp_path):
    remove(corpus, "--url", LETTER)
    subset = Place(str(tmp_path / "subset"))
    select(corpus.place, subset, Selection(), max_bytes=10**6, now=1.9e9)
    shutil.rmtree(corpus.path)
    assert Refusals.of([subset]).refusal(LETTER)
    words = eu_summary.as_markdown(gather(subset.url))
    assert "none so far" in words and "listed there" in words  # they are its source's


def test_a_corpus_in_a_store_needs_no_frontier(tmp_path, capsys):
    url, spool = f"memory://exclude-{tmp_path.name}", str(tmp_path / "spool")
    letters = Letters(url, CORPUS_SPOOL_DIR=spool)
    letters.add(LETTER, prose(200, 1))
    letters.add(f"{SITE}/other", prose(200, 4))
    letters.close()
    done = answer_of(exclude.WORK, "--url", LETTER, *WHY, "--yes", url)
    assert done.code == 0 and done.facts["kept"] == 1
    assert Refusals.of([Place(url)]).refusal(LETTER)
    assert "there is no frontier here" in capsys.readouterr().out


def test_a_server_that_did_not_answer_is_told_by_the_same_call_though_the_words_are_gone(corpus, capsys, redis_url):
    words = ("--containing", NAME, *WHY, "--yes")
    done = call(corpus, *words, REDIS_URL="redis://127.0.0.1:1/0")
    assert done.code == 1 and "frontier or duplicate index were not" in done.problems[0]
    assert lineage(corpus.path).code == 0
    done = call(corpus, *words, REDIS_URL=redis_url)
    assert done.code == 0 and done.facts["forgotten"]["queued"] == 0
    assert done.facts["forgotten"]["untold"] == ("letters",)  # that server knows nothing of the crawl
    assert "of all withdrawals so far" in capsys.readouterr().out


def test_a_withdrawal_that_was_cut_off_is_finished_by_the_same_call_and_meanwhile_nothing_is_handed_on(
    corpus, tmp_path, monkeypatch
):
    import crawler.dataset.exclude as module

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "rewrite", killed)
    with pytest.raises(KeyboardInterrupt):
        call(corpus, "--containing", NAME, *WHY, "--yes")
    monkeypatch.undo()
    assert PERSON in kept(corpus.path) and lineage(corpus.path).code == 1
    assert export(corpus.place, tmp_path / "e", "jsonl.gz", max_bytes=10**6, now=1.9e9).withdrawn == 1
    done = remove(corpus, "--containing", NAME)
    assert done["entry"] == 1 and lineage(corpus.path).code == 0
    assert NAME.encode() not in everything(corpus.path)
