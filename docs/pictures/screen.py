"""The report of the command in the README, as a browser shows it."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from style import write_small

_REPORT = Path(__file__).resolve().parents[2] / "src" / "bahsic" / "report"
_WIDTH, _HEIGHT = 1000, 860
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
# Without a profile or a sandbox, so that it also runs as root and in a container.
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
)

COMMANDS = (
    "datasets breast_cancer -o tumours.csv",
    "select tumours.csv --target diagnosis --report tumours.html",
)


def _report(path: Path) -> None:
    """Run the two commands in an empty folder and photograph the top of the page."""
    browser = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise FileNotFoundError("no Chromium here (Debian: chromium)")
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            _run([sys.executable, "-m", "bahsic", *command.split()], folder)
        # Higher than what is kept: the lowest lines of such a picture may be empty.
        size = f"--window-size={_WIDTH},{_HEIGHT + 200}"
        page, picture = Path(folder, "tumours.html").as_uri(), Path(folder, "whole.png")
        _run([browser, *_OPTIONS, f"--user-data-dir={folder}/profile", size, f"--screenshot={picture}", page], folder)
        _cut(picture)
        write_small(picture, path)


def _run(command: list[str], folder: str) -> None:
    import bahsic

    source = str(Path(bahsic.__file__).parents[1])  # also where the package isn't installed
    environment = {**os.environ, "PYTHONPATH": source, "PYTHONWARNINGS": "ignore"}
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, timeout=300)  # noqa: S603


def _cut(picture: Path) -> None:
    from PIL import Image

    with Image.open(picture) as image:
        part = image.crop((0, 0, _WIDTH, _HEIGHT))
    part.save(picture)


PICTURES = {
    "report.png": (
        _report,
        _WIDTH,
        _HEIGHT,
        *sorted(p for p in _REPORT.iterdir() if p.suffix in {".css", ".j2", ".js"}),
    )
}
