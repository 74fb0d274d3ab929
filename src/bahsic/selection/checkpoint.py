"""Checkpoints: folders that keep finished rounds and folds, so that an interrupted fit continues from there."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator

from bahsic.data.sources import Source
from bahsic.data.tables import Table
from bahsic.options import OPTIONS
from bahsic.selection.problem import Problem
from bahsic.whole import appearing

_FORMAT = 6
_PACKAGES = ("bahsic", "numpy", "scipy")
_SHORT = 40  # characters of a part of a fingerprint that is kept as it is
_PLAIN: dict[type, Callable[[Any], Any]] = {
    np.ndarray: np.ndarray.tolist,
    np.random.RandomState: lambda state: state.get_state(legacy=False),
    np.random.Generator: lambda generator: generator.bit_generator.state,
}
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
            raise CheckpointError(f"checkpoint has {path}, which is not a file; accepted: a folder without it")
        try:
            data = json.loads(path.read_bytes())
            content = data["content"]
            intact = data["sha256"] == _digest([_text(content)]) and content["format"] == _FORMAT
        except (ValueError, KeyError, TypeError, RecursionError):
            intact = False
        if not intact:
            raise CheckpointError(f"checkpoint has the file {path}, which is damaged; delete it to start again")
        there, here = content["fingerprint"], self.fingerprint
        sides = {key: (str(there.get(key)), str(here.get(key))) for key in {**here, **there}}
        different = [
            f"{key} ({' there, '.join(side)} here)" if max(map(len, side)) < _SHORT else key
            for key, side in sides.items()
            if there.get(key) != here.get(key)
        ]
        if different:
            raise CheckpointError(
                f"checkpoint has the file {path} of another fit, which differs in {', '.join(different)}; "
                "accepted: the folder of the same fit, or one without that file, so delete it to start again"
            )
        return dict(content)

    def write(self, name: str, **content: Any) -> None:
        """Replace the content of a file, all or nothing."""
        content = {"format": _FORMAT, "fingerprint": dict(self.fingerprint), **content}
        text = json.dumps({"sha256": _digest([_text(content)]), "content": content}, allow_nan=False)
        _made(self.path)
        with appearing(self.path / name, durable=True) as draft:
            draft.write_text(text, encoding="utf-8")


def checkpoint_folder(
    selector: BaseEstimator, problem: Problem, splits: Iterable[Iterable[Any]], **more: Any
) -> Folder:
    """Return the folder of the checkpoint of a fit, made where it does not exist."""
    if problem.block_size is not None and selector.random_state is None and selector.block_size != "auto":
        why = "an int, so that the blocks are the same after an interruption"
        raise ValueError(f"random_state is None; accepted with block_size and checkpoint: {why}")
    data, labels = problem.data, problem.labels
    free = {option.name for option in OPTIONS if not option.recorded}
    values = {name: value for name, value in selector.get_params(deep=False).items() if name not in free} | more
    values |= {"selector": type(selector).__name__, "working_memory": get_config()["working_memory"]}
    parts = {name: _described(value) for name, value in values.items()}
    fingerprint = {  # everything that the rounds depend on, as a short text or as its SHA-256
        "X": _digest(_table_bytes(data.table)),
        "y": _digest([_described(labels.kernel).encode(), _array_bytes(labels.values)]),
        "sample_weight": _digest([_array_bytes(data.weights)]),
        "random_state": _digest([_array_bytes(data.order)]),  # the seed is in the order of the samples
        "splits": _digest(_array_bytes(part) for split in splits for part in split),
        **{name: text if len(text) < _SHORT else _digest([text.encode()]) for name, text in parts.items()},
        **{name: metadata.version(name) for name in _PACKAGES},
    }
    return Folder(_made(selector.checkpoint), fingerprint)


def _made(folder: Any) -> Path:
    """Return the folder of a checkpoint, made where it does not exist."""
    if not isinstance(folder, str | os.PathLike):
        raise TypeError(f"checkpoint is {folder!r}; accepted: None or a folder")
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise ValueError(f"checkpoint is {str(folder)!r}, a file; accepted: None or a folder") from None
    return path


def _text(content: Any) -> bytes:
    """Return JSON that is the same for the same content; floats are exact."""
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _digest(parts: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _table_bytes(table: Table) -> Iterable[bytes]:
    categories = {j: list(values) for j, values in table.categories.items()}
    yield repr((table.categorical.tolist(), None if table.names is None else list(table.names), categories)).encode()
    values: Any = table.values
    if isinstance(values, Source):
        yield repr((type(values).__name__, values.dtype.str, values.shape)).encode()
        for rows in values.row_chunks():
            yield values.read(rows, slice(0, values.shape[1])).tobytes()
    else:
        for part in (values.data, values.indices, values.indptr) if sparse.issparse(values) else [values]:
            yield _array_bytes(part)


def _array_bytes(array: Any) -> bytes:
    if not isinstance(array, np.ndarray) or array.dtype.kind == "O":
        return _described(array).encode()
    return repr((array.dtype.str, array.shape)).encode() + array.tobytes()


def _described(value: Any) -> str:
    """Return a text that is the same in another process, also for functions, random states and nested estimators."""
    if isinstance(value, BaseEstimator):
        return type(value).__name__ + _described(value.get_params(deep=False))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_described(key)}: {_described(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_described, value)) + "]"
    for kind, plain in _PLAIN.items():
        if isinstance(value, kind):
            return _described(plain(value))
    if inspect.isroutine(value):
        code = getattr(getattr(value, "__code__", None), "co_code", b"")
        return f"{value.__module__}.{value.__qualname__} {_digest([code])[:16]}"
    return _ADDRESS.sub("", repr(value.item() if isinstance(value, np.generic) else value))
