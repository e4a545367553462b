"""2000 x 200,000 genotypes on disk are chosen from within a gigabyte, in few passes."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("bed_reader")
if not sys.platform.startswith("linux"):
    pytest.skip("memory is read from /proc, which only Linux has", allow_module_level=True)

N, D, WIDTH = 2000, 200_000, 20_000
CAUSES, EFFECTS = np.arange(10) * 19_000 + 137, np.array([1, -1] * 5)
# The command as a process of its own has it, and the most memory that it ever had, the
# interpreter and all that it imports included; what the system calls the most of a process
# includes what its parent had when it began.
FIT = """
import sys
from ksupport import limits
from ksupport.cli import app

limits.RECALLED_DOUBLE = min({double}, limits.RECALLED_DOUBLE)
try:
    app()
finally:
    told = dict(line.split(":") for line in open("/proc/self/status"))
    print(1024 * int(told["VmHWM"].split()[0]), file=sys.stderr)
"""
ASKED = ["fit", "many.bed", "--target", "y", "--phenotypes", "known.csv", "--json"]
ASKED += [part for name in ("age", "sex", "batch") for part in ("--adjust-for", name)]


def _spread():
    """Of each byte, its eight bits as the even ones of sixteen."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    return bits.astype(np.uint16) @ (1 << np.arange(0, 16, 2, dtype=np.uint16))


def _haplotypes(rng):
    """A bit for each chromosome of each sample, three of eight set; neighbours are alike."""
    first, second, third, alike, same = rng.integers(0, 256, (5, 2, WIDTH, N // 8), np.uint8)
    drawn, alike = first & (second | third), alike | same
    drawn[:, 1::2] ^= alike[:, 1::2] & (drawn[:, 1::2] ^ drawn[:, ::2])
    return drawn


def _missing(rng):
    """One bit in 64."""
    drawn = rng.integers(0, 256, (WIDTH, N // 8), np.uint8)
    return np.bitwise_and.reduce([np.roll(drawn, (7 * at, at), (0, 1)) for at in range(6)])


def _write(folder, d):
    """Genotypes of which neighbours are alike, some of them missing, four in a byte."""
    rng, spread = np.random.default_rng(0), _spread()
    score, names = np.zeros(N), [f"P{i}" for i in range(N)]
    with open(folder / "many.bed", "wb") as bed:
        bed.write(b"\x6c\x1b\x01")
        for start in range(0, d, WIDTH):
            (one, other), missing = _haplotypes(rng), _missing(rng)
            here = (start <= CAUSES) & (start + WIDTH > CAUSES)
            both = [np.unpackbits(each[CAUSES[here] - start], axis=1, bitorder="little")
                    for each in (one, other)]  # fmt: skip
            score += EFFECTS[here] @ (both[0].astype(np.int8) + both[1])
            # 0: two of the first allele, 1: missing, 2: one, 3: none.
            low, high = ~(one | other) | missing, ~(one & other) & ~missing
            bed.write((spread[low] | spread[high] << 1).astype("<u2").tobytes())
    (folder / "many.fam").write_text("".join(f"{p}\t{p}\t0\t0\t0\t-9\n" for p in names))
    (folder / "many.bim").write_text("".join(f"1\trs{j}\t0\t{j}\tA\tG\n" for j in range(d)))
    age, sex = rng.normal(50, 10, N), rng.choice(["f", "m"], N)
    y = score + 0.1 * age + (sex == "m") + 1.5 * rng.standard_normal(N)
    known = {"IID": names, "y": y, "age": age, "sex": sex, "batch": rng.choice(list("abc"), N)}
    pd.DataFrame(known).to_csv(folder / "known.csv", index=False)


def _fit(folder, d, *options, double=1 << 30):
    """What the command tells of so many genotypes, and how much memory it took."""
    _write(folder, d)
    done = subprocess.run(
        [sys.executable, "-c", FIT.format(double=double), *ASKED, *options],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), int(done.stderr.split()[-1])


def test_genotypes_beyond_memory_are_chosen_from_and_adjusted_for(tmp_path):
    # To import what is needed, which takes memory once.
    _fit(tmp_path, WIDTH, "--no-compare", double=0)
    told, most = _fit(tmp_path, D)
    assert {each["name"] for each in told["features"]} == {f"rs{j}_A" for j in CAUSES}
    assert told["passes"] <= 20
    assert most < 1e9
    np.testing.assert_allclose(told["adjusted_for"]["age"], 0.1, rtol=0.1)
