"""A page that a script draws: its text is in no paragraph of the HTML that the server sends (`script:` of a page file).

- `draws`: Vue draws the text from its own script;
- `scrolls`: Vue fetches one paragraph, and one more whenever the window is scrolled to its end;
- `late`: Vue draws the text `LATE_SECONDS` after the page has come;
- `state`: the text is in `__NEXT_DATA__`, and Vue draws it from there;
- `captures`: Vue fetches all of the text and shows its first words.

Vue 3.5.45 (MIT) is in `demo/vue/`, as the npm package has it; `tests/browser` uses the same file.
"""

from __future__ import annotations

import json
from pathlib import Path
from string import Template

from .pages import Page, Site

VUE = Path(__file__).with_name("vue") / "vue.runtime.global.prod.js"
WITHOUT_BROWSER = frozenset({"state"})
"""Kinds whose text is in the HTML, as data."""
LATE_SECONDS = 3
TEASER_WORDS = 12
SELECTOR, CAPTURED = "article p", "/api/*"
"""For the allowlist: what to wait for on every page, and which JSON is the text (`js_wait_selector`, `js_capture`)."""

_SHOWN = "return () => Vue.h('article', [Vue.h('h1', $title), ...parts.value.map(t => Vue.h('p', t))])"
_SCROLLS = """let busy = false;
const more = async () => { if (busy) return; busy = true;
  const answer = await fetch('/parts$path/' + parts.value.length + '.json');
  if (answer.ok) parts.value.push((await answer.json()).text);
  busy = false; };
Vue.onMounted(() => { more(); addEventListener('scroll', more); });
return () => Vue.h('article', [Vue.h('h1', $title), ...parts.value.map(
  t => Vue.h('p', {style: 'min-height: 3000px'}, t))])"""
_SETUPS = {
    "draws": "const parts = Vue.ref($parts); " + _SHOWN,
    "late": "const parts = Vue.ref($parts); " + _SHOWN,
    "scrolls": "const parts = Vue.ref([]); " + _SCROLLS,
    "state": "const state = JSON.parse(document.getElementById('__NEXT_DATA__').textContent);"
    "const parts = Vue.ref(state.props.pageProps.parts); " + _SHOWN,
    "captures": "const parts = Vue.ref([]); "
    "fetch('/api$path.json').then(a => a.json()).then(d => { parts.value = [d.teaser]; }); " + _SHOWN,
}


def shell(page: Page) -> str:
    """The body of the page as the server sends it: an empty root and the script that draws the text into it."""
    state = _json({"props": {"pageProps": {"parts": paragraphs(page)}}})
    data = f'<script type="application/json" id="__NEXT_DATA__">{state}</script>' if page.script == "state" else ""
    values = {"path": page.path, "title": _json(page.title), "parts": _json(paragraphs(page))}
    setup = Template(_SETUPS[page.script]).substitute(values)
    mount = f"Vue.createApp({{ setup() {{ {setup} }} }}).mount('#app')"
    if page.script == "late":
        mount = f"setTimeout(() => {{ {mount} }}, {1000 * LATE_SECONDS})"
    return f'<div id="app"></div>{data}\n<script src="/vue.js"></script>\n<script>{mount}</script>'


def paragraphs(page: Page) -> list[str]:
    """The text of the page: paragraphs without links and headings."""
    return [" ".join(block.split()) for block in page.body.split("\n\n") if block.strip()]


def script_files(site: Site) -> dict[str, tuple[str, bytes]]:
    """Path → (content type, body) of what the scripts of a site's pages ask for; empty where no page has one."""
    pages = [page for page in site.pages.values() if page.script]
    files = {"/vue.js": ("text/javascript", VUE.read_bytes())} if pages else {}
    for page in pages:
        text = paragraphs(page)
        if page.script == "scrolls":
            files |= {f"/parts{page.path}/{n}.json": _data({"text": part}) for n, part in enumerate(text)}
        if page.script == "captures":
            teaser = " ".join(text[0].split()[:TEASER_WORDS])
            files[f"/api{page.path}.json"] = _data({"teaser": teaser, "parts": text})
    return files


def _data(value: object) -> tuple[str, bytes]:
    return "application/json", json.dumps(value).encode()


def _json(value: object) -> str:
    """JSON that may stand in a script element."""
    return json.dumps(value).replace("<", "\\u003c")
