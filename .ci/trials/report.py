"""A page."""

import subprocess
import sys
from pathlib import Path

subprocess.run([sys.executable, "-m", "bahsic", "demo", "--report", "demo.html"], check=True, capture_output=True)
assert "<svg" in Path("demo.html").read_text(encoding="utf-8")
