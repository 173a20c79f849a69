"""The command line in the language that nobody speaks (ATTNSCOPE_LANGUAGE=pseudo): its texts are marked, and what it
writes into files is English all the same."""

import csv
import io
import json
import re
import sys

from program import Report, run

report = Report()
PSEUDO = "export ATTNSCOPE_LANGUAGE=pseudo"

# Words with a plain vowel that are no texts of the program, by what they are.
NO_TEXTS = (
    # What CLI11 says by itself.
    {"OPTIONS", "SUBCOMMAND", "Options", "Subcommands", "Positionals", "Usage", "help", "Print", "this", "message",
     "and", "exit", "version", "Display",
     "program", "information", "REQUIRED", "POSITIONALS", "UINT", "INT", "FLOAT", "TEXT", "The", "following",
     "argument", "was", "were", "not", "expected", "Run", "with", "for", "more", "arguments"},
    # Kinds of values in the help, which are typed as they stand.
    {"DTYPE", "PASS", "FOLDER", "PIECE", "ACTION", "FILES", "FILE", "NAME", "SECONDS", "BYTES", "SHELL", "SIZE", "LEFT",
     "RIGHT", "PATH", "VALUE", "THEME", "VIEW", "STATE"},
)


KERNELS = {word for row in json.loads(run("list", "--json").stdout) for word in re.findall(r"[a-z]+", row["id"])}


def unmarked(text, besides=()):
    """Words of three letters or more that would have an accent, were they marked."""
    text = re.sub(r"`[^`]*`|'[^']*'|--?[a-z][\w-]*|\[[A-Z_]+\]", " ", text)
    words = re.findall(r"(?<![\w.])[A-Za-z]{3,}(?![\w.])", text)
    allowed = set(besides).union(*NO_TEXTS)
    return sorted({word for word in words if re.search(r"[aeiounAEOU]", word) and word not in allowed})


def commands():
    """The names of all commands, out of the help."""
    listed = run("--help").stdout.split("Subcommands:")[1]
    return re.findall(r"^  ([a-z]+) ", listed, re.M)


def help_is_marked():
    names = commands()
    report.check(len(names) >= 15, f"commands: {names}")
    top = run("--help", prefix=PSEUDO)
    report.check(top.returncode == 0 and "[" in top.stdout, f"exit {top.returncode}: {top.stderr}")
    left = unmarked(top.stdout, names + ["attnscope"])
    report.check(not left, f"attnscope --help: not marked: {left}")
    for name in names:
        text = run(name, "--help", prefix=PSEUDO).stdout
        # What is typed without a dash, and what an option is without being asked for.
        typed = re.findall(r"^  ([a-z]+) [A-Z]", text, re.M) + re.findall(r"=([a-z]+)", text)
        left = unmarked(text, names + typed + ["attnscope"])
        report.check(not left, f"attnscope {name} --help: not marked: {left}")


def errors_are_marked():
    for arguments in (["no_such_file"],
                      ["bench", "--kernels", "nothing", "--values", "64"],
                      ["bench", "--values", "many"],
                      ["bench", "--values", "64", "--verify", "some"],
                      ["step", "--preset", "blackboard", "--from", "900"],
                      ["tune", "cpu_flash", "--each", "900"],
                      ["shot", "--view", "nothing", "--out", "view.png"]):
        done = run(*arguments, prefix=PSEUDO)
        report.check(done.returncode in (2, 3), f"{arguments}: exit {done.returncode}")
        # What was typed, and the ids that there are.
        known = {"attnscope"} | KERNELS | set(re.findall(r"[a-z]+", " ".join(arguments)))
        left = unmarked(done.stderr, known)
        report.check("[" in done.stderr and not left, f"{arguments}: {done.stderr.strip()}: not marked: {left}")


def without_figures(cell):
    return re.sub(r"\b[0-9a-f]{16}\b|[-+]?\d[\d.e+-]*", "#", cell)


def files_are_english():
    """The same sweep, one point of which is refused and says why."""
    sweep = ["bench", "--kernels", "cpu_sequential,cpu_flash", "--values", "32,4096", "--d", "16",
             "--time-limit", "0.02", "--memory-limit", "8M"]
    english, other = run(*sweep, "--csv", "-").stdout, run(*sweep, "--csv", "-", prefix=PSEUDO).stdout
    report.check(english.splitlines()[0] == other.splitlines()[0], "the columns differ")
    rows = [list(csv.DictReader(io.StringIO(text))) for text in (english, other)]
    report.check(len(rows[0]) == len(rows[1]) == 4, f"{len(rows[0])} and {len(rows[1])} rows")
    report.check(any(row["state"] == "refused" and row["reason"] for row in rows[0]), "nothing was refused")
    for mine, theirs in zip(*rows):
        for column, cell in mine.items():
            # Figures of time are measured anew; whether a short run settled or drifted is one of them. Its id is new.
            if column in ("settled", "drifted", "run"):
                continue
            same = without_figures(cell) == without_figures(theirs[column])
            report.check(same, f"{column}: {cell} and {theirs[column]}")
    kept = [run(*sweep, "--json", "-", prefix=prefix).stdout for prefix in (None, PSEUDO)]
    # Whether the repeats were enough for an interval is a figure of time too.
    texts = [sorted(text for text in map(without_figures, texts_of(json.loads(file)))
                    if not text.startswith("with fewer than # repeats")) for file in kept]
    report.check(texts[0] == texts[1], f"JSON: {set(texts[0]) ^ set(texts[1])}")


def texts_of(value):
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for part in inside for text in texts_of(part)]


def steps_as_json_are_english():
    step = ["step", "--preset", "blackboard", "--json"]
    english, other = run(*step), run(*step, prefix=PSEUDO)
    report.check(english.returncode == 0 and english.stdout == other.stdout, "the steps' JSON differs")


help_is_marked()
errors_are_marked()
files_are_english()
steps_as_json_are_english()
report.exit(60)
