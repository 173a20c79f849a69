"""Lessons from outside: those that are shipped hold and are cheap to check, the first lesson of docs/lessons.md holds,
a false one fails with file, beat, field and reason, a sheet has no answers and its key has."""

import json
import pathlib
import re
import tempfile
import time

import numpy as np

from program import Report, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
report = Report()


def shipped():
    began = time.monotonic()
    done = run("lesson", "check")
    report.check(done.returncode == 0 and done.stdout == "", f"lesson check: {done.stdout}{done.stderr}")
    count = re.match(r"(\d+) lessons, (\d+) beats, (\d+) questions, 48 exercises: all correct", done.stderr)
    report.check(count and int(count.group(1)) >= 13 and int(count.group(3)) >= 75, f"lesson check says {done.stderr}")
    report.check(time.monotonic() - began < 60, "the check of all lessons takes longer than a minute")
    listed = run("lesson", "list").stdout
    for file in (ROOT / "assets/lessons").glob("*.json"):
        lesson = json.loads(file.read_text(encoding="utf-8"))
        report.check(lesson["id"] in listed, f"lesson list lacks {lesson['id']}")
        known = {other.stem for other in (ROOT / "assets/lessons").glob("*.json")}
        report.check(file.stem.split(".")[0] in known, f"{file.name} translates nothing")


def sealed_questions(folder):
    """Ten questions on chapters 1 to 6, for somebody who has not seen them: no chapter asks them, every number in them
    comes out of a recording, and the answers are those of the formulas in fp64."""
    file = ROOT / "tests/questions/chapters_1_to_6.json"
    done = run("lesson", "check", file)
    true = "10 questions, 0 exercises: all correct" in done.stderr
    report.check(done.returncode == 0 and true, f"{done.stdout}{done.stderr}")
    lesson = json.loads(file.read_text(encoding="utf-8"))
    asked = {(beat["run"], beat["at"], beat["row"], beat["ask"]["value"]) for beat in lesson["beats"]}
    report.check(len(asked) == 10, "a question appears twice")
    titles = {lesson["text"][f"{beat['id']}.title"] for beat in lesson["beats"]}
    for other in (ROOT / "assets/lessons").glob("0[1-6]*.json"):
        shared = titles & set(json.loads(other.read_text(encoding="utf-8"))["text"].values())
        report.check(not shared, f"{other.name} asks {shared}")
    # A number that no longer is the program's: the claim beside it fails.
    false = folder / "false.json"
    lesson["beats"][0]["holds"] = [f"{lesson['beats'][0]['ask']['value']} == sum(V[*,0])"]
    false.write_text(json.dumps(lesson), encoding="utf-8")
    report.check(run("lesson", "check", false).returncode == 1, "a false claim of a question holds")
    key, sheet = folder / "ten_key.html", folder / "ten.html"
    run("lesson", "print", file, "-o", sheet, "--key", key)
    told = key.read_text(encoding="utf-8")
    steps = json.loads(run("step", "--preset", "blackboard", "--json").stdout)["steps"]

    def rows_of(tensor):
        tiles = {t["first_row"]: t["values"] for s in steps for t in s.get("made", []) if t["tensor"] == tensor}
        return np.array([row for first in sorted(tiles) for row in tiles[first]])

    scores = rows_of("q") @ rows_of("k").T / np.sqrt(2)
    alpha = np.exp(scores[1, :2].max() - scores[1].max())  # tiles of two keys
    for what, number in (("a score", scores[1, 0]), ("the largest score", scores[0].max()), ("alpha", alpha)):
        report.check(f"{number:.4e}"[:5] in told or f"{number:.5g}" in told, f"{what}, {number:.5g}, is not in the key")


def transfer_questions(folder):
    """Twelve questions without their answers, which are on a page of their own: computed here, and in no chapter."""
    def rows_of(name):
        text = (ROOT / "tests/questions" / name).read_text(encoding="utf-8")
        return {int(row[0]): row[1] for row in re.findall(r"^\| (\d+) \| (.*) \|$", text, re.M)}

    questions, key = rows_of("transfer.md"), rows_of("transfer_key.md")
    report.check(list(questions) == list(key) == list(range(1, 13)), f"{list(questions)} and {list(key)}")
    past = np.exp(2.5 - 4.2)
    answers = {1: 35**2, 2: 35, 3: past, 4: past * 3 + 1.5, 5: np.exp(2.5 - max(2.5, 1.3)) * np.exp(2.5 - 3.1),
               6: np.exp(np.zeros(11))[0] / np.exp(np.zeros(11)).sum(), 8: (2.2 * 10 + 6.6 * 2.84) / (2.2 + 6.6),
               9: sum(k > q for q in range(17) for k in range(17)), 10: 2 * (2 * 1536 * 1536 * 80) / 1e6}
    told = ""
    for file in sorted((ROOT / "assets/lessons").glob("*.json")):
        if len(file.stem.split(".")) > 1:
            continue
        sheet, page = folder / f"{file.stem}.html", folder / f"{file.stem}_key.html"
        done = run("lesson", "print", json.loads(file.read_text(encoding="utf-8"))["id"], "-o", sheet, "--key", page)
        report.check(done.returncode == 0, f"{file.stem}: {done.stderr}")
        told += sheet.read_text(encoding="utf-8") + page.read_text(encoding="utf-8")
    told = re.sub("<style.*?</style>|<[^>]*>", " ", told, flags=re.S)
    for number, answer in answers.items():
        text = next((t for t in re.findall(r"[\d.]+", key[number]) if abs(float(t) / answer - 1) < 2e-3), None)
        report.check(text is not None, f"answer {number} is {answer}: {key[number]}")
        found = text and re.search(rf"(?<![\d.]){re.escape(text)}(?![\d.]*\d)", told)
        report.check(not found, f"a chapter tells {text}, the answer to question {number}")


