"""The arguments of all commands, and those that stand in a configuration file."""

from __future__ import annotations

import argparse
import csv
import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from bahsic import __version__
from bahsic.cli.messages import say, text_of
from bahsic.names import for_option
from bahsic.options import Option, options_of

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
    """The arguments of a command line; those of its --config file come first, so that the command line wins.

    Parameters
    ----------
    words : sequence of str
        Without the program's name.

    Returns
    -------
    argparse.Namespace
        With the name of the command as ``command``.

    Raises
    ------
    SystemExit
        With 2 after a message where an argument is wrong, with 0 after help.

    Examples
    --------
    >>> parsed(["select", "wine.csv", "--target", "class", "-k", "5"]).n_features_to_select
    5
    """
    whole = command_parser()
    commands = _commands(whole)
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
    return whole.parse_args(words)


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    actions = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001
    return dict(actions[0].choices)


def _words_of_file(path: str, parser: argparse.ArgumentParser) -> list[str]:
    """The keys of a TOML file as options: true and false are switches, lists are joined by commas."""
    options = {name.lstrip("-"): name for name in parser._option_string_actions}  # noqa: SLF001
    try:
        keys = tomllib.loads(text_of(path, 2**20))
        return [word for key, value in keys.items() for word in _words_of_key(path, key, value, options, parser)]
    except OSError as error:
        parser.error(f"--config {path}: {error.strerror}")
    except (ValueError, RecursionError) as error:  # of tomllib, of bytes that are no text, of numbers too long
        parser.error(f"--config {path}: no TOML: {error}")


def _words_of_key(
    path: str, key: str, value: Any, options: dict[str, str], parser: argparse.ArgumentParser
) -> list[str]:
    values = value if key in ("target", "t") and isinstance(value, list) else [value]
    return [_word(path, key, one, options, parser) for one in values]


def _word(path: str, key: str, value: Any, options: dict[str, str], parser: argparse.ArgumentParser) -> str:
    name = key.replace("_", "-")
    if name not in options or name in ("config", "help", "h"):
        near = get_close_matches(name, options, n=1)
        parser.error(f"--config {path}: unknown key {key!r}" + (f", did you mean {near[0]!r}?" if near else ""))
    if isinstance(value, bool):
        switch = options[name] if value else options.get(f"no-{name}")
        if switch is None or parser._option_string_actions[switch].nargs != 0:  # noqa: SLF001
            parser.error(f"--config {path}: {key} is {str(value).lower()}; accepted: a value, or leave it out")
        return switch
    if isinstance(value, dict):
        parser.error(f"--config {path}: {key} is a table; accepted: a string, a number, true, false or a list")
    text = for_option(value) if isinstance(value, list) else str(value)
    return f"{options[name]}={text}" if options[name].startswith("--") else f"{options[name]}{text}"


def command_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    whole = _Parser(
        prog="bahsic",
        description="Select the few features that predict the labels, or on which they depend most.",
        epilog=_EXAMPLES,
    )
    whole.add_argument("--version", action="version", version=f"bahsic {__version__}")
    commands = whole.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for add in (
        _add_select,
        _add_rank,
        _add_test,
        _add_predictability,
        _add_report,
        _add_demo,
        _add_datasets,
        _add_completion,
    ):
        add(commands)
    return whole


def _command(commands: Any, name: str, text: str) -> Any:
    parser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.add_argument("--quiet", "-q", action=argparse.BooleanOptionalAction, default=False, help="no messages")
    parser.add_argument("--debug", action="store_true", help="show where an error comes from")
    parser.add_argument("--config", metavar="FILE.toml", help="options by their long names; the command line wins")
    return parser


