"""The set-up's manners, with tools that are doubles: Ctrl+C in apt, in a download and in a build; an update that
reached nobody; what is half there. Nothing is installed or downloaded."""

import os
import pathlib
import pty
import select
import shlex
import subprocess
import sys
import tempfile
import textwrap
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETUP = ROOT / "app" / "setup"
failures, checks = [], 0


def check(right, words):
    global checks
    checks += 1
    if not right:
        failures.append(words)


class Place:
    """A folder with doubles of tools first in PATH, a home and a cache."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.bin = self.folder / "bin"
        for made in (self.bin, self.folder / "tmp"):
            made.mkdir()
        self.env = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.folder), "TMPDIR": str(self.folder / "tmp"),
                    "LANG": "C.UTF-8", "CALLS": str(self.folder / "calls")}

    def tool(self, name, text):
        path = self.bin / name
        path.write_text("#!/bin/bash\n" + textwrap.dedent(text), encoding="utf-8")
        path.chmod(0o755)

    def calls(self):
        path = self.folder / "calls"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def left(self):
        return [p.name for p in (self.folder / "tmp").iterdir()]

    def shell(self, words):
        library = shlex.quote(str(SETUP / "lib.sh"))
        return ["bash", "-c", f"set -Eeuo pipefail\nsource {library}\nstep 'One step'\n{words}\nsay 'went on'\n"]

    def run(self, command):
        return subprocess.run(command, env=self.env, capture_output=True, text=True, check=False, timeout=60)

    def interrupted(self, command, after):
        """Runs it on a terminal, types Ctrl+C once `after` is seen; returns its exit code and words."""
        child, terminal = pty.fork()
        if child == 0:
            os.execvpe(command[0], command, self.env)
        said, sent, end = b"", False, time.monotonic() + 60
        while time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    came = os.read(terminal, 65536)
                except OSError:
                    break
                if not came:
                    break
                said += came
            if not sent and after.encode() in said:
                time.sleep(0.2)
                os.write(terminal, b"\x03")
                sent = True
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said.decode(errors="replace")


def stopped(place, command, after, name):
    code, said = place.interrupted(command, after)
    check(code == 130, f"{name}: exit {code}: {said[-400:]}")
    check("Rerun the same command to resume" in said, f"{name} does not say to run again: {said[-400:]}")
    check("went on" not in said and "remove" not in said, f"{name}: {said[-400:]}")
    check(not place.left(), f"{name} leaves {place.left()}")


def root_alone(place):
    """Packages are installed as root, or by a sudo that is a double too."""
    place.tool("sudo", 'if [[ $1 == -n ]]; then shift; fi\nexec "$@"\n')
    place.tool("dpkg-query", "exit 0\n")
    (place.folder / "list").write_text("zzz-one  why\nzzz-two\n", encoding="utf-8")
    return place.shell(f"install_packages {place.folder}/list")


def apt(place):
    command = root_alone(place)
    place.tool("apt-get", 'echo "$*" >>"$CALLS"\necho fetching\ntrap "exit 100" INT\nsleep 20\n')
    stopped(place, command, "fetching", "apt")
    check(len(place.calls()) == 1, f"apt was called again after Ctrl+C: {place.calls()}")
    # Offline: the install fails, then the update, whose words are shown.
    place.tool("apt-get", """\
        echo "$*" >>"$CALLS"
        if [[ $* == *update* ]]; then
          echo "Could not resolve 'deb.example'"
          [[ $* == *Error-Mode=any* ]] && exit 100
          exit 0
        fi
        echo "E: Unable to locate package zzz-one"
        exit 100
        """)
    done = place.run(command)
    check(done.returncode == 1 and "Could not resolve" in done.stderr, f"offline: {done.stderr[-600:]}")
    check("apt-get update && apt-get install --no-install-recommends zzz-one zzz-two" in done.stderr,
          f"by hand: {done.stderr[-600:]}")
    logs = [name for name in place.left() if name.startswith("attnscope-apt-")]
    check(len(logs) == 1, f"the log of apt: {place.left()}")
    text = (place.folder / "tmp" / logs[0]).read_text(encoding="utf-8") if logs else ""
    check("Unable to locate" in text and "Could not resolve" in text, f"the log was overwritten: {text}")


def build(place):
    place.tool("ninja", """\
        trap 'echo "ninja: build stopped: interrupted by user."; exit 130' INT
        for n in 1 2 3 4 5 6 7 8 9; do echo "[$n of 9, 1 s] Building CXX object a/b$n.o"; sleep 1; done
        """)
    (place.folder / "build").mkdir()
    stopped(place, place.shell(f"build {place.folder}/build"), "b2.o", "a build")


def download(place):
    place.tool("python3", """\
        if [[ $1 != */app/setup/run_module.py || $PWD != */.partial.* ]]; then exit 9; fi
        while (($#)); do if [[ $1 == -d ]]; then folder="$2"; fi; shift; done
        for n in 1 2 3 4 5 6 7 8 9; do head -c 3000000 /dev/zero >>"$folder/part"; sleep 1; done
        """)
    stopped(place, place.shell("gui_sources"), " of 52 MiB", "the download of the GUI sources")
    partial = list((place.folder / ".cache/attnscope/downloads").glob(".partial.*"))
    check(not partial, f"the download leaves {partial}")


def cuda(place):
    """The double of pip "downloads" wheels that hold a header and a library each."""
    place.tool("python3", """\
        # A file of ours, and not in the user's folder: -m would run a pip.py that lies there.
        if [[ $1 != */app/setup/run_module.py || $PWD != */.partial.* ]]; then exit 9; fi
        if [[ $2 == zipfile ]]; then [[ -f $4 ]] || exit 8; cp -R "${4%/*}/wheel" "$5"; exit 0; fi
        while (($#)); do
          if [[ $1 == -d ]]; then folder="$2"; fi
          if [[ $1 == -r ]]; then name="$(sed -n 's/==.*//p' "$2")"; fi
          shift
        done
        echo "$name" >>"$CALLS"
        sleep 0.3
        mkdir -p "$folder/wheel/nvidia/cu13/include" "$folder/wheel/nvidia/cu13/lib" "$folder/wheel/nvidia/cu13/bin"
        echo "program of $name" >"$folder/wheel/nvidia/cu13/bin/${name#nvidia-cuda-}"
        echo "header of $name" >"$folder/wheel/nvidia/cu13/include/$name.h"
        echo "library of $name" >"$folder/wheel/nvidia/cu13/lib/lib${name#nvidia-cuda-}.so.13"
        touch "$folder/$name.whl"
        """)
    command = ["bash", str(SETUP / "fetch_cuda.sh")]
    cache = place.folder / ".cache/attnscope/cuda"
    (cache / ".partial.dead").mkdir(parents=True)
    both = [subprocess.Popen(command, env=place.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for _ in range(2)]
    for one in both:
        said, _ = one.communicate(timeout=60)
        check(one.returncode == 0 and str(cache / "include") in said, f"two at once: {said}")
    check(len(place.calls()) == 4, f"two at once brought {place.calls()}")
    check(not list(cache.glob(".partial.*")), "a dead download's folder stays")
    header = cache / "include" / "nvidia-cuda-cupti.h"
    for spoil in (header.unlink, lambda: header.write_text("cut", encoding="utf-8")):
        spoil()
        done = place.run(command)
        check(done.returncode == 0 and "cupti" in header.read_text(encoding="utf-8"), f"half there: {done.stderr}")
    before = len(place.calls())
    check(place.run(command).returncode == 0 and len(place.calls()) == before, "brought again what was whole")
    libraries = [*command, "--with-nvrtc"]
    check(place.run(libraries).returncode == 0, "--with-nvrtc fails")
    library = place.folder / ".local/share/attnscope/cuda/nvidia/cu13/lib/libnvrtc.so.13"
    library.unlink(missing_ok=True)
    before = len(place.calls())
    place.run(libraries)
    check(library.is_file() and len(place.calls()) == before + 1, f"a missing library: {place.calls()[before:]}")
    beside = library.parent.parent / "include" / "nvidia-cuda-crt.h"
    check(beside.is_file(), "CUDA's headers do not lie beside NVRTC")
    beside.unlink(missing_ok=True)
    before = len(place.calls())
    place.run(libraries)
    check(beside.is_file() and len(place.calls()) == before, "a header beside NVRTC that is gone does not come back")
    program = place.folder / ".local/share/attnscope/cuda/nvidia/cu13/bin/nvdisasm"
    check(not program.exists(), "nvdisasm comes unasked")
    for spoil in (lambda: None, program.unlink, lambda: program.write_text("cut", encoding="utf-8")):
        spoil()
        before = len(place.calls())
        both_options = place.run([*libraries, "--with-nvdisasm"])
        check(both_options.returncode == 0 and "program of" in program.read_text(encoding="utf-8"),
              f"nvdisasm: {both_options.stderr}")
        check(os.access(program, os.X_OK) and len(place.calls()) == before + 1, f"{place.calls()[before:]}")
    before = len(place.calls())
    check(place.run([*command, "--with-nvdisasm"]).returncode == 0 and len(place.calls()) == before,
          "brought nvdisasm again")
    check(place.run([*command, "--other"]).returncode == 2, "an unknown option is taken")


def announced(place):
    place.tool("dpkg-query", "exit 0\n")
    (place.folder / "list").write_text("zzz\n", encoding="utf-8")
    words = place.run(place.shell(f"announce {place.folder}/none/release {place.folder}/list")).stderr
    for part in ("1 packages of the system", "GUI sources", "MB", "minutes on", "of disk"):
        check(part in words, f"what comes lacks {part!r}: {words}")


def main():
    for part in (apt, build, download, cuda, announced):
        with tempfile.TemporaryDirectory() as folder:
            part(Place(folder))
    for failure in failures:
        print("FAILED", failure)
    print(f"{checks} checks, {len(failures)} failures")
    return 1 if failures or checks < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
