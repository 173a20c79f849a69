"""Which files Python runs where AttnScope starts it: those of the Python that the user has, and never those that lie in
the current folder, whatever PYTHONPATH says. torch is found in a venv, in the user's site and behind a script. The
window starts no Python.

With the Python that runs this; under the long lists on the oldest (3.8, which knows importlib.metadata) and the newest
that are here, with every PYTHONPATH.
"""

import csv
import io
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from display import Display, missing, wait_for_frame
from program import BINARY, Report, run

report = Report()
LONG = bool(os.environ.get("ATTNSCOPE_LONG_TESTS"))
OLDEST = (3, 8)
# What Python and our scripts import by name, and what it imports by itself.
TRAPS = ("csv.py", "importlib/__init__.py", "importlib/metadata.py", "importlib/util.py", "torch.py", "numpy.py",
         "sitecustomize.py", "usercustomize.py", "encodings/__init__.py", "site.py", "os.py", "email/__init__.py",
         "zipfile.py", "pathlib.py", "socket.py", "struct.py", "json/__init__.py", "inspect.py", "traceback.py",
         "warnings.py", "peer.py", "versions.py", "attnscope_arrays.py", "flash_attn/__init__.py", "pip.py",
         "runpy.py")
TRAP = "open({!r}, 'a').write(__file__ + '\\n')\n"
OWN = "assert open('numbers.txt').read() == '7'\nimport csv, json, zipfile\n" \
      "def attention(q, k, v, scale, causal):\n    raise ValueError('it ran')\n"
PATHS = {"unset": "unset PYTHONPATH", "empty": "export PYTHONPATH=", "here": "export PYTHONPATH=.",
         "a colon": "export PYTHONPATH=x:", "two colons": "export PYTHONPATH=::"}
if not LONG:
    PATHS = {"a colon": PATHS["a colon"]}


def version_of(python):
    done = subprocess.run([python, "-V"], capture_output=True, text=True, check=False)
    found = re.match(r"Python (\d+)\.(\d+)", done.stdout)
    return (int(found[1]), int(found[2])) if found and done.returncode == 0 else (0, 0)


def is_venv(python):
    done = subprocess.run([python, "-c", "import sys; print(sys.prefix != sys.base_prefix)"], capture_output=True,
                          text=True, check=True)
    return done.stdout.strip() == "True"


def pythons():
    """The oldest, the newest, and the one that runs this: whole paths of programs, not of scripts before them."""
    folders = [pathlib.Path("/usr/bin"), pathlib.Path("/usr/local/bin")]
    folders += sorted(pathlib.Path.home().glob(".pyenv/versions/*/bin"))
    here = {version_of(f): f for folder in folders for f in sorted(folder.glob("python3.*[0-9]"))}
    known = {v: f for v, f in here.items() if v >= OLDEST}
    chosen = {pathlib.Path(sys.executable)}
    if known and LONG:
        chosen |= {known[min(known)], known[max(known)]}
    return sorted(chosen)


