"""The command line: ``demo``, ``reproduce`` and ``data``; the others are in `ksupport.commands`.

One function per command, one line each in `_commands`.  A command prints its result on standard
output and what went wrong on standard error, and ends with one of the codes below.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import numpy as np
from sklearn.linear_model import LassoCV, lasso_path

from . import IRKSN, AutoIRKSN, __version__, datasets
from .commands.completion import among
from .design import Floats
from .metrics import model_error, support_f1, support_precision, support_recall
from .walking import whole_walks_only

if TYPE_CHECKING:
    from .experiments import Experiment, Row
    from .experiments.compare import Difference

with suppress(ImportError):  # without the extra `cli`, app() says what to install
    import typer
    from rich.console import Console
    from rich.table import Table

EXIT_CODES = (
    "Exit codes: 0 done, 1 could not be done (the message says why), 2 wrong usage or input, "
    "130 interrupted."
)
FAILED, WRONG_USAGE = 1, 2

DRAWS = 3  # simulated data sets behind every line of the demo's second table
N_TRAIN, N_TEST, N_FEATURES = 100, 1000, 2000
SNR = 3.0


def app() -> None:
    """Run the command line."""
    if find_spec("typer") is None or find_spec("rich") is None:
        print(
            "the command line needs two more packages: pip install 'ksupport[cli]'", file=sys.stderr
        )
        raise SystemExit(WRONG_USAGE)
    from .commands.streams import lasting_streams

    with lasting_streams(), whole_walks_only():
        _commands()()


def _commands() -> Any:
    from .commands import file_commands  # needs typer, of which app() has made sure
    from .commands.bench import bench
    from .commands.options import ends_in_words

    settings: dict[str, Any] = {
        "no_args_is_help": True,
        "rich_markup_mode": None,
        "epilog": EXIT_CODES,
    }
    main = typer.Typer(**settings, pretty_exceptions_enable=False)
    main.callback()(_root)
    for command in file_commands():
        main.command(epilog=EXIT_CODES)(command)
    main.command(epilog=EXIT_CODES)(ends_in_words(demo))
    main.command(epilog=EXIT_CODES)(reproduce)
    main.command(epilog=EXIT_CODES)(bench)
    data = typer.Typer(**settings, help="List, fetch and find the real datasets.")
    data.command("list", epilog=EXIT_CODES)(data_list)
    data.command("fetch", epilog=EXIT_CODES)(data_fetch)
    data.command("path", epilog=EXIT_CODES)(data_path)
    main.add_typer(data, name="data")
    return main


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ksupport {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Sparse linear models from few, correlated measurements."""


# -- demo ----------------------------------------------------------------------------------


def demo(
    out: Annotated[Path, typer.Option(help="Write the report here, one HTML file.")] = Path(
        "ksupport-demo.html"
    ),
) -> None:
    """Recover sparse models from simulated data, next to the Lasso, and write a report."""
    from .commands.demo import write_demo_report
    from .commands.outputs import check_outputs

    check_outputs({}, {"--out": out})
    started = time.perf_counter()
    console = _console()
    _demo_example1(console)
    for number, (title, draw, remark) in enumerate(_DESIGNS, start=2):
        _demo_design(console, f"{number}. {title}", draw, remark)
    console.print(
        "Nothing was given to AutoIRKSN or LassoCV but the data. Times are of one fit, after "
        "compiling; scikit-learn does not count passes.\n"
    )
    console.print("[bold]4. A report[/] on one more design of correlated groups")
    console.print(write_demo_report(out))
    console.print(f"Open it in a browser: {out}\n", markup=False, soft_wrap=True)
    console.print(
        "Next: [bold]ksupport fit data.csv --target y --report report.html[/] for data of yours, "
        "[bold]ksupport data list[/] for real data to try, and in Python"
    )
    console.print(
        "    model = ksupport.AutoIRKSN().fit(X, y)\n"
        "    model.decision_, model.support_, model.coef_, model.predict(X_new)",
        highlight=False,
    )
    console.print(f"({time.perf_counter() - started:.0f} s)", style="dim")


def _demo_example1(console: Console) -> None:
    """The paper's Example 1, without noise: what IRKSN finds and no Lasso penalty does."""
    X, y, w_true = datasets.make_example1()
    k = int(np.count_nonzero(w_true))
    irksn = IRKSN(k=k, alpha=0.05, max_iter=10_000, fit_intercept=False).fit(X, y)
    penalties = np.abs(X.T @ y).max() / len(y) * np.logspace(0, -5, 300)
    _, path, _ = lasso_path(X, y, alphas=penalties, max_iter=100_000, tol=1e-8)
    nearest = path[:, int(np.argmin(model_error(w_true, path.T)))]

    console.print("[bold]1. The paper's Example 1[/]: 4 measurements, 5 features, no noise")
    _print_table(
        console,
        ["model", "w1", "w2", "w3", "w4", "w5", "distance"],
        [
            ["true", *_numbers(w_true), ""],
            ["IRKSN", *_numbers(irksn.coef_), f"{model_error(w_true, irksn.coef_):.1e}"],
            ["Lasso, nearest", *_numbers(nearest), f"{model_error(w_true, nearest):.1e}"],
        ],
    )
    right = int(np.sum(support_f1(w_true, path.T) == 1))
    console.print(
        f"IRKSN (k={k}, alpha=0.05) ends at ({', '.join(_numbers(irksn.coef_))}); of "
        f"{path.shape[1]} Lasso penalties, {right or 'none'} found the right features.\n"
    )


