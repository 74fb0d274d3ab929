"""Folder of a cross-validated selection: for each fold the rounds of its ranking and the scores of its subsets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bahsic.selection.checkpoint import KeptFile, digest_of

_NAME = "bahsic-crossvalidation.json"
_SCORES = "bahsic-scores.json"


class KeptScores:
    """Scores of the subsets of one fold, in a file beside the rounds of its ranking.

    Parameters
    ----------
    folder : path
        Of the fold; made where it does not exist.
    fingerprint : mapping of str to str
    """

    def __init__(self, folder: Path, fingerprint: Mapping[str, str]) -> None:
        self.folder = folder
        self._file = KeptFile(folder, _SCORES, fingerprint)
        self._scores: dict[int, float] = dict(self._file.found.get("scores", []))

    def score(self, size: int, computed: Callable[[], float]) -> float:
        """The score of a size: the one that is kept, or a new one, which is kept from now on."""
        if size not in self._scores:
            self._scores[size] = computed()
            self._file.replace(scores=sorted(self._scores.items()))
        return self._scores[size]


class KeptFolds:
    """Folder of a cross-validated selection; one that belongs to another selection is refused.

    Parameters
    ----------
    folder : str or path
        Made where it does not exist.
    fingerprint : mapping of str to str
        Everything that rankings and scores depend on.

    Attributes
    ----------
    all_data : Path
        Folder for the rounds of the selection from all data.
    """

    def __init__(self, folder: Any, fingerprint: Mapping[str, str]) -> None:
        file = KeptFile(folder, _NAME, fingerprint)
        if not file.found:
            file.replace()
        self._folder = Path(folder)
        self._origin = digest_of([sorted(fingerprint.items())])
        self.all_data = self._folder / "all"

    def folds(self, number: int) -> Sequence[KeptScores]:
        """The files of each fold."""
        return [
            KeptScores(self._folder / f"fold-{i}", {"cross-validation": self._origin, "fold": str(i)})
            for i in range(number)
        ]
