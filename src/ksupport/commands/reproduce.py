"""``ksupport reproduce``: run the paper's experiments, and compare with published values."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from .terminal.exit import CommandError, fail
from .terminal.options import among
from .terminal.outputs import console, table

if TYPE_CHECKING:  # importing the experiments takes a while: only once they are wanted
    from ..experiments import Experiment, Protocol, Row
    from ..experiments.compare import Difference

PROTOCOLS = ("paper", "fair")


def _known_experiments() -> dict[str, Experiment]:
    from ..experiments import EXPERIMENTS

    return EXPERIMENTS


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names of experiments, or all; without names, list them.",
            autocompletion=among(lambda: ["all", *_known_experiments()]),
        ),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="paper: as published; fair: with the changes that we consider fair.",
            autocompletion=among(lambda: PROTOCOLS),
        ),
    ] = "paper",
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A small version that takes seconds; its figures are marked."),
    ] = False,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for results, tables and figures.")
    ] = Path("reproduction"),
    jobs: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="Number of processes.")
    ] = os.cpu_count() or 1,
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare with the published values.")
    ] = False,
) -> None:
    """Run the paper's experiments again.

    An interrupted run resumes where it stopped. `all` runs everything that can run here and lists
    what was left out; `--compare` exits with 1 if a value disagrees.
    """
    if not names:
        known = [
            [each.name, each.title, ", ".join(each.protocols)]
            for each in _known_experiments().values()
        ]
        table(console(), ["name", "description", "protocols"], known)
        return
    if protocol not in PROTOCOLS:
        raise typer.BadParameter(f"--protocol must be paper or fair, got {protocol!r}")
    if quick and compare:
        raise typer.BadParameter(
            "--compare cannot be combined with --quick: a quick run has fewer draws, steps and "
            "columns than what was published"
        )
    which = cast("Protocol", protocol)
    failures: list[str] = []
    left_out: list[str] = []
    compared: dict[str, list[Difference]] = {}
    for experiment in _select_experiments(names):
        try:
            rows = _run(experiment, which, quick, out, jobs, "all" in names)
        except CommandError as problem:  # the others can still be run
            failures.append(str(problem))
            continue
        differences = _print_comparison(experiment, rows, out / protocol) if compare else []
        compared[experiment.name] = differences
        left_out += _left_out(experiment, which, quick, compare, len(differences))
    disagreements = _print_summary(compared, out / protocol)
    for line in left_out:
        typer.echo(line)
    if disagreements and protocol == "paper":  # the fair protocol is meant to differ
        failures.append(f"{disagreements} cells disagree with the published values")
    if failures:
        fail("\n".join(failures))


def _select_experiments(names: list[str]) -> list[Experiment]:
    known = _known_experiments()
    if "all" in names:
        return list(known.values())
    if unknown := [name for name in names if name not in known]:
        raise typer.BadParameter(
            f"{unknown[0]!r} is not an experiment; choose all, {', '.join(known)}"
        )
    return [known[name] for name in names]


def _run(
    experiment: Experiment, protocol: Protocol, quick: bool, out: Path, jobs: int, partly: bool
) -> list[Row]:
    """Run one experiment and print where its table is; no rows if `partly` and nothing can run."""
    from ..experiments.runner import NothingToRunError, folder_of
    from ..experiments.runner import reproduce as run_experiment

    if protocol not in experiment.protocols:
        raise CommandError(f"{experiment.name} has no protocol {protocol!r}")
    started = time.perf_counter()
    try:
        rows = run_experiment(experiment, protocol, quick=quick, out=out, n_jobs=jobs)
    except (OSError, ImportError) as error:  # the disk, a dataset, a package
        if partly and isinstance(error, NothingToRunError):
            return []
        raise CommandError(f"{experiment.name}: {error}") from error
    seconds = time.perf_counter() - started
    table_of = folder_of(out, protocol, quick) / experiment.name
    typer.echo(f"{experiment.name}: {table_of}.csv ({seconds:.0f} s)")
    return rows


def _left_out(
    experiment: Experiment, protocol: Protocol, quick: bool, compare: bool, n_compared: int
) -> list[str]:
    """One line on what could not be run or compared, and how to get what is missing."""
    from ..experiments.compare import n_published

    reasons = [f"{part}: {why}" for part, why in experiment.left_out(protocol, quick).items()]
    not_compared = n_published(experiment) - n_compared if compare else 0
    if not_compared:
        what = f"not compared: {not_compared} published values of {experiment.name}"
    else:
        what = f"not run: parts of {experiment.name}"
    return [f"{what} ({'; '.join(reasons)})"] if reasons else [what] if not_compared else []


def _print_comparison(experiment: Experiment, rows: list[Row], folder: Path) -> list[Difference]:
    """Ours against published, cell by cell; then the cells that disagree, by name."""
    from ..experiments.compare import compare, plot_comparison

    if experiment.reference is None:
        typer.echo("  no published values to compare with")
    differences = compare(experiment, rows)
    if not differences:
        return []
    _print_tables(differences)
    apart = [str(each) for each in differences if not each.agrees]
    for name in apart:
        typer.echo(f"  disagrees: {name}")
    if not apart:
        typer.echo(f"  all {len(differences)} cells agree")
    plot_comparison(experiment, differences, folder)
    return differences


def _print_summary(compared: dict[str, list[Difference]], folder: Path) -> int:
    """Print and save largest and mean differences by method; return how many cells disagree."""
    from ..experiments.compare import summary
    from ..experiments.files import write_csv

    compared = {name: differences for name, differences in compared.items() if differences}
    if not compared:
        return 0
    lines, target = summary(compared), folder / "compare.csv"
    write_csv(target, lines)
    typer.echo(f"ours - published, largest and mean: {target}")
    table(console(), list(lines[0]), [list(line.values()) for line in lines])
    cells = [each for differences in compared.values() for each in differences]
    apart = sum(not each.agrees for each in cells)
    typer.echo(f"{len(cells) - apart} of {len(cells)} cells agree with the published values")
    return apart


def _print_tables(differences: list[Difference]) -> None:
    from ..experiments.compare import by_method

    out, keys = console(), list(differences[0].cell)
    header = [*keys, "ours", "published", "difference", "standard errors", ""]
    rows = []
    for each in differences:
        errors = "-" if each.in_errors is None else f"{each.in_errors:+.2f}"
        numbers = [f"{each.ours:.4f}", f"{each.published:.4f}", f"{each.difference:+.4f}", errors]
        cell = [str(each.cell[key]) for key in keys]
        rows.append([*cell, *numbers, "" if each.agrees else "disagrees"])
    table(out, header, rows)
    header = ["method", "cells", "mean difference", "largest", "disagree"]
    summary = [
        [m["method"], str(m["cells"]), f"{m['mean']:+.4f}", f"{m['largest']:+.4f}",
         str(m["disagree"])]
        for m in by_method(differences)
    ]  # fmt: skip
    table(out, header, summary)
