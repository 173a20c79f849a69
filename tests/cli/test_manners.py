"""Values that the command line refuses: exit code 2, words that name the value and what would do, nothing written."""

import pathlib
import tempfile

import numpy as np
from program import Report, run

report = Report()
BENCH = ["bench", "--values", "16", "--time-limit", "0.01"]


def refused(folder, words, *arguments, code=2):
    before = sorted(p.name for p in folder.rglob("*"))
    done = run(*arguments, cwd=folder)
    name = " ".join(arguments)[:80]
    report.check(done.returncode == code, f"{name}: exit {done.returncode}, not {code}: {done.stderr}")
    for word in words:
        report.check(word in done.stderr, f"{name}: '{word}' is not in: {done.stderr}")
    after = sorted(p.name for p in folder.rglob("*"))
    report.check(before == after, f"{name}: files changed: {before} {after}")


def taken(folder, *arguments):
    done = run(*arguments, cwd=folder)
    report.check(done.returncode == 0, f"{' '.join(arguments)[:80]}: exit {done.returncode}: {done.stderr}")


def seeds(folder):
    for seed in ("-1", "18446744073709551616", "1e3", "0x10", " 1"):
        refused(folder, ["--seed", seed, "18446744073709551615"], "step", "--to", "1", "--seed", seed)
    refused(folder, ["--seed -1", "9223372036854775807"], *BENCH, "--kernels", "cpu_flash", "--seed", "-1")
    refused(folder, ["--seed"], *BENCH, "--kernels", "cpu_flash", "--seed", "18446744073709551615")
    taken(folder, "step", "--to", "1", "--seed", "18446744073709551615")


def empty_values(folder):
    for arguments in (["step", "--preset", ""], ["bench", "--values", "16", "--kernels", ""], ["verify", "--dtype", ""],
                      ["bench", "--values", ""], ["--state", ""], ["inspect", "naive", "--arch", ""]):
        refused(folder, ["empty value", arguments[-2]], *arguments)


def options_that_mean_nothing(folder):
    for option in (["--no-max"], ["--right-to-left"], ["--accumulate", "f16"]):
        refused(folder, [option[0], "cpu_tiled", "cpu_flash"], "step", "--kernel", "cpu_tiled", *option)
        refused(folder, [option[0], "cpu_tiled"], *BENCH, "--kernels", "cpu_tiled", *option)
        taken(folder, "step", "--to", "1", *option)
    refused(folder, ["--tile", "naive", "cpu_flash"], *BENCH, "--kernels", "naive", "--tile", "8x8")
    # Where one of several reads it, it is given to that one.
    taken(folder, *BENCH, "--kernels", "cpu_tiled,cpu_flash", "--no-max", "--verify", "none", "--csv", "/dev/null")


def kernels_that_are_not_recorded(folder):
    refused(folder, ["naive", "cpu_"], "step", "--kernel", "naive")
    refused(folder, ["flash_simt", "cpu_flash"], "shot", "--view", "step", "--kernel", "flash_simt", "-o", "a.png")


def pictures_by_their_names(folder):
    refused(folder, ["a.jpg", ".png"], "shot", "--preset", "blackboard", "-o", "a.jpg")
    refused(folder, ["a", ".png"], "shot", "--preset", "blackboard", "-o", "a")
    refused(folder, ["a.bmp", ".png"], *BENCH, "--kernels", "cpu_flash", "--png", "a.bmp")


def files_that_are_two_things(folder):
    for letter in "qkv":
        np.save(folder / f"{letter}.npy", np.ones((4, 8), np.float32))
    (folder / "link.npy").symlink_to("q.npy")
    files = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy"]
    before = (folder / "q.npy").read_bytes()
    for name in ("q.npy", "./q.npy", "link.npy"):
        refused(folder, ["--out", "--q"], "run", "--kernel", "cpu_flash", *files, "--out", name)
    refused(folder, ["--lse", "--v"], "run", "--kernel", "cpu_flash", *files, "--out", "o.npy", "--lse", "v.npy")
    refused(folder, ["--out", "--lse"], "run", "--kernel", "cpu_flash", *files, "--out", "o.npy", "--lse", "./o.npy")
    report.check((folder / "q.npy").read_bytes() == before, "an input was overwritten")
    refused(folder, ["--csv", "--json"], *BENCH, "--kernels", "cpu_flash", "--csv", "x", "--json", "./x")


def recordings_and_their_inputs(folder):
    for letter in "qkv":
        np.save(folder / f"{letter}.npy", np.ones((4, 8), np.float32))
    files = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy"]
    before = (folder / "k.npy").read_bytes()
    refused(folder, ["--attn", "K"], "step", *files, "--to", "1", "--attn", "k.npy", "--force")
    refused(folder, ["--attn", "K"], "step", *files, "--to", "1", "--attn", "./k.npy", "--force")
    report.check((folder / "k.npy").read_bytes() == before, "an input was overwritten")
    taken(folder, "step", *files, "--to", "1", "--attn", "summary.md")
    refused(folder, ["--force"], "step", "--to", "1", "--attn", "summary.md")
    refused(folder, ["--force", "--attn"], "step", "--to", "1", "--force")
    (folder / "summary.md").unlink()


