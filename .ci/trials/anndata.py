"""Genes of an .h5ad file by the command."""

import subprocess
import sys

import anndata
import pandas as pd

from bahsic.datasets import make_xor

X, y, support = make_xor(100, 6, random_state=0)
cells = pd.DataFrame({"label": y.astype(str)}, index=[f"cell{i}" for i in range(len(y))])
anndata.AnnData(X, cells).write_h5ad("cells.h5ad")
words = ["select", "cells.h5ad", "-t", "label", "-k", "2", "-o", "chosen.h5ad", "--quiet"]
subprocess.run([sys.executable, "-m", "bahsic", *words], check=True, stdout=subprocess.DEVNULL)
assert anndata.read_h5ad("chosen.h5ad").var["hsic_selected"].sum() == 2
