"""The tasks of a worker: inspect a file, fit, predict; results are plain data."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from .._common.errors import InputError
from .._common.names import shown, title
from .._common.phases import Phase
from .._common.progress import duration, polled
from ..commands.fitting.fitted import fit_data
from ..commands.fitting.model_file import load
from ..commands.fitting.options import FitOptions
from ..commands.fitting.provenance import provenance
from ..commands.fitting.results import all_features, model_of, report_text
from ..commands.predict import predictions
from ..commands.terminal.outputs import as_json, write_table, write_text
from ..reading import Data
from ..reading.load import ARRAY_FILE_KINDS, joined, table_of
from ..reading.options import Columns, Reading
from ..reading.problems import Problem, SeveralProblems, spelling
from ..reading.reader import data_of, with_default
from ..reading.source import open_source
from ..reading.spreadsheets import sheet_names
from ..reading.table import Table
from .choices import Choices, label_of, on_page
from .examples import write_example
from .preview import guessed_parts, preview

REPORT, TABLE, MODEL, PREDICTIONS = "report.html", "features.csv", "model.json", "predictions.csv"
ROWS_PREVIEWED = 10  # rows of predictions that the page shows


@dataclass(frozen=True)
class OpenedFile:
    """A file that was read, with the choices it was read by."""

    table: Table
    columns: Columns
    reading: Reading
    sha256: str
    sheets: tuple[str, ...] = ()

    def data(self, need_target: bool = True) -> Data:
        """Return the data of the file, checked."""
        return data_of(self.table, self.columns, self.reading, self.sha256, need_target)


def inspect(path: str, choices: Mapping[str, Any] | None, search: str = "") -> dict[str, Any]:
    """Return a preview of a file, the part of each column, and all problems."""
    file, guess = Path(path), choices is None
    chosen = Choices() if choices is None else Choices.from_dict(choices)
    with spelling(on_page):
        try:
            opened = _open_and_read(file, chosen)
        except InputError as error:
            return {
                "file": shown(file.name), "choices": chosen.to_dict(), "table": None,
                "problems": describe_problems(error, title(file)), "ready": False, "remarks": [],
                "sheets": [],
            }  # fmt: skip
        if guess:
            chosen = replace(chosen, parts=guessed_parts(opened.table))
            opened = _open_and_read(file, chosen)
        problems, parsed = _parse(opened)
    unparsed = {"remarks": opened.table.remarks, "response": None, "features": None}
    return {
        "file": shown(file.name),
        "choices": chosen.to_dict(),
        "problems": problems,
        "table": preview(opened.table, chosen, problems, search),
        "ready": parsed is not None,
        "sheets": list(opened.sheets),
        **(parsed or unparsed),
    }


def _parse(opened: OpenedFile) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Return the problems of a file, and if it has none its remarks, response and features."""
    chosen = opened.columns.target is not None or opened.columns.survival
    problems = [] if chosen else describe_problems(_no_response(opened), opened.table.name)
    try:
        data = opened.data(need_target=chosen)
    except InputError as error:
        problems += describe_problems(error, opened.table.name)
    if problems:
        return problems, None
    return [], {"remarks": data.remarks, "response": data.kind, "features": data.n_features}


def _no_response(opened: OpenedFile) -> Problem:
    """Return the problem that no response was chosen; it may be on another sheet."""
    words = "Choose the response, the column to explain"
    reading, sheets = opened.reading, opened.sheets
    others = [each for each in sheets if each != (reading.sheet or sheets[0])]
    if not others or reading.phenotypes is not None:
        return Problem(words)
    return Problem(
        f"{words}. If it is on another sheet of the book, choose that sheet",
        *([("phenotypes", f"{opened.table.name}:{each}")] for each in others),
    )


def describe_problems(error: InputError, file: str) -> list[dict[str, Any]]:
    """Return all problems of a file, each with its remedies."""
    found: Sequence[InputError] = error.problems if isinstance(error, SeveralProblems) else [error]
    return [
        {
            "words": _sentence(str(each).removeprefix(f"{file}: ")),
            "ways": [
                {"label": label_of(way), "settings": [list(setting) for setting in way]}
                for way in (each.remedies if isinstance(each, Problem) else ())
            ],
            "columns": list(each.columns) if isinstance(each, Problem) else [],
            "row": each.row if isinstance(each, Problem) else None,
        }
        for each in found
    ]


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] + "." * (words[-1:] not in ".?")


