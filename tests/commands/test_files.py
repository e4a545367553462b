"""Files as they come, through real processes: fit, report, predict, and what is wrong with them."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

NAMES = [f"g{j}" for j in range(12)]
ADJUSTED = ("--adjust-for", "sex", "--adjust-for", "age")


@pytest.fixture(scope="module")
def frame():
    """60 samples with names, 12 genes of which three matter, and a sex and an age that do, too."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12))
    sex, age = rng.choice(["f", "m"], 60), rng.normal(50, 10, 60).round(1)
    y = X[:, :3] @ [3, -2, 2] + 5 * (sex == "m") + 0.1 * age + 0.3 * rng.standard_normal(60)
    about = pd.DataFrame({"sample": [f"S{i}" for i in range(60)], "sex": sex, "age": age, "y": y})
    return pd.concat([about, pd.DataFrame(X, columns=NAMES)], axis=1)


@pytest.fixture(scope="module")
def genes_in_rows(frame):
    turned = frame[NAMES].T.set_axis(frame["sample"], axis=1)
    return turned.rename_axis("gene").reset_index()


def _fit(run, folder, *options):
    return run(
        "fit", *options, "--stability", 0, "--json", "--output", "m.json", "--report", "r.html",
        cwd=folder,
    )  # fmt: skip


def _predictions(done):
    assert done.returncode == 0, done.stderr
    rows = list(csv.reader(done.stdout.splitlines()))
    return rows[0], {row[0]: float(row[1]) for row in rows[1:]}


def _found(done):
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return told, {each["name"]: round(each["coefficient"]) for each in told["features"]}


def _refused(done, *words):
    assert (done.returncode, done.stdout) == (2, "")
    for each in words:
        assert each in done.stderr
    assert "Traceback" not in done.stderr


# -- tables ----------------------------------------------------------------------------------


def _write_sheet(frame, path):
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl" if path.suffix == ".xlsx" else "odf")
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"notes": ["made by hand"]}).to_excel(book, sheet_name="read me", index=False)
        frame.to_excel(book, sheet_name="samples", index=False)


@pytest.mark.parametrize("kind", ["csv", "xlsx", "ods"])
def test_a_table_with_names_covariates_and_text(kind, run, frame, tmp_path):
    path = tmp_path / f"data.{kind}"
    sheet = ()
    if kind == "csv":
        frame.to_csv(path, index=False)
    else:
        _write_sheet(frame, path)
        sheet = ("--sheet", "samples")
    done = _fit(run, tmp_path, path, "--target", "y", "--id", "sample", *ADJUSTED, *sheet)
    told, found = _found(done)
    assert found == {"g0": 3, "g1": -2, "g2": 2}
    assert told["adjusted_for"] == pytest.approx({"sex=m": 5, "age": 0.1}, rel=0.1)
    assert (tmp_path / "r.html").stat().st_size > 10_000
    head, predicted = _predictions(run("predict", "m.json", path, *sheet, cwd=tmp_path))
    assert head == ["sample", "predicted y"]
    assert list(predicted) == frame["sample"].tolist()
    assert np.corrcoef(list(predicted.values()), frame["y"])[0, 1] > 0.99


def test_text_that_is_no_feature_is_named_with_the_option_that_suits_it(run, frame, tmp_path):
    frame.to_csv(tmp_path / "data.csv", index=False)
    done = _fit(run, tmp_path, "data.csv", "--target", "y")
    _refused(done, "column sample", "--id sample", "column sex holds text (f, m)", "--ignore")
    done = _fit(run, tmp_path, "data.csv", "--target", "y", "--id", "sample")
    _refused(done, "column sex", "--adjust-for sex")
    done = _fit(run, tmp_path, "data.csv", "--target", "y", "--adjust-for", "sample")
    _refused(done, "60 different texts in 60 rows", "--id sample")


