"""The model file: JSON that says what it is, and nothing that could be run."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ..._common.names import shown, title
from ...design import Floats
from ..reading.source import file_mode, read_bytes
from ..terminal.errors import InputError

SCHEMA, VERSION = "ksupport-model", 1
LARGEST = 200_000_000  # bytes; a model of a million features has half as many
LONGEST = 100_000  # characters of a name
MOST = 5_000_000  # features
DIGITS = 300  # of an integer that a float can hold
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which no file can hold


@dataclass(frozen=True)
class Model:
    """A sparse linear model: the features with a nonzero coefficient, by name."""

    target: str
    names: tuple[str, ...]
    coef: Floats
    intercept: float
    chosen: Mapping[str, Any]  # how the features were chosen
    made: Mapping[str, Any]  # versions, seed, command, data
    probability: Floats | None = None  # that a feature belongs to the model, where that is known

    def to_dict(self) -> dict[str, Any]:
        """The contents of the file."""
        return {
            "schema": SCHEMA,
            "schema_version": VERSION,
            "target": self.target,
            "intercept": self.intercept,
            "features": self._features(),
            "chosen": dict(self.chosen),
            "made": dict(self.made),
        }

    def _features(self) -> list[dict[str, Any]]:
        columns: dict[str, list[Any]] = {"name": [*self.names], "coefficient": self.coef.tolist()}
        if self.probability is not None:
            columns["probability"] = self.probability.tolist()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def predict(self, columns: Floats) -> Floats:
        """X w + intercept, of the model's own columns in its own order."""
        return np.asarray(columns @ self.coef + self.intercept)


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
        return _checked(OPTIONAL | value)
    except ValueError as error:
        raise InputError(
            f"{title(path)} is damaged: {error}; fit again to write another"
        ) from error


def _json(path: Path) -> Any:
    """The contents of a file that may be no JSON, or none that can be read."""
    file_mode(path, "write a model with ksupport fit --output")

    def check(size: int) -> None:
        if size > LARGEST:
            raise InputError(f"{title(path)} is too large to be a model file")

    text = read_bytes(path, check)
    try:
        return json.loads(text, parse_constant=_no_constant, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{title(path)} is not a model file, which is JSON: {shown(str(error), 120)}"
        ) from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _whole(digits: str) -> float:
    """An integer, or infinity for one that no float can hold."""
    return int(digits) if len(digits) < DIGITS else float(digits)


# -- the schema ----------------------------------------------------------------------------


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST and not SURROGATE.search(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


Kind = tuple[Callable[[Any], bool], str]  # what a value has to be, and how that is called
TEXT: Kind = (_is_text, f"text of at most {LONGEST} characters")
NUMBER: Kind = (_is_number, "a finite number")
SHARE: Kind = (lambda value: _is_number(value) and 0 <= value <= 1, "a number from 0 to 1")
OBJECT: Kind = (lambda value: isinstance(value, dict), "an object")
LIST: Kind = (lambda value: isinstance(value, list) and len(value) <= MOST, "a list of features")
MODEL = {"target": TEXT, "intercept": NUMBER, "features": LIST, "chosen": OBJECT, "made": OBJECT}
FEATURE = {"name": TEXT, "coefficient": NUMBER}
OPTIONAL: dict[str, Any] = {"chosen": {}, "made": {}}


def _checked(value: dict[str, Any]) -> Model:
    _check("", value, MODEL)
    features = value["features"]
    for at, feature in enumerate(features):
        _check(f"features[{at}]", feature, FEATURE)
        if "probability" in feature:
            _check(f"features[{at}]", feature, {"probability": SHARE})
    names = tuple(feature["name"] for feature in features)
    if len(set(names)) < len(names):
        raise ValueError("a feature occurs twice")
    coef = np.array([feature["coefficient"] for feature in features], np.float64)
    told = bool(features) and all("probability" in feature for feature in features)
    return Model(
        value["target"], names, coef, float(value["intercept"]), value["chosen"], value["made"],
        np.array([feature["probability"] for feature in features]) if told else None,
    )  # fmt: skip


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
    """A value on one line; of a large one, what it is."""
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    return shown(repr(value))
