"""``ksupport check`` where the data are odd."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ksupport.commands.check import _varying_columns


def write(folder, X, y=None):
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])])
    frame.assign(y=np.arange(len(X)) if y is None else y).to_csv(folder / "odd.csv", index=False)


def checked(run, folder, *options):
    done = run("check", "odd.csv", "--target", "y", *options, cwd=folder)
    assert "Traceback" not in done.stderr
    assert "Warning" not in done.stderr
    return done


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda X: X[:2], "at least 3 rows are needed; got 2"),
        (lambda X: X[:, :0], "no columns left"),
        (lambda X: 0 * X + 7, "every column of odd.csv is constant"),
        (lambda X: X * 1e200, "the largest absolute value of column g0 is 2.33e+200"),
        (lambda X: X * 1e-200, "the largest absolute value of column g0 is 2.33e-200"),
    ],
    ids=["two rows", "no columns", "constant", "huge", "tiny"],
)
def test_data_that_say_nothing_are_refused(change, says, run, small, tmp_path):
    write(tmp_path, change(small[0]))
    done = checked(run, tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


@pytest.mark.parametrize(
    ("change", "constant"),
    [
        (lambda X: X * np.where(np.arange(12) == 3, 0, 1.0) + 5, ["g3"]),
        (lambda X: X * np.logspace(-40, 40, 12), []),
        (lambda X: X + 1e15, []),
        (lambda X: np.repeat(X[:, :1], 12, axis=1), []),
        (lambda X: X[:3], []),
        (lambda X: X[:, :1], []),
    ],
    ids=["one constant", "units far apart", "far from zero", "copies", "three rows", "one column"],
)
def test_constant_is_what_does_not_vary_whatever_its_units(change, constant, run, small, tmp_path):
    write(tmp_path, change(small[0]))
    done = checked(run, tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["constant"] == constant


def test_sparse_columns_vary_as_dense_ones_do():
    X = np.array([[1.0, 0.0, 3.0, 0.0], [1.0, 0.0, 0.0, -1e-30], [1.0, 0.0, 0.0, 0.0]])
    assert _varying_columns(X).tolist() == _varying_columns(sp.csr_array(X)).tolist() == [2, 3]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--k", 13), "--k must be at most the number of features that vary, 12; got 13"),
        (("--k", "x"), "--k"),
        (("--seed", 2**32), "--seed"),
        (
            ("--max-memory", "nan"),
            "--max-memory must be a number of gigabytes above 0, such as 2; got nan",
        ),
        (("--max-memory", 0), "--max-memory must be a number of gigabytes above 0"),
        (("--separator", ",", "--decimal", ","), "--decimal and --separator must differ"),
    ],
)
def test_options_that_cannot_be_are_refused(options, says, run, small, tmp_path):
    write(tmp_path, small[0])
    done = checked(run, tmp_path, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
