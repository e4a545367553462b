"""``ksupport rehearse``: fits to simulated responses, on the features of a data file."""

from __future__ import annotations

from typing import Annotated

from .._common.errors import InputError
from .._common.names import title
from .._common.render import plain
from ..inference.rehearsal import AS_FITTED, NOTHING, SCENARIOS, Rehearsal
from ..inference.rehearsal import rehearse as rehearsed
from ..reading import Data, read_data
from .fitting.options import FitOptions, estimator_for
from .terminal import options as shared
from .terminal.exit import CommandError, with_exit_codes
from .terminal.outputs import console, heading, paragraph, print_json, say, table


@with_exit_codes
@shared.reads_a_file
def rehearse(
    data: shared.DataFile,
    *,
    columns: shared.CheckedColumns,
    draws: Annotated[
        int, shared.method_option(metavar="NUMBER", help="Simulated responses per scenario.", min=1)
    ] = 10,
    standardize: shared.Standardize = True,
    positive: Annotated[
        bool,
        shared.method_option("--positive", help="Only allow positive effects, as in ksupport fit."),
    ] = False,
    reading: shared.CheckedReading,
    seed: shared.Seed = 0,
    in_json: shared.Json = False,
) -> None:
    """Test a fit on simulated responses with known true features.

    Responses are simulated from the features of a data file, with effects drawn from the posterior
    of a fit to its target. The features found in each response are compared with the true ones.
    """
    how, parts = reading(), columns()
    say(f"reading {title(data)}")
    read = read_data(data, parts, how)
    model = estimator_for(FitOptions(standardize=standardize, seed=seed, positive=positive), read)
    if len(read.classes) > 2:
        raise InputError(
            "ksupport rehearse takes numbers, two classes or survival times, and the target has "
            f"{len(read.classes)} classes; name another --target, or merge classes"
        )
    say(f"fitting {type(model).__name__} {1 + draws * len(SCENARIOS)} times")
    try:
        found = rehearsed(
            model, read.X, read.y, n_draws=draws, groups=read.groups, random_state=seed
        )
    except ValueError as error:
        raise CommandError(f"the rehearsal could not be done: {error}") from error
    if in_json:
        rows = [Rehearsal.row(each) for each in found.outcomes]
        print_json([plain(row) for row in rows])
    else:
        _tell(read, found)


def _tell(data: Data, found: Rehearsal) -> None:
    out = console()
    n, d = data.shape[0], data.n_features
    heading(out, f"{n} rows, {d} features: fits to simulated responses")
    header = ["scenario", "signal", "sets right", "false", "found"]
    rows = []
    for each in found.outcomes:
        real = each.scenario != NOTHING and each.true > 0
        rows.append(
            [
                each.scenario, f"{each.signals} of {each.draws}",
                f"{each.sets_that_hold} of {each.sets}", f"{each.false} of {each.selected}",
                f"{each.found} of {each.true}" if real else "-",
            ]
        )  # fmt: skip
    table(out, header, rows)
    out.print()
    told = found.outcomes
    if not next(each for each in told if each.scenario == AS_FITTED).true:
        told = tuple(each for each in told if each.scenario in (AS_FITTED, NOTHING))
    for each in told:
        paragraph(out, each.words)
    paragraph(
        out,
        "Signal: responses in which a signal was found. Sets right: credible sets that contain a "
        "feature that matters. False: selected features that do not matter. Found: features that "
        "matter and were selected. All of this assumes that the fitted model is right, because "
        "features, effects and noise are drawn from it.",
    )
