"""From one format to another by the command."""

import subprocess
import sys

import pandas as pd

command = [sys.executable, "-m", "bahsic"]
subprocess.run([*command, "datasets", "breast_cancer", "-o", "table.csv", "--quiet"], check=True)
table = pd.read_csv("table.csv")
table.to_parquet("table.parquet")
table.to_excel("table.xlsx", index=False)
for name in ("table.parquet", "table.xlsx"):
    words = ["select", name, "-t", table.columns[-1], "-k", "3", "-o", "chosen.parquet", "--quiet"]
    subprocess.run([*command, *words], check=True, stdout=subprocess.DEVNULL)
    assert pd.read_parquet("chosen.parquet").shape == (569, 4)