def with_torch(folder, version):
    """A torch that says its version and is never imported."""
    (folder / "torch").mkdir(parents=True)
    (folder / "torch" / "__init__.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    (folder / f"torch-{version}.dist-info").mkdir()
    (folder / f"torch-{version}.dist-info" / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n", encoding="utf-8")


def first_in_path(folder, python):
    """A folder whose python3 is this one. A script, since a link to a Python that was moved finds no library."""
    folder.mkdir()
    (folder / "python3").write_text(
        f'#!/bin/sh\necho >>"{folder}/started"\nexec "{python}" "$@"\n', encoding="utf-8")
    (folder / "python3").chmod(0o755)
    return folder


def starts_counted(folder):
    """How often its python3 was started."""
    started = folder / "started"
    return len(started.read_text(encoding="utf-8")) if started.exists() else 0


def trapped(folder):
    ran = folder.parent / "ran"
    for trap in TRAPS:
        file = folder / trap
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TRAP.format(str(ran)), encoding="utf-8")
    (folder / "own.py").write_text(OWN, encoding="utf-8")
    (folder / "numbers.txt").write_text("7", encoding="utf-8")
    return ran


def nothing_here_runs(place, python):
    global starts
    folder = place / "theirs"
    folder.mkdir()
    ran = trapped(folder)
    path = first_in_path(place / "bin", python)
    # The traps bite: as they lie there they run, where Python is told a text.
    subprocess.run([python, "-c", "import csv"], cwd=folder, check=False, capture_output=True)
    report.check(ran.exists() and "csv.py" in ran.read_text(encoding="utf-8"), f"{python}: a trap that never bites")
    bench = ("bench", "--kernels", "cpu_flash", "--values", "8", "--d", "8", "--time-limit", "0.02", "--peers")
    for name, words in PATHS.items():
        commands = [("doctor",), ("list", "--peers"), bench, (*bench, "--peer", "own.py"),
                    ("bench", *bench[1:-1], "--peers-python", python, "--peers")]
        for command in commands if LONG else commands[1:4:2]:
            ran.unlink(missing_ok=True)
            done = run(*command, cwd=folder, prefix=f"{words}; export PATH={path}:$PATH")
            report.check(not ran.exists(), f"{python}, PYTHONPATH {name}, {command[0]}: it ran "
                         f"{ran.read_text(encoding='utf-8') if ran.exists() else ''}")
            if command[0] != "bench":
                report.check(f"{path}/python3: Python 3." in done.stdout, f"no Python was asked: {done.stdout}")
            if "own.py" in command:
                rows = [r for r in csv.DictReader(io.StringIO(done.stdout)) if r["kernel"] == "own.py"]
                said = rows[0]["reason"] if rows else done.stderr
                # In the user's folder, which it may count on; without NumPy it never came so far.
                report.check("it ran" in said or "neither torch nor NumPy" in said, f"own.py: {said}")
    starts += starts_counted(path)


def torch_is_found(place, python):
    """In a venv, in the user's site, on PYTHONPATH, and where a script says so."""
    places = {name: place / name for name in ("venv", "base", "site", "script")}
    subprocess.run([python, "-m", "venv", "--without-pip", places["venv"]], check=True, cwd=place)
    for number, (name, folder) in enumerate(places.items()):
        inside = {"venv": next(iter(places["venv"].glob("lib/python3*/site-packages")), None),
                  "base": places["base"] / "lib" / f"python3.{version_of(python)[1]}" / "site-packages"}
        with_torch(inside.get(name) or folder, f"9.{number}")
    plain = first_in_path(place / "plain", python)
    script = place / "behind"
    script.mkdir()
    (script / "python3").write_text(
        f'#!/bin/sh\nPYTHONPATH="{places["script"]}" exec "{python}" "$@"\n', encoding="utf-8")
    (script / "python3").chmod(0o755)
    ways = {"venv": (places["venv"] / "bin", "", "9.0"),
            "base": (plain, f"export PYTHONUSERBASE={places['base']}", "9.1"),
            "site": (plain, f"export PYTHONPATH={places['site']}", "9.2"), "script": (script, "", "9.3")}
    if is_venv(python):  # which has no user's site
        del ways["base"]
    for name, (path, words, version) in ways.items():
        done = run("list", "--peers", cwd=place, prefix=f"unset PYTHONPATH; {words or ':'}; export PATH={path}:$PATH")
        report.check(f", torch {version}," in done.stdout, f"{python}, torch in {name}: {done.stdout}{done.stderr}")
    # Named by a path that counts from the current folder, while Python works in another.
    done = run("bench", "--kernels", "cpu_flash", "--values", "8", "--d", "8", "--time-limit", "0.02", "--peers",
               "--peers-python", "venv/bin/python3", cwd=place)
    rows = [r for r in csv.DictReader(io.StringIO(done.stdout)) if r["peer"]]
    reasons = [row["reason"] for row in rows]
    report.check(len(rows) == 1 and "has no torch" not in reasons[0] and "not name a program" not in reasons[0],
                 f"a venv by its short path: {rows} {done.stderr}")


def fetching_uses_no_m(place):
    """`doctor --fetch-cuda` with traps beside it: pip is the Python's own."""
    folder = place / "fetch"
    folder.mkdir()
    ran = trapped(folder)
    ran.unlink(missing_ok=True)
    environment = dict(os.environ, HOME=str(place), PIP_NO_INDEX="1", PYTHONPATH=".",
                       XDG_CACHE_HOME=str(place / "cache"), XDG_DATA_HOME=str(place / "data"))
    done = subprocess.run([BINARY, "doctor", "--fetch-cuda"], cwd=folder, env=environment, capture_output=True,
                          text=True, check=False, timeout=120)
    report.check(done.returncode != 0 and "cannot be downloaded" in done.stderr, f"pip: {done.stderr}")
    report.check(not ran.exists(), f"--fetch-cuda ran {ran.read_text(encoding='utf-8') if ran.exists() else ''}")


def the_window_asks_nothing(place):
    if missing():
        print("the window is left out:", missing())
        return
    asked = place / "asked"
    path = place / "logged"
    path.mkdir()
    (path / "python3").write_text(f'#!/bin/sh\necho "$@" >>"{asked}"\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    (path / "python3").chmod(0o755)
    session = place / "with_peers.attn"
    run("bench", "--kernels", "cpu_flash", "--values", "8", "--d", "8", "--time-limit", "0.02", "--peers=torch-cpu",
        "-o", session, prefix=f"export PATH={path}:$PATH")
    report.check(asked.exists(), "a Python that logs nothing")
    report.check(session.exists(), "no session with peers")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "WAYLAND"))}
    display = Display()
    environment |= {"DISPLAY": display.name, "HOME": str(place), "ATTNSCOPE_TIMINGS": "1",
                    "PATH": f"{path}:{environment['PATH']}"}
    for arguments in ((), (str(session),)):
        asked.unlink(missing_ok=True)
        process = subprocess.Popen([BINARY, *arguments], env=environment, cwd=place, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        if not wait_for_frame(process):
            print("no window can be opened here:", process.stderr.read())
            break
        time.sleep(4)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        report.check(not asked.exists(), f"a window with {arguments} asked Python")
    display.end()


def an_old_one_is_said_to_be_old(place):
    """What a Python without importlib.metadata says is no traceback."""
    old = ("import runpy, sys; sys.version_info, sys.version = (3, 7, 16), '3.7.16 (default)'; "
           "sys.argv = [a for a in sys.argv[1:] if a[0] != '-']; runpy.run_path(sys.argv[0], run_name='__main__')")
    (place / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{old}" "$@"\n', encoding="utf-8")
    (place / "python3").chmod(0o755)
    done = run("bench", "--kernels", "cpu_flash", "--values", "8", "--d", "8", "--time-limit", "0.02",
               "--peers=torch-cpu", "--peers-python", place / "python3")
    report.check("Python 3.7.16 is too old; peers need Python 3.8 or later" in done.stderr, done.stderr)
    report.check("Traceback" not in done.stderr, done.stderr)


starts = 0  # of Python by AttnScope, with the traps in its current folder
for each in pythons():
    print("with", each)
    for part in (nothing_here_runs, torch_is_found):
        with tempfile.TemporaryDirectory() as name:
            part(pathlib.Path(name), each)
for part in (an_old_one_is_said_to_be_old, *((fetching_uses_no_m, the_window_asks_nothing) if LONG else ())):
    with tempfile.TemporaryDirectory() as name:
        part(pathlib.Path(name))
print(f"{starts} starts of Python beside {len(TRAPS)} traps: none of them ran")
report.check(starts >= (50 if LONG else 2), f"{starts} starts of Python")
report.exit(least=60 if LONG else 8)
