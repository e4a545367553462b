"""What models may look like, and the bound on groups that a walk leaves out."""

import numpy as np
import pytest

from ksupport._kernels.working_set import bound_outside
from ksupport.walking.structure import Structure

LABELS = np.repeat(np.arange(20), 3)[np.random.default_rng(9).permutation(60)]
STRUCTURES = {
    "plain": Structure(),
    "groups": Structure(LABELS),
    "positive": Structure(positive=True),
    "positive groups": Structure(LABELS, True),
    "shared": Structure(targets=3),
    "shared positive groups": Structure(LABELS, True, 3),
}


@pytest.mark.parametrize("name", list(STRUCTURES))
@pytest.mark.parametrize("near", [1e-6, 0.1, 3.0])
def test_no_group_left_out_exceeds_the_bound(name, near):
    structure, rng = STRUCTURES[name], np.random.default_rng(1)
    q, n, d = structure.targets, 20, 60
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d))
    refs = rng.standard_normal((4, q * n))

    def products(U):
        return (U.reshape(-1, n) @ X).reshape(len(U), q * d)

    sides = structure.sides(products(refs))
    edges = np.column_stack([side.max(axis=1) for side in sides])
    reach = float(structure.norms(np.linalg.norm(X, axis=0)).max())
    for scale in (-2.0, 1.0, 1e5):
        u = scale * (refs[2] + near * rng.standard_normal(q * n))
        bound = bound_outside(u, refs, edges, reach)
        largest = structure.sides(products(u[None]))[0].max()
        assert largest <= bound * (1 + 1e-12)
        cauchy = reach * np.linalg.norm(u)
        assert bound <= max(cauchy, abs(scale) * (edges.max() + reach * near * 20)) * (1 + 1e-9)


def test_sizes_are_those_of_whole_groups():
    structure, rng = Structure(LABELS, True, 2), np.random.default_rng(2)
    product = rng.standard_normal((1, 120))
    negative, positive = structure.sides(product)
    W = product.reshape(2, 60)
    for g in range(20):
        part = W[:, g == LABELS]
        np.testing.assert_allclose(
            negative[0, g == LABELS], np.linalg.norm(np.minimum(part, 0)), rtol=1e-14
        )
        np.testing.assert_allclose(
            positive[0, g == LABELS], np.linalg.norm(np.maximum(part, 0)), rtol=1e-14
        )


def test_groups_are_numbered_anew_on_some_features():
    structure = Structure(np.array([0, 0, 1, 2, 2, 3]))
    np.testing.assert_array_equal(structure.on(np.array([2, 3, 5])), [0, 1, 2])
    assert structure.count(6) == 4
    assert structure.largest(2) == 4
    assert structure.picked((0, 1, 3)) == 2
    assert Structure().on(np.arange(3)).size == 0
    np.testing.assert_array_equal(Structure(targets=2).on(np.array([4, 7])), [0, 1])
