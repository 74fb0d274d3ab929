"""Completion for a shell."""

import subprocess
import sys

words = [sys.executable, "-m", "bahsic", "completion", "bash"]
assert "complete" in subprocess.run(words, check=True, capture_output=True, text=True).stdout