def test_new_rows_must_have_the_levels_of_the_fit(run, frame, tmp_path):
    frame.to_csv(tmp_path / "data.csv", index=False)
    _fit(run, tmp_path, "data.csv", "--target", "y", "--id", "sample", *ADJUSTED, "--no-compare")
    frame.assign(sex="unknown").to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", "m.json", "new.csv", cwd=tmp_path)
    _refused(done, "column sex holds unknown", "it knows f, m")


def test_sheets_are_named_and_titles_above_the_table_refused(run, frame, tmp_path):
    path = tmp_path / "data.xlsx"
    _write_sheet(frame, path)
    done = _fit(run, tmp_path, path, "--target", "y", "--sheet", "Samples")
    _refused(done, "'Samples' is not a sheet of data.xlsx; there are read me, samples")
    done = _fit(run, tmp_path, path, "--target", "y")  # of the first sheet
    _refused(done, "sheet samples has it: give --sheet samples")
    titled = pd.concat([pd.DataFrame([["Cohort 3"]]), pd.DataFrame([frame.columns.tolist()])])
    pd.concat([titled, frame.set_axis(range(frame.shape[1]), axis=1)]).to_excel(
        path, index=False, header=False
    )
    done = _fit(run, tmp_path, path, "--target", "y")
    _refused(done, "first row of the sheet has 1 cells", "remove titles")
    path.write_bytes(path.read_bytes()[:2000])
    _refused(_fit(run, tmp_path, path, "--target", "y"), "only a part of one", "Save it again")


def test_dates_among_the_names_of_genes_are_told(run, frame, tmp_path):
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    renamed = frame.rename(columns={"g7": pd.Timestamp("2024-09-02")})
    renamed.to_excel(tmp_path / "data.xlsx", index=False)
    options = ("--target", "y", "--id", "sample", *ADJUSTED, "--dry-run")
    done = run("fit", "data.xlsx", *options, cwd=tmp_path)
    assert "1 column names of data.xlsx are dates (2024-09-02)" in " ".join(done.stdout.split())


# -- genes in rows, samples in another file --------------------------------------------------


def test_genes_in_rows_with_what_is_known_of_samples_in_another_file(
    run, frame, genes_in_rows, tmp_path
):
    genes_in_rows.to_csv(tmp_path / "genes.tsv", index=False, sep="\t")
    known = frame[["sample", "sex", "age", "y"]].sample(frac=1, random_state=0)
    known = known[known["sample"] != "S7"]
    pd.concat([known, known[:2].assign(sample=["X1", "X2"])]).to_csv(
        tmp_path / "known.csv", index=False
    )
    files = ("genes.tsv", "--transpose", "--phenotypes", "known.csv")
    told, found = _found(_fit(run, tmp_path, *files, "--target", "y", *ADJUSTED))
    assert found == {"g0": 3, "g1": -2, "g2": 2}
    assert told["remarks"][0] == (
        "59 of 60 rows of genes.tsv were found in known.csv; 1 were not and are left out (S7); "
        "2 rows of known.csv match none (X1, X2)."
    )
    _, predicted = _predictions(run("predict", "m.json", *files, cwd=tmp_path))
    assert "S7" not in predicted
    ours = frame.set_index("sample").loc[list(predicted), "y"]
    assert np.corrcoef(list(predicted.values()), ours)[0, 1] > 0.99


def test_what_stands_in_rows_or_elsewhere_is_guessed(run, frame, genes_in_rows, tmp_path):
    genes_in_rows.to_csv(tmp_path / "genes.csv", index=False)
    frame[["sample", "y"]].to_csv(tmp_path / "known.csv", index=False)
    done = _fit(run, tmp_path, "genes.csv", "--target", "y")
    _refused(done, "--target 'y' is not a column", "--phenotypes FILE")
    done = _fit(run, tmp_path, "genes.csv", "--phenotypes", "known.csv", "--target", "y")
    _refused(done, "60 of these names are names of columns", "--transpose")
    done = _fit(run, tmp_path, "genes.csv", "--transpose", "--target", "y")
    _refused(done, "it tells nothing of its rows", "--phenotypes FILE")
    frame[NAMES].to_csv(tmp_path / "numbers.csv", index=False)
    done = _fit(run, tmp_path, "numbers.csv", "--transpose", "--target", "y")
    _refused(done, "first column of numbers.csv, g0, must name the features", "leave --transpose")
    tall = pd.DataFrame(np.ones((90, 4)), columns=list("abcd"))
    tall.insert(0, "gene", [f"gene {j}" for j in range(90)])
    tall.to_csv(tmp_path / "tall.csv", index=False)
    done = _fit(run, tmp_path, "tall.csv", "--target", "y")
    _refused(done, "first column holds 90 different names", "--transpose")


