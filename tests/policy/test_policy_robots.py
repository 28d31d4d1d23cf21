"""The robots.txt engine: RFC 9309, the readings of Google's parser, and caps."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.policy.robots import parse as robots
from crawler.policy.robots.delay import request_rate
from crawler.policy.robots.match import Rule, RuleSet, normalize, normalize_pattern
from crawler.policy.robots.parse import parse
from crawler.policy.signals import content_signal
from crawler.policy.signals.base import Context

BOT = "CorpusBot"
CONTEXT = Context(BOT, "balanced", 0.0)


def allowed(text: str | bytes, path: str, bot: str = BOT) -> bool:
    body = text if isinstance(text, bytes) else text.encode()
    return parse(body).decide(bot, path).allowed


# --- groups (RFC 9309 section 2.2.1) ---------------------------------------------------------------------------------
RFC_EXAMPLE = """User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""


@pytest.mark.parametrize(
    "bot, path, expected",
    [
        ("anybot", "/a/b.gif", False),
        ("anybot", "/a/b.gif?x", True),
        ("anybot", "/example/x", False),
        ("anybot", "/publications/x", True),
        ("foobot", "/x", False),
        ("foobot", "/example/page.html", True),
        ("FooBot", "/example/allowed.gif", True),
        ("barbot", "/example/page.html", False),
        ("bazbot", "/example/page.html", False),
        ("bazbot", "/example/", True),
        ("quxbot", "/example/", True),
    ],
)
def test_the_example_of_rfc_9309_section_5_1_is_read_as_the_rfc_explains_it(bot, path, expected):
    assert allowed(RFC_EXAMPLE, path, bot) is expected


def test_the_longest_match_of_rfc_9309_section_5_2_wins():
    text = "User-agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n"
    assert allowed(text, "/example/page/x", "foobot")
    assert not allowed(text, "/example/page/disallowed.gif", "foobot")


def test_all_groups_that_match_are_merged_and_the_wildcard_group_is_only_a_fallback():
    text = "User-agent: CorpusBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n\nUser-agent: corpusbot\nDisallow: /c\n"
    assert [allowed(text, path) for path in ("/a", "/b", "/c")] == [False, True, False]
    assert [allowed(text, path, "Other") for path in ("/a", "/b", "/c")] == [True, False, True]


OURS = ["CorpusBot", "corpusbot", "CORPUSBOT/2.1", "CorpusBot 1.0", "CorpusBot*", "CorpusBot;x"]
OTHERS = ["CorpusBotNews", "Corpus", "Corpus-Bot", "Mozilla/5.0 (compatible; OtherBot)", "", "+", "*News", "Other*"]
UNCLEAR = [
    *("Googlebot, *", "Googlebot,*", "*,", "**", ", *", ": *", "*;", '"*"', "*bot", "Corpus*", "*pusb*", "* Googlebot"),
    *("Googlebot, CorpusBot", "Googlebot CorpusBot", "a;b;CorpusBot/1.0", "+CorpusBot", "(CorpusBot)"),
    "Mozilla/5.0 (compatible; CorpusBot/1.0; +https://bot.example)",
]


@pytest.mark.parametrize("value", OURS)
def test_a_group_is_addressed_by_product_token_whatever_follows_it(value):
    assert not allowed(f"User-agent: {value}\nDisallow: /\n", "/x")


@pytest.mark.parametrize("value", OTHERS)
def test_another_name_is_not_ours(value):
    assert allowed(f"User-agent: {value}\nDisallow: /\n", "/x")


@pytest.mark.parametrize("value", UNCLEAR)
def test_a_line_that_may_have_meant_us_forbids(value):
    assert not allowed(f"User-agent: {value}\nDisallow: /x\nAllow: /x/y\n", "/x")
    assert allowed(f"User-agent: {value}\nDisallow: /x\nAllow: /x/y\n", "/x/y")


@pytest.mark.parametrize("value", [value for value in UNCLEAR if value != "* Googlebot"])
def test_a_line_that_may_have_meant_us_never_lifts_what_the_rfc_reads(value):
    unclear, clear = f"User-agent: {value}\nAllow: /x\n", "User-agent: *\nDisallow: /x\n"
    assert not allowed(f"{unclear}\n{clear}", "/x")
    assert not allowed(f"{clear}\n{unclear}", "/x")
    assert allowed(f"User-agent: {value}\nDisallow: /x\n\n{clear}".replace("/x", "/z"), "/x")


