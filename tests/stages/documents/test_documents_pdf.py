"""A PDF becomes paragraphs in reading order, with what it says of itself, and without what is on every page."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys

import pytest

from crawler.config import DedupConfig
from crawler.dedup.memory_index import MemoryIndex
from crawler.document import DropReason
from crawler.stages.documents.spaces import false_spaces, missing_spaces, with_spaces, without
from crawler.stages.fingerprint import FingerprintStage
from tests.stages.documents.office_maker import TYPES, docx
from tests.stages.documents.pdf_maker import pdf_of, shown, text_pages, xmp_of
from tests.support.places import PROJECT

PROSE = """The miller of the old town rose long before the sun, and he set the
stones while the river was still dark. Nobody who heard them turn
could say how old they were.
In the second year of the drought the wheel stood still for a month,
and the whole of the valley learned what bread had been to it, day
after day."""
FIRST = "The miller of the old town rose long before the sun, and he set the stones while the river was still dark."


def texts(found):
    return [block.text for block in found.content.blocks]


def paragraphs(*given, page=0, size=11.0, top=700.0, leading=13.2, gap=22.0, left=72.0, head="", foot=""):
    """One page of paragraphs, each a list of lines, with a head and a foot."""
    lines, y = [], top
    for one in given:
        for text in one.split("\n"):
            lines.append((left, y, size, text))
            y -= leading
        y -= gap - leading
    lines = [(left, 800, 9, head)] * bool(head) + lines + [(290, 40, 9, foot)] * bool(foot)
    return shown(lines)


def test_lines_become_paragraphs_and_a_large_line_a_heading(read):
    found = read(pdf_of([shown([(72, 760, 20, "On mills")]) + b"\n" + paragraphs(PROSE[:157], PROSE[158:])]))
    assert found.drop is None
    assert (found.content.blocks[0].form, found.content.blocks[0].level) == ("heading", 1)
    assert texts(found)[0] == "On mills"
    assert texts(found)[1].startswith(FIRST)
    assert not any("\n" in text for text in texts(found))


def test_a_paragraph_goes_on_over_the_end_of_a_page_and_of_a_column(read):
    left = "\n".join(
        ["The water was let in by the upper gate and went", "over the wheel, and from the wheel it ran down"]
    )
    right = "\n".join(["into the lower pond, where the ducks were kept in", "summer. That was all of it."])
    for pages in (
        [paragraphs(left), paragraphs(right)],
        [paragraphs(left, left=40) + b"\n" + paragraphs(right, left=320)],
    ):
        assert texts(read(pdf_of(pages))) == [" ".join((left + "\n" + right).split())]


def test_running_heads_and_page_numbers_go_and_are_counted(read):
    body = "\n".join(f"Line {word} of the page has words of its own here." for word in ("one", "two", "three"))
    pages = [paragraphs(f"{body}\nPage {n} ends so.", head="The Book of Mills", foot=str(n)) for n in range(1, 7)]
    found = read(pdf_of(pages))
    whole = "\n".join(texts(found))
    assert whole.count("The Book of Mills") == 1 and whole.startswith("The Book of Mills")
    assert not re.search(r"(?m)^\d+$", whole)
    assert found.content.counts["running_lines"] == 11


def test_a_number_that_stands_on_no_edge_of_many_pages_stays(read):
    found = read(pdf_of([paragraphs("The year was\n1848")]))
    assert "1848" in " ".join(texts(found))


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["the electri-", "fication of the mill"], "the electrification of the mill"),
        (
            ["a well-known mill is a well-", "known mill everywhere"],
            "a well-known mill is a well-known mill everywhere",
        ),
        (["the house of Meyer-", "Lansky stood here"], "the house of Meyer-Lansky stood here"),
        (["as in the pages 12-", "14 of the book"], "as in the pages 12-14 of the book"),
    ],
)
def test_a_hyphen_at_the_end_of_a_line_goes_unless_the_words_of_the_file_have_it(read, lines, text):
    found = read(pdf_of([paragraphs("\n".join(lines))]))
    assert texts(found) == [text]
    assert "\ufffe" not in text


def test_a_list_has_its_items_and_a_note_stands_behind_the_paragraph_that_it_interrupts(read):
    items = paragraphs("\x95 flour that is sold by weight\n\x95 bran that is sold by the bag".replace("\x95", "•"))
    found = read(pdf_of([items]))
    assert [block.form for block in found.content.blocks] == ["list", "list"]
    first = paragraphs("The wheel was made of oak, as all of the wheels in\nthe valley were, and it was the largest of")
    note = shown([(72, 60, 7, "1 Measured by the owner in the year of the flood.")])
    found = read(
        pdf_of([first + b"\n" + note, paragraphs("them. It stood for a hundred years in the water of\nthe river.")])
    )
    assert [(b.text[:9], b.text[-6:], b.role) for b in found.content.blocks] == [
        ("The wheel", "river.", ""), ("1 Measure", "flood.", "footnote"),
    ]  # fmt: skip


def test_entries_of_a_table_of_contents_go_and_are_counted(read):
    contents = [(72, 700 - 14 * n, 11, f"{n} The wheel {'. ' * 20}{n + 2}") for n in range(3)]
    found = read(pdf_of([shown(contents), paragraphs(PROSE + "\nThey waited . . . and went.")]))
    assert texts(found)[0].startswith("The miller") and "waited . . . and went" in " ".join(texts(found))
    assert found.content.counts["contents_lines"] == 3


def test_chapters_without_dots_go_with_the_entries_of_their_page_of_contents(read):
    said = ["1 The wheel 3", *(f"1.{n} The stone {'. ' * 20}{n + 2}" for n in range(5)), "2 The grain of the valley 9"]
    contents = [(72, 700 - 14 * n, 11, text) for n, text in enumerate(said)]
    found = read(pdf_of([shown(contents), paragraphs(PROSE + "\nThey came in 1849")]))
    assert found.content.counts["contents_lines"] == 7
    assert texts(found)[0].startswith("The miller") and texts(found)[-1].endswith("1849")


def test_a_listing_keeps_its_lines_and_its_indentation(read):
    listing = [(72, 500, "def mill(grain):"), (96, 486, "if grain:"), (120, 472, "grind(grain)"), (72, 444, "mill(3)")]
    code = shown([(x, y, 10, text) for x, y, text in listing], "F2")
    found = read(pdf_of([paragraphs(PROSE) + b"\n" + code, paragraphs(PROSE)]))
    listings = [block.text for block in found.content.blocks if block.form == "code"]
    assert listings == ["def mill(grain):\n    if grain:\n        grind(grain)\n\nmill(3)"]


def test_a_text_that_is_typed_in_letters_of_one_width_has_paragraphs(read):
    lines = [(72, 700 - 14 * n, 10, line) for n, line in enumerate(PROSE.split("\n"))]
    found = read(pdf_of([shown(lines, "F2")]))
    assert {block.form for block in found.content.blocks} == {"paragraph"}


def test_a_running_head_with_the_number_of_a_page_of_the_preface_goes(read):
    pages = [paragraphs(PROSE) + b"\n" + shown([(72, 770, 9, f"On mills {n}")]) for n in ("ii", "iii", "iv", "v")]
    assert sum("On mills" in text for text in texts(read(pdf_of(pages)))) == 1


def test_a_numbered_heading_is_a_heading(read):
    found = read(pdf_of([shown([(72, 740, 18, "1. The wheel")]) + b"\n" + paragraphs(PROSE)]))
    assert (found.content.blocks[0].form, found.content.blocks[0].text) == ("heading", "1. The wheel")


def test_a_page_that_is_turned_reads_as_one_that_is_not(read):
    straight = texts(read(pdf_of([paragraphs(PROSE)])))
    turned = b"q 0 1 -1 0 595 0 cm " + paragraphs(PROSE, top=500) + b" Q"
    assert texts(read(pdf_of([turned], page="/Rotate 90"))) == straight


def test_a_watermark_across_the_page_is_no_line_of_it(read):
    mark = b"\nBT /F1 60 Tf 0.7 0.7 -0.7 0.7 100 200 Tm (DRAFT COPY) Tj ET"
    found = read(pdf_of([paragraphs(PROSE) + mark]))
    assert "DRAFT" not in " ".join(texts(found)) and found.content.counts == {"tilted_lines": 1}


def test_a_file_says_title_author_day_language_and_where_it_leads(judged):
    info = {"Title": "On the keeping of mills", "Author": "Ada Miller", "CreationDate": "D:20240229120000Z"}
    body = pdf_of(
        [paragraphs(PROSE + "\nSee http://www.example.org/written too.")],
        info=info,
        catalogue="/Lang (en-GB)",
        annotations={0: ["https://example.org/next", "javascript:alert(1)", "file:///etc/passwd"]},
    )
    doc = judged(body)
    assert doc.verdict is None
    assert (doc.title, doc.author, doc.pub_date) == ("On the keeping of mills", "Ada Miller", "2024-02-29")
    assert (doc.document_kind, doc.page_count, doc.method_used, doc.html_lang) == ("pdf", 1, "file", "en-gb")
    assert doc.extractor.startswith("pypdfium2-5.12.1-pdfium-")
    assert doc.links == ["https://example.org/next", "http://www.example.org/written"]
    assert {label for _, _, label in doc.parts} == {"paragraph"}


@pytest.mark.parametrize("title", ["Microsoft Word - report.doc", "untitled", "report_final.indd", ""])
def test_what_a_program_fills_in_is_no_title(judged, title):
    body = pdf_of(
        [shown([(72, 760, 20, "On mills")]) + b"\n" + paragraphs(PROSE)], info={"Title": title, "Author": "admin"}
    )
    doc = judged(body)
    assert (doc.title, doc.author) == ("On mills", None)


def test_markdown_has_signs_for_headings(judged):
    body = pdf_of([shown([(72, 760, 20, "On mills")]) + b"\n" + paragraphs(PROSE)])
    assert judged(body, TEXT_FORMAT="markdown").text.startswith("# On mills\n\nThe miller")


TDM = 'xmlns:tdm="http://www.w3.org/ns/tdmrep/"'
REFUSALS = {
    "tdm element": (xmp_of("<tdm:reservation>1</tdm:reservation>", TDM), "tdmrep"),
    "tdm other space": (xmp_of("<t:reservation>1</t:reservation>", 'xmlns:t="http://www.w3.org/ns/tdmrep#"'), "tdmrep"),
    "tdm attribute": (xmp_of("", f'{TDM} tdm:reservation="1"'), "tdmrep"),
    "plus": (
        xmp_of(
            "<plus:DataMining>http://ns.useplus.org/ldf/vocab/DMI-PROHIBITED-AIMLTRAINING</plus:DataMining>",
            'xmlns:plus="http://ns.useplus.org/ldf/xmp/1.0/"',
        ),
        "plus-data-mining",
    ),
    "robots": (xmp_of("<x:robots>noai</x:robots>", 'xmlns:x="http://ns.example.org/"'), "meta-robots"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_statement_inside_the_file_refuses_before_any_text(judged, name):
    xmp, protocol = REFUSALS[name]
    doc = judged(pdf_of([paragraphs(PROSE)], xmp=xmp))
    assert doc.verdict.reason is DropReason.OPTOUT and doc.verdict.detail.startswith(f"{protocol} in ")
    assert (doc.text, doc.title, doc.text_allowed) == ("", None, False)


def test_a_statement_counts_although_the_text_cannot_be_read(judged):
    xmp, _ = REFUSALS["plus"]
    doc = judged(pdf_of(text_pages(PROSE) * 3, xmp=xmp), DOCUMENT_MAX_PAGES=2)
    assert doc.verdict.reason is DropReason.OPTOUT
    assert judged(pdf_of(text_pages(PROSE) * 3), DOCUMENT_MAX_PAGES=2).verdict.reason is DropReason.TOO_LARGE


def test_a_licence_in_the_file_is_evidence_and_no_verdict(judged):
    xmp = xmp_of(
        '<cc:license rdf:resource="https://creativecommons.org/licenses/by/4.0/"/><dc:title><rdf:Alt><rdf:li '
        'xml:lang="x-default">A title in XMP</rdf:li></rdf:Alt></dc:title>',
        'xmlns:cc="http://creativecommons.org/ns#"',
    )
    doc = judged(pdf_of([paragraphs(PROSE)], xmp=xmp))
    assert doc.verdict is None and doc.title == "A title in XMP"
    assert [s.protocol for s in doc.optout_signals] == ["creative-commons"]


def test_without_the_packages_the_reason_names_them(judged, monkeypatch):
    monkeypatch.setattr("crawler.config.documents.is_installed", lambda kind: kind != "pdf")
    doc = judged(pdf_of([paragraphs(PROSE)]))
    assert doc.verdict.reason is DropReason.NOT_TEXT and "gristmill[documents]" in doc.verdict.detail
    assert "DOCUMENT_KINDS" in judged(pdf_of([paragraphs(PROSE)]), DOCUMENT_KINDS="odt").verdict.detail


def test_the_same_file_gives_the_same_text_every_time(judged):
    body = pdf_of([paragraphs(PROSE, head="Mills", foot=str(n)) for n in range(5)])
    assert len({(judged(body).text, tuple(judged(body).parts)) for _ in range(3)}) == 1


def test_a_chain_that_meets_no_document_has_loaded_none_of_their_libraries_and_started_nothing():
    told = (
        "import sys; from crawler.config import from_mapping; from crawler.stages.chain import Chain;"
        "from crawler.document import Document; from crawler.stages.documents.call import THE_NURSERY;"
        "chain = Chain(from_mapping({}), ('parse', 'optout'));"
        "doc = chain.run(Document('http://a.test/', html=b'<p>words', content_type='text/html'));"
        "print(sorted({'pypdfium2', 'pypdf'} & set(sys.modules)), THE_NURSERY._process, doc.document_kind)"
    )
    done = subprocess.run([sys.executable, "-c", told], stdout=subprocess.PIPE, check=True, text=True)
    assert done.stdout == "[] None html\n"


ARABIC = "السلام عليكم ورحمة الله. الطحان الأول لا ينام قبل الفجر، ولا يأكل إلا مع أهله."
HEBREW = "הטוחן הזקן קם לפני עלות השחר, והאבנים סובבות 24 שעות."
GREEK = "Ο μυλωνάς σηκωνόταν πριν από τον ήλιο και γύριζε τις πέτρες στο σκοτάδι."


def test_what_chromium_prints_of_scripts_from_the_right_reads_as_it_was_written(printed, read):
    page = "".join(
        f"<p lang={lang} dir={side} style='font: 12pt DejaVu Sans, sans-serif'>{text}</p>"
        for lang, side, text in (("ar", "rtl", ARABIC), ("he", "rtl", HEBREW), ("el", "ltr", GREEK))
    )
    found = read(printed(f"<html><head><meta charset=utf-8></head><body>{page}</body></html>"))
    assert texts(found) == [ARABIC, HEBREW, GREEK]


def apart(*words, room, size=11):
    """A line whose words stand apart without a space between them; room: in thousandths of the size."""
    shift = f" {-room} ".join(f"({word})" for word in words)
    return f"BT /F1 {size} Tf 1 0 0 1 72 700 Tm [{shift}] TJ ET".encode()


def test_room_between_words_is_a_space_however_narrow_and_kerning_is_none(read):
    words = ("They", "saw", "how", "the", "mill", "was", "cut.", "And", "they", "left")
    [block] = read(pdf_of([apart(*words, room=240)])).content.blocks
    assert block.text == " ".join(words)
    [block] = read(pdf_of([apart("the mil", "ler ", "ro", "se early", room=40)])).content.blocks
    assert block.text == "the miller rose early"


def test_letters_that_are_spaced_out_for_their_looks_and_scripts_without_spaces_get_no_space():
    wide = {n: (12.0 * n, 0.0, 12.0 * n + 6, 10.0) for n in range(40)}
    assert missing_spaces("HEADING", wide.__getitem__) == []
    starts = {n: 6.0 * n + 3 * (n > 4) for n in range(40)}
    near = {n: (start, 0.0, start + 6, 10.0) for n, start in starts.items()}
    assert missing_spaces("howitsmill", near.__getitem__) == [5]
    assert with_spaces("howitsmill", [3, 6]) == "how its mill"
    kerned = {2: (0.0, 0.0, 6.0, 9.0), 4: (6.0, 0.0, 9.0, 9.0), 6: (15.0, 0.0, 18.0, 9.0)}
    assert false_spaces("gav e it", kerned.__getitem__) == [3]
    assert without("gav e it", [3]) == "gave it"
    assert (
        missing_spaces("水車小屋の主人は夜明", near.__getitem__) == missing_spaces("שלוםשלוםשל", near.__getitem__) == []
    )
    lifted = {n: (x0, y0 + 3 * (n > 4), x1, y1 + 3 * (n > 4)) for n, (x0, y0, x1, y1) in near.items()}
    assert missing_spaces("howitsmill", lifted.__getitem__) == []


def test_a_page_and_the_files_that_say_the_same_are_duplicates_of_each_other(judged):
    fingerprinted, said = FingerprintStage(DedupConfig()), " ".join(PROSE.split())
    docs = [
        judged(f"<!doctype html><html><body><main><p>{said}</p></main></body></html>".encode(), "text/html"),
        judged(pdf_of(text_pages(PROSE))),
        judged(docx(f"<w:p><w:r><w:t>{said}</w:t></w:r></w:p>"), TYPES["docx"]),
    ]
    assert [doc.document_kind for doc in docs] == ["html", "pdf", "docx"]
    assert len({fingerprinted(doc).doc_id for doc in docs}) == 1


def test_what_chromium_prints_of_a_page_with_its_menu_and_foot_is_a_near_duplicate_of_it(printed, judged):
    """The text is our own: the pages of the demo."""
    sources = sorted((PROJECT / "demo" / "sites" / "library").rglob("*.md"), key=lambda path: -path.stat().st_size)
    prose = "\n\n".join(re.sub(r"[*_`>|\[\]]|\(http[^)]*\)", "", path.read_text("utf-8")) for path in sources[:3])
    parts = [part.strip() for part in re.split(r"\n\s*\n", prose) if len(part.split()) > 5]
    body = "".join(f"<h2>{p.lstrip('# ')}</h2>" if p.startswith("#") else f"<p>{p}</p>" for p in parts)
    menu = "<nav><ul><li><a href=/>Home</a></li><li><a href=/all>All works</a></li></ul></nav>"
    html = f"<!doctype html><html lang=en><head><meta charset=utf-8><title>The library</title></head><body>{menu}"
    html += f"<article><h1>The library</h1>{body}</article><footer>Read by nobody since 1911</footer></body></html>"
    page, file = judged(html.encode(), "text/html; charset=utf-8"), judged(printed(html))
    assert (page.document_kind, file.document_kind) == ("html", "pdf") and len(page.text.split()) > 300
    index, fingerprinted = MemoryIndex(DedupConfig()), FingerprintStage(DedupConfig())
    found = []
    for url, doc in (("http://a.test/", page), ("http://a.test/print.pdf", file)):
        fingerprinted(doc)
        found.append(asyncio.run(index.check(doc.doc_id, doc.signature, doc.shingle_count, url)))
    assert page.doc_id != file.doc_id  # the file has the menu and the foot as well
    assert found[0] is None and found[1] is not None and not found[1].exact and found[1].owner == "http://a.test/"


def test_a_manual_of_tex_is_not_taken_for_shifted_letters_and_shifted_letters_are(read):
    manual = "\n".join(f"Write \\\\mill{{wheel}} or \\\\race{{{n}}}{{stone}} where stones turn" for n in range(9))
    assert read(pdf_of(text_pages(manual))).drop is None
    shifted = "\n".join(["vtv{pun {ol tpss~lls v{puz}ol ur{ye po|o", "oa|o tols {vs~o mo}n pu{ol"] * 4)
    assert read(pdf_of(text_pages(shifted))).drop.reason is DropReason.GARBLED