def test_names_that_do_not_match_are_shown_from_both_files(run, frame, tmp_path):
    frame.to_csv(tmp_path / "data.csv", index=False)
    known = frame[["sample", "y"]].rename(columns={"y": "dose"})
    known.assign(sample=known["sample"].str.lower()).to_csv(tmp_path / "known.csv", index=False)
    files = ("data.csv", "--phenotypes", "known.csv", "--target", "dose")
    _refused(_fit(run, tmp_path, *files), "no row of data.csv is found in known.csv", "S0", "s0")
    pd.concat([known, known]).to_csv(tmp_path / "known.csv", index=False)
    _refused(_fit(run, tmp_path, *files), "60 name(s) occur more than once in column sample")


# -- missing values --------------------------------------------------------------------------


def test_missing_values_are_replaced_by_means_and_in_new_rows_by_those_of_the_fit(
    run, frame, tmp_path
):
    holed = frame.copy()
    holed.loc[[3, 9], "g0"] = np.nan
    holed.loc[[5], "sex"] = None
    holed["g9"] = np.nan
    holed.to_csv(tmp_path / "data.csv", index=False)
    options = ("data.csv", "--target", "y", "--id", "sample", *ADJUSTED)
    _refused(_fit(run, tmp_path, *options), "63 missing", "g9 (60), g0 (2)", "--missing impute")
    by_support = "--predict-by", "support"  # whose coefficients the model file has
    told, found = _found(_fit(run, tmp_path, *options, "--missing", "impute", *by_support))
    assert set(found) == {"g0", "g1", "g2"}
    words = " ".join(told["remarks"])
    assert "63 missing or infinite values" in words
    assert "within folds, by the means of the training rows" in words
    assert "1 column without any value was left out" in words
    report = (tmp_path / "r.html").read_text()
    assert "replaced by the means of their columns" in report
    model = json.loads((tmp_path / "m.json").read_text())
    g0 = next(each for each in model["features"] if each["name"] == "g0")
    assert g0["fill"] == pytest.approx(holed["g0"].mean())
    holed[:10].to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", "m.json", "new.csv", cwd=tmp_path)
    assert "3 missing values were replaced by the means of the training rows" in done.stderr
    _, predicted = _predictions(done)
    row = frame.loc[3]
    value = {**row[NAMES].to_dict(), "g0": holed["g0"].mean(), "age": row["age"]}
    value["sex=m"] = float(row["sex"] == "m")
    columns = [*model["features"], *model["adjusted_for"]]
    by_hand = model["intercept"] + sum(c["coefficient"] * value[c["name"]] for c in columns)
    assert predicted["S3"] == pytest.approx(by_hand)


def test_a_model_of_whole_rows_refuses_new_ones_with_holes(run, frame, tmp_path):
    frame.to_csv(tmp_path / "data.csv", index=False)
    _fit(run, tmp_path, "data.csv", "--target", "y", "--id", "sample", *ADJUSTED, "--no-compare")
    frame.assign(g0=np.nan).to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", "m.json", "new.csv", cwd=tmp_path)
    _refused(done, "60 missing", "g0 (60)", "fit with --missing impute")


# -- what is to be explained -----------------------------------------------------------------


