"""Pages that are made of rows, or of other files, say what these say."""

import re
import runpy
import warnings

import pytest


@pytest.fixture
def made(root, monkeypatch):
    """What a script of benchmarks/ defines."""
    monkeypatch.syspath_prepend(root / "benchmarks")
    return lambda name: runpy.run_path(str(root / "benchmarks" / f"{name}.py"))


def text(root, name):
    return (root / name).read_text(encoding="utf-8")


def test_figures_of_scale(root, made):
    script, page = made("scale_page"), text(root, "docs/appendix/scale.md")
    rows = script["read"]("scale")
    assert script["filled"](page, rows) == page
    assert script["filled"](page, [{**row, "value": "0.123"} for row in rows]).count("12.30 %") == 4 * 8 - 2


def test_figures_of_performance(root, made):
    script = made("performance_page")
    pages = [text(root, name) for name in script["PAGES"]]
    assert [script["filled"](page) for page in pages] == pages
    assert script["filled"](pages[0].replace("300 |", "299 |")) == pages[0]
    measured = {path.stem for path in (root / "benchmarks" / "results").glob("*.csv")}
    apart = {"scale", "inference", "needed_draws", "needed_peers", "selection_bias"}  # on pages of their own
    assert measured - set(script["BENCHMARKS"]) == apart
    assert all(any(f"<!-- {name} -->" in page for page in pages) for name in script["BENCHMARKS"])


@pytest.mark.parametrize(
    ("page", "name", "changed", "count"),
    [
        ("readme", "README.md", r"\d+ of 20 ", 7),
        ("readme", "README.md", r"\d\.\d of 5 ", 7),
        ("choices", "docs/evidence/choices.md", r"\d\d\.\d %", 12),
    ],
)
def test_figures_of_first_pages(root, made, page, name, changed, count):
    current = text(root, name)
    fill = made("readme_page")[page]
    assert fill(current) == current, "python benchmarks/readme_page.py writes it again"
    wrong, n_changed = re.subn(changed, "77 ", current)
    assert n_changed == count
    assert fill(wrong) == current


def test_example_of_the_readme(root, data_folder, monkeypatch, capsys):
    pd = pytest.importorskip("pandas")
    tables = data_folder / "raw"
    if not tables.is_dir():
        pytest.skip(f"no raw tables in {data_folder}")
    code, expected = re.findall(r"```(?:python|text)\n(.*?)```", text(root, "README.md"), re.DOTALL)[:2]
    read = pd.read_csv
    monkeypatch.setattr(pd, "read_csv", lambda url: read(tables / url.rpartition("/")[2]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one that names the ignored columns
        exec(code, {})
    assert capsys.readouterr().out == expected


def test_figures_of_inference(root, made):
    script = made("inference_page")
    pages = [text(root, name) for name in script["PAGES"]]
    assert [script["filled"](page) for page in pages] == pages
    page = pages[0]
    wrong = re.sub(r"\| 0\.\d+ ", "| 0.9876 ", page)
    assert wrong.count("0.9876") == 15 + 3 + 8
    wrong, sentences = re.subn(r"\d+\s+of\s+200\b|\d+\s+of\s+\d+\s+draws|from\s+0\.\d+\s+to\s+0\.\d+", "7 of 8", wrong)
    assert sentences == 7
    assert script["filled"](wrong) == page


def test_citations_agree(root):
    cff = text(root, "CITATION.cff").partition("preferred-citation:")[2]
    wanted = re.findall(r"(?:title|family-names|given-names|doi|year|start|end): (.+)", cff)
    assert len(wanted) == 1 + 2 * 5 + 1 + 2 + 1 + 1
    entry = text(root, "docs/references.bib").partition("\n\n")[0]
    assert [value for value in wanted if value not in entry] == []
    assert [value for value in wanted if value not in text(root, "README.md")] == []
