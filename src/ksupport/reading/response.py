"""The response: numbers, classes or survival times."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._common.errors import InputError
from .._common.names import listed, shown
from .cells import Marks, is_boolean, is_text, labels
from .data import Kind
from .not_numbers import advice, numbers
from .options import Columns
from .problems import Problem, option
from .table import Table

CODES = ({0.0, 1.0}, {-1.0, 1.0}, {1.0, 2.0})  # how two classes are coded as numbers
MOST_EVENTS = 4  # values of a column any of which may mean that an event was seen
MOST_CODES = 10  # different whole numbers that might be classes
YES = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
SURVIVAL = np.dtype([("event", bool), ("time", np.float64)])


@dataclass(frozen=True)
class Response:
    """The response, of which kind it is, and what was assumed about it."""

    kind: Kind | None = None
    y: Any = None
    remarks: tuple[str, ...] = ()


def response_of(table: Table, columns: Columns, marks: Marks) -> Response:
    if columns.time is not None and columns.event is not None:
        return _survival(table, columns.time, columns.event, marks)
    if columns.target is None:
        return Response()
    column = table.column("target", columns.target)
    if columns.response == "numbers":
        if is_text(column, marks):
            words = listed([each for each in dict.fromkeys(labels(column)) if each is not None], 4)
            raise InputError(
                f"{option('target')} {shown(columns.target)!r} holds text ({words}), which "
                f"{option('regression')} cannot take as numbers; leave that out, or write numbers"
            )
        return Response("numbers", numbers(column.to_frame(), table.name, marks)[:, 0])
    if columns.response == "classes":
        return _classes(column, "")
    if is_boolean(column):
        return _classes(column, "holds true and false")
    if is_text(column, marks):
        _check_classes(column, marks)
        return _classes(column, "holds text")
    return _numbers(column, table.name, marks)


def _numbers(column: Any, file: str, marks: Marks) -> Response:
    y = numbers(column.to_frame(), file, marks)[:, 0]
    name, different = shown(str(column.name)), np.unique(y[np.isfinite(y)])
    if set(different) in CODES and len(y) > 2:
        why = f"holds {different[0]:g} and {different[1]:g} only"
        to_change = f" {option('regression')} takes it as numbers."
        return _classes(column.where(np.isfinite(y)), why, to_change)
    whole = bool((different == np.round(different)).all())
    if whole and 2 < len(different) <= MOST_CODES and len(y) >= 3 * len(different):
        return Response("numbers", y, (
            f"{name} holds {len(different)} different whole numbers, and is taken as numbers; "
            f"{option('classification')} takes them as classes.",
        ))  # fmt: skip
    return Response("numbers", y)


def _classes(column: Any, why: str, to_change: str = "") -> Response:
    found = labels(column)
    counts = Counter(each for each in found if each is not None)
    name = shown(str(column.name))
    if len(counts) == 1:
        raise Problem(
            f"{option('target', name)}: every row has the class {listed(counts)}, so there is "
            "nothing to predict; name another column",
            columns=[str(column.name)],
        )
    sizes = [f"{shown(each)} ({counts[each]} rows)" for each in sorted(counts)]
    words = f"{name} {why}: " if why else f"{name}: "
    remark = f"{words}{len(counts)} classes to distinguish, {listed(sizes, 6)}.{to_change}"
    return Response("classes", np.array(found, object), (remark,))


def _check_classes(column: Any, marks: Marks) -> None:
    """Refuse texts that hardly recur: they are names of rows, or numbers written otherwise."""
    found = [each for each in labels(column) if each is not None]
    different, present = len(set(found)), len(found)
    if 2 * different > present + 1 > 3:
        name, first = shown(str(column.name)), found[0]
        raise Problem(
            f"{option('target', name)} holds {different} different texts in {present} rows, such "
            f"as {shown(first)!r}: too many to be classes. If it names the rows, give "
            f"{option('id', name)} and another target{advice(first, marks)}",
            columns=[str(column.name)],
        )


def _survival(table: Table, time: str, event: str, marks: Marks) -> Response:
    until = numbers(table.column("time", time).to_frame(), table.name, marks)[:, 0]
    early = np.flatnonzero(until < 0)
    if early.size:
        raise Problem(
            f"{option('time', shown(time))}: row {early[0] + 1} holds {until[early[0]]:g}, but no "
            "time until an event is negative; count from when a row was first followed",
            columns=[time],
            row=int(early[0]),
        )
    seen = _events(table, event)
    y = np.zeros(len(until), SURVIVAL)
    y["event"] = [each is True for each in seen]
    y["time"] = np.where([each is None for each in seen], np.nan, until)
    count = int(y["event"].sum())
    if count == 0:
        raise InputError(
            f"{option('event', shown(event))}: no row has the event, so no model can be fitted; "
            "check which value means that it was seen, and give it as COLUMN=VALUE"
        )
    return Response("survival", y, (
        f"The event (column {shown(event)}) was seen in {count} of {len(y)} rows.",
    ))  # fmt: skip


def _events(table: Table, event: str) -> list[bool | None]:
    """Whether the event was seen in each row; ``COLUMN=VALUE`` says which value means so."""
    name, _, value = event.rpartition("=") if event not in table.names else (event, "", "")
    found = labels(table.column("event", name or event))
    known = sorted({each for each in found if each is not None})
    if value:
        if value not in known:
            raise InputError(
                f"{option('event', shown(event))}: {shown(name)} never holds {shown(value)!r}; it "
                f"holds {listed(known)}"
            )
        return [None if each is None else each == value for each in found]
    unclear = [each for each in known if each.lower() not in YES]
    if unclear:
        first = shown(known[-1])
        raise Problem(
            f"{option('event', shown(event))} must hold 1 for observed events and 0 for "
            f"censored rows, but it holds {listed(known)}. Name the value of an event, such as "
            f"{option('event', f'{shown(event)}={first}')}",
            *([("event", f"{event}={each}")] for each in reversed(known[:MOST_EVENTS])),
            columns=[event],
        )
    return [None if each is None else YES[each.lower()] for each in found]