@pytest.fixture
def understood(run, frame, tmp_path):
    """What ``--dry-run`` says of columns added to the table."""

    def ask(*options, **columns):
        frame.assign(**columns).to_csv(tmp_path / "data.csv", index=False)
        named = {word.partition("=")[0] for word in options}
        rest = [name for name in ("sex", "age", "y", *columns) if name not in named]
        ignored = [word for name in rest for word in ("--ignore", name)]
        done = run(
            "fit", "data.csv", "--id", "sample", *options, *ignored, "--dry-run", "--json",
            cwd=tmp_path,
        )  # fmt: skip
        return json.loads(done.stdout) if done.returncode == 0 else done

    return ask


def test_text_truth_values_and_codes_are_classes_and_it_is_said(understood, frame):
    kind = np.where(frame["y"] > 7, "ill", "well")
    told = understood("--target", "kind", kind=kind)
    assert (told["response"], told["classes"]) == ("classes", ["ill", "well"])
    assert "kind holds text: 2 classes to distinguish, ill (" in told["remarks"][0]
    told = understood("--target", "kind", kind=frame["y"] > 7)
    assert (told["response"], told["classes"]) == ("classes", ["False", "True"])
    told = understood("--target", "kind", kind=(frame["y"] > 7).astype(int))
    assert (told["response"], told["classes"]) == ("classes", ["0", "1"])
    assert told["remarks"][0].endswith("--regression takes it as numbers.")
    told = understood("--target", "kind", "--regression", kind=(frame["y"] > 7).astype(int))
    assert told["response"] == "numbers"
    grade = np.arange(60) % 4
    told = understood("--target", "grade", grade=grade)
    assert told["response"] == "numbers"
    assert "--classification takes them as classes" in told["remarks"][0]
    told = understood("--target", "grade", "--classification", grade=grade)
    assert (told["response"], told["classes"]) == ("classes", ["0", "1", "2", "3"])


def test_what_can_be_no_class_is_refused(understood, frame):
    done = understood("--target", "code", code=[f"c{i}" for i in range(60)])
    _refused(done, "60 different texts in 60 rows", "--id code")
    _refused(understood("--target", "one", one="same"), "every row has the class same")
    written = frame["y"].map("{:.2f}".format).str.replace(".", ",")
    _refused(understood("--target", "dose", dose=written), "--decimal ','")
    mixed = ["high" if i == 5 else str(i) for i in range(60)]
    _refused(understood("--target", "dose", dose=mixed), "column dose, row 6 holds 'high'")
    done = understood("--target", "kind", "--regression", kind=np.where(frame["y"] > 7, "a", "b"))
    _refused(done, "'kind' holds text (", "--regression cannot take as numbers")


def test_survival_is_told_by_times_and_events(understood, frame):
    event = (np.arange(60) % 3 == 0).astype(int)
    told = understood("--time", "days", "--event", "dead", days=frame["age"], dead=event)
    assert told["response"] == "survival"
    assert "seen in 20 of 60 rows" in told["remarks"][0]
    assert told["features"] == 12
    status = np.where(event, "dead", "alive")
    told = understood("--time", "days", "--event", "status=dead", days=frame["age"], status=status)
    assert "seen in 20 of 60 rows" in told["remarks"][0]
    done = understood("--time", "days", "--event", "status", days=frame["age"], status=status)
    _refused(done, "must hold 1 for observed events", "alive, dead", "--event status=dead")
    done = understood("--time", "days", "--event", "status=gone", days=frame["age"], status=status)
    _refused(done, "status never holds 'gone'")
    done = understood("--time", "days", "--event", "dead", days=-frame["age"], dead=event)
    _refused(done, "row 1 holds -", "negative")
    done = understood("--time", "days", "--event", "dead", days=frame["age"], dead=0)
    _refused(done, "no row has the event")
    _refused(understood("--time", "days", days=frame["age"]), "--time needs --event")


