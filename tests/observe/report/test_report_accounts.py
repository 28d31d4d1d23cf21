"""Every number of the accounts is computed a second time here, from shards, rejected records and runs."""

from __future__ import annotations

import json
import math
import re
import statistics

import orjson
import pytest

from crawler.config import ConfigError, from_mapping
from crawler.document import Signal
from crawler.observe import write as report
from crawler.observe.report import accounts, figures, gates, table
from crawler.observe.report.accounts import BY
from crawler.observe.report.costs import Prices
from crawler.storage.files import accounts as counting
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from crawler.storage.files.shards import read_lines
from crawler.times import rfc3339
from tests.observe.report.conftest import COUNTERS
from tests.support.corpus_folder import Folder, document
from tests.support.places import PROJECT

PRICES = {"COST_REQUEST": "0.001", "COST_GB": "0.5", "COST_CPU_HOUR": "2", "COST_BROWSER_MINUTE": "0.25"}
UNASKED = ("robots_disallowed", "network_forbidden", "withdrawn")


def every_record(folder):
    kept = [record | {"_kept": True} for record in folder.records("shards")]
    return kept + [record | {"_kept": False} for record in folder.records("rejected")]


def group_of(by, record, folder):
    if by == "domain":
        return record["domain"]
    if by == "day":
        return record["crawled_at"].split("T")[0]
    if by == "tier":
        return record["license_tier"] or "none"
    if by == "language":
        return record["language"] or "unknown"
    started = [run["started"] for run in folder.manifest()["runs"]]
    return f"crawl {started[int(record['crawled_at'][8:10]) >= 20]}"


def tried_browser(record):
    return record["method_used"] in ("js", "captured") or "browser" in record["render_signals"]


def audited(record):
    day = record["license_reviewed"]
    return bool(
        record["license_tag"] and record["license_tier"] and record["license_reviewer"] and record["noai_checked"]
        and day != "soon" and day <= record["crawled_at"][:10]
        and not [signal for signal in record["optout_signals"] if signal["verdict"] == "disallow"]
    )  # fmt: skip


def stating_another(record):
    stated = [signal["value"] for signal in record["optout_signals"] if signal["protocol"] == "creative-commons"]
    return bool(record["license_tier"] and stated and record["license_tag"] not in stated)


def asked(record):
    return record["_kept"] or not (record["reason"].startswith("hold_") or record["reason"] in UNASKED)


def oracle(records, everything, counters, *, by):
    kept = [record for record in records if record["_kept"]]
    reasons = [record["reason"] for record in records if not record["_kept"]]
    tokens = sum(record["token_estimate"] for record in kept)
    requests = sum(map(asked, records))
    read = [record for record in records if record["extraction_yield"] is not None or tried_browser(record)]
    part = {
        "requests": requests / sum(map(asked, everything)),
        "pages": len(read) / sum(r["extraction_yield"] is not None or tried_browser(r) for r in everything),
        "drawn": sum(map(tried_browser, records)) / sum(map(tried_browser, everything)),
    }
    if by in ("batch", "all"):
        part = dict.fromkeys(part, 1)
    all_requests = counters["downloader/request_count"] * part["requests"]
    received = counters["downloader/response_bytes"] * part["requests"]
    cpu = counters["stage/cpu_ms"] / 1000 * part["pages"]
    browser = counters.get("browser/ms", 0) / 1000 * part["drawn"]
    cost = 0.001 * all_requests + 0.5 * received / 1e9 + 2 * cpu / 3600 + 0.25 * browser / 60
    duplicates = reasons.count("exact_duplicate") + reasons.count("near_duplicate")
    yields = [record["extraction_yield"] for record in records if record["extraction_yield"] is not None]
    found = {
        "requests": requests,
        "kept": len(kept),
        "rejected": sum(not reason.startswith("hold_") and reason != "unchanged" for reason in reasons),
        "tokens": tokens,
        "token_share": tokens / sum(record["token_estimate"] for record in everything if record["_kept"]),
        "uniqueness": len(kept) / (len(kept) + duplicates),
        "tokens_per_request": tokens / requests,
        "all_requests": all_requests,
        "received_bytes": received,
        "cpu_seconds": cpu,
        "tokens_per_cpu_second": tokens / cpu,
        "cost": cost,
        "tokens_per_cost": tokens / cost,
        "pii_rate": sum(record["pii_flag"] for record in kept) / len(kept),
        "licence_pass_rate": sum(map(audited, kept)) / len(kept),
        "licence_conflict_rate": sum(map(stating_another, kept)) / len(kept),
        "extraction_yield": statistics.fmean(yields) if yields else None,
        "escalation_rate": sum(map(tried_browser, records)) / len(read),
    }
    for kind in {kind for record in kept for kind in record["pii_entity_types"]}:
        found[f"pii_rate/{kind}"] = sum(kind in record["pii_entity_types"] for record in kept) / len(kept)
    return found