def test_a_bot_in_a_list_is_named_though_the_rfc_reads_the_first_name_alone():
    file = parse(b"User-agent: Googlebot, GPTBot, *\nDisallow: /x\nUser-agent: CCBot\nAllow: /\n")
    for bot in ("Googlebot", "GPTBot"):
        named = file.decide_named(bot, "/x")
        assert named is not None
        assert not named.allowed
    assert file.decide_named("ClaudeBot", "/x") is None, "everybody is nobody by name"
    assert allowed("User-agent: a, GPTBot\nAllow: /\nUser-agent: GPTBot\nDisallow: /", "/x")
    twice = parse(b"User-agent: a, GPTBot\nAllow: /\nUser-agent: GPTBot\nDisallow: /\n").decide_named("GPTBot", "/x")
    assert twice is not None
    assert not twice.allowed


def test_records_behind_an_unclear_line_count_and_take_nothing_back():
    ours, everybodys = "User-agent: a, CorpusBot\nCrawl-delay: 9", "User-agent: *\nCrawl-delay: 2\nContent-Signal: x"
    file = parse(f"{ours}\nDisallow: /q\n\n{everybodys}\n".encode())
    assert file.crawl_delay(BOT) == 9
    assert file.crawl_delay("Other") == 2
    readings = [[r.value for r in records] for records in file.readings_of(BOT, "content-signal")]
    assert readings == [["x"], []]
    assert [r.value for r in file.records_for(BOT, "content-signal")] == ["x"]


def test_an_unknown_record_never_ends_a_group():
    text = "User-agent: a\nCrawl-delay: 5\nSitemap: /s.xml\nNonsense: 1\nUser-agent: CorpusBot\nDisallow: /x\n"
    assert not allowed(text, "/x")
    assert not allowed(text, "/x", "a")


def test_a_rule_ends_the_run_of_user_agent_lines():
    text = "User-agent: a\nDisallow: /x\nUser-agent: CorpusBot\nDisallow: /y\n"
    assert allowed(text, "/x")
    assert not allowed(text, "/y")


def test_an_empty_disallow_ends_the_run_too_and_disallows_nothing():
    text = "User-agent: a\nDisallow:\nUser-agent: CorpusBot\nDisallow: /y\n"
    assert allowed(text, "/y", "a")
    assert not allowed(text, "/y")


def test_rules_before_any_group_apply_to_nobody():
    assert allowed("Disallow: /\nUser-agent: *\nDisallow: /x\n", "/y")


# --- rules (sections 2.2.2 and 2.2.3) --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "rules, path, expected",
    [
        ("Disallow: /\nAllow: /p", "/page", True),
        ("Allow: /folder\nDisallow: /folder", "/folder/page", True),
        ("Allow: /page\nDisallow: /*.htm", "/page.htm", False),
        ("Allow: /page\nDisallow: /*.ph", "/page.php5", True),
        ("Allow: /$\nDisallow: /", "/", True),
        ("Allow: /$\nDisallow: /", "/page.htm", False),
        ("Disallow: /fish", "/Fish.asp", True),
        ("Disallow: /fish", "/fish?id=x", False),
        ("Disallow: /fish", "/catfish", True),
        ("Disallow: /fish/", "/fish", True),
        ("Disallow: /*.php", "/folder/filename.php?parameters", False),
        ("Disallow: /*.php", "/windows.PHP", True),
        ("Disallow: /*.php$", "/filename.php?parameters", True),
        ("Disallow: /*.php$", "/filename.php/", True),
        ("Disallow: /fish*.php", "/fishheads/catfish.php?x", False),
        ("Disallow: /fish*.php", "/Fish.PHP", True),
        ("Disallow: /a*b*c$", "/abbc", False),
        ("Disallow: /a*b*c$", "/acb", True),
        ("Disallow: /ab$", "/abab", True),
        ("Disallow: /*b$", "/abab", False),
        ("Disallow: /*ab*ab$", "/ab", True),
        ("Disallow: /a$b", "/a$bc", False),
        ("Disallow: *", "/", False),
        ("Disallow: private", "/private/x", False),
        ("Allow: private\nDisallow: /p", "/private/x", False),
        ("Disallow: /", "/robots.txt", True),
        ("Disallow: /", "/robots.txt?x", False),
        ("Disallow:", "/x", True),
    ],
)
def test_the_most_octets_win_and_allow_wins_a_tie(rules, path, expected):
    assert allowed(f"User-agent: *\n{rules}\n", path) is expected