def by_the_page(folder):
    """What docs/lessons.md tells a newcomer to write and to try."""
    page = (ROOT / "docs/lessons.md").read_text(encoding="utf-8")
    text = re.search(r"```json\n(.*?)```", page, re.S).group(1)
    file = folder / "my_first.json"

    def checked(words):
        file.write_text(words, encoding="utf-8")
        return run("lesson", "check", file)

    done = checked(text)
    report.check(done.returncode == 0, f"the lesson of the page: {done.stdout}")
    claim = '"at": "i0j0.weights", "holds": ["l[0] == sum(P[0,*]) + 1"],'
    done = checked(text.replace('"at": "i0j0.weights",', claim))
    for words in ("my_first.json", "beat 'sum'", "field 'holds'", "is not true"):
        report.check(done.returncode == 1 and words in done.stdout, f"{words} is not said: {done.stdout}")
    done = checked(text.replace('"minutes": 2,', '"minutes": 2'))
    report.check(done.returncode == 1 and "my_first.json, line 5" in done.stdout, f"a comma is missing: {done.stdout}")
    report.check(done.stderr == "1 lesson, 0 beats, 0 questions, 0 exercises: 1 error.\n", done.stderr)
    file.write_text(text, encoding="utf-8")
    sheet, key = folder / "sheet.html", folder / "key.html"
    done = run("lesson", "print", file, "-o", sheet, "--key", key)
    report.check(done.returncode == 0, f"lesson print: {done.stderr}")
    for answer in ("1.0144", "You added scores"):
        report.check(answer not in sheet.read_text(encoding="utf-8"), f"the sheet tells {answer}")
        report.check(answer in key.read_text(encoding="utf-8"), f"the key lacks {answer}")


def refused(folder):
    for arguments, words in ((("nothing",), "Unknown lesson action nothing"),
                             (("print", "nobody"), "Unknown lesson 'nobody'"), (("print",), "name one lesson"),
                             (("check", folder / "none.json"), "none.json")):
        done = run("lesson", *arguments)
        report.check(done.returncode in (1, 2) and words in done.stdout + done.stderr,
                     f"lesson {arguments}: {done.returncode} {done.stderr}")


def answered(folder):
    """`shot --answer` says what it cannot answer, and draws another picture than without."""
    at = "attn1,workspace=learn,lesson=by-hand,beat="
    for state, answer, words in ((at + "score", "maybe", "'maybe'"), (at + "next", "right", "has no question"),
                                 (at + "nowhere", "right", "has no beat 'nowhere'; use one of tile, score"),
                                 ("attn1,preset=causal", "right", "--answer")):
        done = run("shot", "--state", state, "--answer", answer, "-o", folder / "no.png")
        report.check(done.returncode == 2 and words in done.stderr,
                     f"{state}, {answer}: {done.returncode} {done.stderr}")
    done = run("shot", "--state", at + "14", "-o", folder / "no.png")
    report.check(done.returncode == 2 and "Lesson 'by-hand' has no beat '14'; use one of tile" in done.stderr,
                 f"beat 14: {done.returncode} {done.stderr}")
    drawn = set()
    for answer in ([], ["--answer", "right"], ["--answer", "wrong"], ["--answer", "hint"], ["--answer", "shown"]):
        done = run("shot", "--state", at + "score", *answer, "-o", folder / "beat.png")
        if "Cannot draw a picture" in done.stderr:
            return
        report.check(done.returncode == 0, f"{answer}: {done.stderr}")
        drawn.add((folder / "beat.png").read_bytes())
    report.check(len(drawn) == 5, f"{len(drawn)} pictures of five")


with tempfile.TemporaryDirectory() as made:
    answered(pathlib.Path(made))
    shipped()
    by_the_page(pathlib.Path(made))
    sealed_questions(pathlib.Path(made))
    transfer_questions(pathlib.Path(made))
    refused(pathlib.Path(made))
report.exit(least=40)
