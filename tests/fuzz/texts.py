"""Damaged results, configurations, lists of groups and checkpoints: a result, or one line that says what is wrong."""

import json
import shutil
from pathlib import Path

import numpy as np

from command import run
from fuzz.apart import Outcome
from fuzz.commands import command_outcome
from fuzz.damage import damaged

CONFIG = """
target = "label"
criterion = "hsic"
n-features-to-select = 2
step = 0.5
standardize = true
quiet = true
keep = ["a", "b"]
top = 3
"""
GROUPS = "feature,group\na,one\nb,one\nc,two\n"
VALUES = [
    *(None, True, -1, 0, 1e308, 10**30, 10**400, float("nan"), float("inf")),
    *("", "=1", "a" * 10**4, "\ud800", [], {}),
]


def prepare(folder):
    """Write a table, and what the command makes of it."""
    folder = Path(folder)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    rows = [f"{a},{b},{c},{int(a > 0)}" for a, b, c in X]
    (folder / "t.csv").write_text("\n".join(["a,b,c,label", *rows]))
    (folder / "c.toml").write_text(CONFIG)
    (folder / "g.csv").write_text(GROUPS)
    (folder / "kept").mkdir()
    words = ["select", folder / "t.csv", "--target", "label", "--quiet", "-k", "auto", "--json"]
    (folder / "r.json").write_text(run(*words, "--checkpoint", folder / "kept")[1])
    return Outcome("fine")


def case(generator, folder, number):
    """One damaged file of one of the four kinds."""
    return [_result, _configuration, _groups, _checkpoint][number % 4](generator, Path(folder))


def _result(generator, folder):
    content = (folder / "r.json").read_bytes()
    if generator.random() < 0.8:
        content = json.dumps(_changed(json.loads(content), generator)).encode()
    else:
        content = damaged(content, generator)
    (folder / "damaged.json").write_bytes(content)
    return command_outcome(["report", str(folder / "damaged.json")])


def _changed(value, generator):
    """Nested data with a random entry replaced, removed or repeated."""
    if not isinstance(value, dict | list) or not value or generator.random() < 0.1:
        return VALUES[generator.integers(len(VALUES))]
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[generator.integers(len(keys))]
    copy = value.copy()
    if generator.random() < 0.1:
        del copy[key]
    elif isinstance(copy, list) and generator.random() < 0.1:
        copy.append(copy[key])
    else:
        copy[key] = _changed(copy[key], generator)
    return copy


def _configuration(generator, folder):
    (folder / "damaged.toml").write_bytes(damaged(CONFIG.encode(), generator))
    return command_outcome(["select", str(folder / "t.csv"), "--config", str(folder / "damaged.toml")])


def _groups(generator, folder):
    (folder / "damaged.csv").write_bytes(damaged(GROUPS.encode(), generator))
    words = ["select", str(folder / "t.csv"), "-t", "label", "-k", "1", "--criterion", "hsic"]
    return command_outcome([*words, "--feature-groups", str(folder / "damaged.csv")])


def _checkpoint(generator, folder):
    """A damaged checkpoint is refused, or gives the same result."""
    kept = folder / "damaged"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(folder / "kept", kept)
    files = sorted(path for path in kept.rglob("*") if path.is_file())
    chosen = files[generator.integers(len(files))]
    chosen.write_bytes(damaged(chosen.read_bytes(), generator))
    words = ["select", str(folder / "t.csv"), "--target", "label", "--quiet", "-k", "auto", "--json"]
    outcome, text = command_outcome([*words, "--checkpoint", str(kept)], with_output=True)
    if outcome.kind == "fine" and _essence(json.loads(text)) != _essence(json.loads((folder / "r.json").read_text())):
        return Outcome("fault", "another result from a damaged checkpoint")
    return outcome


def _essence(result):
    return {name: result[name] for name in ("selected", "ranking", "path")}
