"""What a page says by markup inside its sentences is in the text: powers, formulas, readings, pictures of signs."""

from __future__ import annotations

import pytest

from crawler.config import ExtractionConfig
from crawler.document import Document, Drop
from crawler.stages.extraction.learned.lines import write
from crawler.stages.extraction.learned.walk import walk
from crawler.stages.extraction.notation import write_notation
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage, parse_html

PROSE = "The bridge was old when the village was young, and nobody knew who had built it or what it had cost them."
TEX = '<annotation encoding="application/x-tex">{}</annotation>'
SUM = "<mi>a</mi><mo>+</mo><mi>b</mi>"
SQUARE = "<mrow><msup><mi>b</mi><mn>2</mn></msup><mo>−</mo><mn>4</mn><mi>a</mi></mrow>"


def text_of(body: str) -> str:
    tree = parse_html(f"<body>{body}</body>")
    write_notation(tree, " ".join(tree.xpath("//@style")))
    page = walk(tree)
    return write(page, [True] * len(page.texts)).text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("10<sup>6</sup> people on 40 km<sup>2</sup>", "10⁶ people on 40 km²"),
        ("10<sup>−3</sup> and 10<sup>-3</sup>, Ca<sup>2+</sup>", "10⁻³ and 10⁻³, Ca²⁺"),
        ('built in 1999<sup><a href="#n1">1</a></sup>.', "built in 1999¹."),
        ("as said<sup>1, <b>2</b></sup>", "as said¹, ²"),
        ("the 1<sup>st</sup> of Brand<sup>TM</sup>, note<sup>[3]</sup>", "the 1st of BrandTM, note[3]"),
        ("H<sub>2</sub>O", "H₂O"),
        (
            "log<sub>2</sub>8 = 3, 1010<sub>2</sub> = 10<sub>10</sub>, x<sub>n</sub><sup>2</sup>",
            "log₂8 = 3, 1010₂ = 10₁₀, xₙ²",
        ),
        (
            "10<sup>1.5</sup>, y<sup>1/2</sup>, e<sup>−λt</sup>, 10<sup>1,5</sup>",
            "10^(1.5), y^(1/2), e^(−λt), 10^(1,5)",
        ),
        (
            "2<sup>λ</sup>, x<sup>q</sup>, A<sup>T</sup>, x<sup>a+b</sup>, e<sup>x<sub>1</sub></sup>",
            "2^λ, x^q, Aᵀ, xᵃ⁺ᵇ, e^(x₁)",
        ),
        ("C<sub>d</sub>, k<sub>eff</sub>, R<sub>ij</sub>, SO<sub>4</sub><sup>2−</sup>", "C_d, k_(eff), Rᵢⱼ, SO₄²⁻"),
        ("5<sup>1</sup>/<sub>2</sub> cups of <sup>14</sup>C", "5¹⁄₂ cups of ¹⁴C"),
        (
            "XIX<sup>e</sup>, 1<sup>er</sup>, M<sup>me</sup>, M<sup>r</sup>, 2<sup>nd</sup>, 20<sup>h</sup>30",
            "XIXe, 1er, Mme, Mr, 2nd, 20h30",
        ),
        (
            "n<sup>o</sup> 5, N<sup>o</sup> 6, 3<sup>a</sup>, M.<sup>a</sup>, n<sup>°</sup> 7",
            "nº 5, Nº 6, 3ª, M.ª, n° 7",
        ),
        (
            "in 1999<sup>1,2</sup>, word<sup>*</sup>, word<sup>b</sup>, word<sup><a href='#a'>a</a></sup>",
            "in 1999¹,², word*, wordᵇ, wordᵃ",
        ),
        ("word<sup><a href='#n'>note 1</a></sup>, Mill<sup>New</sup>", "word[note 1], Mill New"),
        ("10 km<span style='vertical-align: super; font-size: 8px'>2</span>", "10 km²"),
        ("the word <sub>in small print</sub>", "the word in small print"),
    ],
)
def test_powers_and_numbers_of_notes_do_not_run_into_the_word_before_them(body, text):
    assert text_of(f"<p>{body}</p>") == text


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (f"<math><semantics>{SQUARE}{TEX.format('b^2-4a')}</semantics></math>", r"\(b^2-4a\)"),
        (f'<math alttext="b^2-4a" display="block">{SQUARE}</math>', r"\[b^2-4a\]"),
        (f"<math>{SQUARE}</math>", "b^2−4a"),
        (f"<math><mfrac><mrow>{SUM}</mrow><msqrt><mn>2</mn></msqrt></mfrac></math>", "(a+b)/(√(2))"),
        (
            f'<span class="katex"><span class="katex-mathml"><math>{SQUARE}{TEX.format("b^2-4a")}</math></span>'
            '<span class="katex-html" aria-hidden="true"><span>b</span><span>2</span>−4a</span></span>',
            r"\(b^2-4a\)",
        ),
        (
            '<span class="mwe-math-element"><span style="display:none"><math alttext="{\\displaystyle e^{x}}"></math>'
            '</span><img class="mwe-math-fallback-image-inline" alt="{\\displaystyle e^{x}}"></span>',
            r"\(e^{x}\)",
        ),
        (
            '<span class="MathJax_Preview">x2</span><span class="MathJax"><nobr>x2</nobr></span>'
            '<script type="math/tex">x^2</script>',
            r"\(x^2\)",
        ),
        ('<script type="math/tex; mode=display">x^2</script>', r"\[x^2\]"),
        ('<mjx-container><math><mi>a</mi></math></mjx-container>', "a"),
        ('<img class="latex" src="/latex.php?latex=x_1" alt="x_1">', r"\(x_1\)"),
    ],
)  # fmt: skip
def test_a_formula_stands_in_its_sentence_once(formula, text):
    assert text_of(f"<p>Let {formula} be given.</p>") == f"Let {text} be given."


