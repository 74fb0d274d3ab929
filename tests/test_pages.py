"""Pages that are made of rows say what the rows say."""

import runpy


def test_figures_of_scale(root):
    made = runpy.run_path(str(root / "benchmarks" / "scale_page.py"))
    page = (root / "docs" / "scale.md").read_text(encoding="utf-8")
    assert made["filled"](page, made["read"]()) == page
    changed = [{**row, "value": "0.123"} for row in made["read"]()]
    assert made["filled"](page, changed).count("12.30 %") == 4 * 8 - 2