@pytest.mark.parametrize(
    "rule, path",
    [
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https://foo.bar"),
        ("/foo/bar/\u30c4", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/\u30c4"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/foo/%7ejoe", "/foo/~joe"),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"),
        ("/path/foo-%24", "/path/foo-$"),
        ("/a%2fb", "/a%2Fb"),
        ("/a b", "/a%20b"),
        ("/wiki/Talk%3Mediation", "/wiki/Talk%3Mediation"),
    ],
)
def test_percent_encoding_is_compared_as_rfc_9309_section_2_2_2_says(rule, path):
    assert not allowed(f"User-agent: *\nDisallow: {rule}\n", path)


def test_an_encoded_reserved_character_is_not_the_character():
    assert allowed("User-agent: *\nDisallow: /a/b\n", "/a%2Fb")


# --- lines -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_with_cr_lf_or_both(end):
    assert not allowed(end.join(["User-agent: *", "Disallow: /x", ""]), "/x")


@pytest.mark.parametrize("space", ["\x0b", "\x0c", "\x85", "\u2028"])
def test_nothing_else_ends_a_line(space):
    assert allowed(f"User-agent: *\nAllow: /{space}Disallow: /x\n", "/x")


CLUMSY_RULES = [
    *("disallow:/x", "DISALLOW : /x", "  Disallow:\t/x  ", "Disallow: /x # why", "Disallow /x", "Dissallow: /x"),
    *("disalow: /x", "Disallow: /x#", "desallow: /x", "disallow\t/x", "Disallowed: /x", "Diasllow: /x", "Disallaw: /x"),
]
CLUMSY_AGENTS = [
    *("useragent: CorpusBot", "User Agent: CorpusBot", "user-agent CorpusBot", "useg-agent: corpusbot"),
    *("User-agents: CorpusBot", "USER_AGENT:CorpusBot", "User - agent : CorpusBot", "user--agent: CorpusBot"),
    *(
        "User\u2010agent: CorpusBot",
        "User\u2011agent: CorpusBot",
        "User\u2013agent: CorpusBot",
        "User\xa0Agent: CorpusBot",
    ),
]


@pytest.mark.parametrize("line", CLUMSY_RULES)
def test_a_badly_typed_prohibition_still_prohibits(line):
    assert not allowed(f"User-agent: *\n{line}\n", "/x")


@pytest.mark.parametrize("line", CLUMSY_AGENTS)
def test_a_badly_typed_user_agent_line_still_names_us(line):
    assert not allowed(f"User-agent: other\nDisallow: /y\n\n{line}\nDisallow: /x\n", "/x")


def test_byte_order_marks_and_utf_16_are_understood():
    text = "User-agent: *\nDisallow: /x\n"
    for body in (b"\xef\xbb\xbf" + text.encode(), text.encode("utf-16"), b"\xfe\xff" + text.encode("utf-16-be")):
        assert not allowed(body, "/x")
        assert allowed(body, "/y")


@pytest.mark.parametrize("body", [b"\x1f\x8b\x08\x00", b"%PDF-1.4", b"PK\x03\x04", "User-agent: *".encode("utf-16-le")])
def test_a_file_that_is_no_text_closes_the_host(body):
    decision = parse(body).decide(BOT, "/x")
    assert not decision.allowed
    assert "robots.txt is" in decision.rule


def test_a_file_beyond_the_caps_closes_the_host():
    groups = b"".join(b"User-agent: a%d\nDisallow: /\n" % n for n in range(robots.MAX_GROUPS + 1))
    rules = b"User-agent: a\n" + b"Allow: /\n" * (robots.MAX_RULES + 1)
    for body, what in ((groups, "groups"), (rules, "rules")):
        decision = parse(body).decide(BOT, "/x")
        assert not decision.allowed
        assert what in decision.rule


def test_at_the_caps_the_file_still_counts():
    groups = b"".join(b"User-agent: a\nDisallow: /q%d\n" % n for n in range(robots.MAX_GROUPS))
    rules = b"User-agent: *\n" + b"Allow: /\n" * robots.MAX_RULES
    assert allowed(groups, "/x")
    assert allowed(rules, "/x")


