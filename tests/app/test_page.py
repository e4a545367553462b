"""The page in a real browser, used as a person would: files, clicks, a report, downloads."""

import json
from pathlib import Path

import numpy as np
import pytest

from ..reading import eight_files

pytest.importorskip("shiny")
pytest.importorskip("typer")

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
NAMES = [f"g{j}" for j in range(6)]


def write(path, columns):
    """A CSV file of columns."""
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join(",".join(map(str, row)) for row in [columns, *rows]) + "\n")
    return path


@pytest.fixture
def measured(rng):
    """Features, and a signal in the first of them."""
    X = rng.standard_normal((40, len(NAMES))).round(3)
    return dict(zip(NAMES, X.T, strict=True)), 3 * X[:, 0] + 0.3 * rng.standard_normal(40)


@pytest.fixture(scope="module")
def tab(browser, server, tab_of):
    """One page for all files: its worker stays."""
    return tab_of(browser, server)


def quick(tab):
    """Leave out the comparison, which takes most of the time."""
    tab.see("#compare")
    if tab.all("#compare")[0].is_selected():
        tab.click("#compare")


def fitted(tab):
    tab.see("#fit:not([disabled])")
    quick(tab)
    tab.click("#fit")
    return tab.report()


def test_the_start_loads_from_this_machine_alone_and_without_errors(browser, server, tab):
    root = f"http://127.0.0.1:{server.port}/"
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {
        each["params"]["request"]["url"]
        for each in messages
        if each["method"] == "Network.requestWillBeSent"
        and each["params"]["documentURL"].startswith(root)  # not by the browser on its own behalf
    }
    assert server.address in asked
    here = (root, "data:")
    assert {url for url in asked if not url.startswith(here)} == set()
    assert [each for each in browser.get_log("browser") if each["level"] == "SEVERE"] == []


def test_the_start_has_no_serious_barriers(browser, tab):
    if not AXE.exists():
        pytest.skip("axe-core is not installed")
    assert barriers(browser) == []


def barriers(browser):
    """What axe-core calls serious or critical."""
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    found = browser.execute_async_script(
        "const done = arguments[arguments.length - 1]; axe.run(document, {iframes: false})"
        ".then(r => done(r.violations.map(v => [v.impact, v.id, v.nodes[0].html])))"
    )
    return [each for each in found if each[0] in ("serious", "critical")]


def test_numbers_from_a_file_to_a_report_and_predictions(browser, tab, measured, tmp_path):
    features, y = measured
    ids = [f"S{i}" for i in range(40)]
    path = write(tmp_path / "numbers.csv", {"sample": ids, "dose": y.round(3), **features})
    tab.drop(path)
    tab.see("h2", "numbers.csv")
    assert tab.parts()["sample"] == "Row names"
    tab.see("ol.problems li", "Choose the response")
    tab.take("dose", "Response")
    tab.see(".chips", "numbers")
    assert "g0" in fitted(tab)
    model = json.loads(tab.fetch("#download-model"))
    assert [each["name"] for each in model["features"]] == ["g0"]
    assert tab.fetch("#download-table").splitlines()[1].startswith("1,g0,")
    assert tab.fetch("#download-report").lstrip().lower().startswith("<!doctype html>")
    new = write(
        tmp_path / "new.csv", {"sample": ids[:3], **{k: v[:3] for k, v in features.items()}}
    )
    tab.drop(new, "new")
    tab.see("#predicted", "3 predictions")
    header, *rows = (line.split(",") for line in tab.fetch("#download-predictions").splitlines())
    assert [row[0] for row in rows] == ids[:3]
    np.testing.assert_allclose([float(row[1]) for row in rows], y[:3], atol=1.5)
    assert [each for each in browser.get_log("browser") if each["level"] == "SEVERE"] == []


def test_two_classes(tab, measured, tmp_path):
    features, y = measured
    sick = np.where(y > 0, "sick", "well")
    tab.drop(write(tmp_path / "two.csv", {"state": sick, **features}))
    tab.see("h2", "two.csv")
    assert tab.parts()["state"] == "Response"
    assert "g0" in fitted(tab)
    assert json.loads(tab.fetch("#download-model"))["classes"] == ["sick", "well"]


def test_three_classes(tab, measured, tmp_path):
    features, y = measured
    kinds = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    tab.drop(write(tmp_path / "three.csv", {"class": np.array(["a", "b", "c"])[kinds], **features}))
    tab.see("h2", "three.csv")
    assert "g0" in fitted(tab)
    assert json.loads(tab.fetch("#download-model"))["classes"] == ["a", "b", "c"]


