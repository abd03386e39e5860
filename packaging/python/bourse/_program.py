"""The program `bourse`: where it is, how its options are written, how it ends."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Iterator, List, Mapping, NamedTuple, Optional

if TYPE_CHECKING:
    from ._runs import Run

# Name of the distribution: `bourse` is taken in the Python index.
DISTRIBUTION = "bourse-bench"


class Error(Exception):
    """Failure of the program, with its message.

    `exit_code` is the program's; `run` is the stored run, if one was written before the failure.
    """

    def __init__(self, message: str, exit_code: int, run: Optional[Run] = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.run = run


class UsageError(Error):
    """Wrong arguments, a missing file, a round too short: exit code 1."""


class TargetError(Error):
    """The target failed, was lost or is in use, or operations failed: exit code 2."""


class CheckError(Error):
    """A check failed, so the figures are void: exit code 3."""


class NotSteady(Error):
    """Not in steady state with `require_steady=True`: exit code 5."""


class Undecided(Error):
    """Nothing could be decided: exit code 6."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, after the program has ended: exit code 130. `run` has what was measured, if a run was written."""

    def __init__(self, message: str, run: Optional[Run] = None) -> None:
        super().__init__(message)
        self.run = run


_ERRORS = {1: UsageError, 2: TargetError, 3: CheckError, 5: NotSteady, 6: Undecided}


class Ended(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    stdout: str
    stderr: str

    @property
    def folder(self) -> Optional[pathlib.Path]:
        """Folder of the run that was written."""
        files = [line[len("run file: ") :] for line in self.stderr.splitlines() if line.startswith("run file: ")]
        return pathlib.Path(files[-1]).parent if files else None

    @property
    def message(self) -> str:
        """The error with its hints, as the program printed it."""
        lines = self.stderr.splitlines()
        begins = [number for number, line in enumerate(lines) if line.startswith("error: ")]
        text = "\n".join(lines[begins[-1] :])[len("error: ") :] if begins else self.stderr.strip()
        return text or f"bourse ended with exit code {self.code}"

    def error(self, run: Optional[Run] = None) -> BaseException:
        """The failure as an exception."""
        # A signal that came before the program handles it ends it.
        if self.code in (130, -signal.SIGINT):
            return Interrupted(self.message, run)
        return _ERRORS.get(self.code, Error)(self.message, self.code, run)


def program() -> str:
    """Path of the program: that of the variable `BOURSE_PROGRAM`, that of the installed wheel, or the first on the path."""
    given = os.environ.get("BOURSE_PROGRAM")
    if given:
        return given
    try:
        files = importlib.metadata.files(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    installed = (os.path.normpath(file.locate()) for file in files if file.name in ("bourse", "bourse.exe"))
    found = next(filter(os.path.isfile, installed), None) or shutil.which("bourse")
    if found is None:
        raise UsageError("there is no program `bourse`: install the wheel, or name one in BOURSE_PROGRAM", 1)
    return found


def words(options: Mapping[str, Any]) -> Iterator[str]:
    """Options as the program takes them.

    >>> list(words({"users": 4, "for_": "2s", "no_wait": True, "seed": None}))
    ['--users=4', '--for=2s', '--no-wait']
    >>> list(words({"set": {"rows": 1000}, "sweep": {"sync": ["off", "full"]}}))
    ['--set=rows=1000', '--sweep=sync=off,full']
    """
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            yield option
        elif isinstance(value, Mapping):
            for key, one in value.items():
                several = isinstance(one, (list, tuple))
                yield f"{option}={key}={','.join(map(str, one)) if several else one}"
        elif isinstance(value, (list, tuple)):
            yield from (f"{option}={one}" for one in value)
        else:
            yield f"{option}={value}"


def execute(*arguments: str, quiet: bool = False, output: Optional[str] = None) -> Ended:
    """Runs the program to its end. Progress goes to `sys.stderr` as it comes, unless `quiet`. Results go to the folder `output`,
    which is no part of the command that the run stores.

    Ctrl-C is passed on: the program finishes what it began and writes what was measured; a second one ends it immediately.
    """
    printed: List[bytes] = []
    shows = not quiet
    environment = None if output is None else {**os.environ, "BOURSE_OUTPUT": output}
    with tempfile.TemporaryFile() as stdout:
        child = subprocess.Popen(
            [program(), *arguments], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, env=environment
        )
        assert child.stderr is not None
        try:
            while True:
                try:
                    line = child.stderr.readline()
                    if not line:
                        break
                    printed.append(line)
                    # The error is the exception's.
                    shows = shows and not line.startswith(b"error: ")
                    if shows:
                        sys.stderr.write(line.decode(errors="replace"))
                except KeyboardInterrupt:
                    # A terminal signals both; the program takes signals so close together for one.
                    if os.name == "posix":
                        child.send_signal(signal.SIGINT)
            code = child.wait()
        except BaseException:
            child.terminate()
            raise
        finally:
            child.stderr.close()
        stdout.seek(0)
        text = stdout.read().decode(errors="replace")
    return Ended(code, text, b"".join(printed).decode(errors="replace"))


def call(*arguments: str, **options: Any) -> str:
    """Runs any command and returns what it prints: `bourse.call("engines", json=True)`.

    Raises `Error` unless the exit code is 0.
    """
    ended = execute(*arguments, *words(options))
    if ended.code != 0:
        raise ended.error()
    return ended.stdout
