"""Readers of formats of single sciences: AnnData (.h5ad) by anndata, epochs of MNE (-epo.fif) by mne."""

from __future__ import annotations

import mmap
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from bahsic.files.data import (
    Data,
    DataError,
    check_expansion,
    check_names,
    checked_sparse,
    chosen,
    library,
    one_line_errors,
)
from bahsic.files.targets import with_target
from bahsic.names import for_message

GROUPINGS = ("frequency", "channel")


def read_h5ad(path: Path, target: str | int | None = None, layer: str | None = None) -> Data:
    """Read cells x genes: X or a layer, and the target from `obs`; nothing else of the file is loaded."""
    anndata_io, h5py = library("anndata.io", path.suffix), library("h5py", path.suffix)
    with _opened(h5py, path) as file:
        names = [str(name) for name in anndata_io.read_elem(file["var"]).index]
        check_names(names, "call adata.var_names_make_unique() and write it again")
        layers = file.get("layers", [])
        if layer is None and "X" not in file:
            raise DataError(f"there is no X; give a layer: {', '.join(map(for_message, layers))}")
        matrix = file["X"] if layer is None else layers[chosen("layer", layer, layers)]
        # Arrays may be compressed; a sparse matrix consists of three.
        check_expansion(path, sum(part.nbytes for part in (matrix.values() if hasattr(matrix, "values") else [matrix])))
        X = checked_sparse(anndata_io.read_elem(matrix))
        if target is None:
            return Data(X, names=names)
        obs = anndata_io.read_elem(file["obs"])
        name = chosen("column of obs", str(target), map(str, obs.columns))
        y = obs[name].to_numpy() if obs[name].dtype.kind in "fiu" else obs[name].astype(object).to_numpy()
        return with_target(Data(X, names=names), y, name)


_HEAP = b"GCOL\x01\0\0\0"  # where HDF5 keeps strings; the size follows, then the objects, each with 16 bytes of header


def _opened(h5py: Any, path: Path) -> Any:
    """Return an open HDF5 file; refused if the library would look for the next string without end."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        heap = content.find(_HEAP)
        while heap >= 0:
            end = min(heap + int.from_bytes(content[heap + 8 : heap + 16], "little"), len(content))
            at = heap + 16
            while at + 16 <= end:
                number, size = (int.from_bytes(content[at + i : at + j], "little") for i, j in ((0, 2), (8, 16)))
                # Object 0 is what is free, with its header; the others end at multiples of 8.
                step = (16 + -(-size // 8) * 8 if number else size) % 2**64
                if not 0 < step < 2**63:
                    raise DataError(f"strings are damaged at byte {at}; fetch or write the file again")
                at += step
            heap = content.find(_HEAP, heap + 1)
    return h5py.File(path, "r")


def mark_selection(path: Path, source: Path, selected: Any, ranking: Any = None) -> None:
    """Copy an .h5ad file, adding ``var["hsic_selected"]`` and ``var["hsic_rank"]``."""
    anndata_io, h5py = library("anndata.io", ".h5ad", "writing"), library("h5py", ".h5ad", "writing")
    shutil.copyfile(source, path)
    with h5py.File(path, "r+") as file:
        var = anndata_io.read_elem(file["var"])
        var["hsic_selected"] = selected
        if ranking is not None:
            var["hsic_rank"] = ranking
        anndata_io.write_elem(file, "var", var)


def read_epochs(path: Path, target: str | int | None = None, group_by: str = "frequency") -> Data:
    """Read epochs x power spectrum, such as "Cz 12.0 Hz"; the target is the event, or a column of the metadata."""
    mne = library("mne", ".fif")
    if group_by not in GROUPINGS:
        raise DataError(f"group_by is {group_by!r}; accepted: {', '.join(map(repr, GROUPINGS))}")
    with one_line_errors("reading epochs (saved as NAME-epo.fif)"):
        epochs = mne.read_epochs(path, verbose="error")
        spectrum = epochs.compute_psd(verbose="error")
        power, frequencies = spectrum.get_data(return_freqs=True)
        name, y = _events(epochs, target)
        spellings = ([f"{frequency:.{decimals}f} Hz" for frequency in frequencies] for decimals in range(1, 10))
        hertz = next(texts for texts in spellings if len(set(texts)) == len(texts))
        names = [f"{channel} {frequency}" for channel in spectrum.ch_names for frequency in hertz]
        by_channel = [channel for channel in spectrum.ch_names for _ in hertz]
        groups = by_channel if group_by == "channel" else hertz * len(spectrum.ch_names)
        X = power.reshape(len(power), -1)
        return with_target(Data(X, names=names, groups=groups), y, name)


def _events(epochs: Any, target: str | int | None) -> tuple[str, Any]:
    if target is None or target == "event":
        event_name = {number: name for name, number in epochs.event_id.items()}
        return "event", np.array([event_name[number] for number in epochs.events[:, 2]], dtype=object)
    metadata = epochs.metadata
    columns = ["event", *([] if metadata is None else map(str, metadata.columns))]
    name = chosen("column of the metadata", str(target), columns)
    values = metadata[name]
    return name, values.to_numpy() if values.dtype.kind in "fiu" else values.astype(object).to_numpy()
