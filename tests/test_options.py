"""The table of options agrees with the constructors, the command, results and code."""

import inspect
import json
import re
import shlex

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

import bahsic
from bahsic import BAHSIC, BAHSICCV, FOHSIC
from bahsic.datasets import make_xor
from command import command, parsed, printed, python_code

OLD_FLAGS = {
    "-k": "n_features_to_select",
    "--n-features": "n_features_to_select",
    "--groups": "feature_groups",
    "--categorical": "categorical_features",
    "--seed": "random_state",
    "--jobs": "n_jobs",
}

# For each parameter that a result holds, a value other than the default, as the JSON has it.
OTHERS = {
    "step": 2,
    "kernel": "linear",
    "target_kernel": "delta",
    "criterion": "prediction",
    "ridge": 0.5,
    "statistic": "biased",
    "standardize": False,
    "categorical_features": ["from_dtype", "c"],
    "missing": "indicator",
    "identifiers": "use",
    "feature_groups": "prefix:_",
    "keep": ["a", "c"],
    "cv": 3,
    "standard_errors": True,
    "block_size": 10,
}


def keyword_defaults(selector):
    return {name: parameter.default for name, parameter in inspect.signature(selector).parameters.items()}


DEFAULTS = keyword_defaults(BAHSIC)
# Those of the command where they differ.
OF_COMMAND = {"n_features_to_select": "auto", "step": 0.2, "kernel": "auto", "criterion": "prediction"}
OF_COMMAND |= {"random_state": 0}
# Parameters without an option of the command, and those of which a result says nothing.
NO_OPTION, NOT_RECORDED = {"statistic", "standardize", "executor", "verbose"}, {"n_jobs", "random_state", "checkpoint"}


def test_forward_selection_differs_in_its_step_alone():
    forward = keyword_defaults(FOHSIC)
    assert list(forward) == list(DEFAULTS)
    assert {name for name in DEFAULTS if DEFAULTS[name] != forward[name]} == {"step"}
    assert BAHSIC().get_params() == DEFAULTS
    assert repr(FOHSIC(3, step=1)) == "FOHSIC(n_features_to_select=3)"
    assert clone(FOHSIC(3, step=0.1)).get_params()["step"] == 0.1
    kinds = [parameter.kind.name for parameter in inspect.signature(FOHSIC).parameters.values()]
    assert kinds == ["POSITIONAL_OR_KEYWORD"] + ["KEYWORD_ONLY"] * (len(DEFAULTS) - 1)


def test_docstring_tells_the_defaults():
    told = dict(re.findall(r"^(\w+) : .*, default=(.+)$", inspect.getdoc(BAHSIC), re.MULTILINE))
    as_told = {str: json.dumps}
    assert told == {name: as_told.get(type(value), repr)(value) for name, value in DEFAULTS.items()}


def test_cross_validation_has_all_parameters_but_the_number():
    own = ["estimator", "min_features_to_select", "cv", "scoring", "one_standard_error"]
    shared = {name: value for name, value in DEFAULTS.items() if name not in ("n_features_to_select", *own)}
    found = keyword_defaults(BAHSICCV)
    assert set(found) == {*own, *shared}
    assert {name: found[name] for name in shared} == shared
    search = BAHSICCV(GaussianNB(), **OTHERS)
    assert list(search.get_params(deep=False)) == sorted([*own, *shared])
    assert {name: getattr(search, name) for name in OTHERS} == OTHERS
    assert clone(search).get_params(deep=False).keys() == search.get_params(deep=False).keys()
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_features_to_select'"):
        BAHSICCV(GaussianNB(), n_features_to_select=3)


def test_docstring_of_cross_validation_has_all_parameters():
    told = inspect.getdoc(BAHSICCV).partition("Parameters\n")[2].partition("Attributes\n")[0]
    heads = re.findall(r"^((?:\w+, )*\w+)(?: : .*)?$", told, re.MULTILINE)
    assert sorted(name for head in heads for name in head.split(", ")) == sorted(keyword_defaults(BAHSICCV))


def test_every_parameter_is_an_option_with_the_same_default():
    found = vars(parsed(["select", "data.npz"]))
    with_option = {name: value for name, value in DEFAULTS.items() if name not in NO_OPTION}
    assert {name: found[name] for name in with_option} == with_option | OF_COMMAND | {"step": None}
    assert not NO_OPTION & set(found)
    for name, *words in (["rank"], ["test", "--x", "a", "--y", "b"]):
        assert parsed([name, "data.npz", *words]).kernel == "gaussian"


