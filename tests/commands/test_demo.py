"""``ksupport demo``: what it finds, and the report with which it ends."""

import re

import pytest


@pytest.fixture(scope="module")
def demo(run, tmp_path_factory):
    """One run of the demo, in an empty directory and with a proxy that leads nowhere."""
    nowhere = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    directory = tmp_path_factory.mktemp("demo")
    return directory, run("demo", cwd=directory, **nowhere)


def test_demo_recovers_example_1_where_no_lasso_penalty_does(demo):
    _, done = demo
    assert done.returncode == 0, done.stderr
    assert "IRKSN (k=3, alpha=0.05) ends at (1, 1, -4, 0, 0)" in done.stdout
    assert re.search(r"of 300 Lasso\s+penalties,\s+none\s+found\s+the\s+right", done.stdout)


def test_demo_gives_every_feature_a_probability_beside_what_a_lasso_says(demo):
    _, done = demo
    part = done.stdout.split("1. A probability")[1].split("2. Pure noise")[0]
    rows = re.findall(
        r"^ *(?:or )?gene \d+ +(>99%|\d+%) +([+-][\d.]+) +(\S+) +(\S+)$", part, re.MULTILINE
    )
    assert sum(truth != "-" for *_, truth, _ in rows) >= 3
    assert re.search(r"^  or gene \d+ +\d+%", part, re.MULTILINE)
    assert re.search(r"LassoCV selects \d+ features", part)


def test_demo_calls_noise_noise(demo):
    _, done = demo
    part = done.stdout.split("2. Pure noise")[1].split("3. A rehearsal")[0]
    ours, lasso = (
        [int(n) for n in re.search(rf"^{name}((?: +\d+)+)", part, re.MULTILINE)[1].split()]
        for name in ("AutoIRKSN", "LassoCV")
    )
    assert ours == [0] * 5
    assert sum(lasso) > 0


def test_demo_shows_sets_that_hold_and_rehearses(demo):
    _, done = demo
    sets, held = re.search(
        r"^(\d+) credible sets of features \(95% each\): (\d+) contain", done.stdout, re.MULTILINE
    ).groups()
    assert int(sets) == int(held) > 0
    part = " ".join(done.stdout.split("3. A rehearsal")[1].split("4. Classes")[0].split())
    held, sets = map(int, re.search(r"(\d+) of (\d+) credible sets would contain", part).groups())
    assert sets > 20
    assert held >= 0.9 * sets
    assert re.search(r"a signal would be found in [01] of 10 responses", part)


def test_demo_compares_on_correlated_designs_with_nothing_given(demo):
    _, done = demo
    line = r"^(AutoIRKSN|LassoCV) +(\d+)((?: +[01]\.\d\d){4})"
    rows = re.findall(line, done.stdout, re.MULTILINE)
    assert [name for name, *_ in rows] == ["AutoIRKSN", "LassoCV"] * 2
    for _, features, shares in rows:
        precision, recall, f1, error = map(float, shares.split())
        assert int(features) > 0
        assert min(precision, recall) <= f1 <= max(precision, recall)
        assert 0 < error < 1
    assert "default parameters" in done.stdout


def test_demo_tells_classes_apart_beside_a_lasso_of_classes(demo):
    _, done = demo
    part = done.stdout.split("4. Classes")[1].split("5. Correlated")[0]
    rows = re.findall(
        r"^ *(?:or )?gene \d+ +(>99%|\d+%) +([+-][\d.]+) +(\S+) +(\S+)$", part, re.MULTILINE
    )
    assert sum(truth != "-" for *_, truth, _ in rows) >= 3
    ours, lasso = len(rows), int(re.search(r"l1 logistic selects (\d+) features", part)[1])
    assert ours < lasso


def test_demo_ends_with_reports_and_writes_nothing_else_and_no_warning(demo):
    directory, done = demo
    names = sorted(file.name for file in directory.iterdir())
    assert names == ["ksupport-demo-classes.html", "ksupport-demo.html"]
    for name in names:
        assert f"Open it in a browser: {name}" in done.stdout
    page = (directory / names[0]).read_text(encoding="utf-8")
    assert 'id="roc"' in page
    # Slow machines see progress.
    told = ("AutoIRKSN", "held-out rows", "rehearsing")
    assert all(line.startswith(told) for line in done.stderr.splitlines()), done.stderr
