"""What every method is: parameters that know how to start a path, and how to describe it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from .._common.checks import check_switch
from .._common.levels import doubling
from ..design import Design, Floats
from ..losses import Loss, Squared
from ..walking import Path


@dataclass(frozen=True)
class Description:
    """One row of the paper's Table 1, and the parameters."""

    name: str
    title: str
    citation: str
    condition: str  # on X and w*, sufficient for recovery
    bound: str  # on ‖w - w*‖
    complexity: str  # T steps, Λ penalties tried
    parameters: dict[str, Any]  # name -> default

    def __str__(self) -> str:
        lines = [
            f"{self.title} ({self.citation})",
            f"  recovers when:  {self.condition}",
            f"  model error:    {self.bound}",
            f"  cost:           {self.complexity}",
            "  parameters:     " + ", ".join(f"{k}={v!r}" for k, v in self.parameters.items()),
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Method(ABC):
    """Base of all methods: a frozen set of parameters.

    A subclass sets the class attributes, declares its parameters as fields, and gives `start`.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    citation: ClassVar[str]
    condition: ClassVar[str] = "none known"
    bound: ClassVar[str] = "none known"
    complexity: ClassVar[str] = "O(T)"
    every: ClassVar[int] = 5  # selection looks at every so many steps; neighbours differ little
    needs_columns: ClassVar[bool] = False  # all at once, which operators and clusters do not give
    compressible: ClassVar[bool] = True  # iterates depend on X and y through [X y]ᵀ[X y] only

    def __post_init__(self) -> None:
        for field in fields(self):
            if isinstance(field.default, bool):
                check_switch(field.name, getattr(self, field.name))

    @property
    def loss(self) -> Loss:
        """What iterates are fitted by."""
        return Squared()

    def checked(self, y: Any) -> Floats:
        """The response as numbers."""
        return self.loss.checked(y)

    @abstractmethod
    def start(self, design: Design, y: Floats) -> Path:
        """The path from its starting point, on this design."""

    def compressed(self, design: Design, Y: Floats) -> tuple[Design, list[Floats]]:
        """The design and its targets, with fewer rows where that pays and changes no iterate."""
        if self.compressible and design.compresses:
            design, Y = design.compressed(Y)
        # One by one and contiguous, as compiled code takes them.
        return design, [np.ascontiguousarray(y) for y in Y.reshape(len(Y), -1).T]

    def fixed(self, design: Design, y: Floats) -> Method:
        """This method, with what its steps mean fixed by these data.

        On parts of the data step t then means the same as on the whole.
        """
        return self

    @classmethod
    def grid(cls, n: int, d: int) -> dict[str, Any]:
        """Parameters worth trying on a design of this shape; {} walks the defaults alone."""
        return {"k": doubling(n, d)} if "k" in cls.describe().parameters else {}

    @classmethod
    def describe(cls) -> Description:
        """The method's row of Table 1 and its parameters."""
        parameters = {f.name: f.default if f.default is not MISSING else None for f in fields(cls)}
        return Description(
            cls.name, cls.title, cls.citation, cls.condition, cls.bound, cls.complexity, parameters
        )
