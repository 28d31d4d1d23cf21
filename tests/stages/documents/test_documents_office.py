"""DOCX, ODT and EPUB become blocks; what was deleted or hidden stays out, what was inserted or set aside comes in."""

from __future__ import annotations

import io
import zipfile

import pytest

from crawler.document import DropReason
from crawler.wire.files import file_kind
from tests.stages.documents.office_maker import TYPES, R, W, docx, epub, odt, packed


def p(text, properties="", run=""):
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:rPr>{run}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


STYLES = (
    f'<w:styles {W}><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>'
    '<w:style w:styleId="Own"><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style></w:styles>'
)
CORE = (
    '<cp:coreProperties xmlns:cp="c" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="t">'
    "<dc:title>On mills</dc:title><dc:creator>Ada Miller</dc:creator><dc:language>en-GB</dc:language>"
    "<dcterms:created>2020-02-01T10:00:00Z</dcterms:created></cp:coreProperties>"
)


def said(found):
    return [(b.form, b.level, b.text) for b in found.content.blocks]


def test_a_docx_gives_headings_lists_tables_and_notes(read):
    cells = "".join(f"<w:tc>{p(word)}</w:tc>" for word in ("flour", "12 kg"))
    note = f'<w:footnotes {W}><w:footnote w:type="separator" w:id="0">{p("x")}</w:footnote>'
    note += f'<w:footnote w:id="2">{p("By weight.")}</w:footnote></w:footnotes>'
    body = (
        p("The wheel", '<w:pStyle w:val="berschrift2"/>')
        + p("The stone", '<w:pStyle w:val="Own"/>')
        + "<w:p><w:r><w:t>Flour</w:t><w:footnoteReference w:id='2'/><w:tab/><w:t>is sold.</w:t></w:r></w:p>"
        + p("bran", "<w:numPr/>")
        + f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>"
    )
    found = read(docx(body, word__styles=STYLES, word__footnotes=note, docProps__core=CORE), "docx")
    assert said(found) == [
        ("heading", 2, "The wheel"), ("heading", 3, "The stone"), ("paragraph", 0, "Flour is sold."),
        ("paragraph", 0, "By weight."), ("list", 0, "- bran"), ("table", 0, "flour | 12 kg"),
    ]  # fmt: skip
    assert found.content.blocks[3].role == "footnote"
    assert (found.facts.title, found.facts.author) == ("On mills", "Ada Miller")
    assert (found.facts.date, found.facts.language) == ("2020-02-01", "en-GB")


def test_a_docx_without_what_was_deleted_or_hidden_and_with_what_was_inserted(read):
    body = (
        "<w:p><w:r><w:t>kept </w:t></w:r><w:del><w:r><w:delText>gone</w:delText><w:t>gone</w:t></w:r></w:del>"
        "<w:ins><w:r><w:t>new </w:t></w:r></w:ins><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r>"
        '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>seen </w:t></w:r>'
        "<w:sdt><w:sdtContent><w:r><w:t>control </w:t></w:r></w:sdtContent></w:sdt>"
        "<w:r><w:instrText>PAGEREF</w:instrText></w:r><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom></w:p>"
        f"<w:sdt><w:sdtContent>{p('a whole paragraph of a control')}</w:sdtContent></w:sdt>"
        f"<w:p><w:r><w:txbxContent>{p('in a box')}</w:txbxContent><w:t>around it</w:t></w:r></w:p>"
    )
    found = read(docx(body), "docx")
    assert [text for _, _, text in said(found)] == [
        "kept new seen control", "a whole paragraph of a control", "around it", "in a box",
    ]  # fmt: skip
    assert found.content.counts == {"hidden_runs": 1}


def test_a_docx_says_where_it_leads(judged):
    links = (
        '<Relationships><Relationship Id="r1" Target="https://example.org/a"/><Relationship Id="r2" Target="file:///x"/>'
        "</Relationships>"
    )
    body = "".join(
        f'<w:p><w:hyperlink r:id="{n}"><w:r><w:t>to a mill</w:t></w:r></w:hyperlink></w:p>' for n in ("r1", "r2")
    )
    document = f"<w:document {W} {R}><w:body>{body}</w:body></w:document>"
    doc = judged(packed({"word/document.xml": document, "word/_rels/document.xml.rels": links}), TYPES["docx"])
    assert (doc.links, doc.document_kind) == (["https://example.org/a"], "docx")


def test_a_reservation_in_the_properties_of_a_docx_refuses(judged):
    custom = '<Properties><property name="tdm-reservation"><vt xmlns="v">1</vt></property></Properties>'
    doc = judged(docx(p("words"), docProps__custom=custom), TYPES["docx"])
    assert doc.verdict.reason is DropReason.OPTOUT and doc.text == ""


