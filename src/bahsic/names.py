"""Names of features made safe to show on pages, in charts and in spreadsheets, whatever characters they have."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

# Joiners that scripts and emoji need, although they are format characters.
_JOINERS = "\u200c\u200d"

# Control, format (also those that change the direction of writing), surrogate, private and unassigned
# characters, and separators of lines and paragraphs.
UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}

# First characters that make a spreadsheet take a cell for a formula, with the wide forms that some accept.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 - the wide forms


def visible(name: object) -> str:
    r"""The name with a symbol in place of each character that can't be seen.

    Parameters
    ----------
    name : object
        Turned into text first.

    Returns
    -------
    str
        Without control or direction characters, and encodable.

    Examples
    --------
    >>> visible("a\tb\x7f\u202ec")
    'a␉b␡⟨U+202E⟩c'
    """
    return "".join(map(_visible_character, str(name)))


def shortened(name: object, limit: int = 60) -> str:
    """The visible name, cut in the middle if it is longer than the limit.

    Parameters
    ----------
    name : object
    limit : int
        Largest number of characters, at least 3.

    Returns
    -------
    str

    Examples
    --------
    >>> shortened("probe_0000000000_expression", 12)
    'probe_…ssion'
    """
    text = str(name)
    # Only the ends are made visible: a name may be very long, and an unseen character becomes several.
    text = visible(text) if len(text) <= 2 * limit else visible(text[:limit]) + "…" + visible(text[-limit:])
    return cut(text, limit)


def cut(text: str, limit: int) -> str:
    """The text, or its beginning and its end if it is longer than the limit.

    Examples
    --------
    >>> cut("a" * 100 + "b" * 100, 9)
    'aaaa…bbbb'
    """
    tail = (limit - 1) // 2
    return text if len(text) <= limit else f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


def spreadsheet_safe(name: object) -> str:
    """The name, with an apostrophe in front if a spreadsheet would run it as a formula.

    Parameters
    ----------
    name : object

    Returns
    -------
    str

    Examples
    --------
    >>> spreadsheet_safe("=cmd()"), spreadsheet_safe("age")
    ("'=cmd()", 'age')
    """
    text = str(name)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def joined(names: Iterable[object]) -> str:
    """Names separated by commas, as options of the command take them, in quotes where necessary.

    Examples
    --------
    >>> joined(["age", "a,b", " c"])
    'age,"a,b"," c"'
    """
    return ",".join(map(_quoted, map(str, names)))


def _quoted(name: str) -> str:
    plain = name == name.strip() and not set(name) & set(',"\r\n')
    return name if plain else '"' + name.replace('"', '""') + '"'


def _visible_character(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # the picture of the control character
    if code == 0x7F:
        return "␡"
    if unicodedata.category(character) in UNSEEN and character not in _JOINERS:
        return f"⟨U+{code:04X}⟩"
    return character
