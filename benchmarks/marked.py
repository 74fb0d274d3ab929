"""Parts of a page between comments, `<!-- name -->` and `<!-- end of name -->`, made of rows."""

import csv
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

Line = dict[str, str]

_RESULTS = Path(__file__).resolve().parent / "results"


def read(name: str) -> list[Line]:
    """The rows of a benchmark that are committed."""
    with (_RESULTS / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def placed_where_marked(page: str, parts: Mapping[str, str]) -> str:
    """Return the page with those of the parts that it has comments for."""
    return placed(page, {name: text for name, text in parts.items() if f"<!-- {name} -->" in page})


def placed(page: str, parts: Mapping[str, str]) -> str:
    """Return the page with these parts; sentences are wrapped, tables are not."""
    for name, part in parts.items():
        text = "\n\n".join(_wrapped(block) for block in part.split("\n\n"))
        between = rf"(?<=<!-- {name} -->\n).*?(?=<!-- end of {name} -->)"
        page, count = re.subn(between, lambda _, text=text: f"{text}\n", page, flags=re.DOTALL)
        if count != 1:
            raise ValueError(f"the page has {count} parts called {name!r}; accepted: one")
    return page


def _wrapped(block: str) -> str:
    return block if block.startswith("|") else textwrap.fill(block, 100, break_long_words=False, break_on_hyphens=False)


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    first, *rest = (f"| {' | '.join(line)} |" for line in (head, *lines))
    return "\n".join([first, f"|{'---|' * len(head)}", *rest])
