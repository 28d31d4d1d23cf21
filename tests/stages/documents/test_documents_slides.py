"""Slides and sheets become blocks: slides in their order with notes, sheets as far as they hold prose."""

from __future__ import annotations

import io
import zipfile

import pytest

from crawler.document import DropReason
from crawler.wire.files import declared_kind, file_kind
from tests.stages.documents.office_maker import TYPES as OFFICE
from tests.stages.documents.office_maker import docx, odt, packed
from tests.stages.documents.slides_maker import REL, TYPES, A, cell, odf, pptx, rels, row, shape, xlsx
from tests.stages.documents.test_documents_office import said

PROSE = "The miller of the old town rose long before the sun."
OTHER = "The stones were cut in the year of the great flood."
FRAME = (
    "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>flour</a:t></a:r></a:p>"
    "<a:p><a:r><a:t>fine</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>12 kg</a:t></a:r></a:p>"
    "</a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
)


def test_slides_come_in_the_order_of_the_show_with_title_first_and_notes_last(read):
    one = shape("wheel", "stone", kind="body") + shape("On mills", kind="title") + shape(PROSE)
    notes = shape("Speak slowly here.", "wheel", kind="body") + shape("7", kind="sldNum")
    found = read(pptx([shape("The end", kind="ctrTitle"), one], {1: notes}, order=[1, 0]), "pptx")
    assert said(found) == [
        ("heading", 2, "On mills"), ("list", 0, "- wheel"), ("list", 0, "- stone"), ("paragraph", 0, PROSE),
        ("paragraph", 0, "Speak slowly here."), ("paragraph", 0, "wheel"), ("heading", 2, "The end"),
    ]  # fmt: skip
    assert [block.page for block in found.content.blocks] == [1, 1, 1, 1, 1, 1, 2]
    assert (found.facts.pages, found.facts.reader, found.content.title) == (2, "gristmill-pptx-2", "On mills")


def test_a_slide_gives_its_tables_groups_diagrams_and_links(read):
    click = f'<a:rPr><a:hlinkClick xmlns:r="{REL}" r:id="h"/></a:rPr>'
    link = f"<a:r>{click}<a:t>more</a:t></a:r><a:br/><a:r><a:t>here</a:t></a:r>"
    choice = f"<mc:AlternateContent xmlns:mc='m'><mc:Choice>{shape('new')}</mc:Choice><mc:Fallback>{shape('old')}"
    slide = f"<p:grpSp>{shape(link)}</p:grpSp>{FRAME}{choice}</mc:Fallback></mc:AlternateContent>"
    slide += f'<p:graphicFrame><x:relIds xmlns:x="d" xmlns:r="{REL}" r:dm="d"/></p:graphicFrame>'
    body = pptx(
        [slide],
        links={"h": "https://mills.test/more"},
        ppt__drawing=f"<x {A}><a:p><a:r><a:t>grain comes in</a:t></a:r></a:p></x>",
    )
    found = read(body, "pptx")
    assert said(found) == [("paragraph", 0, "more here"), ("table", 0, "flour fine | 12 kg"), ("paragraph", 0, "new")]
    assert found.content.links == ["https://mills.test/more"]
    again = {"h": ("hyperlink", "https://mills.test/more"), "d": ("diagramData", "../drawing.xml")}
    members = {"ppt/slides/_rels/s0.xml.rels": rels(again)}
    assert said(read(with_members(body, members), "pptx"))[3:] == [("list", 0, "- grain comes in")]


def test_the_steps_of_a_slide_have_their_numbers_and_its_program_s_title_is_none(read):
    def step(text, level=0, numbered='<a:buAutoNum type="arabicPeriod"/>'):
        return f'<a:p><a:pPr lvl="{level}">{numbered}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>'

    inner = '<a:buAutoNum type="alphaLcParenR" startAt="3"/>'
    steps = step("Soak") + step("in rain", 1, inner) + step("in a tub", 1, inner) + step("Dry") + step("wait", 0, "")
    slide = f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="body"/></p:nvPr></p:nvSpPr><p:txBody>{steps}</p:txBody></p:sp>'
    title = "<cp:coreProperties xmlns:cp='c' xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title>Folie 1</dc:title>"
    found = read(pptx([slide], docProps__core=f"{title}</cp:coreProperties>"), "pptx")
    texts = [block.text for block in found.content.blocks]
    assert texts == ["1. Soak", "c) in rain", "d) in a tub", "2. Dry", "- wait"]
    assert found.facts.title == ""


