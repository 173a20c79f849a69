"""The window on a display: it draws nothing while nothing changes, and opens the kernel that the command names.

Skipped where Xvfb is not installed."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from display import Display, missing, wait_for_frame
from program import BINARY, Report

report = Report()
SKIPPED = 77


def window(display, home, *arguments):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "WAYLAND"))}
    environment |= {"DISPLAY": display.name, "HOME": str(home), "ATTNSCOPE_TIMINGS": "1"}
    return subprocess.Popen([BINARY, *arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            text=True)


def seconds_of_cpu(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def settle(process, most=150):
    """A sanitizer makes reading the bundled sessions, once and beside the window, take tens of seconds."""
    end = time.monotonic() + most
    while time.monotonic() < end:
        before = seconds_of_cpu(process)
        time.sleep(1)
        if seconds_of_cpu(process) - before < 0.02:
            return


def idle(home):
    display = Display()
    process = window(display, home)
    if not wait_for_frame(process):
        display.end()
        print("no window can be opened here:", process.stderr.read())
        sys.exit(SKIPPED)
    time.sleep(7)  # the layout is saved once it has rested
    if os.environ.get("ATTNSCOPE_SANITIZED"):
        settle(process)
    before = seconds_of_cpu(process)
    time.sleep(3)
    used = seconds_of_cpu(process) - before
    process.send_signal(signal.SIGTERM)
    _, words = process.communicate(timeout=20)
    display.end()
    report.check(process.returncode == 0, f"exit {process.returncode}: {words}")
    made = [int(line.split()[0]) for line in words.splitlines() if "frames made" in line]
    report.check(len(made) == 1 and made[0] < 20, f"an idle window made frames: {words}")
    report.check(used < 0.06, f"an idle window used {used:.2f} s of the processor in 3 s")


def opens_a_kernel(home):
    """`attnscope FILE.cu`: what was opened stands in the list of files of late, and what was refused does not."""
    template = subprocess.run([BINARY, "list", "--template"], capture_output=True, text=True, check=True).stdout
    good, wrong = home / "mine.cu", home / "wrong.cu"
    good.write_text(template, encoding="utf-8")
    wrong.write_text(template.replace('"api": 1', '"api": 9'), encoding="utf-8")
    recent = home / ".local/share/attnscope/recent"
    display = Display()
    for file in (wrong, good):
        process = window(display, home, str(file))
        report.check(wait_for_frame(process), f"no window with {file.name}")
        end = time.monotonic() + (60 if file == good else 1)
        while time.monotonic() < end and not recent.exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, words = process.communicate(timeout=240)
        report.check(process.returncode == 0, f"{file.name}: exit {process.returncode}: {words}")
    display.end()
    opened = recent.read_text(encoding="utf-8").splitlines() if recent.exists() else []
    report.check(opened == [str(good)], f"opened: {opened}")


if missing():
    print(missing())
    sys.exit(SKIPPED)
with tempfile.TemporaryDirectory() as name:
    idle(pathlib.Path(name))
with tempfile.TemporaryDirectory() as name:
    opens_a_kernel(pathlib.Path(name))
report.exit(least=8)
