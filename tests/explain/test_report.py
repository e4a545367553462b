"""The report: self-contained, small, and alive in a real browser."""

import csv
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso
from sklearn.metrics import auc, roc_auc_score
from sklearn.model_selection import KFold

from ksupport import (
    IRKSN,
    IRKSNCV,
    IRKSNIC,
    AutoIRKSN,
    AutoIRKSNSurvival,
    IRKSNClassifier,
    NoSignalWarning,
    PathCV,
    PathIC,
    stability_selection,
)
from ksupport.datasets import make_block_data, make_correlated_data
from ksupport.explain.cross_validation import cross_validated
from ksupport.explain.figures import kaplan_meier
from ksupport.explain.report import build_report
from ksupport.explain.standard_methods import lasso_and_ridge

MADE = {"command": "ksupport fit x.csv", "seed": 0, "versions": {"numpy": "2"}}


def write_report(path, *data, **options):
    path.write_text(build_report(*data, **options), encoding="utf-8", newline="")
    return path


@pytest.fixture(scope="module")
def grouped():
    X, y, w = make_block_data(60, 80, block_size=10, n_active_blocks=1, random_state=0)
    return AutoIRKSN().fit(X, y), X, y


@pytest.fixture(scope="module")
def scattered():
    truth = [3.0, -2.0, 2.0] + [0.0] * 47
    X, y, w = make_correlated_data(60, 50, rho=0.5, w_true=truth, snr=5, random_state=0)
    return IRKSNIC().fit(X, y), X, y


def drawn(page):
    """The numbers that the script draws."""
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1]
    )


class Links(HTMLParser):
    """Gathers whatever a browser would load or follow."""

    def __init__(self):
        super().__init__()
        self.found, self.ids = [], []

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name in ("src", "href", "action", "data")]
        self.ids += [value for name, value in attrs if name == "id"]
        assert not any(name.startswith("on") or name == "style" for name, _ in attrs)


def test_a_page_refers_only_to_itself_and_forbids_all_else(grouped):
    model, X, y = grouped
    page = build_report(model, X, y, made=MADE, certificate=model.certify(X, y))
    links = Links()
    links.feed(page)
    assert {link[1:] for link in links.found} <= set(links.ids)
    assert all(link.startswith("#") for link in links.found)
    assert len(links.ids) == len(set(links.ids))
    assert "default-src &#x27;none&#x27;" in page
    assert "http://www.w3.org/2000/svg" in page  # a name, not an address
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", page)


def test_the_path_shown_passes_through_the_chosen_model(grouped):
    _, X, y = grouped
    model = IRKSNCV(random_state=0).fit(X, y)
    data = drawn(build_report(model, X, y, feature_names=[f"f{j}" for j in range(80)]))
    at, record = data["at"]
    path = data["paths"][at]
    assert (path["label"], path["t"][record]) == (f"k={model.k_}", model.n_iter_)
    assert path["size"][record] == model.support_.sum()
    shown = {data["names"][i]: values[record] for i, values in path["lines"]}
    w = model.coef_ * X.std(axis=0)
    for j in np.flatnonzero(model.support_):
        assert shown[f"f{j}"] == pytest.approx(w[j], rel=1e-2)


def test_features_that_enter_and_leave_account_for_the_size(grouped):
    for path in drawn(build_report(*grouped))["paths"]:
        change = np.subtract(path["entered"], path["left"])
        np.testing.assert_array_equal(np.cumsum(change), path["size"])


def test_the_surface_has_its_least_error_where_the_model_was_chosen(grouped):
    _, X, y = grouped
    model = IRKSNCV(random_state=0).fit(X, y)
    surface = drawn(build_report(model, X, y))["surface"]
    row, column = surface["chosen"]
    assert surface["labels"][row] == f"k={model.k_}"
    assert surface["t"][column] == model.n_iter_
    assert surface["loss"][row][column] == np.min(surface["loss"])


