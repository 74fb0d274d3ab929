"""Which tests run a line, and whether they notice a change of it; for .ci/mutants.py.

Each test file is run once under coverage, which notes the lines that each test runs and its seconds. A change is
then tried by the tests that run its line, in a fork of a process that has collected all tests: a function gets the
changed code in the fork, and only a change outside of functions needs a new import. So a trial takes seconds.
"""

import ast
import contextlib
import gc
import json
import os
import resource
import signal
import sys
import time
import types
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import coverage
import pytest
from hypothesis import Phase, settings

PARTS = ("kernels", "criteria", "data", "engine", "inference", "selection")

# First words of the files whose tests run the package in other processes, or parts of it that no change is made of.
_APART = (
    *("cli", "cluster", "command", "datasets", "demo", "docs", "eeg", "experiments", "files", "fuzz", "hostile"),
    *("load", "notebook", "package", "packaging", "pages", "plotting", "processes", "related", "report", "site"),
    "whole",
)
_OPTIONS = ("-q", "-s", "-p", "no:randomly", "-p", "no:cacheprovider", "-o", "addopts=", "--hypothesis-seed=0")
_OPTIONS += ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # of hypothesis, which is imported here
_MEMORY = 6 * 2**30  # a changed size must not take the machine's
_LONGEST = 1.0  # seconds of the processor; tests beyond are not used
_MOST = 300  # tests of a change
_FILES = 5  # that are imported again for a change outside of functions


