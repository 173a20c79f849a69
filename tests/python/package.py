"""What the tests of the Python package share. Each is a program: exit 0 passed, 77 skipped with the reason printed."""

import ctypes
import importlib
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

LONG = bool(os.environ.get("ATTNSCOPE_LONG_TESTS"))


def wanted(*names):
    """The modules, or the end of the test with the name of the first that is not installed."""
    modules = []
    for name in names:
        try:
            modules.append(importlib.import_module(name))
        except ImportError as error:
            print(f"SKIPPED: {sys.executable} has no {name} ({error})")
            sys.exit(77)
    return modules[0] if len(modules) == 1 else modules


def resident():
    """Bytes of this process in memory, but those that the C library only keeps for the next request."""
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def refused(report, words, call, *kinds):
    """The call raises one of the kinds, and the message begins with the argument."""
    try:
        call()
    except kinds or (ValueError, TypeError) as error:
        report.check(str(error).startswith(words), f"the words begin with '{words}': {error}")
    except BaseException as error:
        report.check(False, f"{words}: {type(error).__name__}: {error}")
    else:
        report.check(False, f"{words}: nothing was raised")


def has_program():
    """The program is beside the package, or named."""
    try:
        importlib.import_module("attnscope.program").path()
    except FileNotFoundError:
        return False
    return True
