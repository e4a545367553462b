"""Kills commands at random points, and looks at what they leave.

    python killing.py fit|reproduce|fetch FOLDER POINTS SEED

Half of the points are moments, the others touches of a file (by Python's audit events: openings,
renames, removals, SQLite).  After each kill every file that is there has to be whole, as it was
before or as an undisturbed run writes it; a run that is not killed ends with the same files as an
undisturbed one, and nothing beside them.  Prints how many were killed, and where.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import time
import traceback
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from urllib.request import urlopen

import numpy as np

TOUCHES = ("open", "os.rename", "os.remove", "os.mkdir", "sqlite3.connect", "shutil.")
TABLE = np.random.default_rng(0).normal(size=(400, 21)).round(4)


def register_a_dataset(folder):
    """A dataset whose raw file is served by the file system."""
    from ksupport.datasets import _cache, _download
    from ksupport.datasets._registry import DATASETS, DatasetInfo, RemoteFile

    raw = folder / "toy.txt"
    np.savetxt(raw, TABLE, fmt="%.17g")
    digest = "sha256:" + hashlib.sha256(raw.read_bytes()).hexdigest()
    files = (RemoteFile("toy.txt", (raw.as_uri().replace("file:", "https:"),), digest),)
    info = DatasetInfo("leukemia", "a table", (400, 20), "nobody", "none", files)
    DATASETS["leukemia"] = info
    _download.__dict__["open_url"] = lambda url: urlopen(url.replace("https:", "file:"))

    def convert(paths):
        table = np.loadtxt(paths[0])
        return {"X": table[:, :20], "y": table[:, 20]}

    def fetch(name, *, data_home=None, download_if_missing=True, **_):
        arrays = _cache.load_arrays(
            info, convert, data_home=data_home, download_if_missing=download_if_missing
        )
        return type("Fetched", (), {"data": arrays["X"]})

    sys.modules["ksupport.datasets"].__dict__["fetch_dataset"] = fetch


# -- what is killed ------------------------------------------------------------------------


class Fit:
    """A fit that replaces a model, a table and a report of before."""

    files = ("model.json", "coefficients.csv", "report.html")

    def __init__(self, folder):
        header = ",".join([*(f"g{j}" for j in range(20)), "y"])
        y = TABLE[:60, 0] + TABLE[:60, 20]
        table = np.column_stack([TABLE[:60, :20], y])
        np.savetxt(folder / "data.csv", table, "%.6g", ",", header=header, comments="")
        self.args = [
            "fit", str(folder / "data.csv"), "--target", "y", "--no-compare", "--stability", "0",
            "--output", "model.json", "--coefficients", "coefficients.csv", "--report",
            "report.html",
        ]  # fmt: skip

    def prepare(self, place):
        for name in self.files:
            (place / name).write_text("before")

    def contents(self, place):
        """Of each file, without what tells the time and the place."""
        found = {}
        for name in self.files:
            text = (place / name).read_text(encoding="utf-8")
            if text != "before" and name == "model.json":
                text = {key: value for key, value in json.loads(text).items() if key != "made"}
            elif text != "before" and name == "report.html":
                assert text.rstrip().endswith("</html>")
                text = "a whole report"
            found[name] = text
        return found


class Reproduce:
    """A run of an experiment, which goes on where the last one was killed."""

    files = (
        "results.sqlite",
        *(f"paper-quick/fig-f1-n.{suffix}" for suffix in ("csv", "png", "svg")),
    )
    args = ("reproduce", "fig-f1-n", "--quick", "--out", ".", "--jobs", "1")

    def __init__(self, folder):
        pass

    def prepare(self, place):
        pass

    def contents(self, place):
        found = {}
        for name in self.files:
            if not (place / name).exists():
                continue
            found[name] = (place / name).read_bytes()
        if "results.sqlite" in found:
            with closing(sqlite3.connect(place / "results.sqlite")) as connection:
                with suppress(sqlite3.OperationalError):  # the table is not there yet
                    rows = connection.execute("select cell, parameters, rows from results")
                    found |= {f"cell {cell}": rest for cell, *rest in rows}
                assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
            del found["results.sqlite"]
        return found


class Fetch:
    """A dataset that is downloaded, converted and put into the cache."""

    files = ("leukemia/leukemia.npz",)
    args = ("data", "fetch", "leukemia")

    def __init__(self, folder):
        register_a_dataset(folder)

    def prepare(self, place):
        pass

    def contents(self, place):
        if not (place / self.files[0]).exists():
            return {}
        with np.load(place / self.files[0], allow_pickle=False) as arrays:
            return {name: arrays[name].tolist() for name in arrays.files}


KINDS = {"fit": Fit, "reproduce": Reproduce, "fetch": Fetch}


# -- how it is killed ----------------------------------------------------------------------


def become(args, place, touch):
    """Run a command in this process, which dies at its so-and-so-many-th touch of a file."""
    os.chdir(place)
    os.environ["KSUPPORT_DATA"] = str(place)
    os.dup2(os.open(place.parent / "told", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
    os.dup2(1, 2)
    seen = 0

    def count(event, _):
        nonlocal seen
        if event.startswith(TOUCHES):
            seen += 1
            if seen == touch:  # asked of these events alone: killing is an event, too
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    sys.argv = ["ksupport", *args]
    from ksupport.cli import app

    code = 1
    try:
        app()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        (place.parent / "touches").write_text(str(seen))
        os._exit(code)


def run(args, place, touch=-1, seconds=None):
    """The exit code of a command in a process of its own, killed or not."""
    pid = os.fork()
    if pid == 0:
        become(args, place, touch)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def is_killed(args, place, **how):
    """Whether a command was killed; else it has done its work."""
    code = run(args, place, **how)
    assert code in (0, -signal.SIGKILL), (code, how, (place.parent / "told").read_text())
    return code != 0


def check_parts(found, before, whole):
    """All that is there is whole: of before, or of an undisturbed run."""
    for name, value in found.items():
        assert value in (before.get(name), whole[name]), f"{name} is neither old nor new"


def left_over(place):
    return [path.name for path in place.rglob("*") if path.name.startswith((".partial", "."))]


def undisturbed(command, place):
    """What a run leaves in a new folder."""
    place.mkdir()
    command.prepare(place)
    assert not is_killed(command.args, place)
    return command.contents(place)


def kill_often(command, folder, points, rng):
    """Kill a command at so many points; counts of what was hit."""
    place = folder / "killed"
    whole = undisturbed(command, folder / "whole")  # once for files that only the first run writes
    started = time.monotonic()
    assert whole == undisturbed(command, folder / "fresh")
    seconds, touches = time.monotonic() - started, int((folder / "touches").read_text())
    hit = Counter()
    while hit["moment"] + hit["touch"] < points:
        if not place.exists():
            place.mkdir()
            command.prepare(place)
        before = command.contents(place)
        kind = rng.choice(["moment", "touch"])
        if kind == "touch":
            killed = is_killed(command.args, place, touch=rng.randint(1, touches))
        else:
            killed = is_killed(command.args, place, seconds=rng.uniform(0, seconds))
        found = command.contents(place)
        check_parts(found, before, whole)
        assert before.keys() <= found.keys(), "something is lost"
        hit[kind] += killed
        if not killed or found == whole:
            hit["whole"] += 1
            assert not is_killed(command.args, place)  # and whoever comes next tidies up
            assert command.contents(place) == whole
            assert left_over(place) == []
            shutil.rmtree(place)
    if place.exists():
        assert not is_killed(command.args, place)
        assert command.contents(place) == whole
        assert left_over(place) == []
    return hit


def main(kind, folder, points, seed):
    from ksupport.cli import program

    program()
    command = KINDS[kind](folder)
    print(json.dumps(kill_often(command, folder, points, random.Random(seed))))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve(), int(sys.argv[3]), int(sys.argv[4]))
