"""The package as a whole: names, version, and what the files say."""

import csv
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


def test_scores_of_mutation_testing_are_those_of_the_rows(root):
    rows = list(csv.DictReader((root / ".ci" / "mutants.csv").read_text(encoding="utf-8").splitlines()))
    stated = " ".join((root / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
    parts = {row["part"] for row in rows}
    for name, among in [*((part, {part}) for part in parts), ("all", parts)]:
        outcomes = [row["outcome"] for row in rows if row["part"] in among]
        same, missed = outcomes.count("equivalent"), outcomes.count("survived")
        noticed = outcomes.count("killed") + outcomes.count("timeout")
        assert noticed + same + missed == len(outcomes)
        assert f"| {name} | {len(outcomes)} | {same} | {noticed} | {missed} |" in stated
    assert f"Tests notice {100 * noticed / (noticed + missed):.1f}% of the changes that have an effect." in stated
    fresh = csv.DictReader((root / ".ci" / "mutants_seed_1.csv").read_text(encoding="utf-8").splitlines())
    outcomes = [row["outcome"] for row in fresh]
    found = outcomes.count("killed") + outcomes.count("timeout"), outcomes.count("equivalent")
    assert f"of {len(outcomes)} changes drawn with the seed 1" in stated
    assert f"no test was written, {found[0]} are noticed and {found[1]} have no effect." in stated
    assert len(rows) >= 400
    assert noticed / (noticed + missed) >= 0.9
    assert all(row["reason"] for row in rows if row["outcome"] == "equivalent")


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