def test_an_odt_gives_headings_lists_tables_and_notes(read):
    text = (
        "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
        '<text:h text:outline-level="2">The wheel</text:h>'
        "<text:p>Flour<text:note><text:note-citation>1</text:note-citation>"
        "<text:note-body><text:p>By weight.</text:p></text:note-body>"
        '</text:note><text:s/>is <text:span>sold</text:span>. <text:a xlink:href="https://example.org/a">More</text:a></text:p>'
        "<text:list><text:list-item><text:p>bran</text:p></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>flour</text:p></table:table-cell>"
        "<table:table-cell><text:p>12 kg</text:p></table:table-cell></table:table-row></table:table>"
    )
    meta = "<dc:title>On mills</dc:title>"
    meta += "<meta:initial-creator>Ada Miller</meta:initial-creator><dc:creator>Bo</dc:creator>"
    meta += "<meta:creation-date>2020-02-01T10:00</meta:creation-date>"
    found = read(odt(text, meta), "odt")
    assert said(found) == [
        ("heading", 2, "The wheel"), ("paragraph", 0, "Flour is sold. More"), ("paragraph", 0, "By weight."),
        ("list", 0, "- bran"), ("table", 0, "flour | 12 kg"),
    ]  # fmt: skip
    assert found.content.links == ["https://example.org/a"]
    assert (found.facts.title, found.facts.author, found.facts.date) == ("On mills", "Ada Miller", "2020-02-01")


def test_an_odt_with_a_password_says_so(judged):
    doc = judged(odt("<text:p>x</text:p>", manifest="<manifest><encryption-data/></manifest>"), TYPES["odt"])
    assert doc.verdict.reason is DropReason.ENCRYPTED


CHAPTER = (
    "<h1>{}</h1><p>The miller of the old town rose long before the sun, and he set the stones "
    "while the river was still dark, as his father had done before him.</p><p>{}</p>"
)


WORDS = ("wheel", "stone", "sluice", "weir", "hopper", "bran", "flour", "ledger")
TITLE_PAGE = (
    "Printed for the author, who had the mill from his father and gave it to the town when he was too old for it."
)


def test_an_epub_is_read_in_the_order_of_its_spine(judged):
    chapters = {
        "z.xhtml": CHAPTER.format(
            "First", "It was the wheel that woke the valley, and nobody who slept there needed a clock."
        ),
        "a.xhtml": CHAPTER.format(
            "Second",
            "The drought came in May, <a href='z.xhtml'>as told</a>, "
            "and see <a href='https://example.org/b'>this</a> as well.",
        ),
    }
    metadata = "<dc:title>On mills</dc:title><dc:creator>Ada Miller</dc:creator><dc:language>en</dc:language>"
    metadata += "<dc:date>1999-05-01</dc:date>"
    doc = judged(epub(chapters, metadata), TYPES["epub"])
    assert doc.verdict is None
    assert 0 <= doc.text.find("woke the valley") < doc.text.find("drought came")
    assert (doc.title, doc.author, doc.pub_date, doc.document_kind) == ("On mills", "Ada Miller", "1999-05-01", "epub")
    assert doc.links == ["https://example.org/b"]


def test_a_chapter_that_is_not_there_or_damaged_is_counted_and_takes_no_other_along(judged):
    says = {
        name: f"The {name} of the valley told it otherwise, and nobody asked again." for name in ("miller", "smith")
    }
    chapters = {f"{name}.xhtml": CHAPTER.format(name, text) for name, text in says.items()}
    book = epub(chapters | {"lost.xhtml": CHAPTER.format("Lost", "Nobody has read this.")})
    with zipfile.ZipFile(io.BytesIO(book)) as whole:
        parts = {name: whole.read(name).decode() for name in whole.namelist() if name != "mimetype"}
        lost = whole.getinfo("OEBPS/lost.xhtml")
    missing = packed({name: text for name, text in parts.items() if "lost" not in name}, TYPES["epub"])
    at = lost.header_offset + 30 + len(lost.filename) + 20
    damaged = book[:at] + bytes([book[at] ^ 255]) + book[at + 1 :]
    for body in (missing, damaged):
        doc = judged(body, TYPES["epub"])
        assert doc.verdict is None
        assert all(text in doc.text for text in says.values())
        assert doc.quality_signals["broken_pages"] == 1


