"""The arguments of all commands, and those that stand in a configuration file."""

from __future__ import annotations

import argparse
import csv
import sys
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from bahsic import __version__
from bahsic.cli.messages import say, text_of
from bahsic.names import for_option
from bahsic.options import RIDGES, Option, options_of

SHELLS = ("bash", "zsh", "fish", "tcsh")

_EXAMPLES = """\
examples:
  bahsic datasets wine -o wine.csv
  bahsic select wine.csv --target grower -k auto --report wine.html
  bahsic select wine.csv --target grower -k 5 -o reduced.csv --json > result.json
  bahsic test wine.csv --x alcohol,hue --y grower
  bahsic predictability wine.csv --target grower --x alcohol,hue

exit status: 0, 1 failure, 2 wrong usage, 3 bad data, 130 interrupted
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all others are."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        say(f"error: {message} ({self.prog} --help)")
        raise SystemExit(2)


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """Return the arguments of a command line; those of its --config file come first, so that the command line wins."""
    parser, commands = parsers()
    finder = _Parser(add_help=False)
    finder.add_argument("--config")
    finder.add_argument("--target", "-t", nargs="?")
    if words and words[0] in commands:
        given = finder.parse_known_args(words[1:])[0]
        if given.config is not None:
            from_file = _words_of_file(given.config, commands[words[0]])
            if given.target is not None:  # instead of those of the file, not beside them
                from_file = [word for word in from_file if not word.startswith(("--target=", "-t"))]
            words = [words[0], *from_file, *words[1:]]
    return parser.parse_args(words)


def _words_of_file(path: str, parser: _Parser) -> list[str]:
    """Return the keys of a TOML file as options: true and false are switches, lists are joined by commas."""
    options = {name.lstrip("-"): action for name, action in parser._option_string_actions.items()}  # noqa: SLF001
    words = []
    try:
        for key, value in tomllib.loads(text_of(path, 2**20)).items():
            several = key in ("target", "t") and isinstance(value, list)
            words += [_word(key, entry, options) for entry in (value if several else [value])]
    except argparse.ArgumentTypeError as error:
        parser.error(f"--config {path}: {error}")
    except OSError as error:
        parser.error(f"--config {path}: {error.strerror}")
    except (ValueError, RecursionError) as error:  # of tomllib, of bytes that are no text, of numbers too long
        parser.error(f"--config {path}: not TOML: {error}")
    return words


def _word(key: str, value: Any, options: dict[str, argparse.Action]) -> str:
    name = key.replace("_", "-")
    if name not in options or name in ("config", "help", "h"):
        near = get_close_matches(name, options, n=1)
        raise argparse.ArgumentTypeError(f"unknown key {key!r}" + (f", did you mean {near[0]!r}?" if near else ""))
    flag = f"-{name}" if len(name) == 1 else f"--{name}"
    if isinstance(value, bool):
        switch = flag if value else f"--no-{name}"
        if options[name].nargs != 0 or switch not in options[name].option_strings:
            raise argparse.ArgumentTypeError(f"{key} is {str(value).lower()}; accepted: a value, or leave it out")
        return switch
    if isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"{key} is a table; accepted: a string, a number, true, false or a list")
    text = for_option(value) if isinstance(value, list) else str(value)
    return f"{flag}={text}" if len(name) > 1 else f"{flag}{text}"


@dataclass(frozen=True)
class _Reader:
    """A type of argparse: takes some words as they are, reads other text, or says what is accepted."""

    metavar: str
    read: Callable[[str], Any]  # raises ValueError, or returns None, where the text is not accepted
    accepted: str
    words: tuple[str, ...] = ()

    def __call__(self, text: str) -> Any:
        if text in self.words:
            return text
        with suppress(ValueError):
            value = self.read(text)
            if value is not None:
                return value
        raise argparse.ArgumentTypeError(f"{text!r}; accepted: {', '.join([*self.words, self.accepted])}")


def _column_names(text: str) -> list[str] | None:
    """Names by the rules of CSV: a name with a comma or with spaces at its ends stands in quotes."""
    return [name for row in csv.reader([text], skipinitialspace=True) for name in row if name] or None


def _one_character(text: str) -> str | None:
    text = {"\\t": "\t", "tab": "\t"}.get(text, text)
    return text if len(text) == 1 and text not in '"\r\n' else None


def _int_or_fraction(text: str) -> int | float | None:
    value: int | float = int(text) if text.lstrip("+-").isdigit() else float(text)
    return value if (isinstance(value, int) and value >= 1) or 0 < value < 1 else None


def _number_within(low: float, high: float, accepted: str) -> _Reader:
    return _Reader("F", lambda text: value if low <= (value := float(text)) <= high else None, accepted)


def _whole_from(low: int, high: int = 10**9, metavar: str = "N") -> _Reader:
    def whole(text: str) -> int | None:
        return int(text) if text.isdecimal() and low <= int(text) <= high else None

    return _Reader(metavar, whole, f"a whole number from {low} to {high}")


_character = _Reader("C", _one_character, "one character, such as ; or tab")
_names = _Reader("COLS", _column_names, 'names of columns, separated by commas, in "" if needed')
_positive = _whole_from(1)

# Readers of the kinds of `bahsic.options.Kind`, and of options that take less than their kind.
_READERS = {
    "amount": _Reader("N|F", _int_or_fraction, "a number of at least 1, or a fraction below 1"),
    "columns": _names,
    "count": _positive,
    "folder": _Reader("FOLDER", Path, "a folder"),
    "groups": _Reader("GROUPS", str, "FILE.csv, prefix:SEP or file"),
    "number": _number_within(5e-324, sys.float_info.max, "a number above 0"),
    "ridge": _number_within(*RIDGES, "a number from {:g} to {:g}".format(*RIDGES)),
    "cv": _whole_from(2),
    "seed": _whole_from(0, 2**32 - 1, "SEED"),
}


def _switch(text: str) -> dict[str, Any]:
    return {"action": argparse.BooleanOptionalAction, "default": False, "help": text}


# fmt: off
# Arguments beside the rows of the table of options, by the names that `_COMMANDS` has for them.
_ARGUMENTS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "quiet": (("--quiet", "-q"), _switch("no messages")),
    "debug": (("--debug",), {"action": "store_true", "help": "show where an error comes from"}),
    "config": (("--config",), {"metavar": "FILE.toml",
               "help": "options by their long names; the command line takes precedence"}),
    "data": (("data",), {"type": Path, "metavar": "DATA", "help": ".csv .parquet .npz .h5ad ...; format by suffix"}),
    "delimiter": (("--delimiter",), {"type": _character, "metavar": "C", "help": "for .csv and .tsv"}),
    "drop": (("--drop",), {"type": _names, "metavar": "COLS", "help": "columns to ignore, for tables with names"}),
    "key": (("--key",), {"help": "the array with the data, for .npz and .mat"}),
    "layer": (("--layer",), {"help": "for .h5ad"}),
    "group_by": (("--group-by",), {"choices": ("frequency", "channel"), "help": "the groups of features, for .fif"}),
    "target": (("--target", "-t"), {"action": "append", "metavar": "COL",
               "help": "the target column, unless the file names it; repeat it for several outputs"}),
    "event": (("--event",), {"metavar": "COL", "help": "the column that says whether the event was observed, "
              "if the target is a survival time"}),
    "method": (("--method",), {"choices": ("backward", "forward"), "default": "backward", "help": "BAHSIC or FOHSIC"}),
    "test": (("--test",), _switch("test the selection on samples not used for it")),
    "stability": (("--stability",), {"type": _positive, "metavar": "N", "help": "repeat the selection on N random "
                  "halves of the samples, and report how often each feature is selected"}),
    "memory": (("--memory",), {"type": _positive, "metavar": "MIB",
               "help": "working memory in addition to the data (default: 1024)"}),
    "output": (("-o", "--output"), {"type": Path, "metavar": "OUT",
               "help": "write the selected columns, unchanged; format by suffix"}),
    "escape_formulas": (("--escape-formulas",),
                        _switch("put an apostrophe before text in OUT that a spreadsheet would run as a formula")),
    "report": (("--report",), {"type": Path, "metavar": "FILE.html", "help": "write a report"}),
    "json": (("--json",), _switch("print the whole result as JSON")),
    "top": (("--top",), {"type": _whole_from(0), "metavar": "N",
            "help": "rows of the table; 0: all (default: as many as fit in 25 lines)"}),
    "x": (("--x",), {"type": _names, "metavar": "COLS|FILE",
          "help": "columns, separated by commas, or FILE with one name per line"}),
    "y": (("--y",), {"type": _names, "required": True, "metavar": "COLS", "help": "columns, separated by commas"}),
    "pvalues": (("--pvalues",), {"choices": ("gamma", "permutation"), "help": "method (default: %(default)s)"}),
    "permutations": (("--permutations",), {"type": _positive, "default": 999, "metavar": "N",
                     "help": "number of permutations (default: 999)"}),
    "result": (("result",), {"type": Path, "metavar": "RESULT.json", "help": "the output of bahsic select --json"}),
    "page": (("-o", "--output"), {"type": Path, "metavar": "FILE.html", "help": "default: the same name with .html"}),
    "name": (("name",), {"nargs": "?", "metavar": "NAME", "help": "the data set to write; by default, list all"}),
    "csv": (("-o", "--output"), {"type": Path, "metavar": "FILE.csv", "help": "default: standard output"}),
    "shell": (("shell",), {"choices": SHELLS}),
}
_DATA, _TARGET, _NULL = "data delimiter drop key layer group_by ", "target event ", "pvalues permutations "

# For each command the module with its function, what it does, and its arguments; "*" stands for its rows of the table
# of options.
_COMMANDS = {
    "select": ("selecting", "select features of a table",
               _DATA + _TARGET + "* method test stability memory output escape_formulas report json top"),
    "rank": ("testing", "rank features by the dependence of the target on each one alone",
             _DATA + _TARGET + _NULL + "* json top"),
    "test": ("testing", "test whether columns are independent of other columns", _DATA + "x y " + _NULL + "* json"),
    "predictability": ("testing", "say how well given columns predict the target, and what each adds",
                       _DATA + _TARGET + "x * json"),
    "report": ("selecting", "write the report of a saved result", "result page"),
    "demo": ("demo", "show selections from two small data sets", "report"),
    "datasets": ("showing", "list data sets that need no download, or write one as CSV", "name csv *"),
    "completion": ("showing", "print the completion script of a shell", "shell"),
}

# What an argument is in single commands.
_EXCEPTIONS: dict[tuple[str, str], dict[str, Any]] = {
    ("rank", "pvalues"): {"default": "gamma"},
    ("test", "pvalues"): {"default": "permutation"},
    ("test", "x"): {"required": True},
    ("predictability", "x"): {"help": "columns, separated by commas, or FILE with one name per line; default: all"},
    ("demo", "report"): {"help": "write a report of the first selection"},
}
# fmt: on


def parsers() -> tuple[_Parser, dict[str, _Parser]]:
    """Return the parser of the whole command line, and those of the commands."""
    whole = _Parser(
        prog="bahsic",
        description="Select the few features that predict a target, or on which it depends most.",
        epilog=_EXAMPLES,
    )
    whole.add_argument("--version", action="version", version=f"bahsic {__version__}")
    commands = whole.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (module, text, arguments) in _COMMANDS.items():
        parser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        parser.set_defaults(module=module)
        for argument in ("quiet", "debug", "config", *arguments.split()):
            if argument == "*":
                for option in options_of(name):
                    parser.add_argument(*option.flags, **_reading(option))
            else:
                flags, options = _ARGUMENTS[argument]
                parser.add_argument(*flags, **options | _EXCEPTIONS.get((name, argument), {}))
    return whole, commands.choices


def _reading(option: Option) -> dict[str, Any]:
    """Return the arguments of argparse for a row of the table of options."""
    default, text = option.command_default(), option.help
    if default is not None and option.kind != "switch":
        forward = f", forward: {option.command_default('forward')}" if option.depends_on_method else ""
        text = f"{text} (default: {default}{forward})"
    options = {"dest": option.name, "help": text, "default": None if option.depends_on_method else default}
    if option.kind == "switch":
        return options | {"action": argparse.BooleanOptionalAction}
    if option.kind == "choice":
        return options | {"choices": option.choices}
    reader = replace(_READERS.get(option.name, _READERS[option.kind]), words=option.choices)
    return options | {"type": reader, "metavar": "|".join([reader.metavar, *option.choices])}
