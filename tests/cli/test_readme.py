"""Every command that README.md shows works as it stands there, in one folder, in the order of the page.

Left out: the test command itself. The build-and-run command is run under the long lists alone (it builds), with no
display, so that it goes the way of a machine without one.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURE = re.compile(r"!\[[^\]]+\]\(([^)]+)\)")


def commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        yield from (line for line in block.splitlines() if line.strip())


def environment(folder):
    """PATH in which `attnscope` is the program under test and `python3` has numpy."""
    shims = pathlib.Path(folder) / "shims"
    shims.mkdir()
    (shims / "attnscope").symlink_to(os.environ["ATTNSCOPE_BINARY"])
    (shims / "python3").symlink_to(sys.executable)
    env = dict(os.environ, PATH=f"{shims}:{os.environ['PATH']}", XDG_CONFIG_HOME=f"{folder}/config")
    env.pop("DISPLAY", None)
    env.pop("WAYLAND_DISPLAY", None)
    return env


def main():
    failures = []
    for picture in PICTURE.findall((ROOT / "README.md").read_text(encoding="utf-8")):
        if not (ROOT / picture).is_file():
            failures.append(f"picture {picture} is not there")
    ran = 0
    with tempfile.TemporaryDirectory() as folder:
        env = environment(folder)
        for command in commands():
            if command.startswith("bash tests/run.sh"):
                continue
            where, its = folder, dict(env, XDG_CACHE_HOME=f"{folder}/cache")
            if command.startswith("bash app/run.sh"):
                if not os.environ.get("ATTNSCOPE_LONG_TESTS"):
                    print(f"left to the long lists: {command}")
                    continue
                where, its = ROOT, env
            done = subprocess.run(["bash", "-c", command], cwd=where, env=its, capture_output=True, text=True,
                                  check=False, timeout=900)
            ran += 1
            if done.returncode != 0:
                failures.append(f"{command}\n  exit {done.returncode}: {done.stderr.strip()[-600:]}")
        for made in ("step.png", "steps.gif", "overflow.png", "sweep.csv", "o.npy", "lse.npy"):
            if not (pathlib.Path(folder) / made).is_file():
                failures.append(f"no {made} was written")
    for failure in failures:
        print("FAILED", failure)
    print(f"{ran} commands ran, {len(failures)} failures")
    if ran < 8:
        print("FAILED fewer commands than the page has")
        return 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