def test_a_criterion_is_shown_by_size_with_the_alternatives(scattered):
    model, X, y = scattered
    page = build_report(model, X, y)
    scores = drawn(page)["scores"]
    assert scores["size"][scores["worse"].index(0)] == model.support_.sum() == 3
    assert ("Other models, nearly as good" in page) is bool(model.alternatives_)
    assert "refit of its features" in page


def test_stability_and_certificate_are_told_in_their_own_words(scattered):
    model, X, y = scattered
    result = stability_selection(IRKSNCV(k=3, cv=3), X, y, n_pairs=2, random_state=0)
    page = build_report(model, X, y, stability=result, certificate=model.certify(X, y))
    told = [
        re.search(each, page).start()
        for each in (re.escape(result.words), "If this vector is the truth", "rarely meet")
    ]
    assert told == sorted(told)  # what tells most comes first


@pytest.mark.parametrize("method", ["lasso", "enet", "omp", "iht", "ircr"])
def test_every_method_has_a_report(method, scattered):
    _, X, y = scattered
    model = PathCV(method, cv=3, max_iter=200).fit(X, y)
    data = drawn(build_report(model, X, y))
    at, record = data["at"]
    assert data["paths"][at]["t"][record] == max(model.n_iter_, 1)


def test_a_large_problem_gives_a_small_file():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 20_000))
    y = X[:, :5].sum(axis=1) + 0.1 * rng.standard_normal(60)
    model = IRKSNCV(k=[5, 50], cv=3, max_iter=100, random_state=0).fit(X, y)
    page = build_report(model, X, y, feature_names=["long name " * 50] * 20_000)
    assert len(page) < 1_000_000
    assert len(drawn(page)["names"]) <= 80


def test_noise_is_called_noise_in_the_title_and_nothing_is_drawn_of_it(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 30)), rng.standard_normal(40)
    with pytest.warns(NoSignalWarning):
        model = AutoIRKSN().fit(X, y)
    page = build_report(model, X, y)
    assert "<title>No signal: no feature can be distinguished from chance for y</title>" in page
    assert 'class="verdict no">None of ' in page
    assert '<section id="found" hidden>' in page
    assert drawn(page)["found"] == []
    assert "no better than without features" in page


def test_a_constant_target_is_reported_too():
    X = np.random.default_rng(0).standard_normal((30, 5))
    with pytest.warns(NoSignalWarning):
        model = AutoIRKSN().fit(X, np.ones(30))
    assert "No signal" in build_report(model, X, np.ones(30))
    model = IRKSN(k=2, max_iter=5).fit(X, np.ones(30))
    assert "No model: no feature was selected" in build_report(model, X, np.ones(30))


def test_features_stand_most_certain_first_with_those_that_can_stand_in(grouped):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 40))
    X[:, 7] = X[:, 3] + 0.05 * rng.standard_normal(80)  # a near-copy
    y = 2 * X[:, 3] - X[:, 5] + 0.5 * rng.standard_normal(80)
    model = AutoIRKSN().fit(X, y)
    rows = drawn(build_report(model, X, y))["found"]
    inside = [row for row in rows if row["coef"] is not None]
    assert {row["name"] for row in inside} == {f"x{j}" for j in np.flatnonzero(model.support_)}
    sure = [row["p"] for row in rows if row["for"] is None]
    assert sure == sorted(sure, reverse=True)
    (copy,) = [row for row in rows if row["name"] == "x7"]
    assert copy["for"] == "x3"
    (lead,) = [row for row in rows if row["name"] == "x5"]
    assert lead["coef"] == pytest.approx(model.coef_[5])
    assert lead["effect"] == pytest.approx(model.coef_[5] * X[:, 5].std())


