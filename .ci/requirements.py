"""Print what to install, as pyproject.toml has it: a dependency group, or the oldest supported core.

``python .ci/requirements.py dev`` prints the group `dev`, for releases of pip without ``--group``;
``python .ci/requirements.py --oldest`` prints constraints for the dependencies at their lower bounds.
"""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def main(arguments: list[str]) -> None:
    """Print the lines of a requirements file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    match arguments:
        case ["--oldest"]:
            print(*oldest(project["project"]["dependencies"]), sep="\n")
        case [name] if name in project["dependency-groups"]:
            print(*members(project["dependency-groups"], name), sep="\n")
        case _:
            sys.exit(f"one of {', '.join(project['dependency-groups'])} or --oldest is expected, got {arguments}")


def members(groups: dict[str, list[Any]], name: str) -> Iterator[str]:
    """Requirements of a group and of the groups that it includes."""
    for entry in groups[name]:
        if isinstance(entry, str):
            yield entry
        else:
            yield from members(groups, entry["include-group"])


def oldest(dependencies: list[str]) -> Iterator[str]:
    """Each ``name>=a.b`` as ``name==a.b.*``."""
    for dependency in dependencies:
        name, _, bound = dependency.partition(";")[0].partition(">=")
        yield f"{name}=={bound}.*"


if __name__ == "__main__":
    main(sys.argv[1:])
