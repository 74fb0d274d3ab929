"""Buffers that are used again: fresh memory costs ten times more than the arithmetic on it."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Scratch(threading.local):
    """Named arrays of the calling thread, valid until the same name is taken again by that thread.

    The system hands out large arrays page by page at first touch, so a temporary array of the size
    of a tile costs far more than an operation on it. Names are shared by all passes on purpose: what
    one pass has left behind is free for the next.

    Examples
    --------
    >>> scratch = Scratch()
    >>> scratch.take("totals", (2, 3)).shape
    (2, 3)
    """

    def __init__(self) -> None:
        self._buffers: dict[str, NDArray[np.uint8]] = {}

    def take(self, name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
        """An array of undefined content."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        buffer = self._buffers.get(name)
        if buffer is None or len(buffer) < size:
            buffer = self._buffers[name] = np.empty(size, dtype=np.uint8)
        array: NDArray[Any] = buffer[:size].view(dtype).reshape(shape)
        return array
