"""The site names everything public, and its links are checked."""

import doctest
import importlib
import inspect
import json
import re
import runpy

import pytest

import bahsic
import bahsic.datasets

MODULES = ("datasets", "eeg", "files", "kernels", "plotting", "related", "report")


@pytest.fixture(scope="module")
def documented(root):
    """Each name of the API page, with what it stands for."""
    found, module = {}, ""
    for line in (root / "docs" / "api.rst").read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif match := re.fullmatch(r"   ([A-Za-z][\w.]*)", line):
            path, _, name = f"{module}.{match[1]}".rpartition(".")
            found[f"{path}.{name}"] = getattr(importlib.import_module(path), name)
    return found


def public(module):
    """Names of a module for users: those that it lists, or those that it defines."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return set(listed) - {"__version__"}
    own = {name: thing for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__}
    return {name for name, thing in own.items() if callable(thing) and not name.startswith("_")}


@pytest.mark.parametrize("name", ["", *MODULES])
def test_every_public_name_is_on_the_api_page(documented, name):
    path = f"bahsic.{name}".rstrip(".")
    assert {f"{path}.{thing}" for thing in public(importlib.import_module(path))} <= set(documented)


def test_every_name_on_the_api_page_has_an_example(documented):
    assert len(documented) > 60
    without = [
        name for name, thing in documented.items() if not doctest.DocTestParser().get_examples(inspect.getdoc(thing))
    ]
    assert without == []


def test_broken_links_are_found(root, tmp_path):
    broken = runpy.run_path(str(root / "docs" / "check_links.py"))["broken"]
    (tmp_path / "a.html").write_text('<p id="x"><a href="b.html#y"></a><a href="#x"></a><a href="https://c.d"></a>')
    (tmp_path / "b.html").write_text('<a href="a.html#x"></a><img src="c.png"><a href="#z"></a>')
    assert broken(tmp_path) == ["a.html: b.html#y", "b.html: c.png", "b.html: #z"]
    (tmp_path / "b.html").write_text('<i id="y"></i>')
    assert broken(tmp_path) == []


def test_results_of_the_live_reports_make_pages(root):
    pytest.importorskip("jinja2")
    from bahsic.report import report_html

    results = sorted((root / "docs" / "results").glob("*.json"))
    assert [path.stem for path in results] == ["titanic"]
    page = (root / "docs" / "reports.md").read_text(encoding="utf-8")
    for path in results:
        assert "ROC AUC" in report_html(json.loads(path.read_text(encoding="utf-8")))
        assert f'href="reports/{path.stem}.html"' in page


def test_calls_for_assistants_exist(root):
    text = (root / "docs" / "llms.txt").read_text(encoding="utf-8")
    X, y, _ = bahsic.datasets.make_xor(60, 4, random_state=0)
    selector = bahsic.FeatureSelector(kernel="gaussian").fit(X, y)
    attributes = set(re.findall(r"selector\.(\w+)", text))
    assert len(attributes) > 8
    assert [name for name in attributes if not hasattr(selector, name)] == []
    calls = {name for name in re.findall(r"`(\w+)\(", text) if name not in {"fit", "make_pipeline", "set_output"}}
    assert {"BAHSIC", "FOHSIC", "BAHSICCV", "selection_test", "hsic_test", "conditional_test"} <= calls
    assert [name for name in calls if not hasattr(bahsic, name)] == []
