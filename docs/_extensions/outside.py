"""Files outside docs/ as pages of the site, and code without the empty line that ends a doctest."""

import re
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
# Page of the site and the file that it shows.
_PAGES = {
    "appendix/architecture": "ARCHITECTURE.md",
    "appendix/changelog": "CHANGELOG.md",
    "contributing": "CONTRIBUTING.md",
}


def _read(_app: Any, page: str, source: list[str]) -> None:
    if page in _PAGES:
        source[0] = (_ROOT / _PAGES[page]).read_text(encoding="utf-8")
    source[0] = re.sub(r"^(>>> [^`]*?\n)\n(?=```$)", r"\1", source[0], flags=re.MULTILINE)
    for name, file in _PAGES.items():
        source[0] = re.sub(rf"\]\((?:\.\./)*{re.escape(file)}\)", f"](/{name}.md)", source[0])


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
