"""The attnscope program in this package: where it is, and how to run it."""

import os
import pathlib
import subprocess
import sys

__all__ = ["main", "path", "run"]


def path():
    """Returns the program's path: ``ATTNSCOPE_BINARY``, or the program next to this package.

    Raises FileNotFoundError if there is neither.

    >>> import attnscope.program
    >>> attnscope.program.path().name
    'attnscope'
    """
    named = os.environ.get("ATTNSCOPE_BINARY")
    found = pathlib.Path(named) if named else pathlib.Path(__file__).resolve().parent / "bin" / "attnscope"
    if not found.is_file():
        raise FileNotFoundError(
            f"The program is not at {found}: install the wheel, or set ATTNSCOPE_BINARY to the program's path."
        )
    return found


def run(*arguments, timeout=None):
    """Runs a command of the program and returns its stdout as text.

    arguments: the command line, each argument converted to a string.
    timeout: seconds; None: no limit. After that, the program is stopped and subprocess.TimeoutExpired is raised.

    Raises ValueError if the program rejects its arguments (exit 2), and RuntimeError if it fails otherwise; the message
    is the program's own.

    >>> import attnscope.program
    >>> attnscope.program.run("list").splitlines()[0].split()[:2]
    ['rung', 'kernel']
    """
    done = subprocess.run(
        [str(path()), *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode == 0:
        return done.stdout
    words = done.stderr.strip() or f"attnscope exited with status {done.returncode}"
    raise (ValueError if done.returncode == 2 else RuntimeError)(words)


def main():
    """The command ``attnscope``: replaces this process with the program."""
    try:
        program = path()
    except FileNotFoundError as error:
        sys.exit(str(error))
    os.execv(program, [str(program), *sys.argv[1:]])
