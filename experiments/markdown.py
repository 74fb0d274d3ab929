"""Tables of Markdown."""

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
