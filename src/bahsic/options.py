"""Table of the selectors' parameters, from which the command line, results and code snippets are made.

A new parameter needs a row here and its place in the constructor; `tests/test_options.py` compares the two. Nothing
heavy is imported, so that ``bahsic --help`` answers at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

# Readings of a value: an amount is a count of at least 1 or a fraction below 1, columns are names separated
# by commas, groups a rule or a file. An object can't be written on a command line.
Kind = Literal["amount", "choice", "columns", "count", "folder", "groups", "number", "object", "seed", "switch"]

# Least and greatest ridge: beyond them rounding decides, or nothing is explained.
RIDGES: Final = (1e-10, 1e10)

_SAME: Final = object()  # the default is that of the constructor of BAHSIC


@dataclass(frozen=True)
class Option:
    """One parameter of the selectors."""

    name: str
    kind: Kind  # how the command reads a value
    default: Any  # of `BAHSIC`; ask `selector_default` for that of `FOHSIC`
    help: str  # one line, without the default
    choices: tuple[str, ...] = ()  # accepted words; those of a choice are all that the command accepts
    flags: tuple[str, ...] = ()  # of the command; the first one is in messages and code; none for Python alone
    commands: tuple[str, ...] = ("select",)
    forward_default: Any = _SAME  # of `FOHSIC`, if it is another one
    default_of_command: Any = _SAME  # if it is another one; ask `command_default` for it
    recorded: bool = True  # whether results and checkpoints hold it, as the selection depends on it
    select_choices: tuple[str, ...] = ()  # choices that `select` alone has
    none: str = ""  # word of the command for None, if None is not the default

    @property
    def depends_on_method(self) -> bool:
        """Whether `FOHSIC` has another default."""
        return self.forward_default is not _SAME

    def selector_default(self, method: str | None = None) -> Any:
        """Return the default of the selector for a search, "backward" (or None) or "forward"."""
        return self.forward_default if method == "forward" and self.depends_on_method else self.default

    def command_default(self, method: str | None = None) -> Any:
        """Return the default of the command for a search."""
        if self.default_of_command is _SAME or (method == "forward" and self.depends_on_method):
            return self.selector_default(method)
        return self.default_of_command

    def of_command(self, command: str) -> Option:
        """Return the option as a command has it."""
        if not self.select_choices or command == "select":
            return self
        choices = tuple(choice for choice in self.choices if choice not in self.select_choices)
        return replace(self, choices=choices, default_of_command=_SAME)


_ALL = ("select", "rank", "test")
_JUDGING = (*_ALL, "predictability")

# fmt: off
OPTIONS: Final = (
    Option("n_features_to_select", "amount", None,
           "how many features (or groups) to select: a number, a fraction, or auto, the fewest that predict about as "
           "well as the best set",
           ("auto",), ("-k", "--n-features-to-select", "--n-features"), default_of_command="auto"),
    Option("step", "amount", 0.1,
           "features that leave or enter in a round: a number, or a fraction of those that remain",
           (), ("--step",), forward_default=1, default_of_command=0.2),
    Option("kernel", "choice", "gaussian",
           "kernel on the features; auto (select only): the best of gaussian, laplacian and linear",
           ("auto", "gaussian", "laplacian", "linear", "polynomial", "inverse_distance"), ("--kernel",), _JUDGING,
           default_of_command="auto", select_choices=("auto",)),
    Option("target_kernel", "choice", "auto",
           "kernel on the target; auto: by its type (more than 20 different numbers are not classes)",
           ("auto", "binary", "multiclass", "regression", "multioutput", "survival", "delta"), ("--target-kernel",),
           _JUDGING),
    Option("criterion", "choice", "hsic",
           "what to maximise: prediction, how well a regression on the features predicts the target, or hsic, the "
           "dependence on the target (as in the paper)",
           ("hsic", "prediction"), ("--criterion",), default_of_command="prediction"),
    Option("ridge", "number", "auto",
           "penalty of that regression, over the number of samples; auto: by leave-one-out error",
           ("auto",), ("--ridge",), ("select", "predictability")),
    Option("statistic", "choice", "unbiased", "estimate of HSIC", ("unbiased", "biased")),
    Option("standardize", "switch", True, "give each number zero mean and unit variance first"),
    Option("categorical_features", "columns", "from_dtype",
           "columns whose numbers are categories; text always is; from_dtype: only text",
           ("from_dtype",), ("--categorical-features", "--categorical"), _JUDGING),
    Option("missing", "choice", "neutral",
           "missing entries: neutral, at the average distance from all values; indicator, a value of their own; error, "
           "refused",
           ("neutral", "indicator", "error"), ("--missing",), _ALL),
    Option("identifiers", "choice", "drop",
           "whether columns that look like identifiers or free text are ignored or used",
           ("drop", "use"), ("--identifiers",), ("select", "rank")),
    Option("feature_groups", "groups", None,
           "features to select together: FILE.csv with lines feature,group; prefix:SEP for names that are equal up to "
           "SEP; file for the groups in the data file (.fif)",
           (), ("--feature-groups", "--groups")),
    Option("keep", "columns", None, "features that are always selected: names, or FILE with one per line",
           (), ("--keep",)),
    Option("cv", "count", None,
           "folds for the held-out score: a number, auto, or none, if neither the number of features nor the kernel is "
           "auto",
           ("auto", "none"), ("--cv",), none="none"),
    Option("standard_errors", "switch", False, "record the standard error of HSIC along the path",
           (), ("--standard-errors",)),
    Option("n_jobs", "count", None, "number of threads; the result does not depend on it",
           (), ("--n-jobs", "--jobs"), _ALL, recorded=False),
    Option("block_size", "count", "auto",
           "for large data: average over random blocks of this many samples, in linear instead of quadratic time; "
           "auto: blocks beyond 10,000 samples, or 4000 with regressions; none: all samples at once",
           ("auto", "none"), ("--block-size",), ("select", "predictability"), none="none"),
    Option("random_state", "seed", None, "seed for permutations, splits and blocks",
           (), ("--random-state", "--seed"), (*_JUDGING, "datasets"), default_of_command=0, recorded=False),
    Option("checkpoint", "folder", None,
           "folder that keeps finished rounds; after an interruption, the same command resumes from there",
           (), ("--checkpoint",), recorded=False),
    Option("executor", "object", None, "Dask client that works on the tiles", recorded=False),
    Option("verbose", "count", 0, "whether to print the progress of long fits, with the time left", recorded=False),
)
# fmt: on


def options_of(command: str) -> list[Option]:
    """Return the options of a command, in the order of the constructor."""
    return [option.of_command(command) for option in OPTIONS if option.flags and command in option.commands]


def recorded_options() -> list[Option]:
    """Return the parameters on which the selection depends, in the order of the constructor."""
    return [option for option in OPTIONS if option.recorded]


def flag_of(name: str) -> str:
    """Return the option of the command for a parameter."""
    return next(option.flags[0] for option in OPTIONS if option.name == name)
