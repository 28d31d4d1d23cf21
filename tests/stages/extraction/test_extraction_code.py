# ruff: noqa: E501 (markup as the programs write it)
"""Code keeps its lines wherever a page has them, has a language where the page names one, and nothing beside it.

The pages are our own, in the markup that the named programs write.
"""

from __future__ import annotations

import pytest

from crawler.config import ExtractionConfig
from crawler.document import CodeBlock, Document
from crawler.stages.extraction.code import Listing, code_blocks, listings
from crawler.stages.extraction.code_names import name_of, of_class
from crawler.stages.extraction.common import correct
from crawler.stages.extraction.learned.lines import write
from crawler.stages.extraction.learned.walk import walk
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage, parse_html
from crawler.storage.files.columns import kind_of, row_of
from crawler.storage.files.records import record_of

PROSE = "The method fetches a page and returns what the server has answered, and it raises where nothing came."


def written(body: str) -> str:
    html = f"<body><p>Before.</p>{body}<p>Behind.</p></body>"
    tree = parse_html(html)
    correct(tree, html.encode())
    page = walk(tree)
    text = write(page, [True] * len(page.texts), "markdown").text
    return text.removeprefix("Before.\n\n").removesuffix("\n\nBehind.")


def run(body: str, extractor: str, text_format: str = "text") -> Document:
    html = f"<html><body><article><h1>Calls</h1><p>{PROSE}</p><p>{PROSE} {PROSE}</p>{body}<p>{PROSE}</p></article></body></html>"
    doc = Document(url="https://example.org/", html=html.encode(), content_type="text/html")
    assert isinstance(ParseStage()(doc), Document)
    ExtractionStage(ExtractionConfig(min_words=0, extractor=extractor, text_format=text_format))(doc)
    return doc


def fenced(code: str, language: str = "") -> str:
    return f"```{language}\n{code}\n```"


