"""The model file: JSON, checked against a schema."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from ..._common.errors import InputError
from ..._common.names import shown, title
from ...design import Floats
from ...estimators.averaging import Averaging, LinearPredictors
from ...losses import Logistic, Multinomial, Squared
from ...reading.data import Coding
from ...reading.data import Kind as Response
from ...reading.duplicates import DUPLICATE_POLICIES, Duplicates
from ...reading.source import file_mode, read_bytes

SCHEMA, VERSION = "ksupport-model", 1
LARGEST_FILE = 200_000_000  # bytes; a model of a million features has half as many
LONGEST_TEXT = 100_000  # characters of a name
MOST_ENTRIES = 2_000_000  # features, classes or levels
MOST_VALUES = 10_000_000  # commas and brackets: what a parser makes of each takes up to 100 bytes
MOST_DIGITS = 300  # of an integer that a float can hold
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which no file can hold


@dataclass(frozen=True)
class Model:
    """A sparse linear model: its features and, after them, what it is adjusted for, by name."""

    target: str
    names: tuple[str, ...]
    coef: Floats  # outputs x features: one output, or one for each class if there are more than two
    intercept: Floats  # one for each output
    chosen: Mapping[str, Any]  # how the features were chosen
    made: Mapping[str, Any]  # versions, seed, command, data
    kind: str = "numbers"  # of the response
    classes: tuple[str, ...] = ()
    adjusting: int = 0  # how many of the columns, the last, are to adjust for
    codings: tuple[Coding, ...] = ()  # how they come from those of a file
    ids: str | None = None  # the column that names rows
    fill: Floats | None = None  # what stands for a missing value of each feature
    probability: Floats | None = None  # that a feature belongs to the model, where that is known
    average: Averaging | None = None  # what predictions go by instead of ``coef``
    averaged: int = 0  # columns after the features that are in it alone
    # What was done about columns that share a name:
    duplicates: Duplicates = field(default_factory=Duplicates)

    def to_dict(self) -> dict[str, Any]:
        columns: list[dict[str, Any]] = [
            {"name": name, "coefficient": _one_or_all(values)}
            for name, values in zip(self.names, self.coef.T, strict=True)
        ]
        if self.fill is not None:
            for column, value in zip(columns, self.fill, strict=True):
                column["fill"] = float(value)
        if self.probability is not None:
            for column, value in zip(columns, self.probability, strict=False):
                column["probability"] = float(value)  # of features, not of what is adjusted for
        average = None
        if self.average is not None:
            linear = self.average.linear
            average = {
                "intercept": linear.intercept.tolist(), "models": self.average.n_models,
                "share": self.average.share,
                "features": columns[self.size : self.size + self.averaged],
            }  # fmt: skip
            for column, values in zip(columns, linear.coef.T, strict=True):
                column["average"] = values.tolist()
        return {
            "schema": SCHEMA,
            "schema_version": VERSION,
            "target": self.target,
            "response": self.kind,
            "classes": list(self.classes),
            "id": self.ids,
            "intercept": _one_or_all(self.intercept),
            "average": average,
            "features": columns[: self.size],
            "adjusted_for": columns[self.size + self.averaged :],
            "codings": [coding.to_dict() for coding in self.codings],
            "duplicates": self.duplicates.select(self.names).to_dict(),
            "chosen": dict(self.chosen),
            "made": dict(self.made),
        }

    @property
    def size(self) -> int:
        return len(self.names) - self.averaged - self.adjusting

    def scores(self, columns: Floats) -> Floats:
        """What predictions go by, of the model's own columns in its own order: rows x outputs.

        That is X w + intercept, or the average of several models.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # who asks looks whether all are finite
            if self.average is None:
                return np.asarray(columns @ self.coef.T + self.intercept)
            linear, classes = self.average.linear, len(self.classes)
            loss = Multinomial(classes) if classes > 2 else Logistic() if classes else Squared()
            values = columns @ linear.coef.T + linear.intercept
            return np.asarray(self.average.eta(loss, values))

    def predict(self, columns: Floats) -> dict[str, NDArray[Any]]:
        """What is predicted, by name: numbers, classes with their probabilities, or risks."""
        scores = self.scores(columns)
        if self.kind == "numbers":
            return {f"predicted {self.target}": scores[:, 0]}
        if self.kind == "survival":
            return {"log of the relative risk": scores[:, 0]}
        both = np.hstack([np.zeros_like(scores), scores]) if len(self.coef) == 1 else scores
        shares = softmax(both, axis=1)
        labels = np.array(self.classes, object)[shares.argmax(axis=1)]
        each = {f"probability of {c}": p for c, p in zip(self.classes, shares.T, strict=True)}
        return {f"predicted {self.target}": labels, **each}