def _add_select(commands: Any) -> None:
    parser = _command(commands, "select", "select features of a table")
    _add_data(parser)
    _add_target(parser)
    _add_options(parser, "select")
    parser.add_argument("--method", choices=("backward", "forward"), default="backward", help="BAHSIC or FOHSIC")
    _add_switch(parser, "--test", "test the selection on samples that did not select")
    text = "repeat the selection on N random halves of the samples, and tell how often each feature is selected"
    parser.add_argument("--stability", type=_positive, metavar="N", help=text)
    parser.add_argument(
        "--memory", type=_positive, metavar="MIB", help="working memory beside the data (default: 1024)"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help="write the reduced table; format by suffix")
    parser.add_argument("--report", type=Path, metavar="FILE.html", help="write a report")
    _add_output(parser)


def _add_rank(commands: Any) -> None:
    parser = _command(commands, "rank", "rank features by the dependence of each alone")
    _add_data(parser)
    _add_target(parser)
    _add_null(parser, ("gamma", "permutation"))
    _add_options(parser, "rank")
    _add_output(parser)


def _add_test(commands: Any) -> None:
    parser = _command(commands, "test", "test whether columns are independent of others")
    _add_data(parser)
    _add_x(parser, required=True)
    parser.add_argument("--y", type=_names, required=True, metavar="COLS", help="columns, separated by commas")
    _add_null(parser, ("permutation", "gamma"))
    _add_options(parser, "test")
    _add_output(parser, table=False)


def _add_predictability(commands: Any) -> None:
    parser = _command(commands, "predictability", "tell how well given columns predict the labels, and what each adds")
    _add_data(parser)
    _add_target(parser)
    _add_x(parser, required=False)
    _add_options(parser, "predictability")
    _add_output(parser, table=False)


def _add_target(parser: Any) -> None:
    text = "the column of the labels, where the file does not say; given again, one more output"
    parser.add_argument("--target", "-t", action="append", metavar="COL", help=text)
    text = "of tables with names: the column that says whether the event was seen, if the target is a survival time"
    parser.add_argument("--event", metavar="COL", help=text)


def _add_x(parser: Any, *, required: bool) -> None:
    text = "columns, separated by commas, or FILE with a name in each line" + ("" if required else "; default: all")
    parser.add_argument("--x", type=_names, required=required, metavar="COLS|FILE", help=text)


def _add_report(commands: Any) -> None:
    parser = _command(commands, "report", "make the report of a result")
    parser.add_argument("result", type=Path, metavar="RESULT.json", help="what bahsic select --json printed")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.html", help="default: the same name with .html")


def _add_demo(commands: Any) -> None:
    parser = _command(commands, "demo", "show what is found in two small data sets")
    parser.add_argument("--report", type=Path, metavar="FILE.html", help="write a report of the first one")


def _add_datasets(commands: Any) -> None:
    parser = _command(commands, "datasets", "list the data sets that need no download, or write one as CSV")
    parser.add_argument("name", nargs="?", metavar="NAME", help="the one to write; without it, the list")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.csv", help="default: standard output")
    _add_options(parser, "datasets")


def _add_completion(commands: Any) -> None:
    parser = _command(commands, "completion", "print what completes the command in a shell")
    parser.add_argument("shell", choices=SHELLS)


def _add_data(parser: Any) -> None:
    parser.add_argument("data", type=Path, metavar="DATA", help=".csv .tsv .parquet .npz .h5ad ...; format by suffix")
    parser.add_argument("--delimiter", type=_character, metavar="C", help="of .csv and .tsv")
    parser.add_argument("--drop", type=_names, metavar="COLS", help="of tables with names: columns to leave out")
    parser.add_argument("--key", help="of .npz and .mat: the array with the data")
    parser.add_argument("--layer", help="of .h5ad")
    parser.add_argument("--group-by", choices=("frequency", "channel"), help="of .fif: the groups of features")


def _add_options(parser: Any, command: str) -> None:
    """Add the rows of the table of options that the command has."""
    for option in options_of(command):
        parser.add_argument(*option.flags, dest=option.name, help=_help(option), **_reading(option))


