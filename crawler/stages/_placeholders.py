"""Inside the quality stage: pages that are no content at all, whatever their words look like.

Each recogniser looks only where such pages say it (title, first lines), and only on texts short enough to be one.
Phrases in English, German, French, Spanish, Italian, Portuguese and Dutch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from crawler.document import DropReason

_PLACEHOLDER = re.compile(
    r"lorem ipsum dolor|under construction|coming soon|site is being built|domain (?:is|may be) for sale"
    r"|buy this domain|parked (?:domain|free)|default web ?page|welcome to nginx|apache2? .{0,20}default page|it works!"
    r"|hello world!|just another wordpress site|^index of /|account (?:has been )?suspended"
    r"|website is (?:no longer|currently) (?:un)?available|im aufbau|hier entsteht|demnächst verfügbar|en construction"
    r"|prochainement|en construcción|próximamente|in costruzione",
    re.MULTILINE,
)
_SOFT_404 = re.compile(
    r"\b(?:404|410)\b.{0,40}(?:not found|error|fehler|erreur)|(?:error|fehler|erreur|http)\W{0,3}(?:404|410)\b"
    r"|page (?:was |could )?not (?:be )?found|page (?:you .{0,40})?(?:does(?: not|n['’]t)|no longer) exists?"
    r"|(?:can(?:not|['’]t)|could(?: not|n['’]t)) find (?:the|that|this) page|page (?:introuvable|non trouvée)"
    r"|seite (?:wurde )?(?:leider )?nicht gefunden|página no encontrada|pagina non trovata|página não encontrada"
    r"|pagina niet gevonden|nothing (?:was )?found here"
)
_LOGIN = re.compile(
    r"(?:please |you (?:must|need to) )(?:log|sign) ?in\b|(?:log|sign) ?in to (?:continue|your account|view|read)"
    r"|subscribe to (?:continue|read|keep)|already a subscriber|create (?:a free |an )account to"
    r"|this (?:content|article|page) is (?:only )?(?:for|available to) (?:subscribers|members)"
    r"|enable (?:javascript|cookies) (?:to|and)|verify (?:that )?you are (?:a )?human"
    r"|checking (?:if|that) you are human"
    r"|checking your browser|bitte (?:melden sie sich|loggen sie sich|einloggen)|jetzt (?:anmelden|registrieren), um"
    r"|connectez-vous pour|réservé aux abonnés|inicia sesión para|accedi per|faça login|log in om"
)


@dataclass(frozen=True, slots=True)
class Recognisers:
    """How long a page may be that is nothing but such a message. `None` = off. Our own judgement, no paper's."""

    placeholder_max_words: int | None = 400
    soft_404_max_words: int | None = 300
    login_wall_max_words: int | None = 300
    head_chars: int = 400
    """Characters of the text in which the message must stand; the title counts too."""
    lorem_ipsum_per_1000_words: float = 2.0
    """A page of any length that repeats "lorem ipsum" or its next words so often is a placeholder."""

    def judge(self, title: str | None, text: str, words: int) -> tuple[DropReason, str] | None:
        """The reason and the phrase kind that condemn the page, or None."""
        head = f"{title or ''}\n{text[: self.head_chars]}".lower()
        for reason, pattern, limit in (
            (DropReason.SOFT_404, _SOFT_404, self.soft_404_max_words),
            (DropReason.LOGIN_WALL, _LOGIN, self.login_wall_max_words),
            (DropReason.PLACEHOLDER, _PLACEHOLDER, self.placeholder_max_words),
        ):
            if limit is not None and words <= limit and pattern.search(head):
                return reason, f"{words} words, and its beginning says so"
        if 1000 * text.lower().count("dolor sit amet") > self.lorem_ipsum_per_1000_words * max(words, 1):
            return DropReason.PLACEHOLDER, "lorem ipsum"
        return None
