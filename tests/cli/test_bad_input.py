"""What `attnscope run` refuses: exit code, a message that names the value, and no file left."""

import os
import pathlib
import tempfile

import numpy as np
from program import Report, run

report = Report()
INPUT, MACHINE = 2, 3


def refused(folder, name, code, words, *arguments, prefix=None, out="o.npy", user=None):
    before = sorted(p.name for p in folder.rglob("*"))
    done = run("run", "--kernel", "cpu_flash", *arguments, "--out", out, "--lse", "lse.npy", cwd=folder, prefix=prefix,
               user=user)
    report.check(done.returncode == code, f"{name}: exit {done.returncode}, not {code}: {done.stderr}")
    report.check(done.stdout == "", f"{name}: words on stdout")
    for word in words:
        report.check(word in done.stderr, f"{name}: '{word}' is not in: {done.stderr}")
    after = sorted(p.name for p in folder.rglob("*"))
    report.check(before == after, f"{name}: files left behind: {set(after) - set(before)}")
    for output in ("o.npy", "lse.npy"):
        report.check(not (folder / output).exists(), f"{name}: {output} was written")


def header(shape, descr="<f4", fortran=False):
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def good(folder):
    source = np.random.default_rng(1)
    for letter in "qkv":
        np.save(folder / f"{letter}.npy", source.standard_normal((2, 8, 16)).astype(np.float32))
    return ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy"]


def bad_files(folder, files):
    def with_q(name, code, words, content):
        (folder / "bad.npy").write_bytes(content)
        refused(folder, name, code, ["bad.npy", *words], "--q", "bad.npy", *files[2:])

    whole = (folder / "q.npy").read_bytes()
    with_q("empty file", INPUT, [], b"")
    with_q("no npy", INPUT, [], b"PK\x03\x04 something else entirely, long enough")
    for size in (3, 9, 20, 100, 128, len(whole) - 1):
        with_q(f"truncated to {size} bytes", INPUT, [], whole[:size])
    with_q("fortran order", INPUT, ["Fortran order"], header((2, 8, 16), fortran=True) + whole[-1024:])
    with_q("whole numbers", INPUT, ["i4"], header((2, 8, 16), "<i4") + whole[-1024:])
    with_q("complex numbers", INPUT, ["c8"], header((2, 8, 16), "<c8") + bytes(2048))
    with_q("objects", INPUT, [], header((2, 8, 16), "|O") + bytes(2048))
    with_q("negative shape", INPUT, [], header((2, -8, 16)) + whole[-1024:])
    with_q("absurd shape", INPUT, [], header((2, 2**62, 16)) + whole[-1024:])
    with_q("overflowing shape", INPUT, [], header((2**40, 2**40, 16)) + whole[-1024:])
    with_q("more digits than a number has", INPUT, [], header("(2, " + "9" * 400 + ", 16)") + whole[-1024:])
    with_q("one axis", INPUT, [], header((256,)) + whole[-1024:])
    with_q("five axes", INPUT, [], header((1, 1, 2, 8, 16)) + whole[-1024:])
    (folder / "bad.npy").write_bytes(header((2, 0, 16)))
    refused(folder, "no queries at all", INPUT, ["Lq is 0"], "--q", "bad.npy", *files[2:])
    (folder / "bad.npy").unlink()
    refused(folder, "no such file", INPUT, ["nowhere.npy"], "--q", "nowhere.npy", *files[2:])
    (folder / "sub").mkdir()
    refused(folder, "a folder", INPUT, ["sub"], "--q", "sub", *files[2:])
    (folder / "sub").rmdir()


def bad_shapes(folder, files):
    for name, letter, shape, words in (
        ("D of k differs", "k", (2, 8, 15), ["15", "16"]),
        ("Lk of v differs", "v", (2, 9, 16), ["9", "8"]),
        ("heads of v differ", "v", (1, 8, 16), []),
        ("heads no multiple", "q", (3, 8, 16), ["3", "2"]),
        ("axes differ", "k", (8, 16), []),
        ("D beyond 256", "q", (2, 8, 257), ["257"]),
        ("batch differs", "q", (2, 2, 8, 16), []),
    ):
        np.save(folder / "other.npy", np.zeros(shape, np.float32))
        arguments = [("other.npy" if files[n - 1] == f"--{letter}" and n % 2 else x) for n, x in enumerate(files)]
        refused(folder, name, INPUT, words, *arguments)
    np.save(folder / "other.npy", np.zeros((3, 8, 8), np.float32))
    refused(folder, "bias of another shape", INPUT, ["3"], *files, "--bias", "other.npy")
    np.save(folder / "other.npy", np.zeros((2, 8, 16), np.float16))
    (folder / "other.npy").unlink()


