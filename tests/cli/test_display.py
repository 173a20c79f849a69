"""A window whose display goes away says where the rows are, and exits with 3."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from program import BINARY, Report

report = Report()


def window_without_display(folder):
    read, write = os.pipe()
    display = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24"], pass_fds=[write],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        number = os.read(read, 64).decode().strip()
        if not number:
            print("Xvfb does not start here")
            sys.exit(77)
        environment = {**os.environ, "DISPLAY": ":" + number, "ATTNSCOPE_TIMINGS": "1", "XDG_DATA_HOME": str(folder),
                       "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
        environment.pop("WAYLAND_DISPLAY", None)
        words = folder / "words"
        with open(words, "w") as stderr:
            window = subprocess.Popen([BINARY], stderr=stderr, stdout=subprocess.DEVNULL, env=environment)
        end = time.monotonic() + 90
        while "first frame" not in words.read_text() and window.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        if window.poll() is not None and "No window can be opened" in words.read_text():
            print("no window opens here: " + words.read_text())
            sys.exit(77)
        report.check("first frame" in words.read_text(), f"no frame was drawn: {words.read_text()}")
        display.kill()
        code = window.wait(timeout=60)
        said = words.read_text()
        report.check(code == 3, f"exit {code}, not 3: {said}")
        report.check("The display is gone" in said, f"it does not say why: {said}")
        report.check(str(folder / "attnscope" / "runs") in said, f"it does not say where the rows are: {said}")
    finally:
        display.kill()
        display.wait()


if shutil.which("Xvfb") is None:
    print("Xvfb is not installed")
    sys.exit(77)
with tempfile.TemporaryDirectory() as name:
    window_without_display(pathlib.Path(name))
report.exit(least=4)
