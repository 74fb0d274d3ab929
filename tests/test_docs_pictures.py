"""Pictures of the README and of docs: each is made by code, and not older than it."""

import importlib
import re
import sys

import pytest

_IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
_SCRIPTS = ("make", "examples", "guide", "overview", "rows", "screen", "style")


@pytest.fixture(scope="module")
def make(root):
    """The module docs/pictures/make.py; its neighbours have short names, which are forgotten afterwards."""
    path = list(sys.path)
    sys.path.insert(0, str(root / "docs" / "pictures"))
    yield importlib.import_module("make")
    sys.path[:] = path
    for name in _SCRIPTS:
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def shown(root):
    """Each picture of a page: the page, the text that stands for it, and its path within docs."""
    docs = (root / "docs").resolve()
    return [
        (page.name, words, (page.parent / target).resolve().relative_to(docs).as_posix())
        for page in [root.resolve() / "README.md", *docs.glob("[!_]*/*.md"), *docs.glob("*.md")]
        for words, target in _IMAGE.findall(page.read_text(encoding="utf-8"))
    ]


def test_every_picture_is_made_by_a_script_and_used_with_words_for_it(make, shown):
    assert [(page, picture) for page, words, picture in shown if not words.strip()] == []
    # A figure that a text links to counts as used.
    assert {picture for _, _, picture in shown} - set(make.pictures()) - set(make.ELSEWHERE) == set()
    assert set(make.pictures()) - {picture for _, _, picture in shown} == {"artificial_10_runs.png"}
    assert set(make.recorded()) == set(make.pictures())


def test_pictures_are_not_older_than_their_sources(root, make):
    """`make pictures ARGS=NAME` draws one again; its digest changes with its script, its rows or the report's page."""
    recorded = make.recorded()
    old = [name for name, picture in make.pictures().items() if picture.digest() != recorded[name]["made_from"]]
    assert old == []
    changed = [name for name in recorded if make.contents(root / "docs" / name) != recorded[name]["contents"]]
    assert changed == []


def test_the_screenshot_is_of_the_commands_in_the_readme(root, make):
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert "\n".join(f"    bahsic {command}" for command in make.screen.COMMANDS) in readme