def close(value, wanted):
    return value == wanted or (None not in (value, wanted) and math.isclose(value, wanted, rel_tol=1e-9))


def prices():
    return Prices.of(from_mapping(PRICES).report)


def total_counters():
    return {name: sum(c.get(name, 0) for c in COUNTERS.values()) for name in COUNTERS[2]}


def check(account, wanted):
    figures = account.figures()
    wrong = {name: (figures.get(name), value) for name, value in wanted.items() if not close(figures.get(name), value)}
    assert not wrong, (account.name, wrong)
    assert {name for name, value in figures.items() if value is not None} <= {*wanted, "target_share"}


@pytest.mark.parametrize("by", BY)
def test_every_figure_of_every_group_is_that_of_the_records(books_folder, by):
    everything = every_record(books_folder)
    found = accounts.read(Place(str(books_folder.path)), prices()).groups[by]
    groups = {}
    for record in everything:
        groups.setdefault(group_of(by, record, books_folder), []).append(record)
    assert {account.name for account in found} == groups.keys() and len(found) >= 2
    for account in found:
        counters = total_counters()
        if by == "batch":
            started = [run["started"] for run in books_folder.manifest()["runs"]]
            counters = COUNTERS[1 + started.index(account.name.split()[1])]
        check(account, oracle(groups[account.name], everything, counters, by=by))


def test_the_whole_is_that_of_all_records_and_so_is_the_series(books_folder):
    everything = every_record(books_folder)
    books = accounts.read(Place(str(books_folder.path)), prices())
    check(books.whole, oracle(everything, everything, total_counters(), by="all"))
    assert sum(account.counts["tokens"] for account in books.series) == books.whole.counts["tokens"]
    assert [account.name for account in books.series] == sorted({r["crawled_at"][:13] for r in everything})


def test_the_numbers_in_stats_json_are_the_same_and_no_record_was_read_for_them(books_folder, monkeypatch):
    monkeypatch.setattr(accounts, "read_records", None)
    config = from_mapping({**PRICES, "TARGET_LANGUAGES": "en:0.5,de:0.3,fr:0.2"}).report
    report.write(report.read(str(books_folder.path), config=config))
    numbers = json.loads((books_folder.path / "stats.json").read_bytes())
    everything = every_record(books_folder)
    wanted = oracle(everything, everything, total_counters(), by="all")
    whole = numbers["accounts"]["whole"]
    assert all(
        whole[name] == (value if value is None else pytest.approx(value, abs=1e-6)) for name, value in wanted.items()
    )
    assert numbers["accounts"]["currency"] == "EUR" and set(numbers["accounts"]["by"]) == set(BY)
    shares = {row["name"]: (row["token_share"], row["target_share"]) for row in numbers["accounts"]["by"]["language"]}
    assert shares["fr"] == (0, 0.2) and shares["unknown"][1] == 0
    have = {name: share or 0 for name, (share, _) in shares.items()}
    should = {"en": 0.5, "de": 0.3, "fr": 0.2}
    distance = sum(abs(have[name] - should.get(name, 0)) for name in have) / 2
    assert numbers["concentration"]["target_distance"] == pytest.approx(distance, abs=1e-5)


def test_without_prices_nothing_has_a_cost(books_folder):
    figures = accounts.read(Place(str(books_folder.path))).whole.figures()
    assert figures["cost"] is figures["tokens_per_cost"] is None and figures["cpu_seconds"] == 37.5


