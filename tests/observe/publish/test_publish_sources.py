"""Every sentence of the published documents, computed a second time from manifest, records and archive.

Five corpora: a real crawl, the crawl and a second visit of its pages, a replay of the first, a replay of archives of
others (WARC and WET), a selection of a selection.
Nothing of `crawler.observe` is used to say what is expected.
"""

import gzip
import json
import math
import re
import shutil
import uuid
from collections import Counter
from pathlib import Path
from typing import ClassVar

import pytest
import zstandard
from warcio.archiveiterator import ArchiveIterator

from crawler.dataset.exclude import PUBLISHED, Wish, withdraw
from crawler.dataset.select import Selection, select
from crawler.observe.publish import croissant, dataset_card, eu_summary
from crawler.observe.publish.provenance import gather
from crawler.policy.facts import obeyed_under
from crawler.storage.files.place import Place
from tests.support.crawl import Crawl
from tests.support.foreign import Writer, page
from tests.support.process import scrapy
from tests.support.serving import article
from tests.support.site import Site

TODO = eu_summary.TO_COMPLETE
CONTACT = "https://example.org/bot"
INFO = {
    "software": "Apache Nutch 1.19",
    "isPartOf": "CC-MAIN-2026-01",
    "operator": "Some Archive (info@archive.example)",
    "publisher": "Some Archive",
    "robots": "checked via crawler-commons",
}
INDEXING = "the directives “noarchive”, “nocache”, “noindex”, “none” are recorded only"
EXCEPTIONS = {
    "strict": "",
    "balanced": f" ({INDEXING}, and of ai-bots what most of the bots that a site names are told counts)",
    "minimal": f" ({INDEXING})",
}
IN_PAGES = {"content-signal", "content-usage", "x-robots-tag", "meta-robots", "tdmrep", "rsl"}
IN_PAGES |= {"plus-data-mining", "pdf-permissions"}  # and documents


