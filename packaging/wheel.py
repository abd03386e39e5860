"""Makes a Python wheel of a program that is already built: python3 packaging/wheel.py PROGRAM FOLDER [PLATFORM].

The wheel has the module `bourse` of `packaging/python`. The program is a script of it, so that installing puts it on the path.
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

# `bourse` is taken in the Python index.
NAME = "bourse-bench"
ROOT = pathlib.Path(__file__).resolve().parent.parent


def version():
    """The workspace's version."""
    manifest = (ROOT / "Cargo.toml").read_text()
    return re.search(r'^version = "([^"]+)"', manifest, re.MULTILINE).group(1)


def glibc(program):
    """The newest glibc that a symbol of the program needs, as (2, 36)."""
    symbols = subprocess.run(["objdump", "-T", program], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"GLIBC_(\d+)\.(\d+)", symbols)
    return max((int(major), int(minor)) for major, minor in found)


def platform_of(program):
    """The wheel's platform tag of a Linux program."""
    machine = {62: "x86_64", 183: "aarch64"}[int.from_bytes(pathlib.Path(program).read_bytes()[18:20], "little")]
    major, minor = glibc(program)
    return f"manylinux_{major}_{minor}_{machine}"


def unlinked(name):
    """A page of the sources without pictures, and without links to files: only a clone has those."""
    text = re.sub(r"!\[[^]]*\]\([^)]*\)\n*", "", (ROOT / name).read_text())
    return re.sub(r"\[([^]]*)\]\((?!https?:)[^)]*\)", r"\1", text)


def record(name, content):
    """A line of the wheel's list of files."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def main():
    program, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    platform = sys.argv[3] if len(sys.argv) > 3 else platform_of(program)
    stem = f"{NAME.replace('-', '_')}-{version()}"
    script = "bourse.exe" if program.suffix == ".exe" else "bourse"
    metadata = (
        f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version()}\n"
        "Summary: A benchmark for embedded and in-memory databases\n"
        "License: MIT OR Apache-2.0\nRequires-Python: >=3.9\n"
        "Keywords: database,benchmark,sqlite,embedded,tpc-e\n"
        "Classifier: Framework :: Pytest\nClassifier: Topic :: Database\nClassifier: Typing :: Typed\n"
        "Provides-Extra: arrow\nRequires-Dist: pyarrow; extra == 'arrow'\n"
        "Description-Content-Type: text/markdown\n\n" + unlinked("README.md")
    )
    wheel = f"Wheel-Version: 1.0\nGenerator: packaging/wheel.py\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n"
    module = ROOT / "packaging/python"
    sources = sorted(path for path in module.glob("bourse/*") if path.is_file())
    files = [(path.relative_to(module).as_posix(), path.read_bytes(), 0o644) for path in sources] + [
        (f"{stem}.data/scripts/{script}", program.read_bytes(), 0o755),
        (f"{stem}.dist-info/licenses/LICENSE-APACHE", (ROOT / "LICENSE-APACHE").read_bytes(), 0o644),
        (f"{stem}.dist-info/licenses/LICENSE-MIT", (ROOT / "LICENSE-MIT").read_bytes(), 0o644),
        (f"{stem}.dist-info/METADATA", metadata.encode(), 0o644),
        (f"{stem}.dist-info/WHEEL", wheel.encode(), 0o644),
        (f"{stem}.dist-info/entry_points.txt", b"[pytest11]\nbourse = bourse.pytest_plugin\n", 0o644),
    ]
    listed = "".join(record(name, content) for name, content, _ in files)
    files.append((f"{stem}.dist-info/RECORD", f"{listed}{stem}.dist-info/RECORD,,\n".encode(), 0o644))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}-py3-none-{platform}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, mode in files:
            # A fixed time, so that the same program makes the same wheel.
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.external_attr = (0o100000 | mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    print(path)


if __name__ == "__main__":
    main()
