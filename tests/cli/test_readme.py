"""Every `sh` block of README.md, docs/tour.md and CONTRIBUTING.md works as it stands there, in the order of the page.

A page's commands run in one folder of its own, with the program under test as `attnscope`. Those that need the sources
(`sh build`, and all of CONTRIBUTING.md) run in a copy of them, as after a fresh clone.

    sh          runs
    sh build    builds, or needs what was built: under the long lists alone
    sh gpu      where there is a GPU
    sh nvdisasm where nvdisasm is found
    sh window   opens a window: on a display of the test's own, where there is Xvfb

A block may be of two kinds. Never run: the test command itself.
"""

import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import display
from pages import ROOT, RUN, blocks
from program import Report

PICTURE = re.compile(r"!\[[^\]]+\]\(([^)]+)\)")
SECONDS = {"build": 2400, "gpu": 600}
KINDS = ("build", "gpu", "nvdisasm", "window")
MADE = {
    "README.md": ["sweep.attn", "sweep.csv", "my_attention.cu"],
    "tour.md": ["step.png", "overflow.png", "steps.gif", "sweep.csv", "bench.png", "sweep-report/summary.md",
                "source.png", "learn.png", "sheet.html", "o.npy", "lse.npy", "my_attention.cu"],
    "CONTRIBUTING.md": [],
}

report = Report()
ran = collections.Counter()


def copy_of_sources(folder):
    """What a clone of this tree would be, with the changes that are not committed."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                            check=False)
    if listed.returncode == 0 and listed.stdout:
        for name in listed.stdout.splitlines():
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
    else:  # from an archive
        shutil.copytree(ROOT, folder, dirs_exist_ok=True, ignore=lambda at, _: ["build"] if at == str(ROOT) else [])


def environment(folder):
    """PATH in which `attnscope` is the program under test and `python3` has numpy; nothing is written at home."""
    shims, data = folder / "shims", folder / "data" / "attnscope"
    shims.mkdir()
    data.mkdir(parents=True)
    (shims / "attnscope").symlink_to(os.environ["ATTNSCOPE_BINARY"])
    (shims / "python3").symlink_to(sys.executable)
    # CUDA's libraries, where `doctor --fetch-cuda` brought them.
    home = pathlib.Path(os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local" / "share") / "attnscope"
    if (home / "cuda").is_dir():
        (data / "cuda").symlink_to(home / "cuda")
    env = dict(os.environ, PATH=f"{shims}:{os.environ['PATH']}", XDG_CONFIG_HOME=f"{folder}/config",
               XDG_DATA_HOME=f"{folder}/data", XDG_STATE_HOME=f"{folder}/state", XDG_CACHE_HOME=f"{folder}/cache")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "ATTNSCOPE_BINARY", "ATTNSCOPE_LONG_TESTS"):
        env.pop(name, None)
    return env


def environment_of_build(env, sources):
    """With the cache of the user, which holds the GUI sources; a later copy finds what this one compiled."""
    its = dict(env, CCACHE_BASEDIR=str(sources), CCACHE_NOHASHDIR="1")
    its.pop("XDG_CACHE_HOME")
    return its | {name: os.environ[name] for name in ("XDG_CACHE_HOME",) if name in os.environ}


def left_out():
    """What kinds of block are left out here, with the reason."""
    why = {}
    if not os.environ.get("ATTNSCOPE_LONG_TESTS"):
        why["build"] = "for the long lists"
    if subprocess.run([os.environ["ATTNSCOPE_BINARY"], "worker", "--check"], capture_output=True, check=False,
                      timeout=300).returncode != 0:
        why["gpu"] = "there is no GPU here"
    if subprocess.run([os.environ["ATTNSCOPE_BINARY"], "sass", "naive", "naive", "--d", "64"], capture_output=True,
                      check=False, timeout=300).returncode == 3:
        why["nvdisasm"] = "there is no NVRTC or no nvdisasm here"
    if display.missing():
        why["window"] = display.missing()
    return why


def work(place, command, where, env, seconds):
    try:
        done = subprocess.run(["bash", "-c", command], cwd=where, env=env, capture_output=True, text=True, check=False,
                              timeout=seconds)
    except subprocess.TimeoutExpired:
        report.check(False, f"{place}: {command}\n  not done in {seconds} s")
        return
    said = (done.stdout + done.stderr).strip()
    report.check(done.returncode == 0, f"{place}: {command}\n  exit {done.returncode}: {said[-1200:]}")


def window(place, command, where, env):
    """The window comes up, and ends when asked."""
    screen = display.Display()
    process = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=where, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True,
                               env=env | {"DISPLAY": screen.name, "ATTNSCOPE_TIMINGS": "1"})
    came = display.wait_for_frame(process)
    report.check(came, f"{place}: {command}\n  no window")
    time.sleep(1)  # for what it was asked to open
    process.send_signal(signal.SIGTERM)
    try:
        _, words = process.communicate(timeout=60)
        report.check(process.returncode == 0, f"{place}: {command}\n  exit {process.returncode}: {words[-600:]}")
    except subprocess.TimeoutExpired:
        process.kill()
        report.check(False, f"{place}: {command}\n  it did not end when asked")
    screen.end()


def run_block(block, folder, sources, env, without):
    kinds = block.words[1:]
    name = block.page.name
    for kind in kinds:
        report.check(kind in KINDS, f"{name}:{block.line}: there is no kind of block '{kind}'")
    where = sources if "build" in kinds or name == "CONTRIBUTING.md" else folder
    its = environment_of_build(env, sources) if "build" in kinds else env
    reasons = [without[kind] for kind in kinds if kind in without]
    for line, command in block.commands():
        place = f"{name}:{line}"
        if command.startswith("bash tests/run.sh"):
            print(f"never run: {place}: {command}")
        elif reasons:
            print(f"left out, {', '.join(reasons)}: {place}: {command}")
            ran["left out"] += 1
        else:
            began = time.monotonic()
            if "window" in kinds:
                window(place, command, where, its)
            else:
                work(place, command, where, its, max([300, *(SECONDS.get(kind, 0) for kind in kinds)]))
            ran[" ".join(["sh", *kinds])] += 1
            if time.monotonic() - began > 10:
                print(f"{time.monotonic() - began:.0f} s: {place}: {command}")


def main():
    without = left_out()
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        sources = top / "attnscope"
        copy_of_sources(sources)
        env = environment(top)
        for page in RUN:
            for picture in PICTURE.findall(page.read_text(encoding="utf-8")):
                report.check((page.parent / picture).is_file(), f"{page.name}: picture {picture} is not there")
            folder = top / page.stem
            folder.mkdir()
            for block in blocks(page):
                if block.words[:1] == ["sh"]:
                    run_block(block, folder, sources, env, without)
            for made in MADE[page.name]:
                report.check((folder / made).is_file(), f"{page.name}: no {made} was written")
    words = len((ROOT / "README.md").read_text(encoding="utf-8").split())
    report.check(words <= 1200, f"README.md has {words} words; docs/tour.md has room")
    print(", ".join(f"{kind}: {count}" for kind, count in sorted(ran.items())))
    report.check(ran["sh"] >= 40, "fewer commands than the pages have")
    report.exit(least=60)


if __name__ == "__main__":
    main()
