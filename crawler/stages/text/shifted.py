"""Unicode's signs for characters above and below the line, and how a text says it where there is no sign."""

from __future__ import annotations

HIGH = dict(
    zip("0123456789+-−–=()niabcdefghjklmoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True)
)
HIGH |= dict(zip("TβγδθφχABDEGHIJKLMNOPRUVW", "ᵀᵝᵞᵟᶿᵠᵡᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵁⱽᵂ", strict=True))
LOW = dict(zip("0123456789+-−–=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", strict=True))
AS_HIGH, AS_LOW = str.maketrans(HIGH), str.maketrans(LOW)


def shifted(text: str, *, is_low: bool = False) -> str:
    """A text above the line, or below it: in Unicode's signs where all of it has one, else "^(1.5)", "_(eff)"."""
    known, signs, mark = (LOW, AS_LOW, "_") if is_low else (HIGH, AS_HIGH, "^")
    if not text.strip() or all(char in known or char.isspace() for char in text):
        return text.translate(signs)
    return mark + text if len(text) == 1 else f"{mark}({text.strip()})"


_EXPONENTS = frozenset("xyzkijpqnbfguvwT")
_LONGEST, _LONGEST_WORD = 24, 6
"""Characters of what is an exponent or an index, and letters of what stands for no more than its place."""


def raised(text: str) -> str:
    """What a program sets above the line: numbers and signs as `shifted`; of letters (1st, Mme) only exponents."""
    flat = text.strip()
    is_word = _letters(flat) and flat not in _EXPONENTS
    return text if not flat or is_word or len(flat) > _LONGEST else shifted(text)


def lowered(text: str) -> str:
    """What a program sets below the line, as `shifted`; words and small print stay as they are."""
    flat = text.strip()
    is_word = _letters(flat) and len(flat) > _LONGEST_WORD
    return text if not flat or is_word or len(flat) > _LONGEST else shifted(text, is_low=True)


def _letters(flat: str) -> bool:
    return flat.replace(" ", "").isalpha()