def test_a_dry_run_tells_what_was_understood_and_writes_nothing(run, frame, tmp_path):
    file = tmp_path / "data.csv"
    frame.to_csv(file, index=False)
    options = ("--target", "y", "--id", "sample", *ADJUSTED, "--output", "m.json", "--dry-run")
    done = run("fit", file, *options, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("data.csv: 60 rows, 12 features. Nothing was fitted.")
    words = " ".join(done.stdout.split())
    for said in ("y: numbers from", "sex (m, compared to f); age", "S0, S1, S2, S3 and 56 more",
                 "estimator AutoIRKSN"):  # fmt: skip
        assert said in words
    assert list(tmp_path.iterdir()) == [file]


def test_a_column_that_counts_the_rows_is_asked_about(run, frame, tmp_path):
    frame[[*NAMES, "y"]].rename_axis("index").to_csv(tmp_path / "data.csv")
    done = run("fit", "data.csv", "--target", "y", "--dry-run", cwd=tmp_path)
    _refused(done, "column index counts the rows", "--id index", "--ignore index", "--keep index")
    done = run("fit", "data.csv", "--target", "y", "--keep", "index", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0


# -- genotypes -------------------------------------------------------------------------------


@pytest.fixture
def genotypes(tmp_path):
    """120 x 300 genotypes, some of them missing, with a table of what is known of the samples."""
    bed_reader = pytest.importorskip("bed_reader")
    rng = np.random.default_rng(1)
    G = rng.binomial(2, 0.3, (120, 300)).astype(float)
    sex, age = rng.choice(["f", "m"], 120), rng.normal(50, 10, 120)
    bmi = G[:, [5, 17, 200]] @ [2, -1.5, 1] + 0.05 * age + (sex == "m")
    bmi += 0.4 * rng.standard_normal(120)
    G[rng.random(G.shape) < 0.01] = np.nan
    names = [f"P{i}" for i in range(120)]

    def write(name, values, alleles):
        properties = {
            "iid": names, "fid": names, "sid": [f"rs{j}" for j in range(300)],
            "allele_1": [alleles[0]] * 300, "allele_2": [alleles[1]] * 300,
        }  # fmt: skip
        bed_reader.to_bed(tmp_path / name, values, properties=properties)

    write("g.bed", G, "AG")
    write("swapped.bed", 2 - G, "GA")
    known = pd.DataFrame({"FID": names, "IID": names, "bmi": bmi, "age": age, "sex": sex})
    known[:110].to_csv(tmp_path / "known.txt", sep=" ", index=False)
    return tmp_path


KNOWN = ("--phenotypes", "known.txt")


def test_genotypes_stay_on_disk_and_are_adjusted_for_covariates(run, genotypes):
    done = _fit(run, genotypes, "g.bed", *KNOWN, "--target", "bmi", *ADJUSTED)
    told, found = _found(done)
    assert set(found) >= {"rs5_A", "rs17_A", "rs200_A"}
    assert "110 of 120 rows of g.bed were found in known.txt" in told["remarks"][0]
    assert any("Missing genotypes are" in each for each in told["remarks"])
    _, predicted = _predictions(run("predict", "m.json", "g.bed", *KNOWN, cwd=genotypes))
    _, other = _predictions(run("predict", "m.json", "swapped.bed", *KNOWN, cwd=genotypes))
    assert other == pytest.approx(predicted)  # the other allele was counted
    bmi = pd.read_csv(genotypes / "known.txt", sep=" ").set_index("IID").loc[list(predicted), "bmi"]
    assert np.corrcoef(list(predicted.values()), bmi)[0, 1] > 0.9


def test_genotypes_that_are_cut_or_something_else_are_refused(run, genotypes):
    done = _fit(run, genotypes, "g.bed", "--target", "bmi")
    _refused(done, "--target 'bmi' is not a column of g.bed", "--phenotypes FILE")
    bed = genotypes / "g.bed"
    bed.write_bytes(bed.read_bytes()[:5000])
    done = _fit(run, genotypes, "g.bed", *KNOWN, "--target", "bmi")
    _refused(done, "g.bed has 5000 bytes, but 120 samples and 300 variants take 9003")
    bed.write_text("chr1\t100\t200\n")
    done = _fit(run, genotypes, "g.bed", *KNOWN, "--target", "bmi")
    _refused(done, "does not begin as a .bed file of genotypes", "plink --make-bed")
    (genotypes / "g.fam").unlink()
    done = _fit(run, genotypes, "g.bed", *KNOWN, "--target", "bmi")
    _refused(done, "g.fam does not exist; it must lie beside the .bed file")


def test_a_fam_file_tells_of_sex_and_phenotype(genotypes):
    import ksupport

    fam = genotypes / "g.fam"
    rows = [line.split() for line in fam.read_text().splitlines()]
    for i, row in enumerate(rows):
        row[4], row[5] = str(1 + i % 2), "-9" if i == 7 else str(1 + i % 3 // 2)
    fam.write_text("\n".join("\t".join(row) for row in rows) + "\n")
    data = ksupport.read(genotypes / "g.bed", target="pheno", adjust_for="sex", missing="drop-rows")
    assert (data.kind, data.classes) == ("classes", ("case", "control"))
    assert data.covariates == ("sex=male",)
    assert data.shape == (119, 301)
    assert "P7" not in data.ids


# -- AnnData ---------------------------------------------------------------------------------


def _write_h5ad(frame, path, sparse):
    ad = pytest.importorskip("anndata")
    X = frame[NAMES].to_numpy()
    obs = (
        frame[["sex", "age", "y"]]
        .set_index(frame["sample"])
        .assign(sex=lambda each: each["sex"].astype("category"))
    )
    obs.index.name = None
    var = pd.DataFrame(index=NAMES)
    ad.AnnData(sp.csr_matrix(X) if sparse else X, obs=obs, var=var).write_h5ad(path)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_annotated_data(sparse, run, frame, tmp_path):
    _write_h5ad(frame, tmp_path / "data.h5ad", sparse)
    told, found = _found(_fit(run, tmp_path, "data.h5ad", "--target", "y", *ADJUSTED))
    assert found == {"g0": 3, "g1": -2, "g2": 2}
    assert told["adjusted_for"] == pytest.approx({"sex=m": 5, "age": 0.1}, rel=0.1)
    _, predicted = _predictions(run("predict", "m.json", "data.h5ad", cwd=tmp_path))
    assert list(predicted) == frame["sample"].tolist()


@pytest.mark.filterwarnings("ignore")
def test_annotated_data_that_is_damaged_or_too_large_is_refused(run, frame, tmp_path):
    path = tmp_path / "data.h5ad"
    _write_h5ad(frame, path, sparse=False)
    done = _fit(run, tmp_path, path)
    _refused(done, "--target must name the column to explain; there are sex, age, y")
    done = _fit(run, tmp_path, path, "--target", "y", "--transpose")
    _refused(done, "--transpose is for tables")
    done = _fit(run, tmp_path, path, "--target", "y", *ADJUSTED, "--max-memory", "0.000001")
    _refused(done, "data.h5ad would take about", "--max-memory")
    path.write_bytes(path.read_bytes()[:3000])
    _refused(_fit(run, tmp_path, path, "--target", "y"), "data.h5ad cannot be read as h5ad")
    path.write_text("not HDF5")
    _refused(_fit(run, tmp_path, path, "--target", "y"), "it is no HDF5 file")


# -- other commands --------------------------------------------------------------------------


def test_compare_fills_in_from_training_rows_and_takes_classes(run, frame, tmp_path):
    holed = frame[[*NAMES, "y"]].copy()
    holed.loc[[3, 9], "g0"] = np.nan
    holed["kind"] = np.where(frame["y"] > 7, "a", "b")
    holed.to_csv(tmp_path / "data.csv", index=False)
    options = ("--ignore", "kind", "--missing", "impute", "--methods", "omp,LassoCV", "--json")
    done = run("compare", "data.csv", "--target", "y", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {each["method"] for each in json.loads(done.stdout) if each["error"] < 0.7} >= {"omp"}
    done = run(
        "compare", "data.csv", "--target", "kind", "--ignore", "y", "--missing", "impute",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "ridge logistic" in done.stdout
    done = run("check", "data.csv", "--target", "y", *options[:4], "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["features"] == 12
