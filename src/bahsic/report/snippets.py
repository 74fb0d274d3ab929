"""The code that repeats a selection, in Python and as a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from bahsic.names import for_option, for_shell
from bahsic.options import Option, flag_of, recorded_options

# Parameters that `FeatureSelector` does not have.
_OF_BAHSIC = {"step", "ridge", "statistic", "standardize", "block_size", "standard_errors"}
_NUMBER = "n_features_to_select"  # always written, between the two halves of a snippet


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
    """Return Python code that repeats the selection."""
    parameters, data = result["parameters"], result["input"]
    selector = "FOHSIC" if parameters.get("method") == "forward" else "BAHSIC"
    given = _given(parameters, Option.command_default)
    if selector == "BAHSIC" and parameters.get("criterion") == "prediction" and not set(given) & _OF_BAHSIC:
        selector = "FeatureSelector"  # with the defaults of the command
    else:
        given = _given(parameters, Option.selector_default)
    column = {row["feature"]: row.get("column") for row in result.get("ranking", ())}
    for name in ("categorical_features", "keep"):  # by positions, which arrays have too
        if isinstance(given.get(name), Sequence) and not isinstance(given[name], str):
            given[name] = [column.get(word, word) for word in given[name]]  # rules such as "from_dtype" stay
    if "feature_groups" in given:  # Python does not know the rules of the command
        groups: dict[str, list[int]] = {}
        for row in result["ranking"]:
            groups.setdefault(str(row["group"]), []).append(row["column"])
        given["feature_groups"] = {label: sorted(columns) for label, columns in groups.items()}
    if given.get("block_size") is not None or result.get("block_size") is not None:
        given["random_state"] = result.get("seed")
    others = "".join(f", {name}={value!r}" for name, value in given.items())
    lines, fitted = [f"from bahsic import {selector}", ""], "X, y"  # at hand
    if data["name"] is not None:
        target = {} if data["target"] is None else {"target": data["target"]}
        how = "".join(f", {name}={value!r}" for name, value in (target | data.get("options", {})).items())
        lines[1:] = ["from bahsic.files import read_data", "", f"data = read_data({data['name']!r}{how})"]
        fitted = "data.X, data.y"
    before = "\n".join([*lines, f"selector = {selector}({_NUMBER}="])
    after = f"{others})\nselector.fit({fitted}).get_support(indices=True)"
    return Snippet(before, repr(parameters.get(_NUMBER)), after)


def command(result: Mapping[str, Any]) -> Snippet:
    """Return the shell command that repeats the selection."""
    parameters, data = result["parameters"], result["input"]
    targets = data["target"] if isinstance(data["target"], list) else [data["target"]] if data["target"] else []
    reading = [*(("target", target) for target in targets), *data.get("options", {}).items()]
    file = f"./{data['name']}" if data["name"].startswith("-") else data["name"]
    before = ["bahsic select", _word(file), *(_option(f"--{name.replace('_', '-')}", value) for name, value in reading)]
    words = ["--method forward"] if parameters.get("method") == "forward" else []
    given = _given(parameters, Option.command_default)
    words += [
        _option(option.flags[0], option.none if given[option.name] is None else given[option.name])
        for option in recorded_options()
        if option.flags and option.name in given
    ]
    words += ["--test"] if result.get("test") else []
    words += [f"--stability {result['stability']['n_resamples']}"] if result.get("stability") else []
    words += [_option(flag_of("random_state"), result["seed"])] if result.get("seed") is not None else []
    number = parameters.get(_NUMBER)
    start = " ".join([*before, flag_of(_NUMBER), ""])
    return Snippet(start, _word("auto" if number is None else number), "".join(f" {word}" for word in words))


def _given(parameters: Mapping[str, Any], default_of: Callable[[Option, str | None], Any]) -> dict[str, Any]:
    """Return the parameters that differ from the defaults, but for the number of features."""
    given, method = {}, parameters.get("method")
    for option in recorded_options():
        # One that a result lacks has the default of the selectors, which may differ from that of the command.
        value = parameters.get(option.name, option.selector_default(method))
        default = default_of(option, method)
        is_given = value is not None or (bool(option.none) and default is not None)
        if option.name != _NUMBER and is_given and value not in ([], default):
            given[option.name] = value
    return given


def _option(name: str, value: object) -> str:
    """Return an option with its value, joined by = where the value starts with a dash."""
    if isinstance(value, bool):
        return name if value else f"--no-{name.removeprefix('--')}"
    word = _word(value)
    return f"{name}={word}" if word.lstrip("'$").startswith("-") else f"{name} {word}"


def _word(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = for_option(value)
    return for_shell(str(value))