def bad_options(folder, files):
    for name, words, arguments in (
        ("negative window", ["-3"], ["--window", "-3,0"]),
        ("half a window", ["--window", "5"], ["--window", "5"]),
        ("window of words", ["a,b"], ["--window", "a,b"]),
        ("window beyond 63 bits", ["99999999999999999999"], ["--window", "99999999999999999999,0"]),
        ("tile 0x0", ["0x0"], ["--tile", "0x0"]),
        ("tile of one number", ["64"], ["--tile", "64"]),
        ("tile beyond the kernel's", ["1000000"], ["--tile", "1000000x64"]),
        ("negative tile", ["-4x4"], ["--tile", "-4x4"]),
        ("threads 0", ["0"], ["--threads", "0"]),
        ("stages 0", ["0"], ["--stages", "0"]),
        ("stages of a CPU kernel", ["flash_mma", "does not apply to cpu_flash"], ["--stages", "2"]),
        ("unknown dtype", ["f99"], ["--dtype", "f99"]),
        ("scale of words", ["abc"], ["--scale", "abc"]),
        ("scale nan", ["nan"], ["--scale", "nan"]),
        ("scale inf", ["inf"], ["--scale", "inf"]),
        ("key length beyond Lk", ["9"], ["--key-lengths", "9"]),
        ("negative key length", ["-1"], ["--key-lengths", "-1"]),
        ("too many key lengths", ["2 key lengths"], ["--key-lengths", "3,4"]),
        ("memory limit of words", ["lots"], ["--memory-limit", "lots"]),
        ("time limit below 0", ["-1"], ["--time-limit", "-1"]),
        ("softcap 0", ["Invalid softcap 0;", "from 1e-30"], ["--softcap", "0"]),
        ("softcap below 0", ["Invalid softcap -30;", "from 1e-30"], ["--softcap", "-30"]),
        ("softcap NaN", ["Invalid softcap nan;", "from 1e-30"], ["--softcap", "nan"]),
        ("softcap inf", ["Invalid softcap inf;", "from 1e-30"], ["--softcap", "inf"]),
        ("usual slopes and others", ["--alibi", "--slopes"], ["--alibi", "--slopes", "q.npy"]),
        ("slopes of another shape", ["q.npy", "[Hq]"], ["--slopes", "q.npy"]),
        ("slopes that are not there", ["nowhere.npy"], ["--slopes", "nowhere.npy"]),
        ("unknown option", ["--frobnicate"], ["--frobnicate"]),
        ("unknown device", ["abacus"], ["--device", "abacus"]),
    ):
        refused(folder, name, INPUT, words, *files, *arguments)
    refused(folder, "CPU kernel on a GPU", INPUT, ["gpu:0"], *files, "--device", "gpu:0")
    refused(folder, "memory limit", MACHINE, ["1.00 KiB"], *files, "--memory-limit", "1K")
    done = run("run", "--kernel", "cpu_quantum", *files, "--out", "o.npy", cwd=folder)
    report.check(done.returncode == INPUT and "cpu_quantum" in done.stderr and "cpu_flash" in done.stderr,
                 f"unknown kernel: {done.returncode} {done.stderr}")
    for missing in range(0, 6, 2):
        left = files[:missing] + files[missing + 2 :]
        refused(folder, f"{files[missing]} left out", INPUT, [files[missing]], *left)
    refused(folder, "same file twice", INPUT, ["same file"], *files, out="lse.npy")


def bad_outputs(folder, files):
    refused(folder, "output folder missing", INPUT, ["nowhere"], *files, out="nowhere/o.npy")
    (folder / "taken").mkdir()
    refused(folder, "output is a folder", INPUT, ["taken"], *files, out="taken")
    (folder / "taken").rmdir()
    refused(folder, "output to stdout", INPUT, ["stdout"], *files, out="-")
    # A file limit below the answer's size is what a full disk looks like to the program.
    source = np.random.default_rng(2)
    for letter in "qkv":
        np.save(folder / f"{letter}.npy", source.standard_normal((64, 256)).astype(np.float32))
    refused(folder, "full disk", MACHINE, ["o.npy"], *files, prefix="ulimit -f 16")
    (folder / "o.npy").write_text("old")
    little_address_space(folder)
    done = run("run", "--kernel", "cpu_flash", *files, "--out", "o.npy", cwd=folder, prefix="ulimit -f 16")
    report.check(done.returncode == MACHINE, f"full disk over an old file: exit {done.returncode}")
    report.check((folder / "o.npy").read_text() == "old", "full disk: the old file was changed")
    (folder / "o.npy").unlink()
    (folder / "locked").mkdir(mode=0o555)
    user = None
    if os.geteuid() == 0:  # the superuser may write everywhere: nobody tries
        user = 65534
        folder.chmod(0o755)
        try:
            usable = run("--version", user=user).returncode == 0
        except PermissionError:
            usable = False
        if not usable:
            print("left out: a folder without permission (the build folder is closed to others)")
            return
    refused(folder, "no permission", MACHINE, ["locked"], *files, out="locked/o.npy", user=user)


def little_address_space(folder):
    """A picture is drawn or refused in words. A sanitizer alone reserves more than any of this."""
    if os.environ.get("ATTNSCOPE_SANITIZED"):
        return
    for limit in range(150_000, 350_000, 20_000):
        done = run("shot", "--view", "bench", "-o", "view.png", cwd=folder, prefix=f"ulimit -v {limit}")
        loader = "error while loading shared libraries" in done.stderr  # before the program begins
        report.check(done.returncode == 0 or loader or
                     (done.returncode == 3 and done.stderr.startswith("attnscope: ")),
                     f"shot within {limit} kB of address space: {done.returncode} {done.stderr}")
        (folder / "view.png").unlink(missing_ok=True)


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        files = good(folder)
        bad_files(folder, files)
        bad_shapes(folder, files)
        bad_options(folder, files)
        bad_outputs(folder, files)
    report.exit(least=250)


main()
