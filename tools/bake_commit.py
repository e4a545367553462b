"""For hatchling: the commit is written into what is built, for ``ksupport --version`` to name."""

from __future__ import annotations

import runpy
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path(__file__).parents[1] / "src" / "ksupport"
TARGETS = {"sdist": "src/ksupport/commit.txt", "wheel": "ksupport/commit.txt"}


class BakeCommit(BuildHookInterface):
    """Puts ``commit.txt`` beside the package's modules, where a commit is known."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before each target; a checkout that is installed as it is asks git instead."""
        commit = runpy.run_path(str(SOURCE / "_common" / "commit.py"))["commit"]()
        there = (SOURCE / "commit.txt").exists()  # in a source distribution
        if version == "editable" or commit is None or there:
            return
        self.scratch = tempfile.TemporaryDirectory()
        baked = Path(self.scratch.name, "commit.txt")
        baked.write_text(f"{commit}\n")
        build_data["force_include"][str(baked)] = TARGETS[self.target_name]
