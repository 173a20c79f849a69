"""A display of a test's own, and the window on it."""

import os
import shutil
import subprocess


def missing():
    """Why there can be no display here; empty where there can."""
    return "" if shutil.which("Xvfb") else "Xvfb is not installed (xvfb)"


class Display:
    """An X server of our own, on a number that it chooses."""

    def __init__(self):
        read, write = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1440x900x24"],
                                       pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as number:
            self.name = ":" + number.readline().strip()

    def end(self):
        self.server.kill()
        self.server.wait()


def wait_for_frame(process):
    """The first line with words about the first frame; what stood before it is the display's."""
    for line in process.stderr:
        if "first frame" in line:
            return True
    return False
