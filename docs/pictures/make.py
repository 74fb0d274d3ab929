"""Draw the pictures of the README and of the documentation, all or the named ones: `make pictures`.

`made.csv` keeps for each picture a digest of what it was made from and one of the file itself. The tests compare
them, so a picture that is older than its script or its rows, or was changed by hand, is noticed without dates.
"""

import csv
import fnmatch
import hashlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
sys.path[:0] = [str(DOCS / "pictures"), str(ROOT / "benchmarks"), str(ROOT)]

import examples  # noqa: E402 - after the folders of these scripts are known
import guide  # noqa: E402
import overview  # noqa: E402
import rows  # noqa: E402
import screen  # noqa: E402

MADE = DOCS / "pictures" / "made.csv"
#: Pictures that need recordings which are not part of the repository, and the target that draws them.
ELSEWHERE = {"eeg_bands.png": "make paper"}


class Picture(NamedTuple):
    """A picture: the function that draws it into a file, its size in pixels, and the files or texts it depends on."""

    draw: Callable[[Path], None]
    width: int
    height: int
    sources: tuple[Path | str, ...]

    def digest(self) -> str:
        """Hexadecimal SHA-256 of all sources."""
        return _sha256(part.read_bytes() if isinstance(part, Path) else part.encode() for part in self.sources)


def pictures() -> dict[str, Picture]:
    """Every picture, by its path within docs."""
    return {
        f"{folder}{name}": Picture(draw, width, height, (*_scripts(module), *sources))
        for module, folder in (
            (overview, "pictures/"),
            (examples, "pictures/"),
            (guide, "pictures/"),
            (screen, "pictures/"),
            (rows, ""),
        )
        for name, (draw, width, height, *sources) in module.PICTURES.items()
    }


def _scripts(module: object) -> tuple[Path, Path]:
    return Path(str(module.__file__)), DOCS / "pictures" / "style.py"


def _sha256(parts: Iterable[bytes]) -> str:
    return hashlib.sha256(b"\0".join(part.replace(b"\r\n", b"\n") for part in parts)).hexdigest()[:32]


def recorded() -> dict[str, dict[str, str]]:
    """The lines of made.csv by picture."""
    if not MADE.exists():
        return {}
    with MADE.open(encoding="utf-8", newline="") as file:
        return {line["picture"]: line for line in csv.DictReader(file)}


def contents(path: Path) -> str:
    """Hexadecimal SHA-256 of a picture's file."""
    return _sha256([path.read_bytes()])


def main(patterns: list[str]) -> int:
    """Draw, and record what was drawn; 1 if a picture could not be drawn, for which the old one stays."""
    lines, everything, failed = recorded(), pictures(), 0
    for name, picture in everything.items():
        if patterns and not any(fnmatch.fnmatch(name.rpartition("/")[2], pattern) for pattern in patterns):
            continue
        path = DOCS / name
        try:
            picture.draw(path)
        except FileNotFoundError as error:
            print(f"{name}: not drawn, {error}", file=sys.stderr)
            failed = 1
            continue
        print(f"{name}: {path.stat().st_size / 1000:.0f} kB")
        lines[name] = {"picture": name, "made_from": picture.digest(), "contents": contents(path)}
    with MADE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["picture", "made_from", "contents"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines[name] for name in sorted(set(lines) & set(everything)))
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