def test_records_of_a_run_that_does_not_say_what_it_spent_are_not_divided_by_what_others_spent(tmp_path):
    """One machine's worker was killed; its counters are lost, its files are not."""
    folder = Folder(tmp_path / "corpus")
    for worker, count in (("told", 2), ("killed", 3)):
        corpus = folder.opened(worker)
        for number in range(count):
            corpus.keep(record_of(document(number + 10 * count)) | {"token_estimate": 100, "extraction_yield": 0.5})
        corpus.note(COUNTERS[1] if worker == "told" else {})
        corpus.close()
    books = accounts.read(Place(str(folder.path)), prices())
    cpu = COUNTERS[1]["stage/cpu_ms"] / 1000
    assert (books.untold, books.whole.figures()["tokens"]) == (3, 500)
    assert books.whole.figures()["tokens_per_cpu_second"] == 200 / cpu
    for by in ("domain", "batch", "language"):
        spent = [account.figures() for account in books.groups[by]]
        assert math.isclose(sum(row["cpu_seconds"] or 0 for row in spent), cpu)
        assert all((row["tokens_per_cpu_second"] or 200 / cpu) == 200 / cpu for row in spent)
    assert any(
        "3 records of runs that do not say what they spent" in note for note in table.notes(books, "day", None, 0)
    )


def test_pages_that_state_another_licence_than_the_allowlist_are_counted_and_named(tmp_path):
    stated = {
        "a.test": [("header", "https://creativecommons.org/licenses/by-nc/4.0/")],
        "b.test": [("meta", "//creativecommons.org/licenses/by/4.0/deed.de")],  # the same as the allowlist
        "c.test": [("page", "LicenseRef-CC-BY-SA-3.0-NL"), ("meta", "https://creativecommons.org/licenses/by/4.0/")],
        "d.test": [("meta", "https://creativecommons.org/share-your-work/")],  # no licence
        "e.test": [("page", "CC-BY-SA-4.0")],  # of a page that no allowlist covers
        "f.test": [("page", "LicenseRef-CC-BY-SA-3.0-NL")],
    }
    folder = Folder(tmp_path / "corpus")
    corpus = folder.opened()
    for number, (domain, statements) in enumerate(stated.items()):
        doc = document(number, url=f"https://{domain}/", domain=domain, license_tag="CC-BY-4.0")
        doc.license_tier = None if domain == "e.test" else "A"
        doc.optout_signals = [Signal("creative-commons", carrier, value) for carrier, value in statements]
        corpus.keep(record_of(doc))
    corpus.close()
    balance = report.read(str(folder.path)).balance
    assert "2 documents state another licence than the allowlist gives them: a.test, f.test" in balance.warnings
    books = accounts.read(Place(str(folder.path)), prices())
    rates = {account.name: account.figures()["licence_conflict_rate"] for account in books.groups["domain"]}
    assert rates == {domain: float(domain in ("a.test", "f.test")) for domain in stated}
    (tmp_path / "gates.yaml").write_text("whole: {licence_conflict_rate: {max: 0}}")
    (breach,) = gates.check(gates.read(tmp_path / "gates.yaml").bounds, books, balance)
    assert str(breach).endswith(": licence_conflict_rate is 0.333333, above the maximum 0")


def test_concentration_is_that_of_the_domains(books_folder):
    tokens = {}
    for record in books_folder.records("shards"):
        tokens[record["domain"]] = tokens.get(record["domain"], 0) + record["token_estimate"]
    amounts, total = list(tokens.values()), sum(tokens.values())
    config = from_mapping({"CONCENTRATION_WARN": "0.2"}).report
    found = report.read(str(books_folder.path), config=config).balance
    numbers = found.as_dict()
    assert numbers["top1_tokens"] == pytest.approx(max(amounts) / total, abs=1e-6)
    assert numbers["top10_tokens"] == numbers["top100_tokens"] == 1
    assert numbers["hhi_tokens"] == pytest.approx(sum((x / total) ** 2 for x in amounts), abs=1e-6)
    double = sum(abs(x - y) for x in amounts for y in amounts) / (2 * len(amounts) * total)
    assert numbers["gini_tokens"] == pytest.approx(double, abs=1e-6)
    warning, licences = found.warnings
    assert warning.startswith(
        f"{100 * max(amounts) / total:.1f} % of the tokens are of one domain, {max(tokens, key=tokens.get)}"
    )
    config = from_mapping({"CONCENTRATION_WARN": "1"}).report
    assert report.read(str(books_folder.path), config=config).balance.warnings == [licences]


