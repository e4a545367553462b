"""The model file: JSON that says what it is, and nothing that could be run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ..design import Floats
from .errors import CommandError, InputError
from .names import shown, title
from .source import file_mode, read_bytes

SCHEMA, VERSION = "ksupport-model", 1
LARGEST = 200_000_000  # bytes; a model of a million features has half as many


@dataclass(frozen=True)
class Model:
    """A sparse linear model: the features with a nonzero coefficient, by name."""

    target: str
    names: tuple[str, ...]
    coef: Floats
    intercept: float
    chosen: Mapping[str, Any]  # how the features were chosen
    made: Mapping[str, Any]  # versions, seed, command, data

    def to_dict(self) -> dict[str, Any]:
        """The contents of the file."""
        return {
            "schema": SCHEMA,
            "schema_version": VERSION,
            "target": self.target,
            "intercept": self.intercept,
            "features": [
                {"name": name, "coefficient": float(value)}
                for name, value in zip(self.names, self.coef, strict=True)
            ],
            "chosen": dict(self.chosen),
            "made": dict(self.made),
        }

    def predict(self, columns: Floats) -> Floats:
        """X w + intercept, of the model's own columns in its own order."""
        return np.asarray(columns @ self.coef + self.intercept)


def write_json(path: Path, value: Any) -> None:
    """Write plain JSON, characters outside ASCII as escapes."""
    write_text(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file; what goes wrong is told in words."""
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror or error}") from error


def load(path: Path) -> Model:
    """Read a model file, and refuse anything else."""
    file_mode(path, "write a model with ksupport fit --output")

    def check(size: int) -> None:
        if size > LARGEST:
            raise InputError(f"{title(path)} is too large to be a model file")

    text = read_bytes(path, check)
    try:
        value = json.loads(text.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{title(path)} is not a model file, which is JSON: {shown(str(error), 120)}"
        ) from error
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise InputError(f"{title(path)} is JSON, but not a model that ksupport fit has written")
    if value.get("schema_version") != VERSION:
        raise InputError(
            f"{title(path)} has schema_version {shown(repr(value.get('schema_version')))}; this "
            f"ksupport reads version {VERSION}. Update ksupport, or fit again"
        )
    return _checked(value, path)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _checked(value: dict[str, Any], path: Path) -> Model:
    try:
        names = tuple(feature["name"] for feature in value["features"])
        numbers = [feature["coefficient"] for feature in value["features"]]
        target, intercept = value["target"], value["intercept"]
    except (KeyError, TypeError) as error:
        raise InputError(f"{title(path)} is damaged: {shown(str(error))} is missing") from error
    if not all(isinstance(name, str) for name in (*names, target)):
        raise InputError(f"{title(path)} is damaged: names must be text")
    if len(set(names)) < len(names):
        raise InputError(f"{title(path)} is damaged: a feature occurs twice")
    if not all(_number(each) for each in (*numbers, intercept)):
        raise InputError(f"{title(path)} is damaged: coefficients must be finite numbers")
    return Model(
        target,
        names,
        np.array(numbers, np.float64),
        float(intercept),
        value.get("chosen", {}),
        value.get("made", {}),
    )


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
