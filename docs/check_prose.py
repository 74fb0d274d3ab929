"""Check the prose of Markdown pages: length of lines, phrases of docs/prose.toml, and proselint.

`python docs/check_prose.py` reads every Markdown file of the repository. Code, tables, headings and comments are no
prose.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import count
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_RULES = tomllib.loads(Path(__file__).with_name("prose.toml").read_text(encoding="utf-8"))
_FENCE, _NO_PROSE = re.compile(r"\s*(`{3,}|\$\$)"), re.compile(r"\s*(\||#|<|!\[|\[[^\]]*\]\(\S+\)\S?$)|    ")
_CODE = re.compile(r"(`+).+?\1|\$[^$]+\$|\]\([^)\s]*\)|https?://\S+|\b\d[\d.,]*", re.DOTALL)
_LINK = re.compile(r"\]\([^)\s]*\)")


def problems(text: str) -> list[tuple[int, str]]:
    """Each line number of a page with what is wrong there."""
    lines = prose(text)
    lengths = {number: len(_LINK.sub("]", line)) for number, line in lines.items()}
    found = [(number, f"{length} characters") for number, length in lengths.items() if length > _RULES["width"]]
    shown = "\n".join(lines.get(i, "") for i in range(1, text.count("\n") + 2))
    number = count()
    words = _CODE.sub(lambda code: f"Code{next(number)}" + "\n" * code[0].count("\n"), shown)
    for advice, phrases in _RULES["phrases"].items():
        pattern = "|".join(phrases).replace(" ", r"\s+")
        found += [
            (words.count("\n", 0, match.start()) + 1, f"{' '.join(match[0].split())!r}: {advice}")
            for match in re.finditer(rf"\b({pattern})\b", words, re.IGNORECASE)
        ]
    return sorted(found + list(_linted(words)))


def prose(text: str) -> dict[int, str]:
    """Lines of prose by their numbers."""
    lines, fence = {}, ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1] == fence):
            fence = "" if fence else mark[1]
        elif not fence and not _NO_PROSE.match(line):
            lines[number] = line
    return lines


def _linted(words: str) -> Iterator[tuple[int, str]]:
    from proselint.checks import __register__
    from proselint.registry import CheckRegistry
    from proselint.tools import LintFile

    registry = CheckRegistry()
    if not registry.checks:
        registry.register_many(__register__)
    for result in LintFile("page", content=words).lint({"max_errors": 10_000, "checks": _RULES["proselint"]}):
        yield result.pos[0], f"{result.check_result.check_path}: {result.check_result.message}"


def main() -> int:
    """Print the problems of all pages; 1 if there is any."""
    command = ["git", "ls-files", "*.md"]
    listed = subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True)  # noqa: S603
    pages = [_ROOT / name for name in listed.stdout.split()]
    lines = [
        f"{page.relative_to(_ROOT)}:{number}: {problem}"
        for page in pages
        for number, problem in problems(page.read_text(encoding="utf-8"))
    ]
    print(*lines, f"{len(lines)} problems in the prose of {len(pages)} pages", sep="\n")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