def _reading(option: Option) -> dict[str, Any]:
    """Arguments of argparse that read an option of this kind."""
    default = None if option.depends_on_method else option.command_default()
    if option.kind == "switch":
        return {"action": argparse.BooleanOptionalAction, "default": default}
    if option.kind == "choice":
        return {"choices": option.choices, "default": default}
    reader = replace(_READERS.get(option.name, _READERS[option.kind]), words=option.choices)
    return {"type": reader, "metavar": "|".join([reader.metavar, *option.choices]), "default": default}


def _help(option: Option) -> str:
    default = option.command_default()
    if default is None or option.kind == "switch":
        return option.help
    forward = f", forward: {option.command_default('forward')}" if option.depends_on_method else ""
    return f"{option.help} (default: {default}{forward})"


def _add_output(parser: Any, *, table: bool = True) -> None:
    _add_switch(parser, "--json", "print the whole result as JSON")
    if table:
        parser.add_argument(
            "--top", type=_count, metavar="N", help="lines of the table; 0: all (default: as many as fit in 25 lines)"
        )


def _add_null(parser: Any, methods: tuple[str, ...]) -> None:
    parser.add_argument("--pvalues", choices=methods, default=methods[0], help=f"how (default: {methods[0]})")
    parser.add_argument("--permutations", type=_positive, default=999, metavar="N", help="how many (default: 999)")


def _add_switch(parser: Any, name: str, text: str) -> None:
    parser.add_argument(name, action=argparse.BooleanOptionalAction, default=False, help=text)


def _words(text: str) -> list[str]:
    """Names by the rules of CSV: a name with a comma or with spaces at its ends stands in quotes."""
    names = [name for row in csv.reader([text], skipinitialspace=True) for name in row if name]
    if not names:
        raise ValueError
    return names


def _one_character(text: str) -> str:
    text = {"\\t": "\t", "tab": "\t"}.get(text, text)
    if len(text) != 1 or text in '"\r\n':
        raise ValueError
    return text


def _int_or_fraction(text: str) -> int | float:
    value: int | float = int(text) if text.lstrip("+-").isdigit() else float(text)
    if not (isinstance(value, int) and value >= 1) and not 0 < value < 1:
        raise ValueError
    return value


def _positive_float(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError
    return value


def _whole(text: str, low: int, high: int) -> int:
    if not text.isdecimal() or not low <= int(text) <= high:
        raise ValueError
    return int(text)


@dataclass(frozen=True)
class _Reader:
    """A type of argparse: takes some words as they are, reads other text, or says what is accepted."""

    metavar: str
    read: Callable[[str], Any]  # raises ValueError
    accepted: str
    words: tuple[str, ...] = ()

    def __call__(self, text: str) -> Any:
        if text in self.words:
            return text
        try:
            return self.read(text)
        except ValueError:
            accepted = ", ".join([*self.words, self.accepted])
            raise argparse.ArgumentTypeError(f"{text!r}; accepted: {accepted}") from None


def _whole_from(low: int, high: int = 10**9, metavar: str = "N") -> _Reader:
    return _Reader(metavar, partial(_whole, low=low, high=high), f"a whole number from {low} to {high}")


_names = _Reader("COLS", _words, 'names of columns, separated by commas, in "" if needed')
_character = _Reader("C", _one_character, "one character, such as ; or tab")
_count, _positive = _whole_from(0), _whole_from(1)

# Readers of the kinds of `bahsic.options.Kind`, and of an option that takes less than its kind.
_READERS = {
    "amount": _Reader("N|F", _int_or_fraction, "a number of at least 1, or a fraction below 1"),
    "columns": _names,
    "count": _positive,
    "folder": _Reader("FOLDER", Path, "a folder"),
    "groups": _Reader("GROUPS", str, "FILE.csv, prefix:SEP or file"),
    "number": _Reader("F", _positive_float, "a number above 0"),
    "cv": _whole_from(2),
    "seed": _whole_from(0, 2**32 - 1, "SEED"),
}
