"""Build the wheel and the source distribution, and try each in empty environments: alone, and with every extra.

``python .ci/packages.py`` tries all; names choose: ``python .ci/packages.py alone dask``.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# For developers of bahsic, not for its users: these are installed from a clone.
_INNER = {"experiments"}

# What has to work with an extra, and beside these alone.py: what has to work alone.
_TRIALS = {path.stem: path for path in sorted(Path(__file__).with_name("trials").glob("*.py"))}


def main() -> int:
    """Build, look into the files, and try what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(_TRIALS)}; default: all")
    names = parser.parse_args().names or list(_TRIALS)
    if unknown := set(names) - _TRIALS.keys():
        parser.error(f"NAME is {min(unknown)!r}; accepted: {', '.join(_TRIALS)}")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    if extras.keys() - _INNER != _TRIALS.keys() - {"alone"}:
        sys.exit(f"extras are {sorted(extras.keys() - _INNER)}; tried are {sorted(_TRIALS)}")
    with tempfile.TemporaryDirectory() as folder:
        wheel, source = _built(Path(folder))
        _look_into(wheel, source)
        _try("alone", source, Path(folder) / "source", None)
        alone = _try("alone", wheel, Path(folder) / "alone", None)
        for name in names:
            if name != "alone":
                _try(name, wheel, Path(folder) / name, alone)
    return 0


def _built(folder: Path) -> tuple[Path, Path]:
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], check=True, capture_output=True)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def _look_into(wheel: Path, source: Path) -> None:
    """The wheel has every file of the package and nothing else; the source has the tests beside."""
    listed = subprocess.run(["git", "ls-files", "src", "tests"], cwd=ROOT, check=True, capture_output=True, text=True)
    tracked = set(listed.stdout.splitlines())
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    ours = {name.removeprefix("src/") for name in tracked if name.startswith("src/")}
    if packed != ours:
        sys.exit(f"{wheel.name} and the package differ in {sorted(packed ^ ours)}")
    with tarfile.open(source) as archive:
        missing = tracked - {name.partition("/")[2] for name in archive.getnames()}
    if missing:
        sys.exit(f"{source.name} lacks {sorted(missing)}")


def _try(name: str, package: Path, place: Path, base: Path | None) -> Path:
    """Run the trial of an extra in an empty folder, and in an environment of its own, where the package has it.

    It is an empty one, or a copy of that of the package alone. Returns the environment.
    """
    print(f"{package.name}: {name}", flush=True)
    environment = place / "venv"
    if base is None:
        venv.create(environment, with_pip=True)
    else:
        shutil.copytree(base, environment, symlinks=True, copy_function=os.link)  # what pip changes it writes anew
    python = next(path for path in (environment / "bin/python", environment / "Scripts/python.exe") if path.exists())
    wanted = str(package) if name == "alone" else f"{package}[{name}]"
    # Most of what is installed is never imported here: it need not be compiled.
    options = ["-q", "-q", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([python, "-m", "pip", "install", *options, wanted], check=True)
    subprocess.run([python, "-I", _TRIALS[name]], check=True, cwd=place)
    return environment


if __name__ == "__main__":
    sys.exit(main())
