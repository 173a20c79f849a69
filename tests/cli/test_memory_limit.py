"""--memory-limit holds for what a process really takes: the peak of its resident memory, beside the program itself."""

import os
import pathlib
import re
import sys
import tempfile

import numpy as np
from program import BINARY, Report, run

report = Report()
ROOM = 6 << 20  # of the allocator, stacks and pieces of files


def peak(folder, *arguments):
    """Exit code and peak of the resident memory, in bytes."""
    words = os.open(folder / "words", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        os.dup2(words, 1)
        os.dup2(words, 2)
        os.execv(BINARY, [BINARY, *map(str, arguments)])
    os.close(words)
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024


def needed(folder, too_little, *arguments):
    """The limit under which the program says that it would fit: the number of its refusal."""
    done = run(*arguments, "--memory-limit", too_little, cwd=folder)
    said = done.stderr + done.stdout
    found = re.search(r"\((\d+) bytes", said)
    report.check(found is not None, f"no number of bytes in: {said}")
    return int(found.group(1)) if found else 0


def measured_like(folder, name, little, much, too_little=1):
    """`much` takes at most what it says beyond what `little`, the same with next to nothing to do, takes."""
    bytes_needed = needed(folder, too_little, *much)
    code, least = peak(folder, *little)
    report.check(code == 0, f"{name}: the small one ended with {code}: {(folder / 'words').read_text()}")
    code, most = peak(folder, *much, "--memory-limit", bytes_needed)
    report.check(code == 0, f"{name}: ended with {code} under its own limit: {(folder / 'words').read_text()}")
    report.check(most - least <= bytes_needed + ROOM,
                 f"{name}: took {(most - least) >> 20} MiB beside the program, {bytes_needed >> 20} MiB was the limit")
    print(f"{name}: {(most - least) >> 20} of {bytes_needed >> 20} MiB")


def runs(folder):
    source = np.random.default_rng(1)
    for name, rows in (("small", 16), ("large", 1 << 17)):
        np.save(folder / f"q_{name}.npy", source.standard_normal((rows, 64), np.float32))
    np.save(folder / "k.npy", source.standard_normal((16, 64), np.float32))

    def arguments(size, kernel, dtype):
        return ["run", "--kernel", kernel, "--q", f"q_{size}.npy", "--k", "k.npy", "--v", "k.npy", "--dtype", dtype,
                "--threads", "2", "--out", "o.npy", "--lse", "lse.npy"]

    for kernel, dtype in (("cpu_multicore", "f32"), ("cpu_tiled", "bf16"), ("cpu_flash", "f32"), ("cpu_flash1", "f16")):
        inputs = (1 << 17) * 64 * (4 if dtype == "f32" else 2) + (1 << 16)  # Q, and room for K and V
        measured_like(folder, f"run {kernel} {dtype}", arguments("small", kernel, dtype),
                      arguments("large", kernel, dtype), inputs)


def sweeps(folder):
    # Few keys and many rows: the check of the answer takes more than the answer.
    for verify in ("sampled", "full", "none"):
        def arguments(length):
            return ["bench", "--kernels", "cpu_flash", "--lk", "8", "--hq", "1", "--d", "64", "--axis", "B", "--values",
                    length, "--lq", "1024", "--threads", "2", "--time-limit", "0.01", "--repeats", "1", "--verify",
                    verify, "--csv", "/dev/null"]
        small = [*arguments("1"), "--memory-limit", "4M"]
        measured_like(folder, f"bench --verify {verify}", small, arguments("96"))


if os.environ.get("ATTNSCOPE_SANITIZED"):
    print("a sanitizer keeps memory of its own")
    sys.exit(77)
with tempfile.TemporaryDirectory() as name:
    runs(pathlib.Path(name))
    sweeps(pathlib.Path(name))
report.exit(least=20)
