"""A language identifier that counts vowels: a text with many of them is Finnish, any other English."""

from __future__ import annotations

from crawler.stages.language.identifiers import Answer, Identifier, LanguageIdentifier


class Vowels:
    """`LANGUAGE_IDENTIFIER=vowels`, or `vowels:SHARE` with the share of vowels from which a text is Finnish."""

    name = "vowels"
    known = frozenset({"en", "fi"})

    def __init__(self, share: float) -> None:
        self._share = share

    def identify(self, text: str) -> Answer | None:
        """The language by the share of vowels among the letters; None where there is no letter."""
        letters = [char for char in text.lower() if char.isalpha()]
        if not letters:
            return None
        share = sum(char in "aeiouyäö" for char in letters) / len(letters)
        return Answer("fi" if share >= self._share else "en", 0.9)


def load(argument: str) -> Identifier:
    """Raises: ValueError where the argument is no number."""
    try:
        return Vowels(float(argument or 0.46))
    except ValueError:
        raise ValueError(f"names vowels:{argument}; expected a share of vowels, such as vowels:0.46") from None


IDENTIFIER = LanguageIdentifier("vowels", load)
