"""A site that Vue draws in the browser, of which every text is known: late, scrolled, from embedded state, captured.

Vue is that of the demo web (`demo/vue/`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo import scripted
from tests.browser.conftest import crawl, page, prose, replay, script
from tests.support.corpus_crawl import CorpusCrawl
from tests.support.loopback_web import Answer, PolicyWeb

VUE = scripted.VUE.read_bytes()
SCROLLS, PARTS = 3, 12
HEAD = "<script src=/vue.js></script>"
MOUNT = "Vue.createApp({{ setup() {{ {setup} }} }}).mount('#app')"


def app(setup: str, before: str = "") -> Answer:
    return page(f"<div id=app></div>{before}<script>{MOUNT.format(setup=setup)}</script>", HEAD)


def shown(*texts: str) -> str:
    """A render function that shows lines of text."""
    return f"return () => Vue.h('main', {json.dumps(texts)}.map(t => Vue.h('p', t)))"


def fetched(call: str, key: str = "d.text") -> str:
    """A render function that shows what a request brings."""
    return f"const t = Vue.ref(''); {call}.then(a => a.json()).then(d => {{ t.value = {key} }}).catch(() => {{}});" \
           "return () => Vue.h('main', Vue.h('p', t.value))"  # fmt: skip


SCROLLED = """const parts = Vue.ref([]); let busy = false;
const more = async () => { if (busy) return; busy = true;
    const d = await (await fetch('/part/' + parts.value.length)).json(); parts.value.push(d.text); busy = false; };
