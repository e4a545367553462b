"""What an installed ksupport must do, with no extra or with one of them.

``python -P tools/smoke.py EXTRA`` runs one of the functions below, "nothing" without extras.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

COMMAND = str(Path(sys.executable).with_name("ksupport"))  # of the environment that is tried
NAMES = [f"g{j}" for j in range(8)]


def problem() -> tuple[Any, Any]:
    """40 rows of 8 features, of which the first two matter."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 8))
    return X, 2 * X[:, 0] - X[:, 1] + 0.2 * rng.standard_normal(40)


def fitted() -> Any:
    """The automatic choice, which finds the two."""
    from ksupport import AutoIRKSN

    X, y = problem()
    model = AutoIRKSN().fit(X, y)
    assert model.support_[:2].all(), model.support_
    assert model.predict(X[:1]).shape == (1,)
    return model


def finds(X: Any, y: Any) -> None:
    """One path finds the two, whatever kind of array X is."""
    from ksupport import IRKSN

    model = IRKSN(k=2, stopping="held_out", random_state=0).fit(X, y)
    assert np.abs(model.coef_).argsort()[-2:].tolist() == [1, 0]


def nothing() -> None:
    """Without extras the package works, and the command says what it needs."""
    assert not any(map(find_spec, ("pandas", "typer", "matplotlib", "dask")))
    fitted()
    done = subprocess.run([COMMAND, "--version"], capture_output=True, text=True)
    assert (done.returncode, "ksupport[cli]" in done.stderr) == (2, True), done


def cli() -> None:
    """A fit from a file to a model, and back to predictions."""
    X, y = problem()
    table = ",".join([*NAMES, "y"])
    np.savetxt("data.csv", np.column_stack([X, y]), delimiter=",", header=table, comments="")
    for arguments in (
        ["--version"],
        ["fit", "data.csv", "--target", "y", "--output", "model.json", "--report", "report.html"],
        ["predict", "model.json", "data.csv", "--output", "predicted.csv"],
    ):
        done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done
        print(done.stdout.partition("\n")[0])
    assert Path("report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def excel() -> None:
    """A sheet as small as sheets can be."""
    import ksupport

    X, y = problem()
    head = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in [*NAMES, "y"])
    rows = ["".join(f"<c><v>{value}</v></c>" for value in row) for row in np.column_stack([X, y])]
    sheet = "".join(f"<row>{row}</row>" for row in [head, *rows])
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData>'
        "</worksheet>",
    }
    with zipfile.ZipFile("data.xlsx", "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    data = ksupport.read("data.xlsx", target="y")
    finds(data.X, data.y)


def plink() -> None:
    """Genotypes, read by blocks."""
    import bed_reader

    import ksupport

    genotypes = np.random.default_rng(0).integers(0, 3, (30, 5))
    bed_reader.to_bed("data.bed", genotypes.astype(np.float32))
    assert ksupport.read("data.bed").X.shape == (30, 5)


def h5ad() -> None:
    """Cells and genes, with a response among what is told of the cells."""
    import anndata
    import pandas as pd

    import ksupport

    X, y = problem()
    obs = pd.DataFrame({"y": y}, index=[f"c{i}" for i in range(40)])
    anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=NAMES)).write_h5ad("data.h5ad")
    data = ksupport.read("data.h5ad", target="y")
    assert data.feature_names == tuple(NAMES)


def files() -> None:
    """Parquet, beside the two above."""
    import pandas as pd

    import ksupport

    X, y = problem()
    pd.DataFrame(X, columns=NAMES).assign(y=y).to_parquet("data.parquet")
    data = ksupport.read("data.parquet", target="y")
    finds(data.X, data.y)
    excel()
    plink()


def plot() -> None:
    """A picture of what was found."""
    import matplotlib

    matplotlib.use("agg")
    from ksupport.plotting import ProbabilityDisplay

    X, y = problem()
    ProbabilityDisplay.from_estimator(fitted(), X, y).figure_.savefig("found.png")
    assert Path("found.png").stat().st_size > 1000


def survival() -> None:
    """A Lasso and a ridge of survival times, beside which `ksupport fit` sets its own."""
    from ksupport.explain.standard_methods import lasso_and_ridge

    X, y = problem()
    times = np.column_stack([np.exp(-y / np.std(y)), np.ones(len(y))])
    for make in lasso_and_ridge(X, lambda rows: 3, "survival").values():
        assert make(np.arange(len(y))).fit(X, times).predict(X).shape == y.shape


def dask() -> None:
    """The same model from chunks."""
    import dask.array as da

    X, y = problem()
    finds(da.from_array(X, chunks=(20, 8)), y)


def fmri() -> None:
    """A decoder on a made-up brain of a few voxels."""
    import nibabel

    from ksupport.fmri import KSupportDecoder

    X, y = problem()
    bold = nibabel.Nifti1Image(X.T.reshape(2, 2, 2, 40), np.eye(4))
    mask = nibabel.Nifti1Image(np.ones((2, 2, 2), np.int8), np.eye(4))
    labels = np.where(y > 0, "face", "house")
    decoder = KSupportDecoder(mask=mask, k=2, cv=2).fit(bold, labels, groups=np.arange(40) % 4)
    assert np.count_nonzero(decoder.coef_[0]) > 0


def neighbours() -> None:
    """The norm as other packages take it."""
    from ksupport import prox_ksupport
    from ksupport.neighbours import benchopt, modopt, pyproximal, skglm

    q = np.arange(1.0, 6.0)
    wanted = prox_ksupport(q, k=2, lam=0.5)
    np.testing.assert_allclose(pyproximal.KSupport(k=2, sigma=0.5).prox(q, 1.0), wanted)
    np.testing.assert_allclose(modopt.KSupportNorm(beta=0.5, k_value=2).op(q), wanted)
    assert skglm.KSupport(alpha=0.5, k=2).value(q) > 0
    assert issubclass(benchopt.PathSolver, object)


def arviz() -> None:
    """Draws of coefficients."""
    from ksupport import Posterior

    found = Posterior.nothing(3).to_arviz(20)
    assert found["posterior"]["coef"].shape == (1, 20, 3)


def knockoffs() -> None:
    """Features at a false discovery rate."""
    from ksupport import IRKSN
    from ksupport.neighbours.hidimstat import knockoffs as named

    X, y = problem()
    assert named(IRKSN(k=2, max_iter=50), X, y, fdr=0.9).shape == (X.shape[1],)


def data() -> None:
    """A file of R."""
    import rdata

    from ksupport.datasets._convert import read_r

    path = Path("data.rds")
    rdata.write_rds(path, {"y": np.arange(3.0)})
    np.testing.assert_array_equal(read_r(path)["y"], [0, 1, 2])


def app() -> None:
    """The page answers whoever has its token, and nobody else."""
    import http.client
    import subprocess

    command = [sys.executable, "-m", "ksupport_command", "app", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port, path = (
            server.stdout.readline().strip().removeprefix("http://127.0.0.1:").split("/", 1)
        )
        for asked, status in ((f"/{path}", 200), ("/", 403)):
            connection = http.client.HTTPConnection("127.0.0.1", int(port))
            connection.request("GET", asked)
            assert connection.getresponse().status == status
        server.terminate()


EXTRAS = {
    each.__name__: each
    for each in (
        nothing, cli, excel, plink, h5ad, files, plot, survival, dask, fmri, neighbours, arviz,
        knockoffs, data, app,
    )
}  # fmt: skip

if __name__ == "__main__":
    import os

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        os.chdir(scratch)
        EXTRAS[sys.argv[1]]()
        os.chdir("/")