def test_a_long_file_is_cut_at_the_last_line_end():
    head = b"User-agent: *\nDisallow: /x\n"
    body = head + b"#" * (robots.MAX_BYTES - len(head) - 13) + b"\nDisallow: /y-is-cut\n"
    assert parse(body).truncated
    assert not allowed(body, "/x")
    assert allowed(body, "/y")
    assert not parse(body[: robots.MAX_BYTES]).truncated
    assert not allowed(body[: robots.MAX_BYTES], "/y")


def test_a_long_line_counts_up_to_its_limit():
    assert allowed(b"User-agent: *\nDisallow: /" + b"a" * 20_000, "/a")
    assert not allowed(b"User-agent: *\nDisallow: /x #" + b"a" * 20_000, "/x")


def test_the_deciding_line_is_named():
    decision = parse(b"User-agent: *\n\nDisallow: /secret\n").decide(BOT, "/secret/1")
    assert (decision.rule, decision.line, decision.group) == ("Disallow: /secret", 3, "*")


# --- extension records -----------------------------------------------------------------------------------------------
def test_crawl_delay_and_request_rate_give_the_slower_of_both():
    text = b"User-agent: *\nCrawl-delay: 2.5\nRequest-rate: 10/1m 0600-0845\n\nUser-agent: a\nCrawl-delay: 1\n"
    assert parse(text).crawl_delay(BOT) == 6.0
    assert parse(text).crawl_delay("a") == 1.0


@pytest.mark.parametrize("value", ["", "soon", "-1", "nan", "inf", "1e999"])
def test_an_unreadable_crawl_delay_is_no_delay(value):
    assert parse(f"User-agent: *\nCrawl-delay: {value}\n".encode()).crawl_delay(BOT) is None


BLANKS = ["\u00a0", "\u200b", "\ufeff", "\0", "\u3000"]


@pytest.mark.parametrize("blank", BLANKS)
def test_blanks_that_nobody_sees_do_not_undo_a_rule(blank):
    text = f"{blank}User-agent:{blank}*\n{blank}Disallow:{blank}/page{blank}\n".encode()
    assert not parse(text).decide(BOT, "/page").allowed
    assert parse(text).decide(BOT, "/other").allowed


@pytest.mark.parametrize(
    "rule, refused",
    [
        ("https://a.example/page", ["/page"]),
        ("HTTP://a.example/p*e$", ["/page"]),
        ("https://staging.a.example", []),  # 37 times in 4,231 real files, and always another host
        ("https://staging.a.example/*", []),
    ],
)
def test_of_a_rule_that_is_a_whole_url_the_path_counts(rule, refused):
    file = parse(f"User-agent: *\nDisallow: {rule}\n".encode())
    assert [path for path in ("/page", "/other") if not file.decide(BOT, path).allowed] == refused
    allowed = parse(f"User-agent: *\nAllow: {rule}\nDisallow: /\n".encode())
    assert not allowed.decide(BOT, "/page").allowed


TYPED = [
    *(("10s", 10), ("10 seconds", 10), ("1,5", 1.5), (".5", 0.5), ("1e1", 10), ("[5]", 5), ("= 5", 5), ('"5"', 5)),
    *(("1 minute", 60), ("1m", 60), ("2 mins", 120), ("1 Min.", 60), ("1500ms", 1.5), ("500 milliseconds", 0.5)),
    *(("2 segundos", 2), ("3 Sekunden", 3), ("1 heure", 3600), ("2 Stunden", 7200), ("1h", 3600), ("1 day", 86400)),
    *(("1 минута", 60), ("10 сек", 10), ("5秒", 5), ("1分", 60), ("500毫秒", 0.5), ("1m30s", 90), ("1 min 30 sec", 90)),
    *(("1 hour and 5 minutes", 3900), ("10 requests", 10), ("10 bananas", 10), ("10 5", 10), ("every 5 seconds", 5)),
    *(("5 seconds between 10 pages", 5), ("10-20", 10), ("2 months", 2), ("1.5 minutes", 90), ("0.5m", 30)),
]


@pytest.mark.parametrize("value, seconds", TYPED)
def test_a_crawl_delay_that_was_typed_badly_is_a_wish_all_the_same(value, seconds):
    assert parse(f"User-agent: *\nCrawl-delay: {value}\n".encode()).crawl_delay(BOT) == seconds