Vue.onMounted(() => { more(); addEventListener('scroll', more); });
return () => Vue.h('main', parts.value.map(t => Vue.h('p', {style: 'min-height: 3000px'}, t)))"""
LATE = f"setTimeout(() => {{ {MOUNT.format(setup=shown(prose('smith')).replace('main', 'article'))} }}, 3000)"
SHADOW = f"""const r = document.getElementById('app').attachShadow({{mode: 'open'}});
r.innerHTML = '<p>' + {json.dumps(prose("diver"))} + '</p>'"""


def data(**values: object) -> Answer:
    return Answer(body=json.dumps(values).encode(), content_type="application/json")


STATE = f"<script>window.__INITIAL_STATE__ = {json.dumps({'text': prose('cooper')})}</script>"
NUXT = f'<script type="application/json" id="__NUXT_DATA__">{json.dumps([{"body": prose("tanner")}])}</script>'
TEASER = f"Some words of the {' '.join(prose('miller').split()[:12])}."
ROUTES = {
    "/vue.js": script("@vue@"),
    "/drawn": app(shown(prose("weaver"))),
    "/fetched": app(fetched("fetch('/data/potter')")),
    "/state": app("const s = window.__INITIAL_STATE__; " + shown("@").replace('["@"]', "[s.text]"), STATE),
    "/nuxt": app(shown(prose("tanner")), NUXT),
    "/scrolled": app(SCROLLED),
    "/captured": app(fetched("fetch('/api/miller')", "d.teaser")),
    "/graphql-get": app(fetched("fetch('/graphql?query=' + encodeURIComponent('{text}'))")),
    "/graphql-post": app(fetched("fetch('/graphql', {method: 'POST', body: '{}'})")),
    "/shadow": page(f"<div id=app></div><script>{SHADOW}</script>", HEAD),
    "/plain": page(f"<main><p>{prose('baker')}</p></main><div id=app></div><script src=/vue.js></script>"),
    "/data/potter": data(text=prose("potter")),
    "/api/miller": data(teaser=TEASER, body=prose("miller"), more=[prose("miller guild")]),
    "/graphql?query=%7Btext%7D": data(text=prose("glover")),
    "/graphql": data(text=prose("sailor")),
    **{f"/part/{n}": data(text=prose(f"part {n}")) for n in range(PARTS)},
}
PAGES = [path for path in ROUTES if path.count("/") == 1 and not path.startswith(("/vue.js", "/graphql?"))]
PAGES.remove("/graphql")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[CorpusCrawl, PolicyWeb, str, str]]:
    folder = tmp_path_factory.mktemp("vue")
    with PolicyWeb() as web:
        routes = ROUTES | {"/vue.js": Answer(body=VUE, content_type="text/javascript")}
        here = web.site("127.0.0.2", routes)
        there = web.site("127.0.0.3", {"/vue.js": routes["/vue.js"],
                                       "/late": page(f"<div id=app></div><script>{LATE}</script>", HEAD)})  # fmt: skip
        allowlist = folder / "allow.yaml"
        allowlist.write_text(
            f"- {{domain: '{here.removeprefix('http://')}', tier: A, licence: CC0, js_capture: [/api/]}}\n"
            f"- {{domain: '{there.removeprefix('http://')}', tier: A, licence: CC0, js_wait_selector: article p}}\n"
        )
        seeds = [*(here + path for path in PAGES), f"{there}/late"]
        done = crawl(folder / "corpus", web, seeds, allowlist=allowlist, timeout=300, BROWSER_MAX_SCROLLS=SCROLLS)
        assert done.returncode == 0, done.log[-3000:]
        yield done, web, here, there


@pytest.mark.parametrize(
    ("path", "method", "text"),
    [
        ("/drawn", "js", prose("weaver")),
        ("/fetched", "js", prose("potter")),
        ("/state", "js", prose("cooper")),
        ("/nuxt", "embedded", prose("tanner")),
        ("/captured", "captured", f"{TEASER}\n\n{prose('miller')}\n\n{prose('miller guild')}"),
        ("/graphql-get", "js", prose("glover")),
        ("/plain", "fast", prose("baker")),
    ],
)
def test_the_text_of_each_page_is_found_where_it_is(
    crawled: tuple[CorpusCrawl, PolicyWeb, str, str], path: str, method: str, text: str
) -> None:
    done, _, here, _ = crawled
    assert here + path in done.kept, done.rejected.get(here + path)
    record = done.kept[here + path]
    assert (record["method_used"], record["text"]) == (method, text)


def test_a_page_that_grows_for_ever_is_scrolled_as_often_as_the_setting_says(
    crawled: tuple[CorpusCrawl, PolicyWeb, str, str],
) -> None:
    done, web, here, _ = crawled
    record = done.kept[f"{here}/scrolled"]
    found = [n for n in range(PARTS) if prose(f"part {n}") in record["text"]]
    assert found == list(range(len(found)))
    assert SCROLLS < len(found) < PARTS
    assert record["render_signals"]["browser"]["scrolls"] == SCROLLS
    assert f"/part/{PARTS - 1}" not in web.asked["127.0.0.2"]


def test_text_that_comes_late_is_awaited_where_its_selector_is_named(
    crawled: tuple[CorpusCrawl, PolicyWeb, str, str],
) -> None:
    done, _, _, there = crawled
    assert done.kept[f"{there}/late"]["text"] == prose("smith")


def test_what_a_page_would_send_is_not_sent_and_counted(crawled: tuple[CorpusCrawl, PolicyWeb, str, str]) -> None:
    done, _, here, _ = crawled
    record = done.rejected[f"{here}/graphql-post"]
    assert record["render_signals"]["browser"]["refused"] == {"method": 1}
    assert prose("sailor").encode() not in done.everything


def test_text_in_an_open_shadow_root_is_read(crawled: tuple[CorpusCrawl, PolicyWeb, str, str]) -> None:
    done, _, here, _ = crawled
    assert done.kept[f"{here}/shadow"]["text"] == prose("diver")


def test_the_library_is_asked_for_once_for_all_pages_of_a_site(
    crawled: tuple[CorpusCrawl, PolicyWeb, str, str],
) -> None:
    _, web, _, _ = crawled
    assert [web.asked[address].count("/vue.js") for address in ("127.0.0.2", "127.0.0.3")] == [1, 1]


def test_the_whole_site_is_the_same_again_without_a_browser(
    crawled: tuple[CorpusCrawl, PolicyWeb, str, str], tmp_path: Path
) -> None:
    done, web, _, _ = crawled
    again = replay(tmp_path / "again", done.folder, NETWORK_PORTS=web.port, BROWSER_MAX_SCROLLS=SCROLLS)
    for kind in ("kept", "rejected"):
        second: dict[str, dict[str, object]] = getattr(again, kind)
        first = {url: record for url, record in getattr(done, kind).items() if not url.endswith("/sitemap.xml")}
        assert sorted(first) == sorted(second)
        for url, record in first.items():
            assert {name for name in record if record[name] != second[url][name]} <= {"warc_file", "worker_id"}