PYTHON = "def f():\n    return 1"
SCRIPT = "if (x) {\n  y();"
TWO_ROWS = (
    '<tr><td class="blob-num js-line-number" data-line-number="{}"></td><td class="blob-code blob-code-inner">def f():</td></tr>'
    '<tr><td class="blob-num js-line-number" data-line-number="{}"></td><td class="blob-code blob-code-inner">    return 1</td></tr>'
)


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<div style='font-family: monospace'>def f():<br>&nbsp;&nbsp;&nbsp;&nbsp;return 1</div>", fenced(PYTHON)),
        ("<p><code>def f():<br>\n&nbsp; &nbsp; return 1</code></p>", fenced(PYTHON)),
        ("<p><tt>def f():<br>&nbsp; &nbsp; return 1</tt></p>", fenced(PYTHON)),
        ('<font face="Courier New">def f():<br>&nbsp; &nbsp; return 1</font>', fenced(PYTHON)),
        ('<div style="white-space: pre">def f():\n    return 1</div>', fenced(PYTHON)),
        ('<code style="display:block;white-space:pre-wrap">def f():\n    return 1</code>', fenced(PYTHON)),
        ('<div style="font-family: Consolas, monospace; white-space: pre"><div>def f():</div><div>    return 1</div></div>',
         fenced(PYTHON)),
        (f'<table class="highlight js-file-line-container">{TWO_ROWS.format(1, 2)}</table>', fenced(PYTHON)),
        (f'<table class="highlight js-file-line-container">{TWO_ROWS.format(41, 42)}</table>', fenced(PYTHON)),
        ('<pre><code class="hljs js"><table class="hljs-ln"><tr><td class="hljs-ln-numbers" data-line-number="1"></td>'
         '<td class="hljs-ln-code">if (x) {</td></tr><tr><td class="hljs-ln-numbers" data-line-number="2"></td>'
         '<td class="hljs-ln-code">  y();</td></tr></table></code></pre>', fenced(SCRIPT, "javascript")),
        ('<div class="highlight-python3"><table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre>1\n2</pre>'
         '</div></td><td class="code"><div class="highlight"><pre><span></span>def f():\n    return 1</pre></div></td></tr></table></div>',
         fenced(PYTHON, "python")),
        ('<div class="language-ruby highlighter-rouge"><div class="highlight"><pre class="highlight"><code><table class="rouge-table">'
         '<tbody><tr><td class="rouge-gutter gl"><pre class="lineno">1\n2\n</pre></td><td class="rouge-code"><pre>def f\n  1\n</pre>'
         "</td></tr></tbody></table></code></pre></div></div>", fenced("def f\n  1", "ruby")),
        ('<div class="chroma"><table class="lntable"><tr><td class="lntd"><pre class="chroma"><code><span class="lnt">1\n</span>'
         '<span class="lnt">2\n</span></code></pre></td><td class="lntd"><pre class="chroma"><code class="language-go" data-lang="go">'
         "func f() {\n\treturn</code></pre></td></tr></table></div>", fenced("func f() {\n\treturn", "go")),
        ('<div class="cm-editor"><div class="cm-gutters"><div class="cm-gutterElement">1</div></div><div class="cm-content" '
         'data-language="python"><div class="cm-line">def f():</div><div class="cm-line">    return 1</div></div></div>',
         fenced(PYTHON, "python")),
        ('<div class="CodeMirror-code"><div><div class="CodeMirror-linenumber">1</div><pre class=" CodeMirror-line ">def f():</pre></div>'
         '<div><div class="CodeMirror-linenumber">2</div><pre class=" CodeMirror-line ">    return 1</pre></div></div>', fenced(PYTHON)),
        ('<div class="view-lines"><div class="view-line" style="top:19px">    return 1</div><div class="view-line" style="top:0px">def f():'
         "</div></div>", fenced(PYTHON)),
        ('<div class="fragment"><div class="line"><span class="lineno">    1</span>def f():</div><div class="line"><span class="lineno">'
         "    2</span>    return 1</div></div>", fenced(PYTHON)),
        ('<div class="syntaxhighlighter js"><table><tr><td class="gutter"><div class="line number1">1</div><div class="line number2">2'
         '</div></td><td class="code"><div class="container"><div class="line number1"><code class="js keyword">if</code> <code '
         'class="js plain">(x) {</code></div><div class="line number2"><code class="js spaces">&nbsp;&nbsp;</code><code>y();</code></div>'
         "</div></td></tr></table></div>", fenced(SCRIPT, "javascript")),
        ("<table><tr><td><pre>1\n2</pre></td><td><pre>def f():\n    return 1</pre></td></tr></table>", fenced(PYTHON)),
        ('<pre class="prism-code language-jsx"><code><span class="token-line">if (x) {<br></span><span class="token-line">  y();<br></span>'
         "</code></pre>", fenced(SCRIPT, "javascript")),
        ("<pre>all: a.o\n\tgcc -o a a.o</pre>", fenced("all: a.o\n\tgcc -o a a.o")),
    ],
)  # fmt: skip
def test_a_listing_keeps_its_lines_and_loses_its_numbers(markup, text):
    assert written(markup) == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<table><tr><th>No</th><th>Name</th></tr><tr><td>1</td><td>Ada</td></tr><tr><td>2</td><td>Bo</td></tr></table>",
         "| No | Name |\n| --- | --- |\n| 1 | Ada |\n| 2 | Bo |"),
        ('<p style="font-family: monospace">A sentence in a typewriter\'s letters.</p>', "A sentence in a typewriter's letters."),
        ("<p>Call <code>f(x)</code> twice.</p>", "Call f(x) twice."),
        ('<div style="white-space: pre-wrap">The old mill\nby the river.</div>', "The old mill\n\nby the river."),
        ('<div style="font-family: Courier"><p>' + PROSE * 3 + "</p><p>" + PROSE * 3 + "</p></div>", PROSE * 3 + "\n\n" + PROSE * 3),
    ],
)  # fmt: skip
def test_what_is_no_listing_stays_what_it_is(markup, text):
    assert written(markup) == text


@pytest.mark.parametrize(
    "markup",
    [
        '<div class="highlight"><pre>x = 1</pre><div class="zeroclipboard-container"><clipboard-copy>Copy</clipboard-copy></div></div>',
        '<div class="wrap"><pre class="language-python">x = 1</pre><button>Kopieren</button></div>',
        '<div class="language-py"><button class="copy"></button><span class="lang">py</span><pre>x = 1</pre></div>',
        '<pre><div><span>python</span><button>Copy code</button></div><code class="hljs language-python">x = 1</code></pre>',
        '<div class="code-toolbar"><pre class="language-python">x = 1</pre><div class="toolbar"><span class="copy-btn">复制</span></div></div>',
    ],
)
def test_the_labels_in_the_box_of_a_listing_go(markup):
    assert written(markup).replace("python", "") == fenced("x = 1")