@pytest.mark.parametrize(
    "metadata",
    [
        '<meta property="tdm:reservation">1</meta>',
        '<meta name="tdm-reservation" content="1"/>',
        '<meta name="robots" content="noai"/>',
    ],
)
def test_a_statement_in_the_package_of_an_epub_refuses(judged, metadata):
    doc = judged(epub({"a.xhtml": CHAPTER.format("First", "x")}, metadata), TYPES["epub"])
    assert doc.verdict.reason is DropReason.OPTOUT and doc.text == ""


def test_an_epub_that_a_seller_has_locked_is_encrypted_and_one_with_obfuscated_fonts_is_not(judged):
    def locked(algorithm):
        enc = f'<encryption><EncryptedData><EncryptionMethod Algorithm="{algorithm}"/></EncryptedData></encryption>'
        return judged(epub({"a.xhtml": CHAPTER.format("First", "x")}, **{"META-INF__encryption": enc}), TYPES["epub"])

    assert locked("http://www.w3.org/2001/04/xmlenc#aes128-cbc").verdict.reason is DropReason.ENCRYPTED
    assert locked("http://www.idpf.org/2008/embedding").verdict is None


@pytest.mark.parametrize("kind", ["docx", "odt", "epub"])
@pytest.mark.parametrize("declared", ["as it is", "application/octet-stream", "application/zip", "application/pdf"])
def test_the_kind_of_a_container_is_told_by_what_is_in_it(kind, declared):
    body = {"docx": docx(p("x")), "odt": odt("<text:p>x</text:p>"), "epub": epub({"a.xhtml": "<p>x</p>"})}[kind]
    assert file_kind(TYPES[kind] if declared == "as it is" else declared, body) == kind
    assert file_kind("image/png", body) is None


def test_the_contents_and_the_index_of_an_epub_stay_out_and_a_title_beside_them_comes_in(judged):
    entries = "".join(f"<li><a href='c.xhtml#s{n}'>The {name}</a></li>" for n, name in enumerate(WORDS))
    pages = "".join(f"<p>{name}, <a href='c.xhtml#a{n}'>{n}</a></p>" for n, name in enumerate(5 * WORDS))
    chapters = {
        "toc.xhtml": f"<h1>Contents</h1><ul>{entries}</ul>",
        "title.xhtml": f"<div><h1>On mills</h1><p>{TITLE_PAGE}</p><ol>{entries}</ol></div>",
        "c.xhtml": CHAPTER.format("First", "Nobody who slept <a href='#n1'>there</a> needed a clock."),
        "index.xhtml": f"<h1>Register</h1>{pages}",
    }
    doc = judged(epub(chapters), TYPES["epub"])
    assert doc.text.startswith("On mills")
    assert TITLE_PAGE in doc.text and "Nobody who slept there needed a clock." in doc.text
    assert not any(said in doc.text for said in ("Contents", "The sluice", "Register", "sluice, "))
    assert doc.quality_signals["contents_lines"] == 2 * len(WORDS) + 5 * len(WORDS)


NUMBERING = (
    f'<w:numbering {W}><w:abstractNum w:abstractNumId="7">'
    '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>'
    '</w:abstractNum><w:abstractNum w:abstractNumId="8">'
    '<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="\u2022"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="4"/>'
    '</w:lvlOverride></w:num><w:num w:numId="3"><w:abstractNumId w:val="8"/></w:num></w:numbering>'
)
MORE_STYLES = (
    f'<w:styles {W}><w:style w:styleId="LB"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr>'
    '</w:pPr></w:style><w:style w:styleId="LB2"><w:name w:val="Mine"/><w:basedOn w:val="LB"/></w:style>'
    '<w:style w:styleId="Src"><w:name w:val="Source Code"/></w:style>'
    '<w:style w:styleId="T1"><w:name w:val="toc 1"/></w:style>'
    '<w:style w:styleId="Off"><w:name w:val="z-Top of Form"/><w:rPr><w:vanish/></w:rPr></w:style></w:styles>'
)


