"""The bench of the exporter's looks runs, and a bar that is missed is its exit code."""

from __future__ import annotations

from bench.speed import scrape


def test_a_small_frontier_is_looked_at_within_the_bars(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["scrape", "--domains", "300", "--looks", "2"])
    monkeypatch.setattr(scrape, "COMMAND_MS", 10_000.0)  # a busy machine is not what is looked at here
    assert scrape.main() == 0
    assert "| domains seen | 300.0 domains | ≥ 300 domains | 1.00 |" in capsys.readouterr().out


def test_a_command_that_keeps_the_server_too_long_is_a_bar_missed(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["scrape", "--domains", "300", "--looks", "1"])
    monkeypatch.setattr(scrape, "COMMAND_MS", 0.001)
    assert scrape.main() == 1
    assert "longest command of a look" in capsys.readouterr().out
