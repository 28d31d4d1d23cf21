"""Lines that point away from the text are told from the text."""

from __future__ import annotations

import time

import pytest

from crawler.stages.extraction.signposts import _FORM_WORDS, _PHRASES, is_signpost, without_signposts

SIGNPOSTS = """\
Read more: Ten places to see this autumn
READ ALSO
Related articles
You may also like
Don't miss: our summer special
Advertisement
Lesen Sie auch: Was der Umbau kostet
Auch interessant:
Das könnte Sie auch interessieren
Mehr zum Thema
À lire aussi : le pont rouvre
Sur le même sujet
Te puede interesar
Leia também: a ponte reabre
Leggi anche: riapre il ponte
Lees ook: de brug gaat weer open
Czytaj też: most znowu otwarty
Läs också: bron öppnar igen
Читайте также: мост снова открыт
View all 12 comments
Leave a reply
3 Kommentare
Laisser un commentaire
Share on Facebook
Follow us on the usual networks
Photo: A. Nonymous
Photo by A. Nonymous
(Credit: A. Nonymous)
Bildquelle: Stadtarchiv
Sign up for our newsletter and get the best of the week
Jetzt Newsletter abonnieren und nichts verpassen
Tags: bridges, rivers
» Weiterlesen
| Tweet |
Tweet
Share | Tweet 12 | Print
Facebook · Twitter · WhatsApp
Follow Jane Doe on Twitter
Follow @carver on Instagram and YouTube
Follow Spoon Times on Google News
First name *
E-mail address (required)
Your email address will not be published. Required fields are marked *
Save my name, email, and website in this browser for the next time I comment.
Ihre E-Mail-Adresse wird nicht veröffentlicht. Erforderliche Felder sind mit * markiert
Votre adresse e-mail ne sera pas publiée. Les champs obligatoires sont indiqués avec *
We use cookies to give you the best experience.
By clicking “Accept all”, you agree to the storing of cookies on your device.
Accept all cookies
""".splitlines()

TEXT = """\
Read more than one book a week and you will notice it.
See also: the chapter on bridges
Note: the valve has to be closed first.
More on Lists
Share the load between both pillars.
Follow the steps below in this order.
Image formats are converted when they are uploaded.
Click on “Add Printer”.
Loading
Subscribe
Anzeigen lassen sich im Menü ausblenden.
Teilen macht Freude, sagt der Lehrer.
Werbung wirkt, wenn niemand sie bemerkt.
- email
    Print their sum:
Privacy policy documents describe what a newsletter may do with addresses.
The photo by her brother hung in the hall for years, and nobody asked who took it.
Publicité et propagande se ressemblent.
Follow the installation guide on GitHub.
Follow these steps on Facebook to change the name.
Share
Print
- tweet
Facebook
share | noun | a part of a whole
First name of the author, as it stands on the title page
Message: the text that is sent
Cookies are small files that a site stores on your device.
""".splitlines()


@pytest.mark.parametrize("line", SIGNPOSTS)
def test_a_line_that_only_points_elsewhere_goes(line):
    assert is_signpost(line)
    assert is_signpost(line.upper()) or "by" in line  # a photographer is told by a capital


@pytest.mark.parametrize("line", TEXT)
def test_text_that_begins_like_a_signpost_stays(line):
    assert not is_signpost(line)


def test_what_stood_around_a_signpost_falls_together_and_nothing_else_changes():
    assert without_signposts("One.\n\nRead more: Two\n\nThree.\n  code\n") == ("One.\n\nThree.\n  code", 1)
    assert without_signposts("One.\n\n\nTwo.\n") == ("One.\n\n\nTwo.\n", 0)


def test_a_line_made_to_backtrack_costs_nothing():
    line = "more from " + "» : " * 45
    started = time.process_time()
    for _ in range(1_000):
        is_signpost(line)
    assert time.process_time() - started < 1.0


def test_an_invitation_goes_from_a_text_whatever_its_letters_look_like():
    for line in ("SIGN UP FOR OUR NEWSLETTER", "Mit der Anmeldung akzeptieren Sie die Datenschutzerklärung."):
        assert without_signposts(f"A sentence.\n{line}\nAnother one.") == ("A sentence.\nAnother one.", 1)


def test_every_phrase_of_a_form_has_words_that_a_text_can_be_searched_for():
    assert all(len(word) >= 8 and word == word.lower() for word in _FORM_WORDS)
    assert all(word in phrase for word, phrase in zip(_FORM_WORDS, _PHRASES["forms"], strict=True))
    assert {"newsletter", " of cookies", "datenschutz", " prywatności"} <= set(_FORM_WORDS)
