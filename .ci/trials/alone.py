"""Alone: selections with and without compiled loops, the demonstration, and what to install for a report."""

import importlib.util
import re
import subprocess
import sys
from importlib.metadata import requires

from bahsic import BAHSIC
from bahsic.datasets import make_xor
from bahsic.engine.compiled import is_worthwhile

needed = {re.match("[a-z-]+", line)[0] for line in requires("bahsic") if "extra ==" not in line}
assert needed == {"narwhals", "numba", "numpy", "scipy", "scikit-learn", "tqdm"}, needed
others = [name for name in ("dask", "jinja2", "matplotlib", "mne", "pandas") if importlib.util.find_spec(name)]
assert not others, others

X, y, support = make_xor(100, 6, random_state=0)
assert BAHSIC(2).fit(X, y).get_support(indices=True).tolist() == [0, 1]

X, y, support = make_xor(1000, 200, random_state=0)
assert is_worthwhile(0, len(X) ** 2, X.shape[1])
assert BAHSIC(2).fit(X, y).get_support(indices=True).tolist() == [0, 1]

command = [sys.executable, "-m", "bahsic", "demo"]
done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
assert "of 30 features predict diagnosis: ROC AUC 0.9" in done.stdout, done
done = subprocess.run(
    [*command, "--report", "demo.html"], capture_output=True, text=True, encoding="utf-8", check=False
)
assert done.returncode == 1, done
assert 'pip install "bahsic[report]"' in done.stderr, done
