"""2000 x 200,000 genotypes on disk are chosen from within a gigabyte, in few passes."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("bed_reader")
pytest.importorskip("resource")

N, D, WIDTH = 2000, 200_000, 4000
CAUSES, EFFECTS = np.arange(10) * 19_000 + 137, np.array([1, -1] * 5)
FIT = """
import json, resource, sys
import ksupport

data = ksupport.read(
    "many.bed", "y", phenotypes="known.csv", adjust_for=["age", "sex", "batch"]
)
model = ksupport.IRKSNIC(unpenalized=data.unpenalized).fit(data.X, data.y)
unit = 1 if sys.platform == "darwin" else 1024
print(json.dumps({
    "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit,
    "passes": model.n_passes_,
    "found": [data.feature_names[j] for j in model.support_.nonzero()[0]],
    "adjusted": model.coef_[data.unpenalized].tolist(),
}))
"""


def _write(folder, d):
    """Genotypes of which neighbours are alike, 1 % of them missing, four in a byte."""
    rng = np.random.default_rng(0)
    score, names = np.zeros(N), [f"P{i}" for i in range(N)]
    with open(folder / "many.bed", "wb") as bed:
        bed.write(b"\x6c\x1b\x01")
        for start in range(0, d, WIDTH):
            drawn = rng.integers(0, 256, (WIDTH, N, 2), np.uint8)
            alike = rng.integers(0, 256, (WIDTH // 2, N, 2), np.uint8) < 180
            drawn[1::2] = np.where(alike, drawn[::2], drawn[1::2])
            counts = (drawn < 77).sum(axis=2, dtype=np.int8)
            here = (start <= CAUSES) & (start + WIDTH > CAUSES)
            score += EFFECTS[here] @ counts[CAUSES[here] - start]
            codes = np.array([3, 2, 0], np.uint8)[counts]  # of how many of the first allele
            codes[rng.integers(0, 256, codes.shape, np.uint8) < 3] = 1
            shifted = codes.reshape(WIDTH, N // 4, 4) << np.array([0, 2, 4, 6], np.uint8)
            bed.write(np.bitwise_or.reduce(shifted, axis=2).tobytes())
    (folder / "many.fam").write_text("".join(f"{p}\t{p}\t0\t0\t0\t-9\n" for p in names))
    (folder / "many.bim").write_text("".join(f"1\trs{j}\t0\t{j}\tA\tG\n" for j in range(d)))
    age, sex = rng.normal(50, 10, N), rng.choice(["f", "m"], N)
    y = score + 0.1 * age + (sex == "m") + 1.5 * rng.standard_normal(N)
    known = {"IID": names, "y": y, "age": age, "sex": sex, "batch": rng.choice(list("abc"), N)}
    pd.DataFrame(known).to_csv(folder / "known.csv", index=False)


def _fitted(folder, d):
    """What a process says of a fit of its own."""
    folder.mkdir()
    _write(folder, d)
    done = subprocess.run(
        [sys.executable, "-c", FIT], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_genotypes_beyond_memory_are_chosen_from_and_adjusted_for(tmp_path):
    told = _fitted(tmp_path / "many", D)
    assert told["bytes"] < 2e9  # about 1e9 where nothing has to be compiled, which takes .6e9
    assert told["passes"] <= 20
    assert set(told["found"]) == {f"rs{j}_A" for j in CAUSES}
    np.testing.assert_allclose(told["adjusted"][:2], [0.1, 1], rtol=0.2)