def test_a_reading_stands_in_brackets_and_not_beside_its_word():
    assert text_of("<p><ruby>東京<rt>とうきょう</rt></ruby>に</p>") == "東京(とうきょう)に"
    assert text_of("<p><ruby><rb>東京</rb><rp>(</rp><rt>とう</rt><rp>)</rp></ruby>に</p>") == "東京(とう)に"


def test_a_picture_of_a_sign_is_that_sign_and_any_other_picture_is_none():
    assert text_of('<p>Well done <img class="emoji" alt="😀"> all</p>') == "Well done 😀 all"
    assert text_of('<p>Why <img class="smilie" alt=":confused:">?</p>') == "Why :confused:?"
    assert text_of("<table><tr><td>Cold</td><td><img alt='✔'></td></tr></table>") == "Cold | ✔"
    assert (
        text_of('<p>Look <img class="smilie" alt="Big Grin"><img alt="A bridge in snow"><img alt="(c)"></p>') == "Look"
    )


@pytest.mark.parametrize("extractor", ["learned", "trafilatura"])
@pytest.mark.parametrize("text_format", ["text", "markdown"])
def test_every_extractor_that_reads_the_tree_has_them(extractor, text_format):
    sentence = f"<p>It was 10<sup>6</sup> crowns, or <math>{TEX.format('x^2')}</math> of them. {PROSE}</p>"
    html = f"<html><body><article><h1>A bridge</h1>{sentence}<p>{PROSE} {PROSE}</p></article></body></html>"
    doc = Document(url="https://example.org/", html=html.encode(), content_type="text/html")
    assert not isinstance(ParseStage()(doc), Drop)
    ExtractionStage(ExtractionConfig(min_words=0, extractor=extractor, text_format=text_format))(doc)
    assert r"It was 10⁶ crowns, or \(x^2\) of them." in doc.text
