"""``ksupport demo``: results on simulated data, compared with the Lasso, and two reports."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from sklearn.linear_model import LassoCV, lasso_path

from .. import datasets
from ..design import Floats
from ..estimators import IRKSN, AutoIRKSN
from ..explain.standard_methods import lasso_and_ridge
from ..explain.wording import probability_text
from ..inference.rehearsal import AS_FITTED, NOTHING, rehearse
from ..metrics import model_error, support_f1, support_precision, support_recall
from ..posterior.judgement import NoSignalWarning
from ..reading import Data
from .fitting.fitted import Fitted, fit_data
from .fitting.options import FitOptions
from .fitting.provenance import command_line, versions
from .fitting.results import report_text
from .terminal.exit import with_exit_codes
from .terminal.outputs import check_outputs, console, styled, table, write_text

SNR = 3.0
N_DRAWS = 3  # simulated data sets behind every line of the second table
N_TRAIN, N_TEST, N_FEATURES = 100, 1000, 2000
NOISE = 5  # data sets of noise
REHEARSED = 10  # responses of each scenario
N_SHOWN, MATTER, DEMO_SEED = 500, 6, 3  # of the first data: features, those that matter, seed
N_CLASSES, DECIDE, STRONG = 150, 4, 5.0  # rows of classes, features that decide, and how clearly


@with_exit_codes
def demo(
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Write the first report here, and the other beside it."),
    ] = Path("ksupport-demo.html"),
) -> None:
    """Show results on simulated data, compared with the Lasso.

    Takes about a minute, and writes two reports.
    """
    other = out.with_name(f"{out.stem}-classes{out.suffix}")
    check_outputs({}, {"--out": out, "--out (of classes)": other})
    started = time.perf_counter()
    terminal = console()
    numbers = _features(terminal, out)
    _noise(terminal)
    _rehearsal(terminal, numbers)
    classes = _classes(terminal, other)
    for number, (title, draw, remark) in enumerate(DEMO_DESIGNS, start=5):
        _design(terminal, f"{number}. {title}", draw, remark)
    terminal.print(
        "AutoIRKSN and LassoCV have their default parameters. Times are of one fit; "
        "scikit-learn does not count passes.\n"
    )
    _example1(terminal)
    styled(terminal, "[bold]8. Reports[/] on the data of 1 and 4, to open in a browser")
    _report(terminal, numbers, "y", out)
    _report(terminal, classes, "tissue", other)
    styled(
        terminal,
        "Next: [bold]ksupport fit data.csv --target y --report report.html[/] for your own data, "
        "[bold]ksupport data list[/] for real data to try, and in Python",
    )
    terminal.print(
        "    model = ksupport.AutoIRKSN().fit(X, y)\n"
        "    model.to_frame(), model.signal_, model.performance_, model.predict(X_new)"
    )
    terminal.print(f"({time.perf_counter() - started:.0f} s)", style="dim")


def _features(terminal: Console, out: Path) -> Fitted:
    """One data set: features, probabilities and substitutes; the first report is on it."""
    X, y, w_true = datasets.make_correlated_data(
        N_TRAIN, N_SHOWN, rho=0.9, density=MATTER / N_SHOWN, snr=SNR, random_state=DEMO_SEED
    )
    names = tuple(f"gene {j}" for j in range(N_SHOWN))
    fitted = fit_data(Data(out, names, X, y), FitOptions())
    lasso = LassoCV().fit(X, y)
    styled(
        terminal,
        f"[bold]1. A probability with each feature[/]: {N_TRAIN} x {N_SHOWN}, neighbours correlate "
        f"at 0.9, {MATTER} matter",
    )
    _table(terminal, fitted, w_true, "LassoCV", lasso.coef_)
    return fitted


def _table(terminal: Console, fitted: Fitted, truth: Floats, name: str, lasso: Floats) -> None:
    """The features, most certain first, with true coefficients and those of a Lasso."""
    found = fitted.findings("y").found
    names, rows = fitted.data.feature_names, []
    for each in found:
        j = each.feature
        effect = f"{fitted.effects[j]:+.2f}" if each.chosen else ""
        others = (f"{w[j]:+.2f}" if w[j] else "-" for w in (truth, lasso))
        called = "  " * bool(each.prefix) + each.prefix + names[j]
        rows.append([called, probability_text(each.probability or 0.0), effect, *others])
    table(terminal, ["feature", "probability", "effect", "truth", name], rows)
    right, many = int(((lasso != 0) & (truth != 0)).sum()), np.count_nonzero(lasso)
    if any(each.prefix for each in found):
        terminal.print("Indented: features that could replace the one above.")
    sets = fitted.chosen.judgement.sets if fitted.chosen.judgement else ()
    held = sum(bool(np.any(truth[list(each.features)])) for each in sets)
    terminal.print(
        f"{len(sets)} credible sets of features (95% each): {held} contain one that matters."
    )
    terminal.print(
        f"{name} selects {many} features, {right} of the {np.count_nonzero(truth)} that "
        "matter among "
        "them, and gives no probabilities.\n"
    )


def _noise(terminal: Console) -> None:
    """In pure noise no feature is found."""
    sizes: dict[str, list[int]] = {"AutoIRKSN": [], "LassoCV": []}
    for seed in range(NOISE):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((N_TRAIN, N_FEATURES)), rng.standard_normal(N_TRAIN)
        for model in (AutoIRKSN(), LassoCV()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NoSignalWarning)
                found = int(np.count_nonzero(model.fit(X, y).coef_))
            sizes[type(model).__name__].append(found)
    styled(terminal, f"[bold]2. Pure noise[/]: {NOISE} data sets in which no feature matters")
    rows = [[name, *map(str, found)] for name, found in sizes.items()]
    table(terminal, ["features found in", *(f"{seed + 1}." for seed in range(NOISE))], rows)
    terminal.print()


def _rehearsal(terminal: Console, fitted: Fitted) -> None:
    """The whole procedure on simulated responses to the same X."""
    count = 2 * REHEARSED
    styled(terminal, f"[bold]3. A rehearsal[/]: {count} fits to simulated responses, on the X of 1")
    rehearsal = rehearse(
        AutoIRKSN(), fitted.data.X, fitted.data.y, scenarios=(AS_FITTED, NOTHING),
        n_draws=REHEARSED,
    )  # fmt: skip
    terminal.print(f"{rehearsal}\n")


def _classes(terminal: Console, out: Path) -> Fitted:
    """Tumours and normal tissue: which genes distinguish them, compared with an l1 penalty."""
    X, eta, w_true = datasets.make_correlated_data(
        N_CLASSES, N_SHOWN, rho=0.6, density=DECIDE / N_SHOWN, snr=np.inf, random_state=DEMO_SEED
    )
    rng = np.random.default_rng(DEMO_SEED)
    y = np.where(STRONG * eta / eta.std() + rng.logistic(size=len(eta)) > 0, "tumour", "normal")
    names = tuple(f"gene {j}" for j in range(N_SHOWN))
    data = Data(out, names, X, y, kind="classes")
    fitted = fit_data(data, FitOptions())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of penalties at which it has not converged
        lasso = lasso_and_ridge(X, lambda rows: 5, "classes")["Lasso"](np.arange(len(y))).fit(X, y)
    styled(
        terminal,
        f"[bold]4. Classes[/]: {N_CLASSES} x {N_SHOWN}, tumour or normal, {DECIDE} genes decide",
    )
    effects = w_true * STRONG / eta.std()  # on the log odds, as those of the model
    _table(terminal, fitted, effects, "l1 logistic", np.ravel(lasso[-1].coef_))
    return fitted


Draw = Callable[[int], tuple[Floats, Floats, Floats]]
N_ROWS = N_TRAIN + N_TEST
DEMO_DESIGNS: tuple[tuple[str, Draw, str], ...] = (
    (
        "Correlated groups",
        lambda seed: datasets.make_block_data(N_ROWS, N_FEATURES, snr=SNR, random_state=seed),
        "blocks of 10 correlate at 0.7; three whole blocks matter",
    ),
    (
        "Scattered features",
        lambda seed: datasets.make_correlated_data(
            N_ROWS, N_FEATURES, snr=SNR, density=10 / N_FEATURES, random_state=seed
        ),
        "neighbours correlate at 0.6; any 10 matter",
    ),
)


def _design(terminal: Console, title: str, draw: Draw, remark: str) -> None:
    """AutoIRKSN and the cross-validated Lasso on fresh draws of one design."""
    ours, lasso = [], []
    for seed in range(N_DRAWS):
        X, y, w_true = draw(seed)
        model = AutoIRKSN()
        ours.append([*_score(model, X, y, w_true), model.n_passes_])
        lasso.append(_score(LassoCV(), X, y, w_true))
    styled(terminal, f"[bold]{title}[/]: {remark}")
    header = ["", "features", "precision", "recall", "F1", "error", "seconds", "passes over X"]
    *our_means, passes = np.mean(ours, axis=0)
    rows = [
        [name, f"{features:.0f}", *(f"{value:.2f}" for value in others), n_passes]
        for name, (features, *others), n_passes in (
            ("AutoIRKSN", our_means, f"{passes:.0f}"),
            ("LassoCV", np.mean(lasso, axis=0), "-"),  # scikit-learn does not count
        )
    ]
    table(terminal, header, rows)
    terminal.print(
        f"{N_TRAIN} x {N_FEATURES}, mean of {N_DRAWS} draws. Error: mean square on {N_TEST} fresh "
        f"rows over the variance of y; with the true model it is {1 / (1 + SNR**2):.2f}.\n"
    )


def _score(model: Any, X: Floats, y: Floats, w_true: Floats) -> list[float]:
    """Fit on the first rows: number of features, precision, recall, F1, error, seconds."""
    started = time.perf_counter()
    model.fit(X[:N_TRAIN], y[:N_TRAIN])
    seconds = time.perf_counter() - started
    w = model.coef_
    error = np.mean((model.predict(X[N_TRAIN:]) - y[N_TRAIN:]) ** 2) / np.var(y[N_TRAIN:])
    found = [score(w_true, w) for score in (support_precision, support_recall, support_f1)]
    return [float(v) for v in (np.count_nonzero(w), *found, error, seconds)]


def _example1(terminal: Console) -> None:
    """Without noise: what IRKSN finds and no Lasso penalty does."""
    X, y, w_true = datasets.make_example1()
    k = int(np.count_nonzero(w_true))
    irksn = IRKSN(k=k, alpha=0.05, max_iter=10_000, fit_intercept=False).fit(X, y)
    penalties = np.abs(X.T @ y).max() / len(y) * np.logspace(0, -5, 300)
    _, path, _ = lasso_path(X, y, alphas=penalties, max_iter=100_000, tol=1e-8)
    nearest = path[:, int(np.argmin(model_error(w_true, path.T)))]

    styled(terminal, "[bold]7. The paper's Example 1[/]: 4 measurements, 5 features, no noise")
    table(
        terminal,
        ["model", "w1", "w2", "w3", "w4", "w5", "distance"],
        [
            ["true", *_numbers(w_true), ""],
            ["IRKSN", *_numbers(irksn.coef_), f"{model_error(w_true, irksn.coef_):.1e}"],
            ["Lasso, nearest", *_numbers(nearest), f"{model_error(w_true, nearest):.1e}"],
        ],
    )
    right = int(np.sum(support_f1(w_true, path.T) == 1))
    terminal.print(
        f"IRKSN (k={k}, alpha=0.05) ends at ({', '.join(_numbers(irksn.coef_))}); of "
        f"{path.shape[1]} Lasso penalties, {right or 'none'} found the right features.\n"
    )


def _numbers(w: Floats) -> list[str]:
    # Adding 0 turns -0 into 0.
    return [f"{value + 0.0:.3g}" for value in np.round(w, 3)]


def _report(terminal: Console, fitted: Fitted, target: str, out: Path) -> None:
    made: dict[str, Any] = {"command": command_line(), "seed": DEMO_SEED, "versions": versions()}
    write_text(out, report_text(fitted, target, made))
    findings = fitted.findings(target)
    terminal.print(f"{findings.title}. {findings.baseline_comparison}")
    terminal.print(f"Open it in a browser: {out}\n", soft_wrap=True)