@pytest.mark.parametrize(
    ("markup", "language"),
    [
        ('<div class="highlight highlight-source-python notranslate"><pre>x</pre></div>', "python"),
        ('<div class="highlight highlight-source-shell"><pre>x</pre></div>', "shell"),
        ('<div class="highlight highlight-text-html-basic"><pre>x</pre></div>', "html"),
        ('<pre class="code highlight js-syntax-highlight" lang="python"><code>x</code></pre>', "python"),
        (
            '<pre class="code highlight"><code><span id="LC1" class="line" lang="javascript">x</span></code></pre>',
            "javascript",
        ),
        ('<div class="mw-highlight mw-highlight-lang-python mw-content-ltr"><pre>x</pre></div>', "python"),
        ('<pre class="CodeRay highlight"><code data-lang="ruby">x</code></pre>', "ruby"),
        ('<pre class="rust rust-example-rendered"><code>x</code></pre>', "rust"),
        ('<pre><code class="hljs javascript">x</code></pre>', "javascript"),
        ('<pre><code class="hljs language-c++">x</code></pre>', "c++"),
        ('<div class="highlight-ipython3 notranslate"><div class="highlight"><pre>x</pre></div></div>', "python"),
        (
            '<div class="language-ruby highlighter-rouge"><div class="highlight"><pre class="highlight">x</pre></div></div>',
            "ruby",
        ),
        ('<pre class="language-js"><code>x</code></pre>', "javascript"),
        ('<pre class="brush: js; toolbar: false">x</pre>', "javascript"),
        ('<pre class="lang:c# decode:true">x</pre>', "c#"),
        ('<pre class="src src-emacs-lisp">x</pre>', "emacs lisp"),
        (
            '<div class="sourceCode"><pre class="sourceCode haskell"><code class="sourceCode haskell">x</code></pre></div>',
            "haskell",
        ),
        ('<pre data-language="tsx"><code>x</code></pre>', "tsx"),
        ('<pre class="language-less">x</pre>', "less"),
        ('<div class="highlight-default notranslate"><div class="highlight"><pre>x</pre></div></div>', ""),
        ('<pre class="highlight">x</pre>', ""),
        ('<pre lang="cs">x</pre>', ""),
        ('<div class="lang-cs"><pre>x</pre></div>', ""),
        ('<pre class="less code">x</pre>', ""),
        ('<pre class="language-klingon">x</pre>', ""),
        ("<pre>x</pre>", ""),
    ],
)
def test_the_language_is_read_as_each_program_writes_it(markup, language):
    html = f"<body>{markup}</body>"
    tree = parse_html(html)
    correct(tree, html.encode())
    assert [one.language for one in listings(tree)] == [language]


def test_names_are_those_of_linguist_in_lower_case():
    assert [name_of(name) for name in ("JS", "py3", "C#", "golang", "zsh", "yml", "objc", "vb.net", "console")] == [
        "javascript", "python", "c#", "go", "shell", "yaml", "objective-c", "visual basic .net", "shellsession",
    ]  # fmt: skip
    assert name_of("nothing") == name_of("") == of_class("button primary") == ""


@pytest.mark.parametrize("text_format", ["text", "markdown"])
@pytest.mark.parametrize("extractor", ["learned", "trafilatura", "resiliparse"])
def test_a_record_names_each_listing_in_the_order_of_its_text(extractor, text_format):
    blocks = (
        "<pre class='language-js'>let x = 1;\nf(x);</pre><p>"
        + PROSE
        + "</p><pre>the output of that call\n  is a line of seven words</pre>"
    )
    doc = run(blocks, extractor, text_format)
    assert doc.code_blocks == [CodeBlock("javascript", 16), CodeBlock("", 50)]
    assert doc.code_languages == ["javascript"]
    record = record_of(doc)
    assert record["code_blocks"] == [{"language": "javascript", "chars": 16}, {"language": "", "chars": 50}]
    assert (
        kind_of("code_blocks") == "list<code>"
        and row_of(record, ["code_blocks"])["code_blocks"] == record["code_blocks"]
    )


def test_listings_that_begin_alike_have_places_of_their_own():
    found = [Listing("python", ("x", "a")), Listing("ruby", ("x", "b", "c")), Listing("go", ("absent",))]
    assert code_blocks("x\nb\n\nc\ny\nx\na", found) == [CodeBlock("ruby", 6), CodeBlock("python", 3)]


@pytest.mark.parametrize("extractor", ["learned", "trafilatura"])
def test_tabs_and_indentation_stay_in_the_text_of_every_extractor(extractor):
    text = run(
        "<pre>all: a.o\n\tgcc -o a a.o\n\t\tx</pre><p><code>for x in y:<br>&nbsp;&nbsp;f(x)</code></p>", extractor
    ).text
    assert "\nall: a.o\n\tgcc -o a a.o\n\t\tx\n" in text
    assert "\nfor x in y:\n  f(x)\n" in text
