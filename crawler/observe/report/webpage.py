"""The summary for a browser: one file without scripts or external assets; everything from outside is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from string import Template

from crawler.observe.report import quarantine
from crawler.observe.report.reasons import meaning
from crawler.observe.report.samples import Sample
from crawler.observe.report.summary import Summary, Verdicts
from crawler.observe.report.terminal import duration, size
from crawler.storage.files.tally import SCORE_BINS

TEMPLATE = Path(__file__).with_name("report.html")
_TOP = 30
_HISTOGRAM_TITLES = {
    "quality_score": "Quality score",
    "language_score": "Language score",
    "extraction_yield": "Extraction yield (characters out per byte in)",
    "word_count": "Words per document",
}


def page(summary: Summary, samples: Iterable[Sample] = (), duplicates: Iterable[str] = ()) -> str:
    """The report as a complete HTML document."""
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=escape(", ".join(summary.crawls) or "corpus"),
        subtitle=escape(_subtitle(summary)),
        share=_share(summary),
        legend=escape(_legend(summary)),
        figures="".join(_figures(summary)),
        sections="\n".join([*_sections(summary), *duplicates, *_samples(samples)]),
        footer=escape(_footer(summary)),
    )


def _subtitle(summary: Summary) -> str:
    span = f"{summary.first_crawled_at} – {summary.last_crawled_at}" if summary.first_crawled_at else "nothing yet"
    return f"{summary.where} · {span}"


def _share(summary: Summary) -> str:
    parts = (("kept", summary.kept), ("not", summary.rejected), ("hold", summary.held))
    return "".join(f'<i class="{name}" style="flex:{count}"></i>' for name, count in parts if count)


def _legend(summary: Summary) -> str:
    held = f", {_n(summary.held)} on hold" if summary.held else ""
    return f"{_n(summary.kept)} kept, {_n(summary.rejected)} rejected{held}"


def _figures(summary: Summary) -> Iterator[str]:
    yield _figure(_n(summary.kept), "documents kept")
    yield _figure(_n(summary.words), "words")
    yield _figure(_n(summary.tokens), "tokens, estimated")
    yield _figure(_n(len(summary.domains)), "domains")
    yield _figure(_n(len(summary.languages)), "languages")
    if summary.pages_per_second is not None:
        yield _figure(f"{summary.pages_per_second:.1f}", f"pages/s over {duration(summary.seconds)}")
    if summary.fetched_bytes is not None:
        yield _figure(size(summary.fetched_bytes), "fetched")


def _figure(value: str, label: str) -> str:
    return f'<div><b>{escape(value)}</b><span class="soft">{escape(label)}</span></div>'


def _sections(summary: Summary) -> Iterator[str]:
    if summary.rejections:
        yield "<h2>Rejected, in the order of the flow</h2>" + _verdicts(summary.rejections, "not")
    if summary.holds:
        yield "<h2>On hold: tried again by a later run</h2>" + _verdicts(summary.holds, "hold")
    if summary.quarantined:
        yield f"<h2>In quarantine</h2><p class=soft>{escape(quarantine.MEANING)}</p>" + _quarantine(summary.quarantined)
    if summary.histograms:
        yield "<h2>Kept documents</h2><div class=two>" + "".join(_histograms(summary)) + "</div>"
    yield "<div class=two>" + "".join(_tables(summary)) + "</div>"
    yield "<h2>Files</h2>" + _files(summary)


def _tables(summary: Summary) -> Iterator[str]:
    for title, counts in (
        ("Domains", summary.domains),
        ("Rejected, by domain", summary.rejected_domains),
        ("Languages", summary.languages),
        ("Licences", summary.licences),
        ("Personal data, redacted (documents)", summary.pii_types),
        ("Links left out, counted on every page", summary.left_out),
    ):
        if counts:
            colour = "not" if counts in (summary.rejected_domains, summary.left_out) else "kept"
            more = f" ({_TOP} of {_n(len(counts))})" if len(counts) > _TOP else ""
            yield f"<section><h2>{escape(title + more)}</h2>{_counts(counts, colour)}</section>"


def _verdicts(verdicts: list[Verdicts], colour: str) -> str:
    most = max(verdict.count for verdict in verdicts)
    rows = (
        f"<tr><td class='soft stage'>{escape(verdict.stage)}</td>"
        f"<td><code>{escape(verdict.reason)}</code><span class=hint>{escape(meaning(verdict.reason))}</span></td>"
        f"<td class=n>{_n(verdict.count)}</td>{_bar(verdict.count, most, colour)}</tr>"
        for verdict in verdicts
    )
    return f"<table>{''.join(rows)}</table>"


def _quarantine(found: dict[str, float]) -> str:
    rows = (
        f"<tr><td>{escape(domain)}</td><td class=n>{100 * share:.1f} %</td></tr>" for domain, share in found.items()
    )
    return f"<table><tr><th>domain<th class=n>latest yield</tr>{''.join(rows)}</table>"


def _counts(counts: dict[str, int], colour: str) -> str:
    most = max(counts.values())
    rows = (
        f"<tr><td>{escape(name)}</td><td class=n>{_n(count)}</td>{_bar(count, most, colour)}</tr>"
        for name, count in list(counts.items())[:_TOP]
    )
    return f"<table>{''.join(rows)}</table>"


def _bar(count: int, most: int, colour: str) -> str:
    return f'<td class=bar><span class="{colour}" style="width:{100 * count / most:.1f}%"></span></td>'


def _histograms(summary: Summary) -> Iterator[str]:
    for name, title in _HISTOGRAM_TITLES.items():
        if bins := {int(key): count for key, count in summary.histograms.get(name, {}).items()}:
            scores = name != "word_count"
            keys = range(SCORE_BINS) if scores else range(min(bins), max(bins) + 1)
            ends = ("0", "1") if scores else (_n(2 ** keys[0]), _n(2 ** (keys[-1] + 1)))
            yield _histogram(title, [bins.get(key, 0) for key in keys], ends)


def _histogram(title: str, counts: list[int], ends: tuple[str, str]) -> str:
    most = max(counts)
    bars = "".join(f'<i style="height:{100 * count / most:.1f}%" title="{_n(count)}"></i>' for count in counts)
    axis = "".join(f"<span>{escape(end)}</span>" for end in ends)
    return (
        f"<figure><figcaption>{escape(title)}</figcaption>"
        f"<div class=histogram>{bars}</div><div class=axis>{axis}</div></figure>"
    )


def _files(summary: Summary) -> str:
    head = "<tr><th>folder</th><th class=n>files</th><th class=n>documents</th><th class=n>size</th>"
    head += "<th class=n>uncompressed</th><th class=n>in progress</th></tr>"
    rows = (
        f"<tr><td><code>{escape(folder.name)}/</code></td><td class=n>{_n(folder.files)}</td>"
        f"<td class=n>{_n(folder.documents)}</td><td class=n>{size(folder.size)}</td>"
        f"<td class=n>{'' if folder.uncompressed is None else size(folder.uncompressed)}</td>"
        f"<td class=n>{folder.growing or ''}</td></tr>"
        for folder in summary.folders
    )
    return f"<table>{head}{''.join(rows)}</table>"


def _samples(samples: Iterable[Sample]) -> Iterator[str]:
    for kept, title in ((True, "Samples: kept"), (False, "Samples: rejected")):
        if chosen := [sample for sample in samples if sample.kept == kept]:
            yield f"<h2>{title}</h2>" + "".join(_sample(sample) for sample in chosen)


def _sample(sample: Sample) -> str:
    verdict = "" if sample.kept else f"<code>{escape(sample.verdict)}</code> "
    text = f"<p>{escape(sample.excerpt)}</p>" if sample.excerpt else ""
    return (
        f'<article class="{"yes" if sample.kept else "no"}"><b>{escape(sample.title or sample.url)}</b>'
        f'<div class="soft url">{verdict}{escape(sample.url)}<br>{escape(sample.facts)}</div>{text}</article>'
    )


def _footer(summary: Summary) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in summary.versions.items())
    return f"{summary.runs} run(s), {summary.workers} worker(s) · {versions} · {' '.join(summary.config_digests)}"


def _n(number: int) -> str:
    return f"{number:,}"
