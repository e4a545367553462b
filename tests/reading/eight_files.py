"""Eight files as people have them, written to the folder that one is in."""

import numpy as np
import pandas as pd

N, D = 40, 12
NAMES = [f"gene{j}" for j in range(D)]


def numbers():
    """A response of two of the genes."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.standard_normal((N, D)).round(3), columns=NAMES)
    frame["y"] = (2 * frame.gene0 - 2 * frame.gene5 + 0.3 * rng.standard_normal(N)).round(3)
    return frame


def two_sheets(table):
    ids = [f"s{i}" for i in range(N)]
    with pd.ExcelWriter("book.xlsx") as book:
        table[NAMES].assign(sample=ids).to_excel(book, sheet_name="expression", index=False)
        pd.DataFrame({"sample": ids[::-1], "y": table.y[::-1]}).to_excel(
            book, sheet_name="samples", index=False
        )
    return "book.xlsx"


def tabs(table):
    table.to_csv("data.txt", sep="\t", index=False)
    return "data.txt"


def decimal_commas(table):
    table.to_csv("data.csv", sep=";", decimal=",", index=False)
    return "data.csv"


def duplicates(table):
    names = ["gene0" if name == "gene7" else name for name in NAMES]
    table.set_axis([*names, "y"], axis=1).to_csv("data.csv", index=False)
    return "data.csv"


def ids(table):
    dates = pd.date_range("2020-01-01", periods=N).astype(str)
    names = [f"patient {i}" for i in range(N)]
    table.assign(nr=range(101, 101 + N), name=names, visit=dates).to_csv("data.csv", index=False)
    return "data.csv"


def not_determined(table):
    cells = table.astype(object)
    cells.loc[3, "gene2"] = cells.loc[5, "gene8"] = "n.d."
    cells.loc[9, "gene2"] = "<0.5"
    cells.to_csv("data.csv", index=False)
    return "data.csv"


def latin(table):
    table.rename(columns={"gene1": "größe"}).to_csv("data.csv", index=False, encoding="latin-1")
    return "data.csv"


def three_classes(table):
    scores = np.c_[3 * table.gene0, 3 * table.gene5, np.zeros(N)]
    table.assign(y=np.array(["A", "B", "C"])[scores.argmax(axis=1)]).to_csv("data.csv", index=False)
    return "data.csv"
