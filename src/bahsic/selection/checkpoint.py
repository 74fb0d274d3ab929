"""Finished rounds of a search, kept in a folder: an interrupted search continues from there with the same selection."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
from collections.abc import Iterable, Mapping
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

_NAME = "bahsic-checkpoint.json"
_FORMAT = 4
_PACKAGES = ("bahsic", "numpy", "scipy")

_SOME_ROWS = 1 << 12
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")  # of an object in memory


class CheckpointError(ValueError):
    """A file of a checkpoint that is damaged, or that belongs to another fit."""


class KeptFile:
    """A JSON file in a folder, with the fingerprint of the fit that it belongs to.

    Parameters
    ----------
    folder : str or path
        Made where it does not exist.
    name : str
        Of the file.
    fingerprint : mapping of str to str
        Everything that the content depends on, see `fingerprint`.

    Attributes
    ----------
    found : dict
        Content of the file; empty if there is none.

    Raises
    ------
    CheckpointError
        Where the file is damaged, or has another fingerprint.
    """

    def __init__(self, folder: Any, name: str, fingerprint: Mapping[str, str]) -> None:
        self._path = checked_folder(folder) / name
        self._fingerprint = dict(fingerprint)
        self.found: dict[str, Any] = self._read()

    def _read(self) -> dict[str, Any]:
        if not self._path.exists():
            return {}
        if not self._path.is_file():
            raise CheckpointError(f"checkpoint has {self._path}, which is no file; accepted: a folder without it")
        try:
            found = json.loads(self._path.read_bytes())
            content = found["content"]
            intact = found["sha256"] == _digest([_text(content)]) and content["format"] == _FORMAT
        except (ValueError, KeyError, TypeError, RecursionError):
            intact = False
        if not intact:
            raise CheckpointError(f"checkpoint has the file {self._path}, which is damaged; delete it to start anew")
        self._check_origin(content["fingerprint"])
        return dict(content)

    def _check_origin(self, other: Mapping[str, str]) -> None:
        mine = self._fingerprint
        names = [name for name in {**mine, **other} if mine.get(name) != other.get(name)]
        if names:
            sides = ((name, str(other.get(name)), str(mine.get(name))) for name in names)
            shown = ", ".join(
                f"{name} ({there} there, {here} here)" if max(len(there), len(here)) < 40 else name
                for name, there, here in sides
            )
            raise CheckpointError(
                f"checkpoint has the file {self._path} of another fit, which differs in {shown}; "
                "accepted: the folder of the same fit, or one without that file, so delete it to start anew"
            )

    def replace(self, **content: Any) -> None:
        """Replace the content of the file, all or nothing."""
        content = {"format": _FORMAT, "fingerprint": self._fingerprint, **content}
        text = json.dumps({"sha256": _digest([_text(content)]), "content": content}, allow_nan=False)
        with appearing(self._path, durable=True) as draft:
            draft.write_text(text, encoding="utf-8")


class Checkpoint(KeptFile):
    """The file of a search, with its finished rounds as plain data.

    Parameters
    ----------
    folder : str or path
        Made where it does not exist.
    fingerprint : mapping of str to str
        Everything that the fit depends on, see `fingerprint`.
    """

    def __init__(self, folder: Any, fingerprint: Mapping[str, str]) -> None:
        super().__init__(folder, _NAME, fingerprint)
        self.rounds: list[dict[str, Any]] = self.found.get("rounds", [])

    def write(self, rounds: list[dict[str, Any]]) -> None:
        """Replace the rounds in the file, all or nothing."""
        self.replace(rounds=rounds)


def check_seed(selector: Any, problem: Problem) -> None:
    """Raise where a checkpoint needs a seed, as the blocks of samples are drawn at random."""
    drawn_anew = selector.random_state is None and selector.block_size != "auto"
    if problem.block_size is not None and drawn_anew:
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
    """SHA-256 of arrays, one after the other."""
    return _digest(part for array in arrays for part in _array_bytes(array))


def _text(content: Any) -> bytes:
    """JSON that is the same for the same content; floats are exact."""
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _digest(parts: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def fingerprint(selector: BaseEstimator, problem: Problem) -> dict[str, str]:
    """Everything that the rounds of a fit depend on, each part as a short text or as its SHA-256.

    Examples
    --------
    >>> from bahsic import BAHSIC
    >>> from bahsic.selection.problem import checked_problem
    >>> selector = BAHSIC(step=0.5)
    >>> found = fingerprint(selector, checked_problem(selector, np.eye(6), [0, 1, 0, 1, 0, 1], None))
    >>> found["step"], found["X"][:8]
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
    for start in range(0, len(array), _SOME_ROWS):
        yield np.ascontiguousarray(array[start : start + _SOME_ROWS]).tobytes()


def described(value: Any) -> str:
    """A text that is the same in another process, also for functions, random states and nested estimators.

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
    """Entries of an array, or the state of a generator."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.get_state(legacy=False) if isinstance(value, np.random.RandomState) else value.bit_generator.state