def _one_or_all(values: Floats) -> Any:
    """A number, or a list of them where there are several outputs."""
    return float(values[0]) if values.size == 1 else [float(value) for value in values]


def load(path: Path) -> Model:
    """Read a model file, and refuse anything else."""
    value = _json(path)
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise InputError(f"{title(path)} is JSON, but not a model that ksupport fit has written")
    if value.get("schema_version") != VERSION:
        raise InputError(
            f"{title(path)} has schema_version {_told(value.get('schema_version'))}; this "
            f"ksupport reads version {VERSION}. Update ksupport, or fit again"
        )
    try:
        return _validate(DEFAULTS | value)
    except ValueError as error:
        raise InputError(
            f"{title(path)} is damaged: {error}; fit again to write another"
        ) from error


def _json(path: Path) -> Any:
    """The contents of a file that may not be valid JSON."""
    file_mode(path, "write a model with ksupport fit --output")

    def check(size: int) -> None:
        if size > LARGEST_FILE:
            raise InputError(f"{title(path)} is too large to be a model file")

    def no_constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not a number")

    def whole(digits: str) -> float:  # infinity, for one that no float can hold
        return int(digits) if len(digits) < MOST_DIGITS else float(digits)

    text = read_bytes(path, check)
    if sum(map(text.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise InputError(f"{title(path)} holds too many values to be a model file")
    try:
        return json.loads(text, parse_constant=no_constant, parse_int=whole)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{title(path)} is not a model file, which is JSON: {shown(str(error), 120)}"
        ) from error


# -- the schema ----------------------------------------------------------------------------


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT and not SURROGATE.search(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= MOST_ENTRIES


def _is_row(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_number, value))


Kind = tuple[Callable[[Any], bool], str]  # what a value has to be, and how that is called
TEXT: Kind = (_is_text, f"text of at most {LONGEST_TEXT} characters")
NUMBER: Kind = (_is_number, "a finite number")
PROPORTION: Kind = (lambda value: _is_number(value) and 0 <= value <= 1, "a number from 0 to 1")
OBJECT: Kind = (lambda value: isinstance(value, dict), "an object")
LIST: Kind = (_is_list, "a list of features")
ROW: Kind = (_is_row, "a list of numbers")
NUMBERS: Kind = (lambda value: _is_number(value) or _is_row(value), "a finite number")
TEXTS: Kind = (
    lambda value: _is_list(value) and all(map(_is_text, value)) and len(set(value)) == len(value),
    "a list of different texts",
)
RESPONSE: Kind = (lambda value: value in get_args(Response), f"one of {get_args(Response)}")
DUPLICATES: Kind = (
    lambda value: (
        isinstance(value, dict)
        and value.get("way") in DUPLICATE_POLICIES
        and isinstance(value.get("taken"), dict)
        and len(value["taken"]) <= MOST_ENTRIES
        and all(isinstance(at, int) and 0 <= at <= MOST_ENTRIES for at in value["taken"].values())
    ),
    f"an object with a way ({', '.join(DUPLICATE_POLICIES)}) and the columns taken",
)
PERHAPS_TEXT: Kind = (lambda value: value is None or _is_text(value), "text or null")
MODEL_FIELDS = {
    "target": TEXT, "response": RESPONSE, "classes": TEXTS, "id": PERHAPS_TEXT,
    "intercept": NUMBERS, "features": LIST, "adjusted_for": LIST, "codings": LIST,
    "duplicates": DUPLICATES, "chosen": OBJECT, "made": OBJECT,
}  # fmt: skip
AVERAGE_FIELDS = {"intercept": ROW, "models": NUMBER, "share": PROPORTION, "features": LIST}
FEATURE_FIELDS = {"name": TEXT, "coefficient": NUMBERS}
CODING_FIELDS = {"name": TEXT, "levels": TEXTS}
DEFAULTS: dict[str, Any] = {
    "chosen": {}, "made": {}, "response": "numbers", "classes": [], "id": None, "adjusted_for": [],
    "codings": [], "duplicates": {"way": "refuse", "taken": {}}, "average": None,
}  # fmt: skip


def _validate(value: dict[str, Any]) -> Model:
    _check("", value, MODEL_FIELDS)
    lists = {"features": FEATURE_FIELDS, "adjusted_for": FEATURE_FIELDS, "codings": CODING_FIELDS}
    for part, fields in lists.items():
        _check_each(part, value[part], fields)
    beside = []  # features that the average alone has
    if value["average"] is not None:
        _check("average", value["average"], AVERAGE_FIELDS)
        beside = value["average"]["features"]
        _check_each("average.features", beside, FEATURE_FIELDS)
    columns = [*value["features"], *beside, *value["adjusted_for"]]
    names = tuple(column["name"] for column in columns)
    if len(set(names)) < len(names):
        both = set(names[: len(value["features"])]) & set(names[len(value["features"]) :])
        raise ValueError(
            "a column is a feature and adjusted for, too" if both else "a feature occurs twice"
        )
    if len(value["classes"]) < 2 if value["response"] == "classes" else value["classes"]:
        raise ValueError(
            f"a response of {value['response']} cannot have {len(value['classes'])} classes"
        )
    coef, intercept = _outputs(columns, value["intercept"], len(value["classes"]))
    return Model(
        target=value["target"],
        names=names,
        coef=coef,
        intercept=intercept,
        chosen=value["chosen"],
        made=value["made"],
        kind=value["response"],
        classes=tuple(value["classes"]),
        adjusting=len(value["adjusted_for"]),
        averaged=len(beside),
        codings=tuple(map(Coding.from_dict, value["codings"])),
        ids=value["id"],
        fill=_each(columns, "fill", NUMBER),
        probability=_each(value["features"], "probability", PROPORTION),
        average=_average(columns, value["average"], len(coef), value["response"]),
        duplicates=Duplicates.from_dict(value["duplicates"]),
    )


def _average(columns: list[Any], given: Any, outputs: int, kind: str) -> Averaging | None:
    """The models that are averaged: two of classes, else one; and differences of models."""
    if given is None:
        return None
    intercept, models = np.array(given["intercept"], np.float64), 2 if kind == "classes" else 1
    if given["models"] != models:
        raise ValueError(f"average.models must be {models}, got {_told(given['models'])}")
    _check_each("column", columns, {"average": ROW})
    sizes = {len(each["average"]) for each in columns}
    if sizes - {intercept.size} or (columns and intercept.size < models * outputs):
        raise ValueError("average.intercept and each column's average must be as many numbers")
    coef = np.array([each["average"] for each in columns], np.float64)
    coef = coef.reshape(len(columns), intercept.size).T
    every = np.arange(len(columns))
    linear = LinearPredictors(every, coef, intercept, np.zeros((0, intercept.size)))
    return Averaging(linear, models, outputs, float(given["share"]))


def _outputs(columns: list[Any], intercept: Any, classes: int) -> tuple[Floats, Floats]:
    """Coefficients and intercept of each output: of one, or of each class if there are many."""
    outputs = classes if classes > 2 else 1
    coef = [np.atleast_1d(column["coefficient"]) for column in columns]
    if any(len(each) != outputs for each in (np.atleast_1d(intercept), *coef)):
        raise ValueError(f"the intercept and every coefficient must have {outputs} number(s)")
    stacked = np.array(coef, np.float64).reshape(len(coef), outputs).T
    return stacked, np.atleast_1d(intercept).astype(np.float64)


def _each(features: list[Any], name: str, kind: Kind) -> Floats | None:
    """A number for every feature, such as its fill value, if all have it."""
    if not features or not all(name in feature for feature in features):
        return None
    _check_each("features", features, {name: kind})
    return np.array([feature[name] for feature in features], np.float64)


def _check_each(where: str, values: Sequence[Any], fields: Mapping[str, Kind]) -> None:
    for at, each in enumerate(values):
        _check(f"{where}[{at}]", each, fields)


def _check(where: str, value: Any, fields: Mapping[str, Kind]) -> None:
    """Raise ValueError at the first field that is missing or of another kind."""
    if not isinstance(value, dict):
        raise ValueError(f"{where} must be an object, got {_told(value)}")
    for name, (holds, kind) in fields.items():
        place = f"{where}.{name}" if where else name
        if name not in value:
            raise ValueError(f"{place} is missing")
        if not holds(value[name]):
            raise ValueError(f"{place} must be {kind}, got {_told(value[name])}")


def _told(value: Any) -> str:
    """A value on one line; of a large one its kind and size."""
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    return shown(repr(value))
