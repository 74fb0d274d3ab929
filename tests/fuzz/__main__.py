"""Random attacks, seeded and bounded in time: `make fuzz`, longer by `make fuzz ARGS="--minutes 10 --seed 7"`.

Cases are numbered; a case depends on the part, the seed and its number alone. A failure prints how to run it alone.
"""

import argparse
import importlib
import os
import sys
import tempfile
import time
from collections import Counter

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"  # threads do not survive a fork

import numpy as np  # noqa: E402 (the environment has to be set before)

from fuzz.apart import Outcome, apart  # noqa: E402

# The parts, and the share of the time that each gets.
PARTS = {"files": 0.35, "texts": 0.2, "inference": 0.2, "selections": 0.25}


def _parsed():
    parser = argparse.ArgumentParser(description=__doc__, prog="make fuzz")
    parser.add_argument("--minutes", type=float, default=2.0, help="of all parts together (default: 2)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=PARTS, action="append", help="default: all")
    parser.add_argument("--cases", type=int, help="of each part, however long they take")
    parser.add_argument("--case", type=int, help="run one case alone, with its whole message")
    return parser.parse_args()


def _case(part, seed, number, folder):
    return part.case(np.random.default_rng([seed, number]), folder, number)


def _run(name, options, seconds):
    """Run cases of a part until its time is over; the counts of outcomes."""
    part, counts = importlib.import_module(f"fuzz.{name}"), Counter()
    with tempfile.TemporaryDirectory() as folder:
        prepared = apart(part.prepare, folder) if hasattr(part, "prepare") else Outcome("fine")
        if prepared.kind != "fine":
            sys.exit(f"{name}: no preparation: {prepared.text}")
        end, number = time.monotonic() + seconds, options.case or 0
        while time.monotonic() < end if options.cases is None else number < options.cases:
            outcome = apart(_case, part, options.seed, number, folder)
            counts[outcome.kind] += 1
            if outcome.kind == "fault":
                print(f'{name}: make fuzz ARGS="--part {name} --seed {options.seed} --case {number}"')
            if outcome.kind == "fault" or options.case is not None:
                print(f"    {outcome.kind}\n{outcome.text}".strip().replace("\n", "\n    "), flush=True)
            number += 1
            if options.case is not None:
                break
    return counts


def main():
    """Run the parts and print a table; the exit status tells of faults."""
    options = _parsed()
    chosen = options.part or list(PARTS)
    share = sum(PARTS[name] for name in chosen)
    rows = {name: _run(name, options, 60 * options.minutes * PARTS[name] / share) for name in chosen}
    print(f"\n{'part':<12} {'cases':>7} {'fine':>7} {'refused':>7} {'faults':>7}")
    for name, counts in rows.items():
        kinds = " ".join(f"{counts[kind]:>7}" for kind in ("fine", "refused", "fault"))
        print(f"{name:<12} {counts.total():>7} {kinds}")
    return int(any(counts["fault"] for counts in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