Draw = Callable[[int], tuple[Floats, Floats, Floats]]


def _grouped(seed: int) -> tuple[Floats, Floats, Floats]:
    return datasets.make_block_data(N_TRAIN + N_TEST, N_FEATURES, snr=SNR, random_state=seed)


def _scattered(seed: int) -> tuple[Floats, Floats, Floats]:
    return datasets.make_correlated_data(
        N_TRAIN + N_TEST, N_FEATURES, snr=SNR, density=10 / N_FEATURES, random_state=seed
    )


_DESIGNS: tuple[tuple[str, Draw, str], ...] = (
    (
        "Correlated groups",
        _grouped,
        "blocks of 10 correlate at 0.7; three whole blocks matter",
    ),
    (
        "Scattered features",
        _scattered,
        "neighbours correlate at 0.6; any 10 matter",
    ),
)


def _demo_design(console: Console, title: str, draw: Draw, remark: str) -> None:
    """AutoIRKSN and the cross-validated Lasso on fresh draws of one design."""
    scores: dict[str, list[list[float]]] = {"AutoIRKSN": [], "LassoCV": []}
    for seed in range(DRAWS):
        X, y, w_true = draw(seed)
        for name, model in (("AutoIRKSN", AutoIRKSN()), ("LassoCV", LassoCV())):
            scores[name].append(_score(model, X, y, w_true))
    console.print(f"[bold]{title}[/]: {remark}")
    header = ["", "features", "precision", "recall", "F1", "error", "seconds", "passes over X"]
    _print_table(console, header, [[name, *_means(rows)] for name, rows in scores.items()])
    console.print(
        f"{N_TRAIN} x {N_FEATURES}, mean of {DRAWS} draws. Error: mean square on {N_TEST} fresh "
        f"rows over the variance of y; the noise alone makes {1 / (1 + SNR**2):.2f}.\n"
    )


def _score(model: Any, X: Floats, y: Floats, w_true: Floats) -> list[float]:
    """Fit on the first rows: number of features, precision, recall, F1, error, seconds, passes."""
    started = time.perf_counter()
    model.fit(X[:N_TRAIN], y[:N_TRAIN])
    seconds = time.perf_counter() - started
    w = model.coef_
    error = np.mean((model.predict(X[N_TRAIN:]) - y[N_TRAIN:]) ** 2) / np.var(y[N_TRAIN:])
    found = [score(w_true, w) for score in (support_precision, support_recall, support_f1)]
    passes = getattr(model, "n_passes_", np.nan)  # scikit-learn does not count
    return [float(v) for v in (np.count_nonzero(w), *found, error, seconds, passes)]


def _means(rows: list[list[float]]) -> list[str]:
    features, *shares, seconds, passes = np.mean(rows, axis=0)
    last = "-" if np.isnan(passes) else f"{passes:.0f}"
    return [f"{features:.0f}", *(f"{share:.2f}" for share in shares), f"{seconds:.2f}", last]


# -- reproduce -----------------------------------------------------------------------------

PROTOCOLS = ("paper", "fair")


def _experiment_names() -> list[str]:
    from .experiments import EXPERIMENTS

    return ["all", *EXPERIMENTS]


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Experiments, or all; without any, list them.",
            autocompletion=among(_experiment_names),
        ),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            help="paper: as published; fair: as we believe is right.",
            autocompletion=among(lambda: PROTOCOLS),
        ),
    ] = "paper",
    quick: Annotated[bool, typer.Option("--quick", help="A version that takes seconds.")] = False,
    out: Annotated[Path, typer.Option(help="Where results, tables and figures go.")] = Path(
        "reproduction"
    ),
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = os.cpu_count() or 1,
    compare: Annotated[
        bool, typer.Option("--compare", help="Set ours against the published values.")
    ] = False,
) -> None:
    """Run the paper's experiments; a run that was stopped goes on where it was."""
    from .experiments import EXPERIMENTS
    from .experiments.runner import reproduce as run_experiment

    if not names:
        known = [[e.name, e.title, ", ".join(e.protocols)] for e in EXPERIMENTS.values()]
        _print_table(_console(), ["name", "description", "protocols"], known)
        return
    wanted = list(EXPERIMENTS) if "all" in names else names
    if unknown := [name for name in wanted if name not in EXPERIMENTS]:
        raise typer.BadParameter(
            f"{unknown[0]!r} is not an experiment; there are all, {', '.join(EXPERIMENTS)}"
        )
    if protocol not in PROTOCOLS:
        raise typer.BadParameter(f"--protocol must be paper or fair, got {protocol!r}")
    failures = []
    for experiment in (EXPERIMENTS[name] for name in wanted):
        if protocol not in experiment.protocols:
            failures.append(f"{experiment.name}: there is no protocol {protocol!r} of it")
            continue
        started = time.perf_counter()
        try:
            rows = run_experiment(experiment, protocol, quick=quick, out=out, n_jobs=jobs)
        except (OSError, ImportError) as error:  # a dataset or a package that is not there
            failures.append(f"{experiment.name}: {error}")
            continue
        seconds = time.perf_counter() - started
        typer.echo(f"{experiment.name}: {out / protocol / experiment.name}.csv ({seconds:.0f} s)")
        if compare:
            _print_comparison(experiment, rows, out / protocol)
    if failures:
        _fail("\n".join(failures))


