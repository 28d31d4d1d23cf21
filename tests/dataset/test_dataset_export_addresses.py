"""An export may take out of addresses what was taken out of their pages: names, numbers, in every field alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from crawler.config import PiiConfig
from crawler.dataset.addresses import Addresses
from crawler.dataset.export import export
from crawler.document import Document
from crawler.stages.pii.addresses import places_in
from crawler.stages.pii.page import Hit
from crawler.stages.pii.stage import PiiStage
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from crawler.storage.files.shards import read_lines
from tests.support.corpus_folder import Folder, document

PATH = "https://example.org/people/ada-quillfeather?by=Quillfeather%2C+Ada&page=2"


@pytest.mark.parametrize(
    ("name", "url", "found"),
    [
        ("Ada Quillfeather", PATH, ["ada-quillfeather", "Quillfeather%2C+Ada"]),
        ("Ada Quillfeather", "https://x.example/a.quillfeather/AdaQuillfeather", ["a.quillfeather", "AdaQuillfeather"]),
        ("Ada Quillfeather", "https://x.example/ada-b-quillfeather", ["ada-b-quillfeather"]),
        ("Ada Quillfeather", "https://adaquillfeather.example/quillfeathers", ["adaquillfeather", "quillfeather"]),
        ("Ada Quillfeather", "https://x.example/ada/adamant/quill/feather", []),
        ("Ada Baker", "https://x.example/baker-street/ada-baker", ["ada-baker"]),
        ("Ian Long", "https://x.example/christianlongman", []),
        ("Jürgen Müller", "https://x.example/juergen-mueller/jurgen.muller", ["juergen-mueller", "jurgen.muller"]),
        ("Jürgen Müller", "https://x.example/J%C3%BCrgen_M%C3%BCller", ["J%C3%BCrgen_M%C3%BCller"]),
        ("Jürgen Müller", "https://xn--jrgen-mller-thbg.example/", ["xn--jrgen-mller-thbg"]),
        ("Иван Щербаков", "https://x.example/ivan-shcherbakov/", ["ivan-shcherbakov"]),
        ("Юлия Жукова", "https://x.example/julija-zhukova/yulia.zhukova", ["julija-zhukova", "yulia.zhukova"]),
        ("Γιώργος Παπαδόπουλος", "https://x.example/giorgos-papadopoulos", ["giorgos-papadopoulos"]),
        ("王小明", "https://x.example/%E7%8E%8B%E5%B0%8F%E6%98%8E/", ["%E7%8E%8B%E5%B0%8F%E6%98%8E"]),
        ("Ada Quillfeather", "https://x.example/%FF%FEada-quillfeather%", ["ada-quillfeather"]),
        ("Ada", "https://x.example/ada", []),
    ],
)
def test_a_name_is_found_in_an_address_as_slugs_escapes_and_other_scripts_write_it(
    name: str, url: str, found: list[str]
) -> None:
    places = places_in(url, [(name, Hit(0, len(name), "PERSON", name))])
    assert [url[start:end] for start, end, _ in places] == found


@pytest.mark.parametrize(
    ("raw", "kind", "url", "found"),
    [
        ("+44 20 7946 0958", "PHONE_NUMBER", "https://x.example/call?tel=%2B442079460958", ["442079460958"]),
        ("ada@quill.test", "EMAIL_ADDRESS", "https://x.example/u/ada%40quill.test", ["ada%40quill.test"]),
        ("key-0123456789", "SECRET", "https://x.example/key-0123456789", []),
    ],
)
def test_so_is_a_number_or_a_mail_address_but_no_secret_of_a_machine(
    raw: str, kind: str, url: str, found: list[str]
) -> None:
    assert [url[start:end] for start, end, _ in places_in(url, [(raw, Hit(0, len(raw), kind, raw))])] == found


def test_the_stage_notes_the_places_and_leaves_the_address_as_it_is() -> None:
    url = "https://x.example/contact/ada%40quill.org"
    doc = Document(url, url, text="Write to ada@quill.org soon.", language="en")
    PiiStage(PiiConfig(person="off"), min_words=0)(doc)
    assert (doc.url, doc.text) == (url, "Write to [EMAIL_ADDRESS] soon.")
    place = [26, 41, "EMAIL_ADDRESS"]
    assert doc.language_signals["pii_url"] == {"url": [place], "canonical_url": [place]}
    plain = Document("https://x.example/", "https://x.example/", text="Nothing here.", language="en")
    PiiStage(PiiConfig(person="off"), min_words=0)(plain)
    assert "pii_url" not in plain.language_signals


def _record(**more: Any) -> dict[str, Any]:
    places = {"url": [[27, 43, "PERSON"], [47, 66, "PERSON"]], "canonical_url": [[27, 43, "PERSON"]]}
    made = record_of(document(1, url=PATH, canonical_url=PATH.partition("?")[0], pii_entity_types=["PERSON"]))
    return made | {"language_signals": {"pii_url": places}} | more


def test_every_field_with_the_address_has_the_same_marks_and_spans_of_the_text_follow() -> None:
    canonical = PATH.partition("?")[0]
    text = f"See {canonical} or ask [PERSON]."
    spans = {"start": [text.index("[PERSON]")], "end": [len(text) - 1], "type": ["PERSON"]}
    led = ["http://example.org/p/Ada-Quillfeather"]
    made = Addresses().of(_record(text=text, pii_spans=spans, redirects=led, canonical_link=PATH))
    assert made["url"] == made["canonical_link"] == "https://example.org/people/[PERSON]?by=[PERSON]&page=2"
    assert made["canonical_url"] == "https://example.org/people/[PERSON]"
    assert made["redirects"] == ["http://example.org/p/[PERSON]"]
    assert made["text"] == "See https://example.org/people/[PERSON] or ask [PERSON]."
    (start, end) = (made["pii_spans"][name][0] for name in ("start", "end"))
    assert made["text"][start:end] == "[PERSON]"
    assert "quillfeather" not in orjson.dumps(made).decode().lower()


def test_a_host_gets_a_mark_that_a_host_may_have_and_the_domain_with_it() -> None:
    url = "https://www.adaquillfeather.example/x"
    signals = {"pii_url": {name: [[12, 27, "PERSON"]] for name in ("url", "canonical_url")}}
    made = Addresses().of(
        _record(url=url, canonical_url=url, domain="adaquillfeather.example", language_signals=signals)
    )
    assert (made["url"], made["domain"]) == ("https://www.person.example/x", "person.example")


def test_where_an_older_version_redacted_the_page_doubt_takes_the_path_and_else_nothing_changes() -> None:
    addresses = Addresses()
    old = _record(language_signals={}, redirects=["http://example.org/ada"])
    made = addresses.of(old)
    assert (made["url"], made["redirects"]) == ("https://example.org/[REDACTED]", ["http://example.org/[REDACTED]"])
    for same in (
        _record(language_signals={}, pii_entity_types=["SECRET"]),
        _record(language_signals={"pii_url": {}}),
        _record(language_signals={}, pii_entity_types=[]),
    ):
        assert addresses.of(same) is same
    assert (addresses.redacted, addresses.in_doubt) == (0, 1)
    assert addresses.of(made) is made, "what was redacted once is not in doubt again"


@pytest.mark.parametrize("to", ["jsonl.gz", "dolma"])
def test_an_export_says_how_many_and_has_the_name_nowhere(folder: Folder, tmp_path: Path, to: str) -> None:
    corpus = folder.opened()
    corpus.keep(_record())
    corpus.keep(record_of(document(2)))
    corpus.close()
    place = Place(str(folder.path))
    done = export(place, tmp_path / "e", to, max_bytes=10**6, now=1.8e9, redact_urls=True)
    assert done.addresses is not None and (done.addresses.redacted, done.addresses.in_doubt) == (1, 0)
    assert orjson.loads((tmp_path / "e" / "export.json").read_bytes())["addresses"] == {"redacted": 1, "in_doubt": 0}
    lines = [line for path in (tmp_path / "e").rglob("part-*") for line in read_lines(path)]
    assert len(lines) == 2 and not [line for line in lines if b"quillfeather" in line.lower()]
    assert any(PATH in record["url"] for record in folder.records())
