"""Tables of Markdown."""

import re
import textwrap
from collections.abc import Sequence


def markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table with the first column on the left and the others on the right.

    Examples
    --------
    >>> print(markdown(["set", "error"], [["wine", "1.7"]]))
    | set | error |
    |:---|---:|
    | wine | 1.7 |
    """
    rule = "|:---|" + "---:|" * (len(header) - 1)
    return "\n".join([_line(header), rule, *map(_line, lines)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def unbroken(text: str) -> str:
    r"""The text with errors kept beside their means where lines are broken.

    Examples
    --------
    >>> unbroken("1.7 ± 0.2")
    '1.7\xa0±\xa00.2'
    """
    return text.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")


def wrapped(text: str, width: int = 100) -> str:
    r"""Wrap the prose of a page; tables, headings, pictures and code stay as they are.

    Examples
    --------
    >>> print(wrapped("- one two three\n\n| a table | is kept |", 10))
    - one two
      three
    <BLANKLINE>
    | a table | is kept |
    """
    return "\n\n".join(_wrapped_block(block, width) for block in text.split("\n\n"))


def _wrapped_block(block: str, width: int) -> str:
    if re.match(r"[|#!<`$>]|    ", block):
        return block
    parts = re.split(r"\n(?=[-*] |\d+\. )", block)
    return "\n".join(_filled(part, width) for part in parts)


def _filled(part: str, width: int) -> str:
    marker = re.match(r"[-*] |\d+\. |", part)
    indent = " " * len(marker[0]) if marker else ""
    ending = "\n" * (len(part) - len(part.rstrip("\n")))
    words = re.sub(r"[ \n]+", " ", part).strip(" ").replace(" - ", "\0- ")  # no line may begin with the mark of a list
    lines = textwrap.fill(words, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return lines.replace("\0", " ") + ending
