"""Checkpoints: folders that keep finished rounds and folds, so that an interrupted fit continues from there."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator

from bahsic.data.sources import Source
from bahsic.options import OPTIONS
from bahsic.selection.problem import Problem
from bahsic.whole import appearing

_FORMAT = 4
_PACKAGES = ("bahsic", "numpy", "scipy")

_ROWS_AT_ONCE = 1 << 12
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")  # of an object in memory


class CheckpointError(ValueError):
    """A file of a checkpoint that is damaged, or that belongs to another fit."""


@dataclass(frozen=True)
class Folder:
    """A folder of a checkpoint: JSON files, with the fingerprint of the fit that they belong to."""

    path: Path
    fingerprint: Mapping[str, str]

    def inner(self, *names: str) -> Folder:
        """Return a folder inside, for a part of the fit."""
        return Folder(self.path.joinpath(*names), {**self.fingerprint, "part": "/".join(names)})

    def read(self, name: str) -> dict[str, Any]:
        """Return the content of a file, empty if there is none; raise if it is damaged, or belongs to another fit."""
        path = self.path / name
        if not path.exists():
            return {}
        if not path.is_file():
            raise CheckpointError(f"checkpoint has {path}, which is no file; accepted: a folder without it")
        try:
            data = json.loads(path.read_bytes())
            content = data["content"]
            intact = data["sha256"] == _digest([_text(content)]) and content["format"] == _FORMAT
        except (ValueError, KeyError, TypeError, RecursionError):
            intact = False
        if not intact:
            raise CheckpointError(f"checkpoint has the file {path}, which is damaged; delete it to start anew")
        there, here = content["fingerprint"], self.fingerprint
        sides = {key: (str(there.get(key)), str(here.get(key))) for key in {**here, **there}}
        different = [
            f"{key} ({' there, '.join(side)} here)" if max(map(len, side)) < 40 else key
            for key, side in sides.items()
            if there.get(key) != here.get(key)
        ]
        if different:
            raise CheckpointError(
                f"checkpoint has the file {path} of another fit, which differs in {', '.join(different)}; "
                "accepted: the folder of the same fit, or one without that file, so delete it to start anew"
            )
        return dict(content)

    def write(self, name: str, **content: Any) -> None:
        """Replace the content of a file, all or nothing."""
        content = {"format": _FORMAT, "fingerprint": dict(self.fingerprint), **content}
        text = json.dumps({"sha256": _digest([_text(content)]), "content": content}, allow_nan=False)
        checked_folder(self.path)
        with appearing(self.path / name, durable=True) as draft:
            draft.write_text(text, encoding="utf-8")


def check_seed(selector: Any, problem: Problem) -> None:
    """Raise where a checkpoint needs a seed, as the blocks of samples are drawn at random."""
    is_random = selector.random_state is None and selector.block_size != "auto"
    if problem.block_size is not None and is_random:
        raise ValueError(
            "random_state is None; accepted with block_size and checkpoint: an int, so that the blocks are the "
            "same after an interruption"
        )


def checked_folder(folder: Any) -> Path:
    """Return the folder of a checkpoint, made where it does not exist."""
    if not isinstance(folder, str | os.PathLike):
        raise TypeError(f"checkpoint is {folder!r}; accepted: None or a folder")
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise ValueError(f"checkpoint is {str(folder)!r}, a file; accepted: None or a folder") from None
    return path


def digest_of(arrays: Iterable[Any]) -> str:
    """Return the SHA-256 of arrays, one after the other."""
    return _digest(part for array in arrays for part in _array_bytes(array))


def _text(content: Any) -> bytes:
    """Return JSON that is the same for the same content; floats are exact."""
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _digest(parts: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def fingerprint(selector: BaseEstimator, problem: Problem) -> dict[str, str]:
    """Return everything that the rounds of a fit depend on, each part as a short text or as its SHA-256.

    Examples
    --------
    >>> from bahsic import BAHSIC
    >>> from bahsic.selection.problem import checked_problem
    >>> selector = BAHSIC(step=0.5)
    >>> parts = fingerprint(selector, checked_problem(selector, np.eye(6), [0, 1, 0, 1, 0, 1], None))
    >>> parts["step"], parts["X"][:8]
    ('0.5', '...')
    """
    labels = problem.labels
    # The seed of random_state is in the order of the samples.
    free = {option.name for option in OPTIONS if not option.recorded}
    parameters = {name: value for name, value in selector.get_params(deep=False).items() if name not in free}
    return {
        "selector": type(selector).__name__,
        "X": _digest(_table_bytes(problem)),
        "y": _digest([described(labels.kernel).encode(), *_array_bytes(labels.values)]),
        "sample_weight": _digest(_array_bytes(problem.data.weights)),
        "random_state": _digest(_array_bytes(problem.data.order)),
        **{name: described(value) for name, value in parameters.items()},
        "working_memory": repr(get_config()["working_memory"]),
        **{name: version(name) for name in _PACKAGES},
    }


def _table_bytes(problem: Problem) -> Iterable[Any]:
    table = problem.data.table
    yield repr((table.categorical.tolist(), None if table.names is None else list(table.names))).encode()
    yield repr({j: list(values) for j, values in table.categories.items()}).encode()
    values: Any = table.values
    if isinstance(values, Source):
        yield repr((type(values).__name__, values.dtype.str, values.shape)).encode()
        for rows in values.row_chunks():
            yield np.ascontiguousarray(values.read(rows, slice(0, values.shape[1]))).data
    elif sparse.issparse(values):
        for part in (values.data, values.indices, values.indptr):
            yield from _array_bytes(part)
    else:
        yield from _array_bytes(values)


def _array_bytes(array: Any) -> Iterable[Any]:
    if not isinstance(array, np.ndarray) or array.dtype.kind == "O":
        yield described(array).encode()
        return
    yield repr((array.dtype.str, array.shape)).encode()
    for start in range(0, len(array), _ROWS_AT_ONCE):
        yield np.ascontiguousarray(array[start : start + _ROWS_AT_ONCE]).tobytes()


def described(value: Any) -> str:
    """Return a text that is the same in another process, also for functions, random states and nested estimators.

    Examples
    --------
    >>> described([np.int64(3), {"a": np.array([0.5])}])
    "[3, {'a': [0.5]}]"
    """
    if isinstance(value, BaseEstimator):
        return type(value).__name__ + described(value.get_params(deep=False))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{described(key)}: {described(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(described, value)) + "]"
    if isinstance(value, np.ndarray | np.random.RandomState | np.random.Generator):
        return described(_as_plain(value))
    if inspect.isroutine(value):
        code = getattr(getattr(value, "__code__", None), "co_code", b"")
        return f"{value.__module__}.{value.__qualname__} {_digest([code])[:16]}"
    return _ADDRESS.sub("", repr(value.item() if isinstance(value, np.generic) else value))


def _as_plain(value: Any) -> Any:
    """Return the entries of an array, or the state of a generator."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.get_state(legacy=False) if isinstance(value, np.random.RandomState) else value.bit_generator.state
