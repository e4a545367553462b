"""fMRI decoding (an additional experiment of the paper): distances to the truth, accuracy, maps.

The paper decodes Haxby's subject 2, with EnCluDL's weights as the truth.  Two more parts need no
download: a simulated brain of equal size with a known truth, and one real slice, on which decoders
predict runs that they were not fitted on.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from ..design import Floats
from ..fmri.encludl import MEMBERS, encludl
from ..fmri.images import inside
from ..metrics import model_error, support_f1
from .experiment import PAPER_METHODS, Cell, Experiment, Protocol, Row
from .files import grouped, read_published
from .fmri_data import (
    CONTRASTS,
    PARTS,
    Recordings,
    brain,
    found_by,
    missing,
    packed,
    split_of,
    unpacked,
    walk_of,
    whole_haxby,
)
from .fmri_figures import draw
from .fmri_slice import DECODERS, left_out_runs, slice_encludl
from .prediction_walk import tune

SIMULATED = "simulated"
ENCLUDL = "encludl"
N_CLUSTERS = 500
QUICK_MEMBERS = 2  # of EnCluDL
QUICK_RUNS = 2  # left out one by one on the slice
QUICK_DECODERS = ("irksn", "lasso")


def cells(protocol: Protocol, quick: bool) -> list[Cell]:
    """Every method on every part, one contrast after the other; quick without the whole brain."""
    out: list[Cell] = []
    contrasts = ["/".join(pair) for pair in CONTRASTS]
    for part in PARTS[: 2 if quick else None]:
        methods = [*PAPER_METHODS, ENCLUDL]
        if part == "slice":
            methods = [*(QUICK_DECODERS if quick else DECODERS), ENCLUDL]
        where = [SIMULATED] if part == "brain" else contrasts[: 1 if quick else None]
        out += [
            {"part": part, "contrast": c, "method": m, "protocol": protocol, "quick": quick}
            for c in where
            for m in methods
        ]
    return out


def compute(part: str, contrast: str, method: str, protocol: Protocol, quick: bool) -> list[Row]:
    """What one method makes of one part: its weights, and how good they are."""
    started = time.perf_counter(), time.process_time()
    if part == "slice":
        if method == ENCLUDL:
            rows = slice_encludl(contrast, QUICK_MEMBERS if quick else MEMBERS)
        else:
            rows = left_out_runs(contrast, method, QUICK_RUNS if quick else None)
    else:
        recordings = brain(quick) if part == "brain" else whole_haxby(contrast)
        started = time.perf_counter(), time.process_time()
        if method == ENCLUDL:
            rows = _encludl(recordings, quick)
        else:
            rows = _tuned(recordings, method, protocol, quick, standardize=part == "haxby")
    times = {
        "seconds": time.perf_counter() - started[0],
        "cpu_seconds": time.process_time() - started[1],
    }
    return [{"part": part, "contrast": contrast, "method": method, **times, **row} for row in rows]


def _tuned(
    recordings: Recordings, method: str, protocol: Protocol, quick: bool, *, standardize: bool
) -> list[Row]:
    split = split_of(recordings, standardize)
    best = tune(walk_of(method, protocol, recordings.k, quick), split)
    row = {"validation": best.mse, "t": best.t, "params": _words(best.params)}
    return [{**row, **_scores(recordings.truth, best.w), "w": packed(best.w)}]


def _words(params: object) -> str:
    return ", ".join(f"{k}={v}" for k, v in dict(params).items())  # type: ignore[call-overload]


def _encludl(recordings: Recordings, quick: bool) -> list[Row]:
    found = encludl(
        recordings.X, recordings.y, inside(recordings.mask_img),
        n_clusters=100 if quick else N_CLUSTERS, groups=recordings.run,
        n_members=QUICK_MEMBERS if quick else MEMBERS,
    )  # fmt: skip
    row = {"w": packed(found.coef), "z": packed(found.z), "threshold": found.threshold}
    return [{**_scores(recordings.truth, found.coef), **row}]


def _scores(truth: Floats | None, w: Floats) -> Row:
    if truth is None:
        return {}
    return {"error": float(model_error(truth, w)), "f1": float(support_f1(truth, w))}


def table(rows: list[Row]) -> list[Row]:
    """One line for each part, contrast and method; "zero" is the model without any voxel.

    ``distance_mean`` is that to the truth where it is known, and to EnCluDL's weights elsewhere.
    """
    lines = []
    for (part, contrast), group in grouped(rows, "part", "contrast").items():
        truth = _truth(part, group)
        for row in group:
            w, seen = unpacked(row["w"]), found_by(row)
            line = {"part": part, "contrast": contrast, "method": row["method"]}
            line["distance_mean"] = float(np.linalg.norm(w - truth))
            line["n_voxels"], line["n_shown"] = int(np.sum(w != 0)), int(np.sum(seen != 0))
            if part == "brain":
                line["f1"], line["f1_shown"] = row["f1"], float(support_f1(truth, seen))
            for name in ("accuracy_mean", "accuracy_std", "t", "params", "seconds", "cpu_seconds"):
                if name in row:
                    line[name] = row[name]
            lines.append(line)
        zero = {"part": part, "contrast": contrast, "method": "zero", "n_voxels": 0, "n_shown": 0}
        lines.append({**zero, "distance_mean": float(np.linalg.norm(truth))})
    return lines


def _truth(part: str, group: list[Row]) -> Floats:
    if part == "brain":
        truth = brain(quick=len(unpacked(group[0]["w"])) != 39912).truth
        assert truth is not None
        return truth
    return unpacked(next(row for row in group if row["method"] == ENCLUDL)["w"])


def plot(rows: list[Row], folder: Path) -> None:
    """The scores, and the maps of every part."""
    draw(rows, table(rows), folder)


def reference() -> list[Row]:
    """The published distances to EnCluDL's weights, which agree with ours to the digits printed."""
    return [
        {"part": "haxby", "contrast": row["contrast"], "method": row["method"],
         "distance_mean": row["distance"], "tolerance": row["tolerance"]}
        for row in read_published("fmri_distance_to_encludl", printed="distance")
    ]  # fmt: skip


EXPERIMENTS = (
    Experiment(
        name="fmri",
        title="fMRI decoding: distances, accuracy and brain maps",
        version=2,
        cells=cells,
        compute=compute,
        table=table,
        plot=plot,
        reference=reference,
        part="part",
        missing=missing,
    ),
)
