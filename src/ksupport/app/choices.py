"""What the user chose on the page: the part of each column, and how the file is read."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._common.names import shown

if TYPE_CHECKING:  # the server imports nothing that computes
    from ..reading import Columns, Reading

PARTS = {  # of a column, by the options of ``ksupport fit``, each with its name on the page
    "feature": "Feature",
    "target": "Response",
    "time": "Survival time",
    "event": "Event observed",
    "id": "Row names",
    "adjust-for": "Covariate",
    "groups": "Group of rows",
    "ignore": "Left out",
}
ONCE = ("target", "time", "event", "id", "groups")  # parts that only one column can have
RIVALS = {"target": ("time", "event"), "time": ("target",), "event": ("target",)}
READ_BY = {  # settings of reading, each with its name on the page
    "sheet": "Sheet",
    "transpose": "Features are in rows",
    "missing": "Missing values",
    "duplicates": "Features that share a name",
    "decimal": "Decimal mark",
    "thousands": "Thousands mark",
    "separator": "Column separator",
    "encoding": "Encoding",
}


@dataclass(frozen=True)
class Choices:
    """Choices are made one by one; each gives a new object.

    ``parts`` has an entry for each column that is no plain feature ("keep" is a feature that looks
    like an id); ``beside`` is another file, or sheet of the same book, with a row for each sample.
    """

    parts: Mapping[str, str] = field(default_factory=dict)
    response: str | None = None  # "numbers" or "classes"; None: the column decides
    event_value: str | None = None
    beside: str | None = None
    beside_sheet: str | None = None
    sheet: str | None = None
    transpose: bool = False
    missing: str = "refuse"
    na: tuple[str, ...] = ()
    duplicates: str = "refuse"
    decimal: str = "."
    thousands: str | None = None
    separator: str | None = None
    encoding: str | None = None

    # -- one choice more -----------------------------------------------------------------------

    def with_part(self, column: str, part: str) -> Choices:
        """Return choices with this part for a column; other columns lose parts that exclude it."""
        gone = {*RIVALS.get(part, ()), *([part] if part in ONCE else [])}
        parts = {name: had for name, had in self.parts.items() if had not in gone}
        parts.pop(column, None)
        if part != "feature":
            parts[column] = part
        changed = replace(self, parts=parts)
        if part == "target":
            changed = replace(changed, response=None)
        return replace(changed, event_value=None) if part == "event" else changed

    def apply_settings(self, settings: Iterable[tuple[str, str | None]]) -> Choices:
        """Return choices with these settings, such as those that remedy a problem."""
        choices = self
        for name, value in settings:
            choices = choices._with_setting(name, value)
        return choices

    def _with_setting(self, name: str, value: str | None) -> Choices:
        if name == "event" and value is not None and "=" in value:
            column, _, seen = value.rpartition("=")
            return replace(self.with_part(column, "event"), event_value=seen)
        if (name in PARTS or name == "keep") and value is not None:
            return self.with_part(value, name)
        if name == "na" and value is not None:
            return replace(self, na=tuple(dict.fromkeys((*self.na, value))))
        if name == "phenotypes" and value is not None:  # a sheet of the book that is read
            return replace(self, beside=None, beside_sheet=value.rpartition(":")[2])
        if name in ("regression", "classification"):
            return replace(self, response="numbers" if name == "regression" else "classes")
        if name == "transpose":
            return replace(self, transpose=value != "")
        if name in READ_BY:
            changed: dict[str, Any] = {name: value or getattr(Choices(), name)}
            return replace(self, **changed)
        raise KeyError(name)

    # -- what they mean ------------------------------------------------------------------------

    def part_of(self, column: str) -> str:
        """Return the part of a column, one of `PARTS`."""
        part = self.parts.get(column, "feature")
        return "feature" if part == "keep" else part

    def columns_with(self, part: str) -> list[str]:
        """Return the columns of a part."""
        return [name for name, had in self.parts.items() if had == part]

    def column_with(self, part: str) -> str | None:
        """Return the column of a part that only one can have, or None."""
        return next(iter(self.columns_with(part)), None)

    def columns(self) -> Columns:
        from ..reading import Columns

        event = self.column_with("event")
        if event is not None and self.event_value is not None:
            event = f"{event}={self.event_value}"
        survival = self.column_with("time") is not None
        return Columns(
            target=self.column_with("target"), time=self.column_with("time"), event=event,
            id=self.column_with("id"), groups=self.column_with("groups"),
            adjust_for=tuple(self.columns_with("adjust-for")),
            ignore=tuple(self.columns_with("ignore")), keep=tuple(self.columns_with("keep")),
            response=None if survival else self.response,  # type: ignore[arg-type]
        )  # fmt: skip

    def read_options(self, file: Path) -> Reading:
        from ..reading.options import how_to_read

        beside = self.beside or (None if self.beside_sheet is None else str(file))
        return how_to_read(
            phenotypes=None if beside is None else Path(beside),
            phenotypes_sheet=self.beside_sheet, na=self.na,
            **{name: getattr(self, name) for name in READ_BY},
        )  # fmt: skip

    def command(self, file: Path) -> str:
        return shlex.join(["ksupport", "fit", file.name, *self._options(file)])

    def _options(self, file: Path) -> Iterable[str]:
        for name, part in self.parts.items():
            value = f"{name}={self.event_value}" if part == "event" and self.event_value else name
            yield from (f"--{part}", value)
        if self.response is not None and self.column_with("time") is None:
            yield "--regression" if self.response == "numbers" else "--classification"
        if self.beside is not None or self.beside_sheet is not None:
            yield from ("--phenotypes", Path(self.beside or file).name)
        if self.beside_sheet is not None:
            yield from ("--phenotypes-sheet", self.beside_sheet)
        for text in self.na:
            yield from ("--na", text)
        plain = Choices()
        for name in READ_BY:
            value = getattr(self, name)
            if value != getattr(plain, name):
                yield from (f"--{name}", *([] if value is True else [value]))

    # -- between processes ---------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Choices:
        return cls(**{**value, "na": tuple(value["na"])})


# -- what the page calls options of ``ksupport fit``, in messages and on buttons -----------------
VALUE_WORDS = {
    ("missing", "impute"): "fill in means",
    ("missing", "drop-rows"): "leave out their rows",
    ("missing", "drop-columns"): "leave out their columns",
    ("missing", "refuse"): "ask",
    ("duplicates", "mean"): "take their mean",
    ("duplicates", "max-variance"): "keep the one that varies most",
    ("duplicates", "suffix"): "number them",
    ("duplicates", "refuse"): "ask",
}
OPTION_WORDS = {
    "regression": "‘Response: numbers’",
    "classification": "‘Response: classes’",
    "phenotypes": "‘Table of samples’",
    "phenotypes-sheet": "‘Table of samples’",
    "na": "‘Means missing’",
    "max-memory": "the memory allowed",
    "keep": "‘Feature’",
}


def on_page(name: str, value: str | None = None) -> str:
    """Return the name of an option in messages on the page: the word that can be clicked.

    >>> on_page("id", "patient"), on_page("missing", "impute"), on_page("decimal", "','")
    ('‘Row names’ for patient', '‘Missing values: fill in means’', "‘Decimal mark’ ','")
    """
    if name in PARTS:
        word = f"‘{PARTS[name]}’"
        return word if value is None else f"{word} for {value}"
    if (name, value or "") in VALUE_WORDS:
        return f"‘{READ_BY[name]}: {VALUE_WORDS[name, value or '']}’"
    word = OPTION_WORDS.get(name) or f"‘{READ_BY.get(name, name)}’"
    if value is None or name in ("regression", "classification"):
        return word
    return f"{word} for {value}" if name in ("keep", "na") else f"{word} {value}"


def label_of(settings: Sequence[tuple[str, str | None]]) -> str:
    """Return the label of the button that applies these settings."""
    by_name: dict[str, list[str]] = {}
    for name, value in settings:
        by_name.setdefault(name, []).append("" if value is None else value)
    return "; ".join(_label(name, values) for name, values in by_name.items())


def _label(name: str, values: list[str]) -> str:
    several = ", ".join(shown(value, 24) for value in values[:3])
    if len(values) > 3:
        several += f" and {len(values) - 3} more"
    if name == "ignore":
        return f"Leave out {several}"
    if name == "keep":
        return f"Keep {several} as a feature"
    if name == "adjust-for":
        return f"Adjust for {several}"
    if name == "event":
        return f"The event is {shown(values[0].rpartition('=')[2], 24)}"
    if name in PARTS:
        return f"{PARTS[name]}: {several}"
    if name == "na":
        return f"Treat {several} as missing"
    if (name, values[0]) in VALUE_WORDS:
        return VALUE_WORDS[name, values[0]].capitalize()
    if name == "phenotypes":
        return f"Table of samples: sheet {shown(values[0].rpartition(':')[2], 24)}"
    return f"{READ_BY.get(name, name)}: {several or 'none'}"