def item(text, number, level=0):
    return p(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def test_the_items_of_a_docx_have_the_numbers_that_the_program_counts(read):
    body = (
        item("Soak", 1) + item("Dry", 1) + item("in the sun", 1, 1) + item("in the loft", 1, 1) + item("Grind", 1)
        + p("Then") + item("Sift", 1) + item("Anew", 2) + item("bran", 3) + item("none", 0)
        + p("by its style", '<w:pStyle w:val="LB2"/>')
    )  # fmt: skip
    found = read(docx(body, word__numbering=NUMBERING, word__styles=MORE_STYLES), "docx")
    assert [block.text for block in found.content.blocks] == [
        "1. Soak", "2. Dry", "2.a) in the sun", "2.b) in the loft", "3. Grind", "Then", "4. Sift", "4. Anew", "- bran",
        "none", "- by its style",
    ]  # fmt: skip


def test_verse_and_code_of_a_docx_keep_their_lines_and_exponents_their_place(read):
    up, down = ('<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>')
    code = '<w:pPr><w:pStyle w:val="Src"/></w:pPr><w:r><w:t xml:space="preserve">{}</w:t></w:r>'
    body = (
        "<w:p><w:r><w:t>The wheel goes round,</w:t><w:br/><w:t>the stone goes too.</w:t></w:r></w:p>"
        f"<w:p>{code.format('def f():')}</w:p><w:p>{code.format('    pass')}</w:p>"
        f"<w:p><w:r><w:t>10 m</w:t></w:r><w:r><w:rPr>{up}</w:rPr><w:t>2</w:t></w:r><w:r><w:t> on the 1</w:t></w:r>"
        f"<w:r><w:rPr>{up}</w:rPr><w:t>st</w:t></w:r><w:r><w:t>, H</w:t></w:r><w:r><w:rPr>{down}</w:rPr><w:t>2</w:t>"
        "</w:r><w:r><w:t>O</w:t></w:r></w:p>"
    )
    assert said(read(docx(body, word__styles=MORE_STYLES), "docx")) == [
        ("paragraph", 0, "The wheel goes round,\nthe stone goes too."), ("code", 0, "def f():\n    pass"),
        ("paragraph", 0, "10 m² on the 1st, H₂O"),
    ]  # fmt: skip


def test_contents_empty_controls_and_what_a_style_hides_stay_out_of_a_docx(read):
    toc = (
        f'<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>{p("3")}'
    )
    empty = f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{p('Click here')}</w:sdtContent></w:sdt>"
    styled = p("The wheel 4", '<w:pStyle w:val="T1"/>') + p("Top", '<w:pStyle w:val="Off"/>')
    body = f"{toc}</w:sdt>{empty}{styled}{p('kept')}"
    found = read(docx(body, word__styles=MORE_STYLES), "docx")
    assert said(found) == [("paragraph", 0, "kept")]
    assert found.content.counts == {"contents_lines": 3, "hidden_runs": 1}


ODT_STYLES = (
    '<office:automatic-styles><text:list-style style:name="L1">'
    '<text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>'
    '<text:list-level-style-number text:level="2" style:num-format="i" style:num-suffix=")" text:start-value="3"/>'
    '</text:list-style><style:style style:name="up"><style:text-properties style:text-position="super 58%"/>'
    '</style:style><style:style style:name="off"><style:text-properties text:display="none"/></style:style>'
    '<style:style style:name="P9" style:parent-style-name="Preformatted_20_Text"/></office:automatic-styles>'
)


def test_an_odt_numbers_its_lists_and_keeps_the_lines_of_verse_and_code(read):
    inner = "<text:list><text:list-item><text:p>sunny</text:p></text:list-item></text:list>"
    text = (
        '<text:list text:style-name="L1"><text:list-header><text:p>Steps</text:p></text:list-header>'
        f"<text:list-item><text:p>Soak</text:p><text:p>for a day</text:p>{inner}</text:list-item>"
        "<text:list-item><text:p>Dry</text:p></text:list-item></text:list><text:p>Then</text:p>"
        '<text:list text:style-name="L1" text:continue-numbering="true"><text:list-item><text:p>Grind</text:p>'
        "</text:list-item></text:list><text:p>round,<text:line-break/>too</text:p>"
        '<text:p text:style-name="P9">def f():</text:p><text:p text:style-name="P9"><text:s text:c="4"/>pass</text:p>'
        '<text:p>m<text:span text:style-name="up">2</text:span><text:span text:style-name="off">x</text:span></text:p>'
    )
    assert said(read(odt(text, styles=ODT_STYLES), "odt")) == [
        ("paragraph", 0, "Steps"), ("list", 0, "1. Soak"), ("paragraph", 0, "for a day"), ("list", 0, "iii) sunny"),
        ("list", 0, "2. Dry"), ("paragraph", 0, "Then"), ("list", 0, "3. Grind"), ("paragraph", 0, "round,\ntoo"),
        ("code", 0, "def f():\n    pass"), ("paragraph", 0, "m²"),
    ]  # fmt: skip


@pytest.mark.parametrize("body", [docx(""), odt("")])
def test_an_office_file_without_a_word_has_no_text_and_is_no_error(judged, body):
    assert judged(body, "").verdict.reason is DropReason.NO_TEXT


def test_a_date_that_a_program_writes_where_it_knows_none_is_none(judged):
    doc = judged(epub({"a.xhtml": CHAPTER.format("First", "x")}, "<dc:date>0101-01-01</dc:date>"), TYPES["epub"])
    assert doc.pub_date is None
