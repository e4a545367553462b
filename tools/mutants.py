"""Changes the package in small ways, one at a time, and asks the tests whether they notice.

    python tools/mutants.py FOLDER... --tests FOLDER... [--sample 300] [--seed 0]

A mutant is one operator, comparison, number or condition of a function changed for another. All are
made in copies of one warm process: the function's code is replaced, and the tests that reach the
changed lines are run, the fastest first, until one fails. Survivors are printed with their lines.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import json
import os
import random
import signal
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import coverage
import pytest

SRC = Path(__file__).parents[1] / "src"
SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.USub: ast.UAdd,
}  # fmt: skip
SECONDS = 40.0  # of tests for one mutant, by what they took unchanged
PATIENCE = 6.0  # times that, before a mutant is taken to run for ever


@dataclass(frozen=True)
class Mutant:
    """One change in one function."""

    path: Path
    name: str  # of the function, as Python qualifies it
    place: int  # of the node, in the order of `ast.walk` of the function
    line: int
    last: int
    what: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(SRC)}:{self.line} {self.what}"


# -- mutants -------------------------------------------------------------------------------


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods; what is inside of one belongs to it."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            inside = (each for each in node.body if isinstance(each, ast.FunctionDef))
            yield from ((f"{node.name}.{each.name}", each) for each in inside)


def change(node: ast.AST) -> str | None:
    """Change a node in place, and say how; None where there is nothing to change."""
    if isinstance(node, ast.Compare):
        name, node.ops[0] = type(node.ops[0]).__name__, SWAPS[type(node.ops[0])]()
        return f"{name} -> {type(node.ops[0]).__name__}"
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp | ast.UnaryOp):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.op = ast.Not()
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
            return "not dropped"
        if type(node.op) not in SWAPS:
            return None
        name, node.op = type(node.op).__name__, SWAPS[type(node.op)]()
        return f"{name} -> {type(node.op).__name__}"
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
        return f"-> {node.value}"
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        node.value += 1
        return f"{node.value - 1} -> {node.value}"
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return "condition turned round"
    return None


def ignored(function: ast.FunctionDef) -> set[int]:
    """Nodes that are types, words of errors and defaults, whose change nobody could feel."""
    roots: list[ast.AST | None] = [function.returns, *function.decorator_list]
    roots += [each.annotation for each in ast.walk(function.args) if isinstance(each, ast.arg)]
    for node in ast.walk(function):
        if isinstance(node, ast.AnnAssign):
            roots.append(node.annotation)
        elif isinstance(node, ast.Raise | ast.JoinedStr):
            roots.append(node)
    return {id(node) for root in roots if root is not None for node in ast.walk(root)}


def mutants_of(path: Path) -> Iterator[Mutant]:
    for name, function in functions(ast.parse(path.read_text(encoding="utf-8"))):
        skipped = ignored(function)
        for place, node in enumerate(ast.walk(function)):
            what = None if id(node) in skipped else change(copy.deepcopy(node))
            if what is not None:
                yield Mutant(path, name, place, node.lineno, node.end_lineno or 0, what)  # type: ignore[attr-defined]


def compiled(mutant: Mutant) -> CodeType:
    """The code of the changed function."""
    tree = ast.parse(mutant.path.read_text(encoding="utf-8"))
    function = dict(functions(tree))[mutant.name]
    change(list(ast.walk(function))[mutant.place])
    module = compile(ast.fix_missing_locations(tree), str(mutant.path), "exec")
    return next(code for code in _codes(module) if code.co_qualname == mutant.name)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def _belongs(code: CodeType, mutant: Mutant) -> bool:
    return code.co_qualname == mutant.name and Path(code.co_filename) == mutant.path


def put(mutant: Mutant) -> None:
    """Give every function of this name the changed code."""
    code, found = compiled(mutant), 0
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and _belongs(each.__code__, mutant):
            each.__code__ = code
            found += 1
    assert found, f"{mutant} is not loaded"


# -- tests ---------------------------------------------------------------------------------


class Reached:
    """Which lines each test reaches, and how long it takes."""

    def __init__(self, folders: list[str]) -> None:
        self.cover = coverage.Coverage(data_file=None, include=[f"{each}/*" for each in folders])
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self.cover.switch_context(item.nodeid)
        started = time.process_time()
        yield
        self.seconds[item.nodeid] = time.process_time() - started

    def lines(self) -> dict[str, dict[int, list[str]]]:
        data = self.cover.get_data()
        return {path: data.contexts_by_lineno(path) for path in data.measured_files()}


def asked(arguments: list[str], *plugins: Any) -> int:
    """Run pytest without words."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    return int(pytest.main([*arguments, "-q", "-x", "-p", "no:cacheprovider"], list(plugins)))