RATES = [
    *(("1/500ms", 0.5), ("1 / 2 minutes", 120), ("1/5 seconds", 5), ("2/1 min", 30), ("1/10", 10), ("1/10s", 10)),
    *(("2/1m", 30), ("1/1h", 3600), ("0/1", None), ("x", None), ("1/x", None), ("10", None)),
]


@pytest.mark.parametrize("value, seconds", RATES)
def test_request_rate_is_documents_per_time(value, seconds):
    assert request_rate(value) == seconds


def test_a_delay_between_two_agents_of_a_group_holds_for_both():
    text = b"User-agent: mybot\nCrawl-delay: 10\nUser-agent: yourbot\nDisallow: /private/\n"
    assert [parse(text).crawl_delay(bot) for bot in ("mybot", "yourbot", "other")] == [10, 10, None]
    apart = text.replace(b"10\n", b"10\n\n")  # 444 of 483 such delays in 4,231 real files: a paragraph for each bot
    assert [parse(apart).crawl_delay(bot) for bot in ("mybot", "yourbot")] == [10, None]
    rate = text.replace(b"Crawl-delay: 10", b"Request-rate: 1/5")
    assert [parse(rate).crawl_delay(bot) for bot in ("mybot", "yourbot")] == [5, 5]


def test_a_signal_between_two_agents_of_a_group_refuses_both_and_lifts_nothing():
    text = "User-agent: a\nContent-Signal: ai-train={}\nUser-agent: CorpusBot\nContent-Signal: ai-train={}\nAllow: /\n"
    for between, behind in (("no", "yes"), ("yes", "no"), ("no", "no")):
        found = content_signal.from_robots(parse(text.format(between, behind).encode()), "/", CONTEXT)
        assert "disallow" in {signal.verdict for signal in found}, (between, behind)


def test_sitemaps_are_global_and_keep_their_order():
    text = b"Sitemap: https://a.example/1.xml\nUser-agent: x\nDisallow: /\nsitemap: /2.xml\n"
    assert parse(text).sitemaps == ["https://a.example/1.xml", "/2.xml"]


def test_a_bot_is_only_named_by_its_own_group():
    file = parse(b"User-agent: AI2Bot\nDisallow: /\n\nUser-agent: *\nDisallow: /x\n")
    named = file.decide_named("AI2Bot", "/y")
    assert named is not None
    assert named.allowed is False
    assert file.decide_named("GPTBot", "/x") is None


# --- properties ------------------------------------------------------------------------------------------------------
@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.binary(max_size=400), st.text(max_size=60))
def test_no_bytes_and_no_path_make_it_raise(body, path):
    file = parse(body)
    file.decide(BOT, "/" + path)
    file.crawl_delay(BOT)
    file.decide_named("GPTBot", path)


_WORDS = st.lists(st.sampled_from(["a", "b", "*", "/", "$", "%61", "%2A", "é", " "]), max_size=6).map("".join)


@settings(deadline=None, derandomize=True, max_examples=500)
@given(st.lists(st.tuples(st.booleans(), _WORDS), max_size=8), _WORDS)
def test_the_index_answers_as_trying_every_rule_does(rules, path):
    """The slow definition: of all rules that match, the longest; allow where lengths are equal."""
    made = [Rule(allow, b"/" + pattern.encode(), n) for n, (allow, pattern) in enumerate(rules)]
    target = normalize(b"/" + path.encode())
    matching = [rule for rule in made if RuleSet([rule]).match(target)]
    found = RuleSet(made).match(target)
    assert (found is None) == (not matching)
    if found is not None:
        assert (_octets(found), found.allow) == max((_octets(rule), rule.allow) for rule in matching)


def _octets(rule: Rule) -> int:
    anchored = rule.pattern.endswith(b"$")
    return len(normalize_pattern(rule.pattern[:-1] if anchored else rule.pattern)) + anchored


def test_hostile_wildcards_and_many_rules_stay_cheap():
    path = "/" + "a" * 2_000
    hostile = b"User-agent: *\n" + b"Disallow: /" + b"*a" * 5_000 + b"b\n"
    many = b"User-agent: *\n" + b"".join(b"Disallow: /x%d\n" % n for n in range(30_000))
    started = time.process_time()
    for body in (hostile, many):
        assert parse(body).decide(BOT, path).allowed
    assert time.process_time() - started < 3.0
