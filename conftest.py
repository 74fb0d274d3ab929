"""Examples in docstrings that need an extra are collected only where it is installed."""

from importlib.util import find_spec

_NEEDS = {
    "docs/pictures.md": "matplotlib",
    "src/bahsic/plotting.py": "matplotlib",
    "src/bahsic/report/__init__.py": "jinja2",
}

collect_ignore = [path for path, library in _NEEDS.items() if find_spec(library) is None]
