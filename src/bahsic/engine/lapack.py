"""BLAS and LAPACK on upper triangles of C-ordered matrices, in place and without Python's lock.

The wrappers of `scipy.linalg` hold the lock, so that threads wait for each other; these call the routines that SciPy
exports for Cython. Where SciPy exports them in another way than is known here, its wrappers are used.
"""

from __future__ import annotations

import ctypes
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cython_blas, cython_lapack, get_blas_funcs, get_lapack_funcs

Matrix = NDArray[Any]

_LETTERS = {"f": "s", "d": "d"}
_FLOATS: dict[str, Any] = {"f": ctypes.c_float, "d": ctypes.c_double}

# Rows of the squares that LAPACK inverts.
_SQUARE = 32


def factorise(U: Matrix) -> None:
    """Make the upper triangular U with U'U = A of the upper triangle of A; what is below stays.

    Raises
    ------
    numpy.linalg.LinAlgError
        If A is not positive definite in this precision.
    """
    routine = _routine("potrf", U.dtype.char)
    if routine is None:
        found, info = get_lapack_funcs("potrf", (U,))(U.T, lower=1, clean=0)
        U[:] = found.T
    else:  # by columns, which a Fortran routine reads, U is lower triangular
        status = ctypes.c_int()
        routine(b"L", _int(len(U)), U.ctypes.data, _stride(U), ctypes.byref(status))
        info = status.value
    if info:
        raise np.linalg.LinAlgError(f"leading minor of order {info} is not positive definite")


def inverse(U: Matrix) -> Matrix:
    """The inverse of an upper triangular matrix of which only the upper triangle is read.

    By small squares on the diagonal and products, since LAPACK is slow at this.
    """
    found = np.zeros(U.shape, U.dtype)
    for start in range(0, len(U), _SQUARE):
        columns = slice(start, min(start + _SQUARE, len(U)))
        found[columns, columns] = one = _inverse_of_square(U[columns, columns])
        if start:
            np.matmul(found[:start, :start] @ U[:start, columns], -one, out=found[:start, columns])
    return found


def _inverse_of_square(U: Matrix) -> Matrix:
    found = U.copy()
    np.copyto(found, 0.0, where=_below(len(U)))
    routine = _routine("trtri", U.dtype.char)
    if routine is None:
        return np.ascontiguousarray(get_lapack_funcs("trtri", (U,))(found.T, lower=1)[0].T)
    routine(b"L", b"N", _int(len(found)), found.ctypes.data, _stride(found), ctypes.byref(ctypes.c_int()))
    return found


@lru_cache(maxsize=4)
def _below(n: int) -> NDArray[np.bool_]:
    return np.tri(n, k=-1, dtype=bool)


def divide(U: Matrix, B: Matrix) -> None:
    """Replace B by the inverse of U' times B."""
    routine = _routine("trsm", U.dtype.char)
    if routine is None:
        B[:] = get_blas_funcs("trsm", (U,))(1.0, U.T, B.T, side=1, lower=1, trans_a=1).T
        return
    sizes = _int(B.shape[1]), _int(B.shape[0])
    one = ctypes.byref(_FLOATS[U.dtype.char](1.0))
    routine(b"R", b"L", b"T", b"N", *sizes, one, U.ctypes.data, _stride(U), B.ctypes.data, _stride(B))


def _int(value: int) -> Any:
    return ctypes.byref(ctypes.c_int(value))


def _stride(M: Matrix) -> Any:
    return _int(M.strides[0] // M.itemsize)


# What the routines take, as SciPy writes it: characters, ints, and the type of the numbers.
_TAKES = {"potrf": "ci#ii", "trtri": "cci#ii", "trsm": "ccccii##i#i"}


@cache
def _routine(name: str, dtype: str) -> Any:
    """A routine as a function of pointers, or None where it is not exported as is known here."""
    module: Any = cython_blas if name == "trsm" else cython_lapack
    capsule = getattr(module, "__pyx_capi__", {}).get(_LETTERS[dtype] + name)
    api = ctypes.pythonapi
    signature, pointer = api.PyCapsule_GetName, api.PyCapsule_GetPointer
    signature.restype, signature.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    if capsule is None or _kinds(signature(capsule).decode()) != _TAKES[name]:
        return None
    arguments = [ctypes.c_void_p] * len(_TAKES[name])
    return ctypes.CFUNCTYPE(None, *arguments)(pointer(capsule, signature(capsule)))


def _kinds(signature: str) -> str:
    """A letter for each argument of a signature in C: c and i for char and int, # for any other type.

    Examples
    --------
    >>> _kinds("void (char *, int *, double *, int *)")
    'ci#i'
    """
    arguments = signature.partition("(")[2].rstrip(")").split(",")
    return "".join({"char *": "c", "int *": "i"}.get(one.strip(), "#") for one in arguments)