def in_a_child(work: Any, seconds: float | None = None) -> int | None:
    """The exit code of some work in a copy of this process; None if it had to be ended."""
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            code = work()
        finally:
            os._exit(code)
    end = time.monotonic() + (seconds or 1e9)
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def surveyed(folders: list[str], tests: list[str]) -> tuple[Any, dict[str, float]]:
    """Run the tests unchanged."""
    with tempfile.TemporaryDirectory() as scratch:
        told = Path(scratch, "told.json")

        def work() -> int:
            reached = Reached(folders)
            reached.cover.start()
            code = asked(tests, reached)
            reached.cover.stop()
            told.write_text(json.dumps([reached.lines(), reached.seconds]))
            return code

        assert in_a_child(work) == 0, "the tests fail as they are"
        lines, seconds = json.loads(told.read_text())
    return lines, seconds


def tests_for(mutant: Mutant, lines: Any, seconds: dict[str, float]) -> list[str]:
    """Those that reach its lines, the fastest first, as long as there is time."""
    by_line = lines.get(str(mutant.path), {})
    found = {test for line in range(mutant.line, mutant.last + 1)
             for test in by_line.get(str(line), []) if test}  # fmt: skip
    chosen: list[str] = []
    total = 0.0
    for test in sorted(found, key=lambda each: seconds[each]):
        total += seconds[test]
        if chosen and total > SECONDS:
            break
        chosen.append(test)
    return chosen


def verdict(mutant: Mutant, tests: list[str], seconds: float) -> str:
    if not tests:
        return "not reached"

    def work() -> int:
        put(mutant)
        return asked(tests)

    code = in_a_child(work, 30 + PATIENCE * seconds)
    return {0: "survived", None: "never ended"}.get(code, "killed")


def warm() -> None:
    """Have everything loaded, compiled code too."""
    import ksupport
    from ksupport import AutoIRKSN, AutoIRKSNClassifier
    from ksupport.datasets import make_correlated_data

    for name in ksupport.__all__:
        getattr(ksupport, name)
    X, y, *_ = make_correlated_data(30, 20, rho=0.5, density=0.2, snr=5.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        AutoIRKSN().fit(X, y)
        AutoIRKSNClassifier().fit(X, y > 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--tests", nargs="+", required=True)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folders = [str(Path(each).resolve()) for each in options.folders]
    every = [m for f in folders for path in sorted(Path(f).glob("*.py")) for m in mutants_of(path)]
    chosen = random.Random(options.seed).sample(every, min(options.sample, len(every)))
    warm()
    lines, seconds = surveyed(folders, options.tests)
    print(f"{len(every)} mutants, {len(chosen)} tried; {len(seconds)} tests, "
          f"{sum(seconds.values()):.0f} s", flush=True)  # fmt: skip
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for number, mutant in enumerate(chosen, 1):
        tests = tests_for(mutant, lines, seconds)
        found = verdict(mutant, tests, sum(seconds[each] for each in tests))
        counts[mutant.path.parent.name][found] += 1
        if found != "killed":
            print(f"{number}: {found}: {mutant} ({len(tests)} tests)", flush=True)
    for folder, each in counts.items():
        print(folder, dict(each), flush=True)


if __name__ == "__main__":
    main()
