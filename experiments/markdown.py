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