def older(folder, target, change):
    """The same corpus with other manifest entries."""
    for path in folder.path.rglob("*"):
        if path.is_file():
            copy = target / path.relative_to(folder.path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    manifest = json.loads((target / "manifest.json").read_bytes())
    for entry in manifest["files"]:
        change(entry)
    (target / "manifest.json").write_bytes(orjson.dumps(manifest))
    return Place(str(target))


def test_files_of_an_older_version_are_read_again_or_named_as_not_counted(books_folder, tmp_path):
    whole = accounts.read(Place(str(books_folder.path))).whole
    place = older(books_folder, tmp_path / "old", lambda entry: entry.pop("accounts", None))
    quick = accounts.read(place)
    assert quick.uncounted == 300 and quick.whole.counts == {}
    again = accounts.read(place, reread=True)
    assert (again.uncounted, again.whole.counts) == (0, whole.counts)


def test_domains_beyond_the_listed_ones_are_counted_together_until_they_are_read_again(books_folder, tmp_path):
    def cut(entry):
        if "accounts" in entry:
            made = counting.Accounts(most=2)
            for line in read_lines(books_folder.path / entry["path"]):
                made.add(orjson.loads(line))
            entry["accounts"] = made.entry()

    place = older(books_folder, tmp_path / "cut", cut)
    whole = accounts.read(Place(str(books_folder.path)))
    quick, again = accounts.read(place), accounts.read(place, reread=True)
    assert quick.whole.counts == again.whole.counts == whole.whole.counts
    assert counting.OTHER in {account.name for account in quick.groups["domain"]}
    assert [(a.name, a.counts) for a in again.groups["domain"]] == [(a.name, a.counts) for a in whole.groups["domain"]]


@pytest.mark.parametrize(
    ("count", "step", "length"),
    [(300, 1, 19), (600, 1, 16), (600, 60, 13), (600, 3600, 10), (600, 86_400, 7), (600, 40 * 86_400, 4)],
)
def test_times_are_told_as_finely_as_their_number_allows(count, step, length):
    made = counting.Accounts()
    for n in range(count):
        made.add({"domain": "a.test", "crawled_at": rfc3339(1_767_225_600.0 + n * step)})
    times = made.entry()["time"]
    assert {len(name) for name in times} == {length} and len(times) <= counting.MAX_TIMES
    assert sum(counts["kept"] for counts in times.values()) == count


def test_workers_side_by_side_are_one_batch_and_a_later_run_is_another(tmp_path):
    from crawler.observe.report.batches import batches_of

    def run(worker, started, ended, crawl="c"):
        return {"crawl_id": crawl, "worker_id": worker, "started": started, "ended": ended}

    found = batches_of([
        run("w2", "2026-01-01T01", "2026-01-01T09"), run("w1", "2026-01-01T00", "2026-01-01T02"),
        run("w1", "2026-01-01T08", "2026-01-01T10"), run("w1", "2026-01-02T00", None), run("w2", "2026-01-05T00", None),
        run("w1", "2026-01-01T00", "2026-01-01T01", "other"),
    ])  # fmt: skip
    assert [(batch.name, len(batch.runs)) for batch in found] == [
        ("c 2026-01-01T00", 3), ("other 2026-01-01T00", 1), ("c 2026-01-02T00", 2)
    ]  # fmt: skip


def test_the_page_has_the_formula_of_every_figure_and_every_account_has_exactly_these(books_folder):
    assert figures.markdown() in (PROJECT / "docs" / "report.md").read_text("utf-8")
    named = accounts.read(Place(str(books_folder.path))).whole.figures()
    assert [name for name in named if not name.startswith(figures.PII)] == list(figures.FIGURES)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("en", "expected language:share"),
        ("en:2", "at most 1"),
        ("en:0", "above 0"),
        ("en:nan", "above 0"),
        (":1", "expected a language"),
        ("en:0.5,en:0.5", "each language once"),
        ("en:0.5,de:0.4", "add up to 1, not to 0.9"),
    ],
)
def test_a_target_that_cannot_be_reached_by_anybody_is_refused(given, says):
    with pytest.raises(ConfigError, match=re.escape(says)):
        from_mapping({"TARGET_LANGUAGES": given})