def warcinfo(fields):
    block = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
    head = {
        "WARC-Type": "warcinfo",
        "WARC-Date": "2026-01-02T03:04:05Z",
        "WARC-Record-ID": f"<urn:uuid:{uuid.UUID(int=1)}>",
        "Content-Type": "application/warc-fields",
        "Content-Length": str(len(block)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return gzip.compress(f"WARC/1.0\r\n{lines}\r\n".encode() + block + b"\r\n\r\n", mtime=0)


def foreign_archives(folder):
    """A WARC and a WET file that say who made them, and a WARC that says nothing."""
    writer = Writer()
    writer.records.append(warcinfo(INFO))
    for number in range(4):
        writer.add(f"http://a.test/{number}", page(number))
    writer.add("http://b.test/5", page(5)).add("http://c.test/no", page(6, '<meta name="robots" content="noai">'))
    writer.save(folder / "CC-MAIN-1.warc.gz")
    wet = Writer()
    wet.records.append(warcinfo(INFO))
    text = "\n".join(re.findall(r"<p>(.*?)</p>", page("text").decode()))
    wet.add("http://d.test/text", text.encode(), kind="conversion").save(folder / "CC-MAIN-1.warc.wet.gz")
    Writer().add("http://e.test/mute", page("mute")).save(folder / "mute.warc.gz")


CHANGED = {
    "/p/1": (200, article("another article", title="Page 1")),
    "/p/2": (410, b""),
    "/p/3": (200, b'<meta name="robots" content="noai">' + article("127.0.0.1/3", title="Page 3")),
}
"""What the first site says at the second visit: a page is edited, one gone, one opted out, and one is as before."""


class Changing(Site):
    """A site that says something else once it has `changed`."""

    changed: ClassVar = {}

    def answer(self, path):
        return self.changed.get(path) or super().answer(path)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    base = tmp_path_factory.mktemp("sources")
    sites = [Changing("127.0.0.1", pages=4).start(), Site("127.0.0.2", pages=2).start()]
    live = Crawl(base / "crawled")
    try:
        urls = ",".join(url for site in sites for url in site.urls())
        ports = ",".join(str(site.port) for site in sites)
        done = live.run({"url": urls}, NETWORK_PORTS=ports, CRAWLER_CONTACT=CONTACT, DOWNLOAD_DELAY="0.02")
        assert done.returncode == 0, done.stderr
        assert {hit.agent for site in sites for hit in site.hits} == {f"CorpusBot/{version(base)} (+{CONTACT})"}
        shutil.copytree(base / "crawled", base / "recrawled", ignore=shutil.ignore_patterns("frontier"))
        sites[0].changed = CHANGED
        again = {"NETWORK_PORTS": ports, "CRAWLER_CONTACT": CONTACT, "DOWNLOAD_DELAY": "0.02", "RECRAWL": 1}
        done = Crawl(base / "recrawled").run({"url": urls}, **again, RECRAWL_INTERVAL_SECONDS=0)
        assert done.returncode == 0, done.stderr
    finally:
        for site in sites:
            site.stop()
    foreign_archives(base / "cc")
    for name, archive, settings in (
        ("replayed", base / "crawled" / "archive", {"OPTOUT_PROFILE": "balanced"}),
        ("foreign", base / "cc", {"CRAWLER_CONTACT": "https://other.example/bot"}),
    ):
        done = Crawl(base / name).run({"archive": str(archive)}, spider="replay", **settings)
        assert done.returncode == 0, done.stderr
    first, second = Place(str(base / "once")), Place(str(base / "twice"))
    select(Place(str(base / "crawled")), first, Selection(), max_bytes=10**9, now=1.8e9)
    select(first, second, Selection(languages=frozenset({"en"})), max_bytes=10**9, now=1.8e9 + 60)
    return base


def version(base):
    return json.loads((base / "crawled" / "manifest.json").read_bytes())["runs"][0]["versions"]["crawler"]


# --- what is expected, from the files alone ---------------------------------------------------------------------------
class Facts:
    """What lies in one corpus folder."""

    def __init__(self, folder):
        self.folder = folder
        self.manifest = json.loads((folder / "manifest.json").read_bytes())
        self.kept = list(self._records("shards"))
        self.rejected = Counter(record["reason"] for record in self._records("rejected"))
        self.mine = [r for r in self.kept if r["warc_file"].startswith("archive/") or "/crawled/" in r["warc_file"]]
        self.foreign = [r for r in self.kept if r not in self.mine]

    def _records(self, kind):
        for path in sorted((self.folder / kind).glob("*.jsonl.zst")):
            with path.open("rb") as file:
                content = zstandard.ZstdDecompressor().stream_reader(file).read()
            yield from map(json.loads, content.splitlines())

    def domains(self, records):
        sizes = {}
        for record in records:
            size = sizes.setdefault(record["domain"], [0, 0])
            size[0] += 1
            size[1] += record["char_count"]
        return sorted(sizes.items(), key=lambda item: (-item[1][1], item[0]))


def said_by_archive(folder):
    """The facts that the warcinfo record of the crawl's own archive states."""
    (path,) = (folder / "archive").glob("*.warc.gz")
    with path.open("rb") as file:
        first = next(iter(ArchiveIterator(file)))
        fields = dict(line.split(": ", 1) for line in first.content_stream().read().decode().splitlines())
    assert fields["http-header-user-agent"].endswith(f"(+{CONTACT})") and fields["robots"] == "obey"
    return json.loads(fields["X-Crawl-Policy"])


def months(records):
    dates = sorted(record["crawled_at"] for record in records)
    return f"{dates[0][5:7]}/{dates[0][:4]} to {dates[-1][5:7]}/{dates[-1][:4]}"


def counted(values):
    ranked = sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {count:,}" for name, count in ranked)


def protocols(profile, names=None):
    known = obeyed_under(profile)
    return ", ".join(f"{n} version {known[n]}" for n in sorted(known) if names is None or n in names)


def n(count, noun):
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def crawl_measure(profile):
    return (
        f"before and during collection, profile {profile}: robots.txt, and each refusal by these protocols: "
        f"{protocols(profile)}{EXCEPTIONS[profile]}. Any refusal that counts wins, whatever another protocol allows; a "
        "control file that cannot be read stops its host. What was seen is kept with each record"
    )


def replay_measure(facts, profile):
    said = f"archives were judged again, profile {profile}: headers and markup by the refusals of these protocols: "
    said += protocols(profile, IN_PAGES) + EXCEPTIONS[profile]
    if known := sum("/crawled/" in r["warc_file"] for r in facts.mine):
        said += (
            f"; of {n(known, 'kept document')} the archives say what robots.txt and opt-out files said, and it counts"
        )
    if unknown := sum(r["robots_status"] == "unknown" for r in facts.foreign):
        said += f"; of {n(unknown, 'kept document')} the archives do not say what robots.txt and opt-out files said"
    if text := sum(r["extractor"] == "wet" for r in facts.foreign):
        said += f"; {text} of them as text only, so that no statement of the page was visible"
    return said


def dataset_words(facts, records, said):
    files = sorted({Path(r["warc_file"]).name for r in records})
    dates = sorted(r["crawled_at"][:10] for r in records)
    names = [name for name, _ in facts.domains(records)]
    return (
        f"{said}. Files: {', '.join(files)}. Kept: {n(len(records), 'document')} "
        f"fetched {dates[0]} to {dates[-1]} from "
        f"{n(len(names), 'domain')}: {', '.join(names)}"
    )


def expected_datasets(facts):
    named = [r for r in facts.foreign if "CC-MAIN" in r["warc_file"]]
    mute = [r for r in facts.foreign if "mute" in r["warc_file"]]
    words = (
        f"is part of: {INFO['isPartOf']}; operator: {INFO['operator']}; publisher: {INFO['publisher']}; "
        f"software: {INFO['software']}; robots: {INFO['robots']}"
    )
    return [
        dataset_words(facts, records, said)
        for records, said in ((named, words), (mute, "nothing of their origin"))
        if records
    ]


def expected(facts, rules, profiles, stopped, withdrawn):
    """Every answer of the summary that is not the provider's."""
    kept = facts.kept
    tokens, words = sum(r["token_estimate"] for r in kept), sum(r["word_count"] for r in kept)
    languages = counted(r["language"] for r in kept)
    content = f"main text of {len(kept)} web pages of {len(facts.domains(kept))} domains"
    latest = max(r["crawled_at"] for r in kept)
    datasets = expected_datasets(facts)
    crawled = facts.domains(facts.mine)
    origin = f"{len(facts.foreign)} of {len(kept)} documents from archives of others, judged again"
    found = [
        ("1.3", "text"),
        ("1.3", f"less than 1 billion tokens: {tokens:,} tokens (estimated), {words:,} words in {len(kept)} documents"),
        ("1.3", content),
        ("1.3", f"{latest[5:7]}/{latest[:4]}"),
        ("1.3", f"{languages} documents"),
        ("1.3", "licence of each document: none recorded"),
        ("2.1", origin if datasets else "none"),
        *(("2.1", text) for text in datasets),
    ]
    if not rules:
        found.append(("2.3", "no: every page comes from archives that others made"))
    else:
        replayed = sum("/crawled/" in r["warc_file"] for r in facts.mine)
        yes = f"yes: {len(facts.mine)} of {len(kept)} documents crawled; {replayed} of them read from the "
        yes += "archives of a crawl, whose facts these are"
        found += [
            ("2.3", yes if replayed else "yes"),
            ("2.3", rules["user_agent"]),
            ("2.3", behaviour(rules)),
            ("2.3", scripts(kept)),
            ("2.3", months(facts.mine)),
            ("2.3", f"{len(facts.mine)} kept web pages of {len(crawled)} domains"),
            ("2.3", "text"),
            (
                "2.3",
                f"pages of {n(len(crawled), 'domain')} were crawled and kept; the top 10 % by characters of kept text: "
                "below",
            ),
        ]
    found += [("2.5", "none that is marked so")]
    found += [("3.1", text) for text in profiles]
    kinds = Counter(kind for r in kept for kind in r["pii_entity_types"])
    pii = ", ".join(f"{k} {n}" for k, n in sorted(kinds.items(), key=lambda i: (-i[1], i[0])))
    redacted = f"replaced by placeholders in {sum(r['pii_flag'] for r in kept)} of {len(kept)} kept documents "
    return [
        *found,
        ("3.1", stopped),
        ("3.1", withdrawn),
        (
            "3.2",
            f"documents by tier of review in the allowlist: none {len(kept)}; by who reviewed the licence and when: "
            "no review recorded",
        ),
        ("3.3", redacted + (f"({pii} documents)" if pii else "(no kind recorded)")),
        ("3.3", "none"),
    ]


def scripts(kept):
    methods = Counter(r["method_used"] for r in kept)
    run = sum(r["method_used"] in {"js", "captured"} or "browser" in (r["render_signals"] or {}) for r in kept)
    return (
        f"{run} of {len(kept)} kept documents, in a browser whose requests are the crawler's own; the text is what "
        f"scripts drew in {methods['js']} and JSON that scripts fetched in {methods['captured']}"
    )


def behaviour(rules):
    return (
        "one product token and one User-Agent; robots.txt by RFC 9309, and no request while it cannot be read; at "
        f"least {rules['delay_seconds']:g} s between requests to one domain over all workers, longer where Crawl-delay "
        f"asks for it (up to {rules['robots_max_delay_seconds']:g} s), up to {rules['requests_at_a_time']} at a time; "
        "HTTP 401, 402, 403, 451 are final; no logins, no CAPTCHAs solved, no paywalls passed, no proxies, no change "
        "of identity; cookies are not kept"
    )


def stopped_in(facts):
    no = facts.rejected
    return (
        f"{n(no['robots_disallowed'], 'page')} by robots.txt, {n(no['optout'], 'page')} by an opt-out, "
        f"{n(no['access_denied'], 'page')} by a denial (401, 402, 403, 451), "
        f"{n(no['hold_robots_unreachable'] + no['hold_control_file'], 'page')} on hold because a control file could "
        "not be read"
    )


def judged_no(facts):
    no = facts.rejected
    return (
        f"{n(no['robots_disallowed'], 'page')} by robots.txt, {n(no['optout'], 'page')} by an opt-out, "
        f"{n(no['access_denied'], 'page')} by a denial (401, 402, 403, 451)"
    )


def answers(folder):
    data = eu_summary.as_json(gather(str(folder)))
    fields = [(s["number"], f["value"]) for s in data["sections"] for f in s["fields"] if f["from_the_crawl"]]
    return fields, data


NO_SUBSET = "none so far"


def case(corpora, name):
    """Facts of one of the corpora, the rules of its crawl, and what section 3.1 has to say."""
    facts = Facts(corpora / name)
    rules = said_by_archive(corpora / "crawled")
    if name == "crawled":
        (run,) = facts.manifest["runs"]
        assert run["policy"] == rules
        return facts, rules, [crawl_measure("strict")], stopped_in(facts), NO_SUBSET
    if name == "recrawled":
        assert [run["policy"] for run in facts.manifest["runs"]] == [rules] * 2
        assert len(facts.kept) == 4 and facts.rejected["optout"] == 1  # of six pages one is gone and one said no
        withdrawn = "0 requests, 0 documents removed; 1 time by a rule (no longer granted, refused by now, or its time "
        return facts, rules, [crawl_measure("strict")], stopped_in(facts), withdrawn + "is over), 1 document removed"
    if name == "replayed":
        stopped = (
            f"while archives were judged: {judged_no(facts)}; what the crawls stopped whose archives were replayed "
        )
        stopped += "is not recorded in these archives"
        withdrawn = f"{NO_SUBSET}; those from crawls whose archives were replayed are not recorded in these archives"
        return facts, rules, [crawl_measure("strict"), replay_measure(facts, "balanced")], stopped, withdrawn
    if name == "foreign":
        return (
            facts,
            None,
            [replay_measure(facts, "strict")],
            f"while archives were judged: {judged_no(facts)}",
            NO_SUBSET,
        )
    source = facts.manifest["runs"][-1]["selected_from"]["manifest_sha256"]
    stopped = f"not recorded in a subset; the corpus whose manifest has SHA-256 {source} says it"
    withdrawn = f"{NO_SUBSET}; those of the corpus that it was selected from are listed there"
    return facts, rules, [crawl_measure("strict")], stopped, withdrawn


NAMES = ["crawled", "recrawled", "replayed", "foreign", "twice"]


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_of_the_summary_follows_from_the_files(corpora, name):
    found, data = answers(corpora / name)
    facts, *rest = case(corpora, name)
    assert found == expected(facts, *rest)
    sizes = facts.domains(facts.mine)
    top = sizes[: max(1, math.ceil(len(sizes) * 0.1))] if sizes else []
    rows = [(row["domain"], row["documents"], row["characters"]) for row in data["domains_crawled"]["top_10_percent"]]
    assert rows == [(name, documents, characters) for name, (documents, characters) in top]
    assert data["domains_crawled"]["all"] == len(sizes)
    assert sum(archive["documents"] for archive in data["archives_of_others"]) == len(facts.foreign)
    versions = [step["time"] for step in facts.manifest.get("lineage", ())]
    assert data["last_update"] == max([*(run["ended"] for run in facts.manifest["runs"]), *versions])


@pytest.mark.parametrize("name", NAMES)
def test_croissant_and_card_say_the_same(corpora, name):
    facts, rules, profiles, _, _ = case(corpora, name)
    found = gather(str(corpora / name))
    data = croissant.metadata(found)
    kept, datasets = facts.kept, expected_datasets(facts)
    parts = [f"{len(facts.mine)} documents crawled by {rules['user_agent']}"] if rules else []
    parts += [
        f"{n(int(text.split('Kept: ')[1].split()[0]), 'document')} from archives and files: {text}" for text in datasets
    ]
    assert data["rai:dataCollection"] == ". ".join(parts)
    assert data["rai:dataCollectionType"] == (["Web Scraping"] if rules else ["Secondary Data Analysis"])
    assert data["rai:dataCollectionTimeframe"] == [f(r["crawled_at"] for r in kept) for f in (min, max)]
    assert data.get("url") == (CONTACT if rules else None)
    assert data["description"].startswith(f"Main text of {len(kept)} web pages of {len(facts.domains(kept))} domains, ")
    assert [f["sha256"] for f in data["distribution"][:-1]] == [
        e["sha256"] for e in facts.manifest["files"] if e["kind"] == "shards"
    ]
    card = dataset_card.card(found)
    crawler = f"Crawler: {rules['user_agent']}. Opt-out profile: strict." if rules else "No crawler fetched pages"
    assert crawler in card and ("web-crawl" in card) == bool(rules)
    assert [text for text in profiles if f"Reservations of rights: {text}." not in card] == []
    assert [text for text in datasets if f"Archives and files: {text}." not in card] == []
    assert f"here: {CONTACT if rules else TODO}." in card


def test_a_corpus_of_others_names_neither_our_crawler_nor_its_manners(corpora):
    found = gather(str(corpora / "foreign"))
    told = eu_summary.as_markdown(found) + dataset_card.card(found) + json.dumps(croissant.metadata(found))
    assert "CorpusBot" not in told and "other.example" not in told and "s between requests" not in told
    assert "product token" not in told and "robots.txt by RFC 9309" not in told and "Any refusal wins" not in told
    assert "CC-MAIN-2026-01" in told.split("Private non-publicly")[0].split("Publicly available datasets")[1]


def test_a_mixed_corpus_tells_both_and_counts_each_page_once(corpora, tmp_path):
    folder = tmp_path / "mixed"
    shutil.copytree(corpora / "crawled", folder, ignore=shutil.ignore_patterns("frontier"))
    done = Crawl(folder).run({"archive": str(corpora / "cc")}, spider="replay")
    assert done.returncode == 0, done.stderr
    facts = Facts(folder)
    found = gather(str(folder))
    assert (found.sources.crawled.documents, found.sources.taken) == (len(facts.mine), len(facts.foreign))
    assert 0 < found.sources.taken < len(facts.kept) == found.count
    fields, _ = answers(folder)
    assert ("2.3", f"yes: {len(facts.mine)} of {len(facts.kept)} documents crawled") in fields
    assert ("3.1", crawl_measure("strict")) in fields and ("3.1", replay_measure(facts, "strict")) in fields


# --- a fact changes, and its sentence with it -------------------------------------------------------------------------
def changed(corpora, tmp_path, change):
    folder = tmp_path / "changed"
    shutil.copytree(corpora / "crawled", folder, ignore=shutil.ignore_patterns("frontier"))
    for path in (folder / "manifest.json", *(folder / "manifest.d").glob("*.json")):
        content = json.loads(path.read_bytes())
        change(content)
        path.write_text(json.dumps(content))
    return eu_summary.as_markdown(gather(str(folder)))


def test_another_delay_another_sentence(corpora, tmp_path):
    def change(content):
        content["runs"][0]["policy"]["delay_seconds"] = 7.5

    assert "at least 7.5 s between requests" in changed(corpora, tmp_path, change)


def test_a_pace_by_host_is_not_said_to_be_one_by_domain(corpora, tmp_path):
    def change(content):
        content["runs"][0]["policy"]["politeness_scope"] = "host"

    assert "at least 0.02 s between requests to one host over all workers" in changed(corpora, tmp_path, change)


@pytest.mark.parametrize("profile", ["balanced", "minimal"])
def test_what_a_weaker_profile_only_records_is_not_said_to_be_obeyed(corpora, tmp_path, profile):
    def change(content):
        content["runs"][0]["policy"] |= {"optout_profile": profile, "obeyed": obeyed_under(profile)}

    assert crawl_measure(profile) in changed(corpora, tmp_path, change)


def test_two_runs_with_two_delays_are_both_told(corpora, tmp_path):
    def change(content):
        run = json.loads(json.dumps(content["runs"][0]))
        run["policy"]["delay_seconds"] = 3
        content["runs"].append(run)

    assert "at least 0.02 or 3 s between requests" in changed(corpora, tmp_path, change)


def test_two_runs_under_two_names_are_not_called_one(corpora, tmp_path):
    def change(content):
        run = json.loads(json.dumps(content["runs"][0]))
        run["policy"] |= {"user_agent": "OtherBot/1 (+https://o.example)", "product_token": "OtherBot"}
        content["runs"].append(run)

    told = changed(corpora, tmp_path, change)
    assert "one product token and one User-Agent in a run, in all 2 and 2; robots.txt" in told


def test_what_a_rule_removed_is_no_request_of_anybody(corpora, tmp_path):
    folder = tmp_path / "ruled"
    shutil.copytree(corpora / "crawled", folder, ignore=shutil.ignore_patterns("frontier"))
    first, second, *_ = (record["url"] for record in Facts(folder).kept)
    for url, rule in ((first, "lifetimes"), (second, "allowlist")):
        withdraw(Place(str(folder)), Wish("ruled", revoked=lambda r, url=url: r["url"] == url, rule=rule), now=1.8e9)
    found = gather(str(folder))
    ruled = (
        "0 requests, 0 documents removed; 2 times by a rule (no longer granted, refused by now, or its time is over)"
    )
    assert f"{ruled}, 2 documents removed" in eu_summary.as_markdown(found)
    assert "Requests carried out so far: 0." in dataset_card.card(found)


def test_croissant_describes_the_fields_and_files_as_they_are(corpora):
    folder = corpora / "crawled"
    data = croissant.metadata(gather(str(folder)))
    (records,) = data["recordSet"]
    repeated = {field["name"] for field in records["field"] if field.get("repeated")}
    assert repeated == {name for record in Facts(folder).kept for name, value in record.items() if type(value) is list}
    for file in data["distribution"][:-1]:
        is_zstandard = (folder / file["contentUrl"]).read_bytes().startswith(b"\x28\xb5\x2f\xfd")
        assert (file["encodingFormat"] == "application/zstd") == is_zstandard


def test_the_minimal_profile_lists_neither_what_it_does_not_ask_nor_what_it_does_not_obey(corpora, tmp_path):
    def change(content):
        policy = content["runs"][0]["policy"]
        policy["optout_profile"] = "minimal"
        del policy["obeyed"]  # as runs of older versions: every detector is listed, the profile says which counted

    told = changed(corpora, tmp_path, change)
    assert "profile minimal" in told and "tdmrep version" in told
    for name in ("ai.txt", "trust.txt", "ai-policy", "llms.txt", "ai-bots", "rsl version", "creative-commons"):
        assert name not in told


def test_without_a_record_of_its_rules_a_crawl_says_so(corpora, tmp_path):
    def change(content):
        content["runs"][0]["policy"] = {}

    told = changed(corpora, tmp_path, change)
    assert "CorpusBot" not in told and "not recorded" in told and "s between requests" not in told


@pytest.mark.parametrize("name", ["replayed", "foreign"])
def test_no_path_of_this_machine_is_in_an_export_or_a_mixture(corpora, tmp_path, name):
    """Records of a replay say where the archive lies that they are from."""
    assert any(str(corpora) in record["warc_file"] for record in Facts(corpora / name).kept)
    mixed = tmp_path / "mix.yaml"
    mixed.write_text(f"tokens: 500\ntolerance: 0.9\nseed: 1\nsources:\n  ours: {{corpus: {corpora / name}}}\n")
    for words in (("export", corpora / name), ("mix", mixed)):
        out = tmp_path / words[0]
        done = scrapy("dataset", *words, "--to", "jsonl.gz", "--out", out)
        assert done.returncode == 0, done.stderr
        texts = [gzip.decompress(path.read_bytes()) for path in (out / "data").iterdir()]
        for content in (*texts, *((out / name).read_bytes() for name in PUBLISHED)):
            assert str(corpora).encode() not in content
        files = {json.loads(line)["warc_file"] for text in texts for line in text.splitlines()}
        assert files and all("/" not in file and ".warc" in file for file in files)


def test_a_dropped_domain_leaves_the_tables_and_the_counts(corpora, tmp_path):
    folder = tmp_path / "without"
    shutil.copytree(corpora / "crawled", folder, ignore=shutil.ignore_patterns("frontier"))
    before = Facts(folder)
    domain, (documents, _) = before.domains(before.kept)[0]
    assert f"| {domain} | {documents} |" in eu_summary.as_markdown(gather(str(folder)))
    withdraw(Place(str(folder)), Wish("a letter", frozenset({domain}), refused=frozenset({domain})), now=1.8e9)
    told = eu_summary.as_markdown(gather(str(folder)))
    assert domain not in told
    assert f"1 request, {documents} documents removed; 1 domain not requested again" in told
    assert f"{len(before.kept) - documents} kept web pages" in told


def test_an_archive_can_claim_what_it_likes_and_stays_a_claim(tmp_path):
    writer = Writer()
    lies = {"software": "<script>x</script>" * 50, "X-Crawl-Policy": '{"user_agent": 7, "delay_seconds": "often"}'}
    writer.records.append(warcinfo(lies))
    writer.add("http://a.test/1", page(1)).save(tmp_path / "cc" / "a.warc.gz")
    done = Crawl(tmp_path / "corpus").run({"archive": str(tmp_path / "cc")}, spider="replay")
    assert done.returncode == 0, done.stderr
    (run,) = json.loads((tmp_path / "corpus" / "manifest.json").read_bytes())["runs"]
    (origin,) = run["origins"].values()
    assert set(origin) == {"software"} and len(origin["software"]) == 300
    assert gather(str(tmp_path / "corpus")).sources.taken == 1


def test_the_folder_of_a_test_corpus_is_what_it_seems(corpora):
    assert {name: bool(Facts(Path(corpora, name)).kept) for name in NAMES} == dict.fromkeys(NAMES, True)
