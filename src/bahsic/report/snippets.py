"""The code that repeats a selection, in Python and as a command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bahsic.names import joined

# Parameters of a result that are parameters of the selectors, and the option of the command for each if it has one.
_OPTIONS = {
    "kernel": "--kernel",
    "step": "--step",
    "target_kernel": "--target-kernel",
    "statistic": None,
    "standardize": None,
    "categorical_features": "--categorical",
    "missing": "--missing",
    "feature_groups": "--groups",
    "keep": "--keep",
    "block_size": "--block-size",
    "standard_errors": "--standard-errors",
}

# What the selectors take by default needs no mention, nor what the command does.
_DEFAULTS = {
    "target_kernel": "auto",
    "statistic": "unbiased",
    "standardize": True,
    "missing": "error",
    "standard_errors": False,
}
_COMMAND_DEFAULTS = {"categorical_features": "from_dtype"}


class Snippet(NamedTuple):
    """Code around the number of features, which a reader of the page may change."""

    before: str
    number: str
    after: str

    @property
    def text(self) -> str:
        """The whole code."""
        return "".join(self)


def python_code(result: Mapping[str, Any]) -> Snippet:
    """Python that repeats the selection.

    Parameters
    ----------
    result : mapping
        See `bahsic.report.report_html`.

    Returns
    -------
    Snippet

    Examples
    --------
    >>> result = {"input": {"name": "wine.csv", "target": "class"}, "parameters": {"n_features_to_select": 3}}
    >>> print(python_code(result).text)
    from bahsic import BAHSIC
    from bahsic.files import read_data
    <BLANKLINE>
    data = read_data('wine.csv', target='class')
    selector = BAHSIC(n_features_to_select=3)
    selector.fit(data.X, data.y).get_support(indices=True)
    """
    parameters, data = result["parameters"], result["input"]
    selector = "FOHSIC" if parameters.get("method") == "forward" else "BAHSIC"
    given = _given(parameters, _DEFAULTS)
    for name in ("categorical_features", "keep"):  # by positions, which arrays have too
        if isinstance(given.get(name), Sequence) and not isinstance(given[name], str):
            given[name] = _positions(given[name], result["ranking"])
    if "feature_groups" in given:
        given["feature_groups"] = _groups(result["ranking"])
    if "block_size" in given:
        given["random_state"] = result.get("seed")
    others = "".join(f", {name}={value!r}" for name, value in given.items())
    how = "".join(f", {name}={value!r}" for name, value in _reading(data).items())
    before = (
        f"from bahsic import {selector}\nfrom bahsic.files import read_data\n\n"
        f"data = read_data({data['name']!r}{how})\n"
        f"selector = {selector}(n_features_to_select="
    )
    number = repr(parameters.get("n_features_to_select"))
    return Snippet(before, number, f"{others})\nselector.fit(data.X, data.y).get_support(indices=True)")


def command(result: Mapping[str, Any]) -> Snippet:
    """The shell command that repeats the selection.

    Parameters
    ----------
    result : mapping
        See `bahsic.report.report_html`.

    Returns
    -------
    Snippet

    Examples
    --------
    >>> result = {"input": {"name": "my wine.csv", "target": "class"}, "parameters": {"n_features_to_select": "auto"}}
    >>> command(result).text
    "bahsic select 'my wine.csv' --target class -k auto"
    """
    parameters, data = result["parameters"], result["input"]
    how = "".join(f" {_option('--' + name.replace('_', '-'), value)}" for name, value in _reading(data).items())
    words = [f"--method {_word(parameters['method'])}"] if "method" in parameters else []
    given = _given(parameters, _DEFAULTS | _COMMAND_DEFAULTS)
    options = [(_OPTIONS[name], value) for name, value in given.items()]
    words += [_option(option, value) for option, value in options if option is not None]
    words += ["--test"] if result.get("test") else []
    words += [f"--seed {_word(result['seed'])}"] if result.get("seed") is not None else []
    number = parameters.get("n_features_to_select")
    file = f"./{data['name']}" if data["name"].startswith("-") else data["name"]
    before = f"bahsic select {_word(file)}{how} -k "
    return Snippet(before, _word("auto" if number is None else number), "".join(f" {word}" for word in words))


def _reading(data: Mapping[str, Any]) -> dict[str, Any]:
    """How the file was read: its target, and options."""
    return {**({} if data["target"] is None else {"target": data["target"]}), **data.get("options", {})}


def _given(parameters: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the selector that differ from their defaults, in the order of the table above."""
    names = [name for name in _OPTIONS if parameters.get(name) not in (None, [])]
    return {name: parameters[name] for name in names if parameters[name] != defaults.get(name)}


def _positions(names: Sequence[str], ranking: Sequence[Mapping[str, Any]]) -> list[int]:
    column = {row["feature"]: row["column"] for row in ranking}
    return [column[name] for name in names]


def _groups(ranking: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Columns of each group: a command names a rule for them, which only the command knows."""
    groups: dict[str, list[int]] = {}
    for row in ranking:
        groups.setdefault(str(row["group"]), []).append(row["column"])
    return {label: sorted(columns) for label, columns in groups.items()}


def _option(name: str, value: object) -> str:
    """An option with its value; one that starts with a dash would be taken for another option."""
    if value is True:
        return name
    word = _word(value)
    return f"{name}={word}" if word.lstrip("'$").startswith("-") else f"{name} {word}"


def _word(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = joined(value)
    text = str(value)
    return shlex.quote(text) if text.isprintable() else f"$'{''.join(map(_escaped, text))}'"


def _escaped(character: str) -> str:
    """A character inside $'...', so that what the shell reads is what the page shows."""
    if character.isprintable():
        return f"\\{character}" if character in "\\'" else character
    return f"\\U{ord(character):08x}"