class Tests:
    """The tests of a copy of the project, and the lines that each of them runs; a plugin of pytest.

    Parameters
    ----------
    copy : Path
        The folder with the copy, in which the process works.
    notes : Path
        Folder for what coverage noted of each test file.
    """

    def __init__(self, copy: Path, notes: Path) -> None:
        self.copy, self.notes = copy, notes
        self.seconds: dict[str, float] = {}
        self.running: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        found = sorted((copy / "tests").glob("test_*.py"))
        self.files = [path for path in found if path.stem.split("_")[1] not in _APART]
        self.items: dict[str, Any] = {}
        self.functions: dict[tuple[str, str, int], list[types.FunctionType]] = defaultdict(list)
        self.failed = ""

    def run(self, work: Callable[[], None]) -> None:
        """Collect all tests, note what has no notes yet, and call a function that tries changes."""
        settings.register_profile("mutants", deadline=None, database=None, phases=[Phase.explicit, Phase.generate])
        self.work = work
        files = map(str, self.files)
        pytest.main([*_OPTIONS, "--hypothesis-profile=mutants", *files], plugins=[self])

    def pytest_runtestloop(self, session: Any) -> bool:
        """Work with what was collected, instead of running all of it."""
        self.items = {item.nodeid: item for item in session.items}
        for thing in gc.get_objects():
            if isinstance(thing, types.FunctionType):
                self.functions[_place(thing.__code__)].append(thing)
        gc.freeze()  # what is shared with forks is left where it is
        self._note()
        self.work()
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Remember the first failure."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def _note(self) -> None:
        """Run each test file that has no notes yet, or that has changed since, and read the notes."""
        self.notes.mkdir(parents=True, exist_ok=True)
        sources = [path for part in PARTS for path in sorted((self.copy / "src" / "bahsic" / part).rglob("*.py"))]
        shared = [path for path in sorted((self.copy / "tests").glob("*.py")) if not path.name.startswith("test_")]
        state = sha256(b"".join(path.read_bytes() for path in (*sources, *shared)))
        for path in self.files:
            key = state.copy()
            key.update(path.read_bytes())
            kept = self.notes / f"{path.stem}-{key.hexdigest()[:16]}.json"
            if not kept.exists():
                print("lines of", path.name, flush=True)
                _forked(lambda path=path, kept=kept: self._noted(path, kept), 900.0)
            if kept.exists():
                self._read(json.loads(kept.read_text(encoding="utf-8")))

    def _noted(self, path: Path, kept: Path) -> str:
        os.environ["COVERAGE_CORE"] = "ctrace"  # the one that knows contexts
        measure = coverage.Coverage(data_file=None, source=[str(self.copy / "src")], config_file=False)
        seconds: dict[str, float] = {}
        signal.signal(signal.SIGPROF, _too_long)
        measure.start()
        items = [item for item in self.items.values() if item.path == path]
        for item, following in zip_longest(items, items[1:]):
            self.failed = ""
            measure.switch_context(item.nodeid)
            start = sum(os.times()[:4])  # also of processes that it starts
            signal.setitimer(signal.ITIMER_PROF, _LONGEST)
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            if not self.failed:
                seconds[item.nodeid] = round(sum(os.times()[:4]) - start, 3)
        measure.stop()
        data, names, lines = measure.get_data(), {name: i for i, name in enumerate(seconds)}, {}
        for file in data.measured_files():
            by_line = data.contexts_by_lineno(file)
            tests = {line: [names[c] for c in contexts if c in names] for line, contexts in by_line.items()}
            lines[str(Path(file).relative_to(self.copy))] = {line: found for line, found in tests.items() if found}
        kept.write_text(json.dumps({"seconds": seconds, "lines": lines}), encoding="utf-8")
        return ""

    def _read(self, noted: dict[str, Any]) -> None:
        self.seconds |= noted["seconds"]
        names = list(noted["seconds"])
        for module, lines in noted["lines"].items():
            for line, tests in lines.items():
                self.running[module][int(line)].update(names[i] for i in tests)

    def of(self, module: str, first: int, last: int, budget: float, *, again: bool) -> list[str]:
        """The tests that run some lines: quick ones of each file in turn, as many as fit into a budget of seconds.

        ``again`` adds as many slow ones.
        """
        lines = self.running[module]
        found: set[str] = set()
        for begin, end in _wider(self.copy / module, first, last):
            found = set().union(*(lines[line] for line in range(begin, end + 1) if line in lines)) & self.items.keys()
            if found:
                break
        by_file, total = defaultdict(list), defaultdict(int)
        for test in sorted(found, key=lambda test: (self.seconds[test], test)):
            by_file[test.split("::")[0]].append(test)
        for test in self.seconds:
            total[test.split("::")[0]] += 1
        # A file with many of its tests here is about these lines.
        files = sorted(by_file, key=lambda file: (-len(by_file[file]) / total[file], file))
        chosen = [*_within(_in_turn([by_file[file] for file in files]), self.seconds, budget)]
        if again:
            chosen += _within(_in_turn([by_file[file][::-1] for file in files]), self.seconds, budget)
        return list(dict.fromkeys(chosen))

    def notice(self, module: Path, changed: str, line: int, tests: list[str]) -> tuple[str, str]:
        """Outcome of a changed module, "killed", "survived" or "timeout", and the test that failed."""
        limit = 8 + 3 * sum(self.seconds[test] for test in tests)
        outcome, failed = _forked(lambda: self._tried(module, changed, line, tests), limit)
        return outcome, failed

    def _tried(self, module: Path, changed: str, line: int, tests: list[str]) -> str:
        """The first test that fails with a changed module."""
        self.failed = ""
        if self._put(module, changed, line):
            items = [self.items[test] for test in tests]
            for item, following in zip_longest(items, items[1:]):
                item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.failed:
                    return self.failed
            return ""
        return _tried_anew(tests)

    def _put(self, module: Path, changed: str, line: int) -> bool:
        """Give a function its changed code, or a name of the module its changed value; False for other changes."""
        path, tree = str(self.copy / module), ast.parse(changed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of "is" with a literal
            code = _outermost(compile(changed, path, "exec"), tree, line)
        lines = {one for _, _, one in code.co_lines()} if code else set()
        if code and not lines & self.running[str(module)].keys():
            return False  # it runs when the package is imported
        functions = self.functions[_place(code)] if code else []
        for function in functions:
            function.__code__ = code
        return bool(functions) or _assigned(path, tree, line)


def _assigned(path: str, tree: ast.Module, line: int) -> bool:
    """Give names of a module the changed values, also where they were imported; False if the line assigns none."""
    found = [node for node in tree.body if isinstance(node, ast.Assign) and node.lineno <= line <= node.end_lineno]
    ours = [module for name, module in sys.modules.items() if name.partition(".")[0] == "bahsic"]
    before = next(vars(module) for module in ours if getattr(module, "__file__", None) == path)
    after = dict(before)
    for node in found:
        exec(compile(ast.Module([node], []), path, "exec"), after)
        names = [one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)]
        for name in names:
            old = before[name]
            for module in ours:
                if vars(module).get(name) is old:
                    setattr(module, name, after[name])
    return bool(found)


