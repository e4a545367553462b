"""The paper's figure, of the tables in ``docs/developers/targets.rst`` and of nothing else.

``make paper`` draws it; the picture is committed, so that a change of the tables shows.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "docs" / "_ext"))
from measured import posterior, table_after  # type: ignore[import-not-found]  # noqa: E402

TARGETS = HERE.parent / "docs" / "developers" / "targets.rst"


def kinds() -> dict[str, dict[str, str]]:
    """The table that is drawn: a row for each kind of problem."""
    rows: dict[str, dict[str, str]] = table_after(
        TARGETS.read_text(encoding="utf-8"), "Power is the share"
    )
    return rows


if __name__ == "__main__":
    figure = posterior(TARGETS.read_text(encoding="utf-8"))
    figure.savefig(HERE / "selection.png", dpi=200, metadata={"Software": None})
