"""Modules and examples that need an extra are collected only where it is installed."""

from importlib.util import find_spec

_NEEDS = {
    "docs/guide/mixed.md": "pandas",
    "docs/guide/pipeline.md": "pandas",
    "docs/pictures.md": "matplotlib",
    "docs/start.md": "pandas",
    "docs/appendix/tables.md": "pandas",
    "src/bahsic/engine/loops.py": "numba",
    "src/bahsic/plotting/pictures.py": "matplotlib",
    "src/bahsic/report/__init__.py": "jinja2",
}

# Sphinx runs these, see docs/conf.py, and _build and generated hold what it makes; `make pictures` runs pictures.
_OF_SPHINX = ["_build", "_extensions", "check_links.py", "conf.py", "examples", "gallery", "generated", "pictures"]

collect_ignore = [f"docs/{name}" for name in _OF_SPHINX]
collect_ignore += [path for path, library in _NEEDS.items() if find_spec(library) is None]