def _print_comparison(experiment: Experiment, rows: list[Row], folder: Path) -> None:
    """Ours against published, cell by cell; then the cells that disagree, by name."""
    from .experiments.compare import by_method, compare, nothing_to_compare, plot_comparison

    differences = compare(experiment, rows)
    if not differences:
        typer.echo(f"  {nothing_to_compare(experiment)}")
        return
    keys = list(differences[0].cell)
    console = _console()
    header = [*keys, "ours", "published", "difference", "standard errors", ""]
    _print_table(console, header, [_comparison_line(each, keys) for each in differences])
    header = ["method", "cells", "mean difference", "largest", "disagree"]
    summary = [
        [m["method"], str(m["cells"]), f"{m['mean']:+.4f}", f"{m['largest']:+.4f}",
         str(m["disagree"])]
        for m in by_method(differences)
    ]  # fmt: skip
    _print_table(console, header, summary)
    apart = [str(each) for each in differences if not each.agrees]
    for name in apart:
        typer.echo(f"  disagrees: {name}")
    if not apart:
        typer.echo(f"  all {len(differences)} cells agree")
    plot_comparison(experiment, differences, folder)


def _comparison_line(each: Difference, keys: list[str]) -> list[str]:
    errors = "-" if each.in_errors is None else f"{each.in_errors:+.2f}"
    numbers = [f"{each.ours:.4f}", f"{each.published:.4f}", f"{each.difference:+.4f}", errors]
    return [*(str(each.cell[key]) for key in keys), *numbers, "" if each.agrees else "disagrees"]


# -- data ----------------------------------------------------------------------------------


def _dataset_names() -> list[str]:
    return [info.name for info in datasets.list_datasets()]


def data_list() -> None:
    """Show the real datasets, and which of them are on this machine."""
    rows = [
        [
            info.name,
            *map(str, info.shape),
            "yes" if datasets.dataset_path(info.name).exists() else "no",
            info.description,
        ]
        for info in datasets.list_datasets()
    ]
    _print_table(_console(), ["name", "rows", "features", "here", "description"], rows)


def data_fetch(
    name: Annotated[
        str,
        typer.Argument(
            help="A name of `ksupport data list`.", autocompletion=among(_dataset_names)
        ),
    ],
    download: Annotated[
        bool, typer.Option(help="Whether to download what is not on this machine.")
    ] = True,
) -> None:
    """Put a dataset into the data directory, and check it."""
    _check_name(name)
    try:
        bunch = datasets.fetch_dataset(name, download_if_missing=download)
    except (OSError, ImportError, ValueError) as error:  # network, disk, extra, bad contents
        _fail(str(error))
    n, d = bunch.data.shape
    typer.echo(f"{name}: {n} x {d}, in {datasets.dataset_path(name)}")


def data_path(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A name of `ksupport data list`.", autocompletion=among(_dataset_names)
        ),
    ] = None,
) -> None:
    """Print the data directory, or the file of one dataset."""
    if name is None:
        typer.echo(datasets.data_home())
    else:
        _check_name(name)
        typer.echo(datasets.dataset_path(name))


def _check_name(name: str) -> None:
    known = _dataset_names()
    if name not in known:
        raise typer.BadParameter(f"{name!r} is not a dataset; there are {', '.join(known)}")


# -- printing ------------------------------------------------------------------------------


def _console() -> Console:
    # rich takes NO_COLOR to leave bold and dim; whoever sets it wants plain text.
    return Console(color_system=None if os.environ.get("NO_COLOR") else "auto", highlight=False)


def _print_table(console: Console, header: list[str], rows: Iterable[list[str]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in header:
        left = name in ("", "model", "name", "description")
        table.add_column(name, justify="left" if left else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _numbers(w: Floats) -> list[str]:
    # Adding 0 turns -0 into 0.
    return [f"{value + 0.0:.3g}" for value in np.round(w, 3)]


def _fail(message: str) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(FAILED)


if __name__ == "__main__":
    app()
