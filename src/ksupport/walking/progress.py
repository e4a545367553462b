"""How far paths have come, for whoever listens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from .._common.phases import no_update, phase
from .records import Record


@contextmanager
def walking(records: Sequence[Record], max_iter: int) -> Iterator[Callable[[], None]]:
    """A phase in which paths are walked; what it gives tells how far they are.

    A path that has ended has no steps left, however early it did.
    """
    begun = sum(record.path.t for record in records)
    count = "a path" if len(records) == 1 else f"{len(records)} paths"
    with phase(f"walking {count}", max_iter * len(records) - begun) as update:

        def tell() -> None:
            update(sum(max_iter if r.reason is not None else r.path.t for r in records) - begun)

        yield (lambda: None) if update is no_update else tell