def with_members(body, members):
    """The same file with other members in place of its own."""
    with zipfile.ZipFile(io.BytesIO(body)) as file:
        own = {name: file.read(name) for name in file.namelist()}
    return packed(own | members)


def test_what_no_audience_sees_is_counted_and_not_read(read):
    edge = shape("7", kind="sldNum") + shape("1 May", kind="dt") + shape("Mills & Co", kind="ftr")
    number = '<a:fld type="slidenum"><a:t>9</a:t></a:fld>'
    hidden = shape("secret").replace("<p:cNvPr", '<p:cNvPr hidden="1"')
    chart = "<p:graphicFrame><c:chart xmlns:c='c'/></p:graphicFrame>"
    found = read(pptx([shape("gone"), edge.replace("&", "&amp;") + hidden + shape(number, "seen") + chart, ""],
                      show={0: 'show="0"'}), "pptx")  # fmt: skip
    assert said(found) == [("paragraph", 0, "seen")]
    assert found.content.counts == {"hidden_pages": 1, "hidden_runs": 1, "charts": 1, "empty_pages": 1}


def test_one_slide_that_is_missing_takes_no_other_along(read):
    body = pptx([shape("first"), shape("second")])
    for place, data in (("s0.xml", b"<p:sld"), ("s0.xml", b""), ("_rels/s0.xml.rels", b"<x")):
        found = read(with_members(body, {f"ppt/slides/{place}": data}), "pptx")
        if place == "s0.xml":
            assert said(found) == [("paragraph", 0, "second")] and found.content.counts == {"broken_pages": 1}
        else:  # where it leads is lost, and its text is not
            assert [text for _, _, text in said(found)] == ["first", "second"]
    none = with_members(body, {"ppt/slides/s0.xml": b"", "ppt/slides/s1.xml": b""})
    assert read(none, "pptx").drop.reason is DropReason.BROKEN_DOCUMENT


def test_rows_of_a_sheet_hold_its_texts_and_numbers_are_counted(read):
    shared = f"<row>{cell(0, 'A1', 's')}{cell(7, 'B1')}{cell('of a formula', 'C1', 'str')}</row>"
    found = read(xlsx({"Of mills": shared + row(OTHER, 45_000, ""), "Sheet2": row("x", 1)}, [PROSE]), "xlsx")
    assert said(found) == [
        ("heading", 2, "Of mills"), ("table", 0, f"{PROSE} | of a formula"), ("table", 0, OTHER),
    ]  # fmt: skip
    assert found.content.counts == {"number_cells": 3, "data_sheets": 1}
    assert (found.facts.pages, found.content.blocks[0].page) == (2, 1)


@pytest.mark.parametrize(
    ("rows", "counts"),
    [(row(1, 2.5), "number_sheets 1"), (row("Ada", "Rome", 3) * 40, "data_sheets 1"), ("", "number_sheets 1")],
)
def test_a_workbook_of_numbers_or_names_is_no_document(read, rows, counts):
    drop = read(xlsx({"Sheet1": rows}), "xlsx").drop
    assert drop.reason is DropReason.NO_TEXT and "no sheet holds prose" in drop.detail and counts in drop.detail


def test_a_sheet_in_a_script_without_spaces_is_prose_too(read):
    assert said(read(xlsx({"Sheet1": row("水車小屋の主人は夜明け前に起きて石臼を回し始めた。")}), "xlsx"))
    assert said(read(xlsx({"Sheet1": row("เจ้าของโรงสีเก่าตื่นก่อนรุ่งสางทุกวัน")}), "xlsx"))


def test_hidden_sheets_rows_and_columns_stay_out(read):
    columns = '<cols><col min="2" max="2" hidden="1"/></cols>'
    rows = columns + row(PROSE, "secret") + row("gone " * 9).replace("<row>", '<row hidden="1">')
    found = read(xlsx({"Sheet1": rows, "Sheet2": row(OTHER)}, states={"Sheet2": "veryHidden"}), "xlsx")
    assert said(found) == [("table", 0, PROSE)]
    assert found.content.counts == {"hidden_cells": 1, "hidden_rows": 1, "hidden_pages": 1}


