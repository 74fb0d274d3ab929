"""What is told of the package to those who install, build and publish it, in one place and in another."""

import re
import tomllib
from pathlib import Path

import pytest

import bahsic

INNER = {"experiments"}  # extras for developers


@pytest.fixture(scope="module")
def pyproject(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def project(pyproject):
    return pyproject["project"]


@pytest.fixture(scope="module")
def recipe(root):
    """The recipe for conda-forge, with the variables of its context filled in."""
    yaml = pytest.importorskip("yaml", reason="the recipe is YAML")
    path = root / ".conda" / "recipe" / "recipe.yaml"
    if not path.exists():
        pytest.skip("the recipe is in the repository only")
    text = path.read_text(encoding="utf-8")
    for name, value in yaml.safe_load(text)["context"].items():
        text = text.replace(f"${{{{ {name} }}}}", value)
    return yaml.safe_load(text)


@pytest.fixture(scope="module")
def workflows(root):
    """Text of each workflow."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in (root / ".github" / "workflows").glob("*.yml")}
    if not texts:
        pytest.skip("the workflows are in the repository only")
    return texts


def test_versions_of_python_are_the_same_everywhere(project, recipe, workflows):
    pythons = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert project["requires-python"] == f">={pythons[0]}"
    assert recipe["context"]["python_min"] == pythons[0]
    assert re.search(r"python: (\[.*\])", workflows["ci.yml"])[1] == str(pythons).replace("'", '"')
    assert set(re.findall(r'"(3\.\d+)"', "".join(workflows.values()))) == set(pythons)


def test_recipe_agrees_with_the_project(pyproject, project, recipe):
    assert recipe["package"] == {"name": project["name"], "version": project["version"]}
    written = [line.replace(" ", "") for line in recipe["requirements"]["run"]]
    dependencies = [line.partition(";")[0].strip() for line in project["dependencies"]]
    assert written == [f"python{project['requires-python']}", *dependencies]
    assert set(pyproject["build-system"]["requires"]) < {
        line.replace(" ", "") for line in recipe["requirements"]["host"]
    }
    commands = dict(line.split(" = ") for line in recipe["build"]["python"]["entry_points"])
    assert commands == project["scripts"]
    about = recipe["about"]
    assert (about["summary"], about["license"]) == (project["description"], project["license"])
    assert [about["license_file"]] == project["license-files"]


def test_all_is_all_extras_for_users(project, root):
    extras = project["optional-dependencies"]
    (everything,) = extras["all"]
    assert everything == f"bahsic[{','.join(name for name in extras if name not in {'all', *INNER})}]"
    start = (root / "docs" / "start.md").read_text(encoding="utf-8")
    assert [name for name in extras if name not in INNER and f"`{name}`" not in start] == []


def test_install_lines_name_extras_that_exist(root, project):
    folders = (Path(bahsic.__file__).parent, root / ".ci", root / "docs", root / "experiments")
    generated = {"_build", "gallery", "generated"}
    files = [
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in {".py", ".md", ".html"} and not generated & set(path.relative_to(folder).parts)
    ]
    files += [*root.glob("*.md"), root / "Makefile"]
    found = {
        (path.name, name)
        for path in files
        for names in re.findall(r"""(?:\bbahsic|["'`]\.)\[([a-z]+(?:,[a-z]+)*)\]""", path.read_text(encoding="utf-8"))
        for name in names.split(",")
    }
    assert {("axes.py", "plot"), ("start.md", "files"), ("README.md", "report"), ("recent.py", "experiments")} < found
    assert {name for _, name in found} <= set(project["optional-dependencies"])


def test_pages_install_from_a_clone(root):
    """Until the package is published, nothing but a message (to somebody who has it) takes it from elsewhere."""
    pages = [root / "README.md", *(root / "docs").glob("*.md"), *(root / "docs").glob("[!_]*/*.md")]
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    elsewhere = [line for line in lines if re.search(r"""pip install ["']?bahsic""", line)]
    assert [line for line in elsewhere if " needs " not in line and not line.endswith("when it is published")] == []


def test_workflows_may_only_read_and_one_job_may_publish(workflows):
    yaml = pytest.importorskip("yaml", reason="workflows are YAML")
    rights = {}
    for name, text in workflows.items():
        workflow = yaml.safe_load(text)
        assert workflow["permissions"] == {"contents": "read"}
        rights |= {(name, job): what["permissions"] for job, what in workflow["jobs"].items() if "permissions" in what}
    assert rights == {("release.yml", "publish"): {"id-token": "write"}}
    publish = yaml.safe_load(workflows["release.yml"])["jobs"]["publish"]
    assert (publish["environment"], publish["if"]) == ("release", "github.ref_type == 'tag'")
    assert publish["needs"] == ["build", "test"]