def test_rows_held_out_are_compared_and_drawn(scattered):
    _, X, y = scattered
    splits = list(KFold(5, shuffle=True, random_state=0).split(X))
    makes = {"ours": lambda rows: IRKSNIC(), **lasso_and_ridge(X, lambda rows: 5)}
    validation = cross_validated("ours", makes, X, y, splits)
    page = build_report(IRKSNIC().fit(X, y), X, y, validation=validation)
    data = drawn(page)["predicted"]
    assert data["held_out"]
    assert data["row"] == list(range(1, 61))
    np.testing.assert_allclose(data["observed"], y, rtol=1e-3)
    assert f"{100 * validation.ours.score:.0f}% of the variance of y" in page
    assert "RidgeCV" in page  # explained on hover


def test_two_classes_are_reported_by_the_probability_of_the_second(scattered):
    _, X, y = scattered
    labels = np.where(y > 0, "yes", "no")
    model = IRKSNClassifier(k=3, max_iter=50).fit(X, labels)
    data = drawn(build_report(model, X, labels))
    p, truth = model.predict_proba(X)[:, 1], labels == "yes"
    assert data["classes"] == ["no", "yes"]
    assert auc(*data["predicted"]["roc"]) == pytest.approx(roc_auc_score(truth, p), abs=1e-3)
    bins = data["predicted"]["bins"]
    assert np.dot(bins["predicted"], bins["rows"]) == pytest.approx(p.sum(), rel=1e-2)
    assert np.dot(bins["observed"], bins["rows"]) == pytest.approx(truth.sum(), rel=1e-2)
    assert data["residuals"] is None
    assert data["heat"]["response"] == sorted(data["heat"]["response"])
    assert {row["name"] for row in data["found"]} == {
        f"x{j}" for j in np.flatnonzero(model.support_)
    }


def test_names_must_match_the_columns(scattered):
    with pytest.raises(ValueError, match="feature_names must have 50 names"):
        build_report(*scattered, feature_names=["a"])


@pytest.mark.parametrize("method", ["irksn", "omp"])
@pytest.mark.parametrize("chooses", [PathIC, PathCV])
def test_defaults_of_a_method_are_reported(scattered, chooses, method):
    _, X, y = scattered
    page = build_report(chooses(method, max_iter=50).fit(X, y), X, y)
    assert 1 <= len(drawn(page)["paths"]) <= 7


def test_a_data_frame_gives_its_names(scattered):
    pd = pytest.importorskip("pandas")
    _, X, y = scattered
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(50)])
    assert "gene 1" in build_report(IRKSNIC().fit(frame, y), frame, y)


def test_names_need_not_be_text(scattered):
    names = [None, 7, np.nan, b"x", *range(46)]
    assert drawn(build_report(*scattered, feature_names=names, target=3))["names"]


