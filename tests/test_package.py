"""The package as a whole: names, version, and what no file says."""

import re
import tomllib
from pathlib import Path

import pytest

import bahsic
from command import fresh

PUBLIC = [name for name in bahsic.__all__ if name != "__version__"]


def run(*words):
    """Output of a fresh interpreter in which warnings are errors."""
    process = fresh("-W", "error", *words)
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout


def test_version_is_the_same_everywhere(root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert bahsic.__version__ == project["version"]
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {bahsic.__version__}\n" in citation


def test_public_names_are_listed_and_others_are_refused():
    assert set(PUBLIC) <= set(dir(bahsic))
    with pytest.raises(AttributeError, match="module 'bahsic' has no attribute 'hsik'"):
        _ = bahsic.hsik


def test_import_leaves_the_selectors_alone():
    code = "import sys, bahsic, bahsic.plotting; print('matplotlib' in sys.modules); "
    code += "print('bahsic.selection.selectors' in sys.modules); "
    code += "bahsic.BAHSIC; print('bahsic.selection.selectors' in sys.modules); "
    code += "import bahsic.criteria.hsic; from bahsic import hsic; print(hsic.__name__, callable(hsic))"
    assert run("-c", code) == "False\nFalse\nTrue\nhsic True\n"


def test_program_runs_without_a_warning():
    assert run("-m", "bahsic", "--version") == f"bahsic {bahsic.__version__}\n"
    assert re.search(r"^wine +grower", run("-m", "bahsic", "datasets"), re.MULTILINE)
    code = "import sys, runpy, bahsic.cli; bahsic.cli.main = print; sys.argv = ['bahsic']; "
    assert run("-c", f"{code}runpy.run_module('bahsic', run_name='__main__')") == "['demo']\n"


def test_no_file_says_where_it_was_written(root):
    if root.parent == Path(root.anchor):
        pytest.skip("the project lies in the root folder: every path starts like it")
    places = "|".join(re.escape(str(place)) for place in {root.parent, Path.home()})
    here = re.compile(rf"(?<![\w.~-])(?:{places})/")
    folders = [root / folder for folder in ("src", "tests", "benchmarks", ".ci", ".github")]
    files = [
        path for folder in folders for path in folder.rglob("*") if "/." not in str(path.relative_to(folder.parent))[1:]
    ]
    files += [path for path in root.iterdir() if path.suffix in {".md", ".toml", ".cff"}]
    files = [path for path in files if path.is_file() and path.suffix not in {".nbc", ".nbi", ".npz", ".pyc"}]
    assert len(files) > 10
    assert [path for path in files if here.search(path.read_text(encoding="utf-8"))] == []