def _tried_anew(tests: list[str]) -> str:
    """The first test that fails after a new import of the package."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if name.partition(".")[0] == "bahsic" or file.startswith(str(Path.cwd() / "tests")):
            del sys.modules[name]
    chosen = _Chosen(tests)
    files = list(dict.fromkeys(test.split("::")[0] for test in tests))[:_FILES]
    status = pytest.main([*_OPTIONS, "-x", "--hypothesis-profile=mutants", *files], plugins=[chosen])
    return chosen.failed or ("import" if status else "")


class _Chosen:
    """A plugin of pytest that runs some tests in the order given."""

    def __init__(self, tests: list[str]) -> None:
        self.place = {test: i for i, test in enumerate(tests)}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.place), key=lambda item: self.place[item.nodeid])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid


def _place(code: types.CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _outermost(code: types.CodeType, tree: ast.Module, line: int) -> types.CodeType | None:
    """Code of the function or method, inside of no other function, whose body has a line."""
    nodes, bodies = list(tree.body), []
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef):
            bodies.append(node)
        else:
            nodes += getattr(node, "body", [])
    found = [node for node in bodies if node.body[0].lineno <= line <= node.end_lineno]
    if not found:
        return None
    first, codes = _start(found[0]), [code]
    while codes:
        code = codes.pop()
        if code.co_firstlineno == first and code.co_name == found[0].name:
            return code
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return None


def _start(node: ast.stmt) -> int:
    """The first line of a statement, decorators included."""
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])


def _in_turn(lists: list[list[str]]) -> Iterator[str]:
    return (test for turn in zip_longest(*lists) for test in turn if test)


def _within(tests: Iterator[str], seconds: dict[str, float], budget: float) -> Iterator[str]:
    for test in islice((test for test in tests if seconds[test] <= _LONGEST), _MOST):
        if budget >= seconds[test]:
            budget -= seconds[test] + 0.005
            yield test


def _wider(path: Path, first: int, last: int) -> Iterator[tuple[int, int]]:
    """The lines of the statement, of the functions around it, of the module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    around = [node for node in statements if _start(node) <= first and last <= node.end_lineno]
    around.sort(key=lambda node: node.end_lineno - node.lineno)
    if around and not isinstance(around[0], ast.FunctionDef | ast.ClassDef):
        body = getattr(around[0], "body", None)
        end = body[0].lineno - 1 if body else around[0].end_lineno
        yield around[0].lineno, max(last, end)
    for node in around:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.body[0].lineno, node.end_lineno
    yield 1, tree.body[-1].end_lineno


def _forked(work: Callable[[], str], limit: float) -> tuple[str, str]:
    """Outcome of a function in a fork of this process, which returns the name of a failure, and that name.

    The limit is in seconds of the processor; of the clock it is five times as long.
    """
    receiving, sending = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setsid()
            null = os.open(os.devnull, os.O_RDWR)
            for stream in range(3) if not os.environ.get("BAHSIC_MUTANTS_LOUD") else ():
                os.dup2(null, stream)
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
            failed = work()
            os.write(sending, (failed or "none").encode())
        except BaseException as error:  # noqa: BLE001 - also what ends a process is a failure
            os.write(sending, repr(error).encode())
        finally:
            os._exit(0)
    os.close(sending)
    end, status, done = time.monotonic() + 5 * limit, 0, 0
    while not done and time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # also what it has started
    if not done:
        os.waitpid(child, 0)
    with os.fdopen(receiving, "rb") as told:
        failed = told.read(10_000).decode() if done else ""
    if not done or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)):
        return "timeout", ""
    return ("survived", "") if failed == "none" else ("killed", failed or "the process ended")


def _too_long(*_: Any) -> None:
    raise TimeoutError
