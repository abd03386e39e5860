"""Tries a wheel in clean environments: python3 packaging/try_wheel.py WHEEL [PYTHON…].

Each Python gets a virtual environment with the wheel alone, then also pytest, pyarrow, pandas, polars, DuckDB and IPython, as
far as they can be had; the tests of `packaging/python` run in both.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent / "python/tests"
LIBRARIES = ("pytest", "pyarrow", "pandas", "polars", "duckdb", "ipython")


def tried(wheel, python, folder):
    """Runs the tests with a Python."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    bin = folder / ("Scripts" if os.name == "nt" else "bin")
    own = str(bin / "python")
    environment = {name: value for name, value in os.environ.items() if name not in ("BOURSE_PROGRAM", "PYTHONPATH")}
    environment["PATH"] = os.pathsep.join([str(bin), os.environ["PATH"]])
    subprocess.run([own, "-m", "pip", "install", "--quiet", "--no-index", wheel], check=True)
    tests = [own, "-m", "unittest", "-v", "-b", "test_bourse"]
    subprocess.run(tests, check=True, cwd=TESTS, env=environment)
    for library in LIBRARIES:
        installed = subprocess.run([own, "-m", "pip", "install", "--quiet", library])
        if installed.returncode:
            print(f"skipped {library}: it cannot be installed for {python}")
    subprocess.run(tests, check=True, cwd=TESTS, env=environment)


def main():
    wheel = pathlib.Path(sys.argv[1]).resolve()
    for python in sys.argv[2:] or [sys.executable]:
        with tempfile.TemporaryDirectory() as made:
            tried(str(wheel), python, pathlib.Path(made) / "clean")


if __name__ == "__main__":
    main()