@pytest.mark.parametrize("flag", OLD_FLAGS)
def test_short_names_go_on_working(flag, tmp_path):
    name = OLD_FLAGS[flag]
    long = f"--{name.replace('_', '-')}"
    values = [vars(parsed(["select", "data.npz", word, "3"])) for word in (flag, long)]
    assert values[0] == values[1]
    for key in (flag.lstrip("-"), flag.lstrip("-").replace("-", "_"), name, long[2:]):
        (tmp_path / "c.toml").write_text(f"{key} = 3")
        found = parsed(["select", "data.npz", "--config", str(tmp_path / "c.toml")])
        assert getattr(found, name) == values[0][name]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, _ = make_xor(n_samples=40, n_features=4, random_state=0)
    X[:, 2] = np.arange(40) % 3
    np.savez("data.npz", X=X, y=y, feature_names=["a", "a_2", "c", "d"])


@pytest.mark.parametrize("method", ["backward", "forward"])
def test_results_hold_every_parameter_of_the_command_on_which_they_depend(method, files):
    found = printed("select", "data.npz", "--method", method)
    hidden = NOT_RECORDED | NO_OPTION
    expected = {name: value for name, value in (DEFAULTS | OF_COMMAND).items() if name not in hidden}
    step = 0.2 if method == "backward" else 1
    assert found["parameters"] == {"method": method, **expected, "step": step}
    assert found["seed"] == 0


def result_with(**parameters):
    names = ["a", "a_2", "c", "d"]
    ranking = [{"feature": name, "column": j, "group": name.split("_")[0]} for j, name in enumerate(names)]
    parameters = {"n_features_to_select": 2, **parameters}
    return {"input": {"name": "data.npz", "target": "y"}, "parameters": parameters, "seed": 5, "ranking": ranking}


def test_the_samples_of_this_file_are_complete():
    missing = NOT_RECORDED | {"n_features_to_select", "executor", "verbose"}
    assert [*OTHERS] == [name for name in DEFAULTS if name not in missing]


@pytest.mark.parametrize("method", ["backward", "forward"])
@pytest.mark.parametrize("name", OTHERS)
def test_code_has_a_parameter_unless_it_is_the_default(name, method):
    default = keyword_defaults(BAHSIC if method == "backward" else FOHSIC)[name]
    of_command, flag = OF_COMMAND.get(name, default), f"--{name.replace('_', '-')}"
    step = 0.2 if method == "backward" else 1  # of the command
    if name == "step":
        of_command = step
    for value in (OTHERS[name], default, of_command):
        result = result_with(method=method, **{"step": step, name: value})
        in_python = f", {name}=" in python_code(result).text
        front = name == "criterion" and value == "prediction" and method == "backward"  # the default of that class
        assert ("FeatureSelector(" in python_code(result).text) == front
        assert in_python == (not front and value not in (None, default))
        words = shlex.split(command(result).text)
        assert (flag in words) == (name not in NO_OPTION and value not in (None, of_command))


def test_all_samples_at_once_in_code_and_command():
    for method in ("backward", "forward"):
        result = result_with(method=method, block_size=None)
        assert ", block_size=None)" in python_code(result).text
        assert "random_state" not in python_code(result).text
        assert parsed(shlex.split(command(result).text)[1:]).block_size == "none"


def test_code_has_the_seed_of_blocks_that_auto_has_drawn():
    assert "random_state" not in python_code(result_with(block_size="auto")).text
    code = python_code({**result_with(block_size="auto"), "block_size": 1000}).text
    assert "BAHSIC(n_features_to_select=2, random_state=5)" in code


@pytest.mark.parametrize("name", [name for name in OTHERS if name not in NO_OPTION])
def test_the_command_of_a_result_asks_for_the_same(name):
    words = shlex.split(command(result_with(**{name: OTHERS[name]})).text)
    found = parsed(words[1:])
    assert getattr(found, name) == OTHERS[name]
    assert (found.n_features_to_select, found.random_state) == (2, 5)


def test_the_python_of_a_result_makes_the_same_selector():
    code = python_code(result_with(**OTHERS)).text.splitlines()
    (line,) = [line for line in code if line.startswith("selector = ")]
    selector = eval(line.removeprefix("selector = "), vars(bahsic) | {"BAHSIC": BAHSIC})
    expected = {"n_features_to_select": 2, **OTHERS, "random_state": 5}
    expected |= {
        "categorical_features": ["from_dtype", 2],
        "keep": [0, 2],
        "feature_groups": {"a": [0, 1], "c": [2], "d": [3]},
    }
    assert selector.get_params() == BAHSIC().get_params() | expected
