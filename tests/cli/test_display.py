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


def outlive(display, folder, shown_by):
    """The window on this display, which is then killed. `shown_by`: what names the display to it."""
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment |= {"ATTNSCOPE_TIMINGS": "1", "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder),
                    "XDG_CACHE_HOME": str(folder)} | shown_by
    words = folder / "words"
    with open(words, "w") as stderr:
        window = subprocess.Popen([BINARY], stderr=stderr, stdout=subprocess.DEVNULL, env=environment)
    end = time.monotonic() + 90
    while "first frame" not in words.read_text() and window.poll() is None and time.monotonic() < end:
        time.sleep(0.1)
    if window.poll() is not None and "Cannot open a window" in words.read_text():
        print("no window opens here: " + words.read_text())
        return
    report.check("first frame" in words.read_text(), f"no frame was drawn: {words.read_text()}")
    display.kill()
    code = window.wait(timeout=60)
    said = words.read_text()
    report.check(code == 3, f"exit {code}, not 3: {said}")
    report.check("the display is gone" in said, f"it does not say why: {said}")
    report.check(str(folder / "attnscope" / "runs") in said, f"it does not say where the rows are: {said}")


def x11(folder):
    read, write = os.pipe()
    display = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24"], pass_fds=[write],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        number = os.read(read, 64).decode().strip()
        if not number:
            print("Xvfb does not start here")
            return
        outlive(display, folder, {"DISPLAY": ":" + number})
    finally:
        display.kill()
        display.wait()


def wayland(folder):
    folder.chmod(0o700)
    runtime = {"XDG_RUNTIME_DIR": str(folder)}
    display = subprocess.Popen(["weston", "--backend=headless-backend.so", "--use-gl", "--socket=attn"],
                               env={**os.environ, **runtime}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 20
        while not (folder / "attn").exists() and display.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        if not (folder / "attn").exists():
            print("weston does not start here")
            return
        outlive(display, folder, {"WAYLAND_DISPLAY": "attn"} | runtime)
    finally:
        display.kill()
        display.wait()


for program, lose in (("Xvfb", x11), ("weston", wayland)):
    if shutil.which(program) is None:
        print(f"{program} is not installed")
        continue
    with tempfile.TemporaryDirectory() as name:
        lose(pathlib.Path(name))
if report.checks == 0:
    sys.exit(77)
report.exit(least=4)
