"""Makes the release archive of a program that is already built: python3 packaging/archive.py PROGRAM FOLDER TARGET.

A program for Linux with glibc has the oldest glibc that it runs on in the archive's name.
"""

import pathlib
import sys
import tarfile
import tempfile
import subprocess
import zipfile

from wheel import ROOT, glibc, version


def main():
    program, folder, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    stem = f"bourse-{version()}-{target}"
    if target.endswith("-linux-gnu"):
        major, minor = glibc(program)
        stem += f"-glibc{major}.{minor}"
    files = {program.name: program}
    files |= {name: ROOT / name for name in ("LICENSE-APACHE", "LICENSE-MIT")}
    with tempfile.TemporaryDirectory() as made:
        for name in ("README.md", "CHANGELOG.md"):
            files[name] = pathlib.Path(made) / name
            files[name].write_text(unlinked(name))
        if "windows" not in target:
            # The program writes its own manual pages and completions; it runs here unless it was built for another platform.
            manual = pathlib.Path(made) / "man"
            subprocess.run([program, "man", manual], check=True)
            files |= {f"man/{page.name}": page for page in sorted(manual.iterdir())}
            for shell in ("bash", "fish", "zsh"):
                script = pathlib.Path(made) / f"bourse.{shell}"
                printed = subprocess.run([program, "completions", shell], check=True, capture_output=True)
                script.write_bytes(printed.stdout)
                files[f"completions/{script.name}"] = script
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (f"{stem}.zip" if "windows" in target else f"{stem}.tar.gz")
        if path.suffix == ".zip":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, file in files.items():
                    archive.write(file, f"{stem}/{name}")
        else:
            with tarfile.open(path, "w:gz") as archive:
                for name, file in files.items():
                    archive.add(file, f"{stem}/{name}")
    print(path)


if __name__ == "__main__":
    main()