def test_survival_with_words_for_events(tab, rng, measured, tmp_path):
    features, y = measured
    time = (10 * np.exp(-y / 2) * rng.exponential(1, 40)).round(2) + 0.01
    status = np.where(rng.random(40) < 0.8, "dead", "alive")
    tab.drop(write(tmp_path / "lives.csv", {"time": time, "status": status, **features}))
    tab.see("h2", "lives.csv")
    tab.click(".ways button", "The event is dead")
    tab.see(".chips", "survival times")
    assert "g0" in fitted(tab)
    assert json.loads(tab.fetch("#download-model"))["response"] == "survival"


def test_all_problems_of_a_file_are_marked_and_mended_by_clicks(browser, tab, measured, tmp_path):
    features, y = measured
    cells = {name: [str(each) for each in column] for name, column in features.items()}
    cells["g1"][7], cells["g2"][3], cells["g3"][30] = "n.d.", "<0.5", ""
    names = [f"S{i}" for i in range(40)]
    columns = {
        "name": names,
        "no": range(1, 41),
        "y": y.round(3),
        "batch": ["A", "B"] * 20,
        **cells,
    }
    columns["site"] = ["north", "south", "east", "west"] * 10
    tab.drop(write(tmp_path / "<b>broken.csv", columns))
    tab.see("h2", "broken.csv")
    problems = tab.texts("ol.problems li")
    for words in ("'n.d.'", "'<0.5'", "Column no counts", "missing or infinite"):
        assert sum(words in each for each in problems) == 1
    marked = tab.texts("th.has-problem .name")
    for name in ("no", "g1", "g2", "g3"):
        assert any(each.strip().startswith(name) for each in marked)
    assert {each.strip() for each in tab.texts("td.wrong")} >= {"n.d.", "<0.5"}
    assert tab.all("#fit")[0].get_attribute("disabled")
    if AXE.exists():
        assert barriers(browser) == []
    for label in ("Treat n.d.", "Treat <0.5", "Leave out no", "Fill in means"):
        tab.click(".ways button", label)
        tab.see_no_text(".ways button", label)
    assert tab.parts()["batch"] == "Covariate"
    tab.take("site", "Left out")
    tab.see("#fit:not([disabled])")


# What is clicked after the file was dropped; ids, 'n.d.' and three classes have tests above.
CLICKS = {
    eight_files.two_sheets: ["Table of samples: sheet samples"],
    eight_files.tabs: [],
    eight_files.decimal_commas: ["Decimal mark: ,"],
    eight_files.duplicates: ["mean"],
    eight_files.latin: [],
}


@pytest.mark.parametrize("write", CLICKS, ids=lambda write: write.__name__)
def test_a_file_as_people_have_it_becomes_a_report_by_clicks(write, tab, tmp_path, monkeypatch):
    pytest.importorskip("python_calamine")
    monkeypatch.chdir(tmp_path)
    file = write(eight_files.numbers())
    tab.drop(tmp_path / file)
    tab.see("h2", file)
    for label in CLICKS[write]:
        tab.click(".ways button", label)
    tab.take("y", "Response")
    report = fitted(tab)
    assert "gene0" in report
    assert "gene5" in report


def test_a_stop_ends_the_work_and_another_can_begin(tab, server):
    tab.click(".gallery button", "A number")
    tab.see("h2", "yield.csv")
    (before,) = server.workers()
    tab.click("#fit:not([disabled])")
    tab.click("#stop")
    tab.see(".error", "Stopped")
    assert not before.is_running()
    tab.take("gene7", "Left out")  # another process answers


def test_two_tabs_do_not_know_of_each_other_and_leave_nothing(browser, server, tab_of, until):
    before = {each.pid for each in server.workers()}
    files = set(server.files())
    browser.switch_to.new_window("tab")
    first = tab_of(browser, server)
    first.click(".gallery button", "Two classes")
    browser.switch_to.new_window("tab")
    second = tab_of(browser, server)
    second.click(".gallery button", "Survival")
    first.see("h2", "tumours.csv")
    second.see("h2", "survival.csv")
    assert len({each.pid for each in server.workers()} - before) == 2
    second.click("#fit:not([disabled])")
    second.see("#stop")
    second.close()  # in the middle of its work
    first.see("h2", "tumours.csv")
    until(lambda: len({each.pid for each in server.workers()} - before) == 1, "a worker ends")
    first.close()
    until(lambda: {each.pid for each in server.workers()} <= before, "both workers end")
    until(lambda: set(server.files()) <= files, "their files are removed")


def test_nothing_is_left_of_a_server_that_is_killed(start, tmp_path, browser, tab_of, until):
    import psutil

    server = start(tmp_path)
    browser.switch_to.new_window("tab")
    tab_of(browser, server)
    (worker,) = until(server.workers, "a worker")
    server.process.kill()
    server.process.communicate()
    until(lambda: not psutil.pid_exists(worker.pid) or not worker.is_running(), "it ends")
