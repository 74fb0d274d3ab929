"""Text that is safe and aligned in a terminal, whatever characters names have."""

from __future__ import annotations

import unicodedata

from bahsic.names import for_terminal

_LEFT_TO_RIGHT_MARK = "\u200e"


def display_width(text: str) -> int:
    """Return the number of columns of a terminal that printable text takes."""
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if character == _LEFT_TO_RIGHT_MARK or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def fitted(name: object, width: int, encoding: str | None = "utf-8") -> str:
    """Return a name as a cell of a table: printable, cut in the middle if it is too long, padded with spaces."""
    name = str(name)
    # Only the ends are looked at: a name may be very long.
    ends = name if len(name) <= 8 * width else name[: 4 * width] + name[-4 * width :]
    text = for_terminal(ends, encoding)
    if len(ends) < len(name) or display_width(text) > width:
        text = _cut(text, width, "…" if _has(encoding, "…") else "...")
    filling = " " * (width - display_width(text))
    # Terminals attach numbers to a right-to-left name before them.
    turned = any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)
    return text + (_LEFT_TO_RIGHT_MARK if turned and _has(encoding, _LEFT_TO_RIGHT_MARK) else "") + filling


def _cut(text: str, width: int, ellipsis: str) -> str:
    space = width - len(ellipsis)
    start = _beginning(text, space - space // 2)
    end = _beginning(text[::-1], space // 2)[::-1]
    return start + ellipsis + end


def _beginning(text: str, width: int) -> str:
    end, used = 0, 0
    while end < len(text) and used + _columns(text[end]) <= width:
        used += _columns(text[end])
        end += 1
    return text[:end]


def _has(encoding: str | None, characters: str) -> bool:
    """Return whether an encoding has these characters."""
    try:
        characters.encode(encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def has_blocks(encoding: str | None) -> bool:
    """Return whether a terminal of that encoding can show the characters of plots and bars."""
    return _has(encoding, "▁▂▃▄▅▆▇█░│└─✓")