def test_slides_of_odf_come_with_title_first_and_notes_last(read):
    def frame(kind, text):
        box = f"<draw:text-box><text:p>{text}</text:p></draw:text-box>"
        return f'<draw:frame presentation:class="{kind}">{box}</draw:frame>'

    items = "<draw:frame><draw:text-box><text:list><text:list-item><text:p>wheel</text:p></text:list-item></text:list>"
    slide = f"{items}</draw:text-box></draw:frame>{frame('title', 'On mills')}{frame('footer', 'Mills and Co')}"
    notes = f"<presentation:notes>{frame('notes', 'Speak slowly.')}{frame('page-number', '7')}</presentation:notes>"
    hidden = (
        '<style:style style:name="h"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    )
    body = odf(
        "presentation",
        f'<draw:page>{slide}{notes}</draw:page><draw:page draw:style-name="h">{frame("title", "gone")}</draw:page>',
        hidden,
    )
    found = read(body, "odp")
    assert said(found) == [("heading", 2, "On mills"), ("list", 0, "- wheel"), ("paragraph", 0, "Speak slowly.")]
    assert found.content.counts == {"hidden_pages": 1} and found.facts.pages == 2


def test_sheets_of_odf_hold_their_texts_once_whatever_is_repeated(read):
    def one(text, said=""):
        return f"<table:table-cell {said}><text:p>{text}</text:p></table:table-cell>"

    number = one("12", 'office:value-type="float" office:value="12"')
    many = one(PROSE, 'table:number-columns-repeated="999999999"')
    rows = f"<table:table-row table:number-rows-repeated='999999'>{many}{number}</table:table-row>"
    rows += f"<table:table-row table:visibility='collapse'>{one('gone')}</table:table-row>"
    hidden = '<style:style style:name="h"><style:table-properties table:display="false"/></style:style>'
    sheets = f'<table:table table:name="Tabelle1">{rows}</table:table>'
    sheets += f'<table:table table:style-name="h"><table:table-row>{one(OTHER)}</table:table-row></table:table>'
    found = read(odf("spreadsheet", sheets, hidden), "ods")
    assert said(found) == [("table", 0, PROSE)]
    assert found.content.counts == {"number_cells": 1, "hidden_rows": 1, "hidden_pages": 1}


def test_the_members_of_a_file_say_its_kind_and_not_those_of_a_file_within_it():
    inner = xlsx({"a": ""})
    files = {"pptx": pptx([""]), "xlsx": inner, "odp": odf("presentation", ""), "ods": odf("spreadsheet", "")}
    for kind, body in files.items():
        assert declared_kind(TYPES[kind]) == kind
        assert file_kind(TYPES[kind], body) == file_kind("application/octet-stream", body) == kind
    assert file_kind("application/vnd.ms-powerpoint", files["pptx"]) == "pptx"
    stored = docx("<w:p/>", word__embeddings__sheet="x")
    assert file_kind(OFFICE["docx"], with_members(stored, {"word/embeddings/a.xlsx": inner})) == "docx"
    assert file_kind(TYPES["xlsx"], with_members(inner, {"xl/embeddings/a.docx": stored})) == "xlsx"
    assert file_kind(OFFICE["odt"], odt("")) == "odt"


def test_a_presentation_is_judged_like_a_page(judged):
    doc = judged(pptx([shape("On mills", kind="title") + shape(PROSE)]), TYPES["pptx"])
    assert (doc.document_kind, doc.title, doc.page_count) == ("pptx", "On mills", 1)
    assert doc.text == f"On mills\n{PROSE}"
    left_out = judged(xlsx({"Sheet1": row(1)}), TYPES["xlsx"])
    assert left_out.verdict.reason is DropReason.NO_TEXT
    refused = judged(pptx([shape(PROSE)]), TYPES["pptx"], DOCUMENT_KINDS="pdf")
    assert (
        refused.verdict.reason is DropReason.NOT_TEXT and "DOCUMENT_KINDS does not name pptx" in refused.verdict.detail
    )