def _open_and_read(path: Path, choices: Choices) -> OpenedFile:
    """Read a file, or take it from the cache if only the choice of columns has changed."""
    columns, read_options = choices.columns(), choices.read_options(path)
    source = open_source(path, read_options.budget)
    columns = with_default(columns, source, read_options, need_target=True)
    columns_to_read = columns if source.kind in ARRAY_FILE_KINDS else Columns(id=columns.id)
    table, sheets = _read(path, read_options, columns_to_read, source.sha256)
    return OpenedFile(table, columns, read_options, source.sha256, sheets)


@lru_cache(maxsize=1)
def _read(
    path: Path, reading: Reading, columns: Columns, sha256: str
) -> tuple[Table, tuple[str, ...]]:
    source = open_source(path, reading.budget)
    table = joined(table_of(source, reading, columns), reading, columns.id)
    return table, sheet_names(source) if source.kind == "spreadsheet" else ()


# -- fit and predict -------------------------------------------------------------------------


def fit(
    path: str, choices: Mapping[str, Any], folder: str, compare: bool, say: Callable[[str], None]
) -> dict[str, Any]:
    """Fit, and write the report, the table of all features and the model into a folder."""
    file, chosen, into = Path(path), Choices.from_dict(choices), Path(folder)
    with spelling(on_page):
        opened = _open_and_read(file, chosen)
        fitted = fit_data(opened.data(), FitOptions(compare=compare), say)
    target = opened.columns.target or opened.columns.time or "y"
    made = provenance(fitted.data, fitted.options.seed) | {"command": chosen.command(file)}
    say("writing the report")
    write_text(into / REPORT, report_text(fitted, target, made))
    write_table(into / TABLE, all_features(fitted))
    write_text(into / MODEL, as_json(model_of(fitted, target, opened.columns.id, made).to_dict()))
    return {"command": made["command"]}


def predict(path: str, choices: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Predict the rows of another file, which is read as the first one was."""
    file, into = Path(path), Path(folder)
    chosen = replace(Choices.from_dict(choices), beside=None, beside_sheet=None)
    with spelling(on_page):
        rows, remarks = predictions(load(into / MODEL), file, chosen.read_options(file), None)
    write_table(into / PREDICTIONS, rows)
    head = [
        [shown(cell) if isinstance(cell, str) else f"{cell:.4g}" for cell in row]
        for row in rows[: ROWS_PREVIEWED + 1]
    ]
    return {"rows": len(rows) - 1, "head": head, "remarks": list(remarks)}


def example(name: str, folder: str) -> dict[str, Any]:
    """Write the file of an example into a folder, and return its path."""
    return {"path": str(write_example(name, Path(folder)))}


# -- progress of a fit ------------------------------------------------------------------------


MESSAGE_PERIOD = 0.4  # seconds between two messages
HELD_OUT = "predicting held-out rows"  # first words of the stage that repeats the fit on folds
RIVALS_SHARE = 1.5  # time of folds with the usual methods beside the model, as a share of without


class Progress:
    """Progress of a fit, which estimates how long its repetitions on folds will take."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.now = clock
        self.root = Phase("", self)
        self._started = clock()
        self._stages: list[tuple[str, float]] = []  # words, when it began

    def closed(self, phase: Phase) -> None:
        """A phase is over."""

    def say(self, words: str) -> None:
        """A stage begins."""
        self._stages.append((words, self.now()))

    def state(self) -> dict[str, Any]:
        """Return the stage, the time so far, the time left, and the share done, for the page."""
        now = self.now()
        so_far, left = now - self._started, self._left(now)
        return {
            "words": self._stages[-1][0] if self._stages else "reading the file",
            "so_far": duration(so_far),
            "left": None if left is None else duration(left),
            "share": None if left is None else so_far / (so_far + left),
        }

    def _left(self, now: float) -> float | None:
        """Estimate the seconds left; None until the first fit is done."""
        starts = [start for words, start in self._stages if words.startswith(HELD_OUT)]
        if starts:
            fit = starts[0] - next(start for words, start in self._stages if "fitting" in words)
            expected = RIVALS_SHARE * FitOptions().cv * fit
            return max(expected - (now - starts[0]), 1.0)
        return 1.0 if len(self._stages) > 1 else None


@contextmanager
def report_progress(tell: Callable[[dict[str, Any]], None]) -> Iterator[Callable[[str], None]]:
    """Report the progress of the work within; yields a function that begins a stage."""
    progress = Progress()
    with polled(progress.root, lambda: tell(progress.state()), MESSAGE_PERIOD, MESSAGE_PERIOD):
        yield progress.say
