"""The report of a selection: one self-contained HTML file, and a table of all features next to it."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bahsic.names import for_page, for_spreadsheet
from bahsic.report.charts import text_of
from bahsic.report.page import page
from bahsic.report.schema import checked
from bahsic.whole import appearing

__all__ = ["check_report", "report_html", "table_beside", "write_report"]

_COLUMNS = (
    *("rank", "feature", "selected", "score", "pvalue", "group", "relevance", "frequency", "alone"),
    *("partner", "together", "needed"),
)


def report_html(result: Mapping[str, Any], table_name: str | None = None) -> str:
    """Return the report as one HTML page, below 1 MB whatever the number of features.

    It loads nothing from outside, allows no scripts but its own, and can be read without scripts.

    Parameters
    ----------
    result : mapping
        The result of ``bahsic select --json`` or `selection_result`: plain data. Names of features may be any text.
    table_name : str, optional
        Name of the file with all features, in the folder of the page, for a link.

    Returns
    -------
    str
        Cost O(n_features).

    Examples
    --------
    >>> from bahsic import BAHSIC
    >>> from bahsic.datasets import make_xor
    >>> from bahsic.report.result import selection_result
    >>> X, y, _ = make_xor(n_samples=100, n_features=2, random_state=0)
    >>> heading = {"input": {"name": "xor.csv", "target": "y"}, "parameters": {"n_features_to_select": 2}}
    >>> html = report_html(selection_result(BAHSIC(2).fit(X, y), X, y, names=["<age>", "dose"], **heading))
    >>> "&lt;age&gt;</bdi>" in html, "<age>" in html
    (True, False)
    """
    check_report()
    contents = page(checked(result))
    style, script = text_of("charts.css") + text_of("report.css"), text_of("report.js")
    # This style, this script, and nothing from anywhere.
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    # JSON that can stand in a script element: nothing in it, such as </script>, ends the element.
    data = json.dumps(contents["script_data"], allow_nan=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    contents |= {"style": style, "script": script, "policy": policy, "json": data}
    contents |= {"table_name": table_name, "table_link": quote(os.fsencode(table_name or ""))}
    html: str = _template().render(**contents)
    return html


def write_report(result: Mapping[str, Any], path: str | os.PathLike[str]) -> list[Path]:
    """Write the report, and a table of all features next to it.

    Parameters
    ----------
    result : mapping
        See `report_html`.
    path : path-like
        The page; `table_beside` gives the path of the table. Existing files are replaced.

    Returns
    -------
    list of Path
        The page and the table. After an error, existing files are unchanged.

    Examples
    --------
    >>> import tempfile
    >>> from bahsic import FeatureSelector
    >>> from bahsic.datasets import make_xor
    >>> X, y, _ = make_xor(n_samples=100, n_features=4, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:  # by `write_report`
    ...     [path.name for path in FeatureSelector(2).fit(X, y).report(f"{folder}/xor.html")]
    ['xor.html', 'xor_features.csv']
    """
    page_path, table_path = Path(path), table_beside(path)
    texts = report_html(result, table_path.name), _feature_table(result)
    with appearing(page_path) as page, appearing(table_path) as table:
        for draft, text in zip((page, table), texts, strict=True):
            draft.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
    return [page_path, table_path]


def table_beside(path: str | os.PathLike[str]) -> Path:
    """Return the path of the table of all features that is written with a page.

    Examples
    --------
    >>> table_beside("wine.html").name
    'wine_features.csv'
    """
    page_path = Path(path)
    return page_path.with_name(f"{page_path.stem}_features.csv")


def check_report() -> None:
    """Raise an ImportError if a library that the report needs is missing.

    Examples
    --------
    >>> check_report()
    """
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise ImportError('the report needs jinja2: pip install "bahsic[report]"') from error


def _feature_table(result: Mapping[str, Any]) -> str:
    """Return all features as CSV, numbers with all their digits, and text that no spreadsheet takes for a formula."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for row in result["ranking"]:
        cells = [row.get(column) for column in _COLUMNS]
        writer.writerow([cell if isinstance(cell, int | float | None) else for_spreadsheet(cell) for cell in cells])
    return text.getvalue()


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    options: dict[str, Any] = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(autoescape=True, finalize=_visible, **options)
    environment.filters["short"] = for_page
    return environment.from_string(text_of("report.html.j2"))


def _visible(value: Any) -> Any:
    """Return text with a symbol for each character that cannot be seen, and without breaks before numbers."""
    if type(value) is not str:  # markup
        return value
    return re.sub(r" (?=[±=<] |\S?\d\.\d|AUC )|(?<= [±=<]) ", "\xa0", for_page(value, None))


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
