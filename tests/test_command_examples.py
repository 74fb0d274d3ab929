"""The commands in the documentation print what it says."""

import doctest
import re
import shlex

import pytest

from command import run

pytest.importorskip("pandas", reason="the examples read CSV")


def examples(text):
    """Commands and what each is said to print."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            yield command, expected


def test_commands_print_what_the_pages_say(root, tmp_path, monkeypatch):
    pages = [(root / "docs" / name).read_text(encoding="utf-8") for name in ("command_line.md", "files.md")]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    found = [example for page in pages for example in examples(page)]
    assert len(found) == 12
    for command, expected in found:
        words = shlex.split(command)
        assert words[0] == "bahsic"
        _, out, err = run(*words[1:])
        printed = out + re.sub(r"^bahsic: wrote .*\n", "", err)
        lines = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
        matches = doctest.OutputChecker().check_output(expected, lines, doctest.ELLIPSIS)
        assert matches, f"{command} printed\n{lines}"
