"""Cox's partial likelihood as its definition says, term by term: quadratic in the rows."""

import numpy as np


def terms(y, eta, weights, efron):
    """Weight of each term, and what each row has of the risk there: terms x rows."""
    time, event = y[:, 0], y[:, 1] > 0
    stratum = y[:, 2] if y.shape[1] > 2 else np.zeros(len(y))
    risk, found = weights * np.exp(eta), []
    for s, t in sorted({(s, t) for s, t in zip(stratum[event], time[event], strict=True)}):
        tied = event & (stratum == s) & (time == t)
        parts = tied.sum() if efron else 1
        for part in range(parts):
            here = risk * ((stratum == s) & (time >= t))
            here[tied] *= 1 - part / parts
            found.append((weights[tied].sum() / parts, here))
    return np.array([w for w, _ in found]), np.array([row for _, row in found])


def gradient(y, eta, weights, efron):
    w, risks = terms(y, eta, weights, efron)
    return w @ (risks / risks.sum(1, keepdims=True)) - weights * y[:, 1]


def hessian(y, eta, weights, efron):
    w, risks = terms(y, eta, weights, efron)
    H = np.zeros((len(y), len(y)))
    for weight, row in zip(w, risks, strict=True):
        p = row / row.sum()
        H += weight * (np.diag(p) - np.outer(p, p))
    return H


def added(y, eta, weights, new_y, new_eta):
    """By how much each new row, alone, raises minus the log partial likelihood; Breslow's ties."""
    stratum = y[:, 2] if y.shape[1] > 2 else np.zeros(len(y))
    new_stratum = new_y[:, 2] if y.shape[1] > 2 else np.zeros(len(new_y))
    out = np.zeros(len(new_y))
    for j, (time, event) in enumerate(new_y[:, :2]):
        same = stratum == new_stratum[j]
        for t in np.unique(y[same & (y[:, 1] > 0), 0]):
            at = same & (y[:, 0] >= t)
            weight = weights[same & (y[:, 0] == t) & (y[:, 1] > 0)].sum()
            if time >= t:
                total = np.logaddexp.reduce(eta[at] + np.log(weights[at]))
                out[j] += weight * np.logaddexp(0.0, new_eta[j] - total)
        at = same & (y[:, 0] >= time)
        if event and at.any():
            total = np.logaddexp.reduce(eta[at] + np.log(weights[at]))
            out[j] += np.logaddexp(0.0, total - new_eta[j])
    return out
