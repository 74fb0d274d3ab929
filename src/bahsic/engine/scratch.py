"""Reused buffers: fresh memory costs ten times more than the arithmetic on it."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Scratch(threading.local):
    """Named buffers of the calling thread, each valid until that thread takes the same name again.

    The system hands out large arrays page by page at first touch, so a temporary array of the size
    of a tile costs far more than an operation on it. All passes share the names on purpose, so that
    each reuses the buffers of the one before.

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