def reports_beside_their_session(folder):
    taken(folder, *BENCH, "--kernels", "cpu_flash", "--verify", "none", "--attn", "rows.csv")
    before = (folder / "rows.csv").read_bytes()
    refused(folder, ["rows.csv", "session"], "report", "rows.csv", "-o", ".")
    report.check((folder / "rows.csv").read_bytes() == before, "the session was overwritten")
    (folder / "rows.csv").unlink()


def read_only_files(folder):
    kept = folder / "kept.csv"
    kept.write_text("old")
    kept.chmod(0o444)
    refused(folder, ["kept.csv", "read-only"], *BENCH, "--kernels", "cpu_flash", "--csv", "kept.csv", code=3)
    refused(folder, ["kept.csv", "read-only"], "step", "--to", "1", "--attn", "kept.csv", "--force", code=3)
    report.check(kept.read_text() == "old", "a read-only file was replaced")
    kept.unlink()


def names_given_twice(folder):
    refused(folder, ["--kernels", "cpu_flash", "twice"], *BENCH, "--kernels", "cpu_flash,cpu_tiled,cpu_flash")
    refused(folder, ["--kernel", "cpu_flash", "twice"], "verify", "--kernel", "cpu_flash,cpu_flash")
    refused(folder, ["--dtype", "f16", "twice"], "verify", "--dtype", "f16,f16")
    refused(folder, ["--head-dim", "64", "twice"], "inspect", "naive", "--head-dim", "64,64")


def keys_beyond_the_length(folder):
    done = run("run", "--help", cwd=folder)
    report.check("0 x NaN is NaN" in " ".join(done.stdout.split()), "--key-lengths does not say what V must be")


def lists_and_scales(folder):
    many = ",".join(str(n) for n in range(1, 1026))
    refused(folder, ["--values", "1025", "1024"], "bench", "--kernels", "cpu_flash", "--values", many)
    for scale in ("1e39", "-1e300", "1e-320"):
        refused(folder, ["scale", "fp32"], "step", "--scale", scale)


def full_disk(folder):
    for arguments in (["--help"], ["bench", "--help"], ["--version"], ["list"]):
        with open("/dev/full", "w") as full:
            done = run(*arguments, cwd=folder, stdout=full)
        report.check(done.returncode == 3, f"{arguments} to a full device: exit {done.returncode}")
        report.check("stdout" in done.stderr, f"{arguments} to a full device: {done.stderr}")


def homes_that_cannot_be_written(folder):
    (folder / "home").write_text("a file")
    (folder / "home").chmod(0o755)
    before = sorted(p.name for p in folder.rglob("*"))
    for home in (folder / "home", "/proc"):
        done = run("doctor", prefix=f"unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME; export HOME='{home}'")
        report.check(done.returncode == 0, f"doctor with HOME={home}: exit {done.returncode}: {done.stderr}")
        for what in ("Settings", "Runs and saved files", "Compiled kernels"):
            line = [text for text in done.stdout.splitlines() if what in text]
            report.check(len(line) == 1 and "is not writable" in line[0], f"HOME={home}: {line}")
    report.check(before == sorted(p.name for p in folder.rglob("*")), "doctor left something behind")


def parsed_alone(folder):
    """--parse-only takes what the command would take, and does nothing of it."""
    before = sorted(p.name for p in folder.rglob("*"))
    for arguments in ([*BENCH, "--kernels", "cpu_flash", "--csv", "parsed.csv", "--attn", "parsed.attn"],
                      ["list", "--template"], ["missing.attn"], []):
        done = run("--parse-only", *arguments, cwd=folder, timeout=20)
        report.check(done.returncode == 0, f"--parse-only {arguments}: exit {done.returncode}: {done.stderr}")
        report.check(done.stdout == "" and done.stderr == "", f"--parse-only {arguments}: {done.stdout}{done.stderr}")
    report.check(before == sorted(p.name for p in folder.rglob("*")), "--parse-only wrote something")
    refused(folder, ["--no-such"], "--parse-only", *BENCH, "--no-such")
    refused(folder, ["--values"], "--parse-only", "bench")
    refused(folder, ["--tokens", "many"], "--parse-only", *BENCH, "--tokens", "many")
    refused(folder, ["empty value"], "--parse-only", "bench", "--values", "")


def words_before_a_command(folder):
    """`help COMMAND` helps; any other word before a command is refused, not dropped."""
    for arguments in ([], ["step"], ["shot"], ["lesson"]):
        asked, named = run("help", *arguments, cwd=folder), run(*arguments, "--help", cwd=folder)
        report.check(asked.returncode == 0 and asked.stdout == named.stdout and asked.stdout,
                     f"help {arguments}: exit {asked.returncode}: {asked.stderr}{asked.stdout[:200]}")
    refused(folder, ["stray", "step"], "stray", "step")
    refused(folder, ["run.attn", "shot"], "run.attn", "shot", "--out", "x.png")


with tempfile.TemporaryDirectory() as name:
    for part in (homes_that_cannot_be_written, seeds, empty_values, options_that_mean_nothing,
                 kernels_that_are_not_recorded, pictures_by_their_names, files_that_are_two_things,
                 recordings_and_their_inputs, reports_beside_their_session, read_only_files, names_given_twice,
                 keys_beyond_the_length, lists_and_scales, full_disk, parsed_alone, words_before_a_command):
        part(pathlib.Path(name))
report.exit(least=100)