def test_what_cannot_be_reported_is_refused_in_words(scattered, grouped):
    model, X, y = scattered
    with pytest.raises(NotFittedError, match="not fitted yet"):
        build_report(AutoIRKSN(), X, y)
    with pytest.raises(
        TypeError, match="estimator must be a fitted linear model of ksupport, got Lasso"
    ):
        build_report(Lasso().fit(X, y), X, y)
    with pytest.raises(ValueError, match="X has 20 features, but IRKSNIC is expecting 50"):
        build_report(model, X[:, :20], y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        build_report(model, X, y[:5])
    other = stability_selection(IRKSN(k=2, max_iter=10), X[:, :5], y, n_pairs=1)
    with pytest.raises(ValueError, match="stability must have a frequency for each of the 50"):
        build_report(model, X, y, stability=other)


@pytest.fixture(scope="module")
def survived(scattered):
    _, X, y = scattered
    rng = np.random.default_rng(0)
    times = np.column_stack([rng.exponential(np.exp(-y / 2)), rng.uniform(size=60) < 0.8])
    return AutoIRKSNSurvival().fit(X, times), X, times


def test_survival_is_reported_by_thirds_of_the_risk(survived):
    model, X, y = survived
    data = drawn(build_report(model, X, y, target="months"))
    curves = data["predicted"]["curves"]
    assert [each["rows"] for each in curves] == [20, 20, 20]
    assert sum(each["events"] for each in curves) == y[:, 1].sum()
    order = np.argsort(model.predict(X))
    for part, each in zip(np.split(order, 3), curves, strict=True):
        times, surviving = kaplan_meier(y[part])
        np.testing.assert_allclose(each["t"], times, rtol=1e-3)
        np.testing.assert_allclose(each["s"], surviving, atol=1e-3)
    assert data["residuals"] is None


def test_the_heat_map_has_the_chosen_features_of_all_rows_in_the_order_of_the_response(scattered):
    model, X, y = scattered
    heat = drawn(build_report(model, X, y))["heat"]
    assert {f"x{j}" for j in np.flatnonzero(model.support_)} == set(heat["names"])
    np.testing.assert_allclose(heat["response"], np.sort(y), rtol=1e-2)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    for name, cells in zip(heat["names"], heat["cells"], strict=True):
        shades = np.array([ord(letter) - ord("i") for letter in cells])
        expected = np.clip(standard[np.argsort(y), int(name[1:])] / 2.5, -1, 1) * 8
        assert np.abs(shades - expected).max() <= 0.5 + 1e-9


# -- in a browser --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(browser):
    """The browser of all tests, in a tab that is closed in the end."""
    before = browser.current_window_handle
    browser.switch_to.new_window("tab")
    yield browser
    browser.close()
    browser.switch_to.window(before)


@pytest.fixture
def opened(browser, grouped, tmp_path):
    """The report of the grouped model, on a desktop in light colours."""
    names = ["<img src=x onerror=alert(1)>", *(f"f{j}" for j in range(1, 80))]
    path = write_report(tmp_path / "r.html", *grouped, feature_names=names, made=MADE)
    return shown_in(browser, path)


def shown_in(browser, path):
    for kind in ("performance", "browser"):
        browser.get_log(kind)  # what was before
    screen(browser, 1100, "light")
    browser.get(path.as_uri())
    unfold = "for (const each of document.querySelectorAll('details')) each.open = true;"
    browser.execute_script(unfold)
    return browser


def screen(browser, width, scheme):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}  # no scrolling
    features = [{"name": name, "value": value} for name, value in wishes.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def css(browser, selector):
    return browser.find_elements("css selector", selector)


def press(browser, selector, *keys):
    css(browser, selector)[0].send_keys(*keys)


def test_nothing_is_asked_of_the_network_and_nothing_complains(opened):
    messages = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    asked = [
        each["params"]["request"]["url"]
        for each in messages
        if each["method"] == "Network.requestWillBeSent"
        and not each["params"]["documentURL"].startswith("chrome:")  # the browser's start page
    ]
    assert asked == [opened.current_url]
    assert opened.get_log("browser") == []
    assert css(opened, "img") == []


def test_the_step_is_moved_with_the_keyboard_and_the_path_follows(opened):
    from selenium.webdriver.common.keys import Keys

    def state():
        script = "return [document.querySelector('.cursor').getAttribute('x1'), status.textContent]"
        return opened.execute_script(script.replace("status", "document.getElementById('status')"))

    before = state()
    press(opened, "#step", Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    after = state()
    assert float(after[0]) < float(before[0])
    assert after[1] != before[1]
    press(opened, "#step", Keys.HOME)
    assert "Step " in state()[1]
    css(opened, "#home")[0].click()
    assert state() == before
    label = css(opened, "#level-value")[0].text
    press(opened, "#level", Keys.ARROW_LEFT)
    assert css(opened, "#level-value")[0].text != label


def test_a_click_on_a_line_pins_its_feature_and_a_press_unpins_it(opened):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    svg = css(opened, "#explorer")[0]
    opened.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", svg
    )
    spot = opened.execute_script(
        """const line = document.querySelector('#explorer g:not(.ghost) .line.chosen');
        const p = line.points.getItem(line.points.numberOfItems - 1);
        const box = document.getElementById('explorer').getBoundingClientRect();
        return [p.x - 2 - box.width / 2, p.y - box.height / 2];"""
    )
    there = ActionChains(opened).move_to_element_with_offset(svg, *map(int, spot))
    there.perform()
    assert " at step " in css(opened, "#tip")[0].text
    assert css(opened, ".line.near")
    there.click().perform()
    (chip,) = css(opened, "#pinned button")
    assert chip.get_attribute("aria-pressed") == "true"
    assert len(css(opened, ".line.pinned")) == 2  # walked, and still to come
    chip.send_keys(Keys.ENTER)
    assert css(opened, "#pinned button") == []
    press(opened, "#here button", Keys.SPACE)  # by keyboard alone
    assert len(css(opened, "#pinned button")) == 1


def test_a_click_on_the_surface_takes_the_paths_there(browser, grouped, tmp_path):
    _, X, y = grouped
    model = IRKSNCV(random_state=0).fit(X, y)
    opened = shown_in(browser, write_report(tmp_path / "r.html", model, X, y))
    script = """const cells = document.querySelectorAll('#surface .cell');
    cells[5].dispatchEvent(new MouseEvent('click', {bubbles: true}));
    return cells[5].querySelector('title').textContent"""
    where = opened.execute_script(script)
    assert css(opened, "#level-value")[0].text == where.split(",")[0]


SAVED = """const [press, done] = [arguments[0], arguments[arguments.length - 1]];
const make = URL.createObjectURL.bind(URL), click = HTMLAnchorElement.prototype.click;
let last = null;
URL.createObjectURL = (blob) => { last = blob; return make(blob); };
HTMLAnchorElement.prototype.click = function () {
  const name = this.download;
  last.arrayBuffer().then((bytes) => done([name, last.type, Array.from(new Uint8Array(bytes))]));
};
document.querySelector(press).click();"""


def saved(browser, selector):
    """Name, kind and bytes of what a button saves."""
    name, kind, numbers = browser.execute_async_script(SAVED, selector)
    return name, kind, bytes(numbers)


def test_the_table_is_saved_as_csv(opened, grouped):
    name, kind, text = saved(opened, "#csv")
    assert (name, kind) == ("features.csv", "text/csv")
    rows = list(csv.DictReader(text.decode().splitlines()))
    inside = [row for row in rows if row["coefficient"]]
    model = grouped[0]
    found = {int(row["feature"][1:]): float(row["coefficient"]) for row in inside}
    assert found == pytest.approx({j: model.coef_[j] for j in np.flatnonzero(model.support_)})
    sure = [float(row["probability"]) for row in inside]
    expected = model.probability_[list(found)]
    np.testing.assert_allclose(sure, expected, atol=1e-4)


def test_pictures_are_saved_with_their_colours(opened):
    name, kind, text = saved(opened, "[data-saves='bars.svg']")
    assert (name, kind) == ("bars.svg", "image/svg+xml")
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg")
    drawn = [each for each in root if each.get("class") == "sure"]
    assert {each.get("fill") for each in drawn} == {"rgb(11, 106, 168)"}  # as on the page
    opened.refresh()
    name, kind, data = saved(opened, "[data-saves='bars.png']")
    assert (name, kind) == ("bars.png", "image/png")
    assert data.startswith(b"\x89PNG")
    assert opened.get_log("browser") == []


def test_the_methods_paragraph_is_saved_with_its_references(opened):
    name, _, text = saved(opened, "#text")
    assert name == "methods.txt"
    assert "AutoIRKSN" in text.decode()
    assert "[1] de Vazelhes W" in text.decode()


def test_a_word_is_explained_to_mouse_and_keyboard(opened):
    button = css(opened, ".term button")[0]
    tip = opened.find_element("id", button.get_attribute("aria-describedby"))
    assert not tip.is_displayed()
    opened.execute_script("arguments[0].focus()", button)
    assert tip.is_displayed()
    assert len(tip.text) > 20


@pytest.fixture(scope="module")
def sorted_out(scattered):
    _, X, y = scattered
    labels = np.where(y > 0, "tumour", "normal")
    return IRKSNClassifier(k=3, max_iter=50).fit(X, labels), X, labels


@pytest.mark.parametrize(
    ("of", "pictures"),
    [
        ("scattered", {"observed": ".dot", "rows": ".bar"}),
        ("sorted_out", {"roc": ".curve", "calibration": ".dot", "rows": ".class"}),
        ("survived", {"curves": "polyline", "rows": ".bar"}),
    ],
)
@pytest.mark.parametrize("width", [1100, 390])
def test_every_kind_of_response_has_its_pictures(browser, tmp_path, request, of, pictures, width):
    path = write_report(tmp_path / "r.html", *request.getfixturevalue(of), made=MADE)
    screen(browser, width, "light")
    browser.get(path.as_uri())
    for name, mark in pictures.items():
        assert css(browser, f"#{name} {mark}")
        kind, text = saved(browser, f"[data-saves='{name}.svg']")[1:]
        assert kind == "image/svg+xml"
        assert len(list(ElementTree.fromstring(text))) > 3
        browser.refresh()
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


AXE = Path(os.environ.get("KSUPPORT_AXE", "node_modules/axe-core/axe.min.js"))


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not there: npm install axe-core")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("of", ["grouped", "sorted_out", "survived"])
def test_axe_finds_nothing_that_keeps_people_out(browser, tmp_path, request, of, scheme):
    model, X, y = request.getfixturevalue(of)
    stable = None
    if of == "grouped":
        stable = stability_selection(IRKSN(k=5, max_iter=10), X, y, n_pairs=1, random_state=0)
    path = write_report(tmp_path / "r.html", model, X, y, made=MADE, stability=stable)
    screen(browser, 1100, scheme)
    browser.get(path.as_uri())
    browser.execute_script("for (const e of document.querySelectorAll('details')) e.open = true;")
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    found = browser.execute_async_script(
        "const done = arguments[0]; axe.run().then((all) => done(all.violations))"
    )
    assert [(each["id"], each["impact"]) for each in found] == []


def test_dark_colours_and_a_phone_s_width(opened):
    def background():
        return opened.execute_script("return getComputedStyle(document.body).backgroundColor")

    light = background()
    screen(opened, 390, "dark")
    opened.refresh()
    assert background() != light
    width = opened.execute_script("return document.documentElement.scrollWidth")
    assert width <= 390  # nothing sticks out
    assert opened.get_log("browser") == []


def test_the_paths_of_a_grid_without_alpha_are_those_that_were_walked(scattered):
    _, X, y = scattered
    model = PathCV("irksn", {"k": [3, 6]}, max_iter=60, cv=3).fit(X, y)
    data = drawn(build_report(model, X, y))
    at, record = data["at"]
    assert data["paths"][at]["size"][record] == model.support_.sum()
    assert [each["label"] for each in data["paths"]] == ["k=3", "k=6"]


def test_a_model_of_one_path_has_a_report_and_one_of_several_targets_none(scattered):
    _, X, y = scattered
    model = IRKSN(k=3, max_iter=100, standardize=True).fit(X, y)
    data = drawn(build_report(model, X, y))
    assert (len(data["paths"]), data["surface"], data["scores"]) == (1, None, None)
    at, record = data["at"]
    assert data["paths"][at]["size"][record] == model.support_.sum()
    two = IRKSN(k=3, max_iter=50).fit(X, np.c_[y, y])
    with pytest.raises(ValueError, match="a report needs a model of one target, got 2"):
        build_report(two, X, y)
