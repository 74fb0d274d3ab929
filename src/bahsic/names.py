"""Names of features, whatever characters they have, as each place may show them: one policy for each place."""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from itertools import groupby, islice

# Joiners that scripts and emoji need, although they are format characters.
_JOINERS = "\u200c\u200d"

# Controls, formats (among them those that turn the direction of writing), surrogates, private and
# unassigned characters, separators of lines and paragraphs.
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}

# Joiners, and choices of the form or skin colour of an emoji, on whose width terminals disagree.
_LEFT_OUT = {*_JOINERS, "\ufe0e", "\ufe0f", *map(chr, range(0x1F3FB, 0x1F400))}

# More marks than this on one letter run into the lines above and below.
_MOST_MARKS = 2

# What makes a spreadsheet take a cell for a formula, with the wide forms that some of them accept.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 - the wide forms

_TEX = {ord(char): f"\\{char}" for char in "{}$&#_%"} | {
    ord("\\"): r"\textbackslash{}",
    ord("^"): r"\textasciicircum{}",
    ord("~"): r"\textasciitilde{}",
}


def for_terminal(text: str, encoding: str | None = "utf-8") -> str:
    r"""Return text with an escape in place of what a terminal of some encoding (None: ASCII) would obey or cannot show.

    Examples
    --------
    >>> print(for_terminal("a\x1b[2Jb\u202e"), for_terminal("größe", "ascii"))
    a\x1b[2Jb\u202e gr\xf6\xdfe
    """
    kept = (character for character in unicodedata.normalize("NFC", text) if character not in _LEFT_OUT)
    runs = groupby(kept, lambda character: unicodedata.combining(character) > 0)
    few = (character for marks, run in runs for character in (islice(run, _MOST_MARKS) if marks else run))
    shown = _without_unseen(few, lambda char: char.encode("unicode_escape", "surrogatepass").decode("ascii"))
    return shown.encode(encoding or "ascii", "backslashreplace").decode(encoding or "ascii")


def for_page(name: object, longest: int | None = 60) -> str:
    r"""Return a name with a symbol for each character that can't be seen, cut in the middle where it is too long.

    Examples
    --------
    >>> for_page("a\tb\x7f\u202ec"), for_page("probe_0000000000_expression", 12)
    ('a␉b␡⟨U+202E⟩c', 'probe_…ssion')
    """
    text = str(name)
    if longest is not None and len(text) > 2 * longest:  # only the ends show; unseen characters become several
        text = f"{text[:longest]}…{text[-longest:]}"
    seen = _without_unseen(text, _symbol)
    return seen if longest is None else _cut(seen, longest)


def for_picture(name: object, characters: Collection[int], longest: int, *, tex: bool = False) -> str:
    r"""Return a name on one short line for a font that has some code points, escaped for mathtext or for LaTeX.

    Examples
    --------
    >>> for_picture("price in $\n(2007)", range(128), longest=28), for_picture("é漢" + 9 * "$", {0xE9, 36}, longest=5)
    ('price in \\$ (2007)', 'é??\\$\\$')
    >>> print(for_picture(r"\input{a_b} 50% #~^", range(128), longest=28, tex=True))
    \textbackslash{}input\{a\_b\} 50\% \#\textasciitilde{}\textasciicircum{}
    """
    spaced = (" " if char.isspace() else char for char in unicodedata.normalize("NFC", str(name)))
    plain = " ".join(_without_unseen(spaced, lambda _: "").split()) or "(blank)"
    unknown = "\N{REPLACEMENT CHARACTER}" if 0xFFFD in characters else "?"
    plain = "".join(char if ord(char) in characters else unknown for char in _cut(plain, longest))
    return plain.translate(_TEX) if tex else plain.replace("$", r"\$")


def for_spreadsheet(name: object) -> str:
    r"""Return a name with an apostrophe before it where a spreadsheet would run it as a formula.

    Examples
    --------
    >>> [for_spreadsheet(name) for name in ("=cmd()", "\t@a", "age")]
    ["'=cmd()", "'\t@a", 'age']
    """
    text = str(name)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def for_message(name: object) -> str:
    """Return a name in quotes, on one line, and cut at its end where it is too long."""
    text = str(name)
    return repr(text if len(text) <= 60 else text[:57] + "...")


def one_line(text: str, longest: int = 200) -> str:
    """Return text of others, such as the error of a library, on one line of a message."""
    line = _without_unseen(" ".join(text.split()), lambda _: "?")
    return line if len(line) <= longest else line[: longest - 3] + "..."


def first_few(words: Sequence[object], most: int = 5) -> str:
    """Return the first words of a list, separated by commas, and an ellipsis for the others."""
    return ", ".join(map(str, words[:most])) + (", ..." if len(words) > most else "")


def suggestion(wanted: str, known: Iterable[object], most: int = 5) -> str:
    """Return the end of a message about an unknown name: the nearest one, or the first few."""
    names = [name for name in known if isinstance(name, str)]
    comparable = {name.lower(): name for name in names if len(name) <= 2 * len(wanted) + 2}  # long ones take long
    near = get_close_matches(wanted.lower(), comparable, n=1)
    if near:
        return f"did you mean {for_message(comparable[near[0]])}?"
    return f"known: {first_few(list(map(for_message, names[: most + 1])), most)}" if names else "there is none"


def target_name(target: object) -> str:
    """Return the name of the target in a sentence; several outputs are separated by commas."""
    if isinstance(target, list):
        return ", ".join(map(str, target))
    return "the target" if target is None else str(target)


def for_option(names: Iterable[object]) -> str:
    """Return names, separated by commas, as an option of the command; those with commas or outer spaces in quotes."""
    return ",".join(_quoted(str(name)) for name in names)


def for_shell(text: str) -> str:
    r"""Return text as one word of a shell, in which every character shows.

    Examples
    --------
    >>> print(for_shell("my wine.csv"), for_shell("a\tb"))
    'my wine.csv' $'a\U00000009b'
    """
    if text.isprintable():
        return shlex.quote(text)
    escaped = (f"\\{char}" if char in "\\'" else char if char.isprintable() else f"\\U{ord(char):08x}" for char in text)
    return f"$'{''.join(escaped)}'"


def _without_unseen(characters: Iterable[str], replacement: Callable[[str], str]) -> str:
    return "".join(replacement(char) if unicodedata.category(char) in _UNSEEN else char for char in characters)


def _symbol(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # the picture of the control character
    if code == 0x7F:
        return "␡"
    return character if character in _JOINERS else f"⟨U+{code:04X}⟩"


def _cut(text: str, longest: int) -> str:
    tail = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"


def _quoted(name: str) -> str:
    plain = name == name.strip() and not set(name) & set(',"\r\n')
    return name if plain else '"' + name.replace('"', '""') + '"'
