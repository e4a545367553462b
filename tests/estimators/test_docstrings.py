"""What the docstring of an estimator takes from its bases."""

from ksupport import IHT
from ksupport.estimators.docstrings import Docstring, complete


class Base:
    """A base.

    Parameters
    ----------
    a : int
        Of the base.
    b : int, optional
        Of the base.

    Attributes
    ----------
    c_, d_ : int
        Of the base.
    """


class Derived(Base):
    """A class.

    Parameters
    ----------
    b : str
        Its own.

    Notes
    -----
    The end.
    """


EXPECTED = """A class.

Parameters
----------
b : str, default='x'
    Its own.
a : int, default=1
    Of the base.

Attributes
----------
c_, d_ : int
    Of the base.

Notes
-----
The end.
"""


def test_the_nearest_description_counts_in_the_order_of_the_signature_and_with_defaults():
    docs = [Docstring.of(Derived), Docstring.of(Base)]
    assert complete(docs, {"b": "x", "a": 1}) == EXPECTED


def test_parameters_that_a_class_does_not_have_are_left_out():
    assert "a : int" not in complete([Docstring.of(Base)], {"b": None})


def test_a_method_describes_the_parameters_of_its_estimator():
    assert "‖g_S‖²/‖X g_S‖²" in IHT.__doc__  # the normalised step, as `IHTMethod` has it
    assert IHT.__doc__.index("step :") < IHT.__doc__.index("max_iter :")
