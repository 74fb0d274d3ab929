"""Encoding of text files: UTF-8, UTF-16 and UTF-32 by their marks, else Windows-1252."""

from __future__ import annotations

import codecs
import gzip
import io
import re
from pathlib import Path
from typing import IO, TextIO, cast

from bahsic.files.data import DataError

_BYTES_AT_ONCE = 2**20

# Byte-order marks; the longer ones first, as UTF-32 starts like UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

# Control characters, which no text of one byte a character has; without tabulator, line and page ends.
_CONTROLS = re.compile("[\0-\x08\x0e-\x1f]")


class _NotDecodedError(Exception):
    """Text that is not in the encoding that was tried."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def opened_text(path: Path, encoding: str) -> TextIO:
    """Open a file, also one compressed by gzip, as text whose line ends stay as they are."""
    return io.TextIOWrapper(cast("io.BufferedReader", _opened(path)), encoding=encoding, newline="")


def text_encoding(path: Path) -> tuple[str, list[str]]:
    """Encoding in which the whole file can be decoded, and notes about it.

    Parameters
    ----------
    path : Path

    Returns
    -------
    encoding : str
        That of the byte-order mark, or UTF-8; if the file is not in UTF-8, Windows-1252, or Latin-1 if it has bytes
        that Windows-1252 lacks.
    notes : list of str
        The line at which UTF-8 failed, if it did.

    Raises
    ------
    DataError
        If the file has NUL characters or, unless it is in UTF-8, other control characters: binary data.
    """
    with _opened(path) as file:
        start = file.read(4)
    marked = next((encoding for mark, encoding in _MARKS.items() if start.startswith(mark)), None)
    try:
        _decode(path, marked or "utf-8-sig", re.compile("\0"))
    except _NotDecodedError as failure:
        if marked:
            raise DataError(
                f"{path}: no text in {marked.upper()}, which its mark says (near line {failure.line}); save it as UTF-8"
            ) from None
        return _of_one_byte(path, failure.line)
    return marked or "utf-8-sig", []


def _of_one_byte(path: Path, line: int) -> tuple[str, list[str]]:
    for encoding, name in (("cp1252", "Windows-1252"), ("latin-1", "Latin-1")):
        try:
            _decode(path, encoding, _CONTROLS)
        except _NotDecodedError:
            continue
        return encoding, [f"no text in UTF-8 (line {line}), so read as {name}"]
    raise AssertionError("every byte is a character of Latin-1")


def _decode(path: Path, encoding: str, binary: re.Pattern[str]) -> None:
    """Decode the whole file without keeping anything; refuse it if characters of binary data are found."""
    decoder, lines = codecs.getincrementaldecoder(encoding)(), 0
    with _opened(path) as file:
        while True:
            chunk = file.read(_BYTES_AT_ONCE)
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                before = bytes(error.object[: error.start]).decode(encoding, "replace")
                raise _NotDecodedError(lines + _line_ends(before) + 1) from None
            if binary.search(text):
                raise DataError(f"{path}: no text but binary data; give a text file, or the suffix of its format")
            if not chunk:
                return
            lines += _line_ends(text)


def _line_ends(text: str) -> int:
    return text.count("\n") or text.count("\r")


def _opened(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")
