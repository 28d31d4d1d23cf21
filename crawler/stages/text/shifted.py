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
