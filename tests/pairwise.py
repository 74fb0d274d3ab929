"""Fewer combinations of parameters: any two values of two parameters meet, not each with all others at once."""

from itertools import combinations, product

import pytest

ENGINES = ["reference", "loops"]  # of the fixture `engine`


def pairwise(**parameters):
    """Mark that runs a test on few combinations of its parameters, in which all pairs of values occur.

    What only three values together break may stay unseen, so parameters that depend on each other belong in one,
    as tuples. ``engine=ENGINES`` is for tests that use the fixture `engine`: fewer cases than all with each engine.
    """
    values = [list(choices) for choices in parameters.values()]
    cases = [case_of(values, row) for row in covering([len(choices) for choices in values])]
    return pytest.mark.parametrize(list(parameters), cases, indirect=list(parameters.keys() & {"engine"}))


def covering(sizes):
    """Rows of indices below the sizes: any two columns contain all pairs.

    Greedy: of all rows, the one with most pairs that are still missing comes next.
    """
    table = list(product(*map(range, sizes)))
    missing = set().union(*map(pairs_of, table))
    rows = []
    while missing:
        rows.append(max(table, key=lambda row: len(missing & pairs_of(row))))
        missing -= pairs_of(rows[-1])
    return rows


def pairs_of(row):
    return set(combinations(enumerate(row), 2))


def case_of(values, row):
    case = [choices[i] for choices, i in zip(values, row, strict=True)]
    return pytest.param(*case, id="-".join(map(value_id, case, row)))


def value_id(value, index):
    """Text of a value, or its index where the text has an address."""
    text = getattr(value, "__name__", str(value))
    return str(index) if " at 0x" in text or text == "<lambda>" else text
