"""A page about a selection from arrays."""

import subprocess
import sys
from pathlib import Path

import numpy as np

from bahsic.datasets import make_xor

X, y, support = make_xor(100, 6, random_state=0)
np.savez("xor.npz", X=X, y=y)
words = ["select", "xor.npz", "-k", "2", "--report", "xor.html", "--quiet"]
subprocess.run([sys.executable, "-m", "bahsic", *words], check=True, stdout=subprocess.DEVNULL)
assert "<svg" in Path("xor.html").read_text(encoding="utf-8")
