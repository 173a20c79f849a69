"""Chapters as PDF: every one is printed, its fonts are embedded, its words are words, the learner's page tells no
answer and the answers are those that NumPy computes from what the page gives."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import numpy as np

from program import Report, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
report = Report()


def words_of(file):
    return subprocess.run(["pdftotext", "-layout", str(file), "-"], capture_output=True, text=True, check=True).stdout


def fonts_of(file):
    table = subprocess.run(["pdffonts", str(file)], capture_output=True, text=True, check=True).stdout
    return [line for line in table.splitlines()[2:] if line.strip()]


def size_of(file):
    told = subprocess.run(["pdfinfo", str(file)], capture_output=True, text=True, check=True).stdout
    return re.search(r"Page size:\s+([\d.]+) x ([\d.]+)", told).groups(), int(re.search(r"Pages:\s+(\d+)", told)[1])


def embedded(file):
    for line in fonts_of(file):
        # "name   type   encoding   emb sub uni object": all three are yes.
        report.check(re.search(r"\byes\s+yes\s+yes\b", line), f"{file.name}: not embedded or not words: {line}")
    report.check(len(fonts_of(file)) >= 3, f"{file.name} has few fonts: {fonts_of(file)}")


def every_chapter(folder):
    files = sorted((ROOT / "assets/lessons").glob("*.exercises.json"))
    report.check(len(files) == 16, f"{len(files)} chapters have exercises")
    for file in files:
        lesson = json.loads((file.parent / file.name.replace(".exercises", "")).read_text(encoding="utf-8"))
        beside = json.loads(file.read_text(encoding="utf-8"))
        lesson["text"] |= beside["text"]
        page, answers = folder / f"{lesson['id']}.pdf", folder / f"{lesson['id']}_answers.pdf"
        done = run("lesson", "print", lesson["number"], "--seed", "5", "-o", page, "--key", answers)
        report.check(done.returncode == 0, f"{lesson['id']}: {done.stderr}")
        if done.returncode != 0:
            continue
        embedded(page)
        embedded(answers)
        sheet, key = words_of(page), words_of(answers)
        report.check(lesson["text"]["title"] in sheet, f"{lesson['id']}: no title")
        report.check(lesson["text"]["goal"].split(",")[0] in " ".join(sheet.split()), f"{lesson['id']}: no question")
        for words in ("Exercises", "seed 5", "Name", "Answer"):
            report.check(words in sheet, f"{lesson['id']}: the page lacks {words}")
        html = folder / "key.html"
        run("lesson", "print", lesson["number"], "--seed", "5", "-o", folder / "sheet.html", "--key", html)
        answers_told = re.findall(r"<b>([^<]*?)\s*</b> \(", html.read_text(encoding="utf-8"))[-3:]
        report.check(len(answers_told) == 3, f"{lesson['id']}: {answers_told}")
        for exercise, answer in zip(beside["exercises"], answers_told):
            number = answer.split()[0]
            report.check(number in key.split(), f"{lesson['id']}, {exercise['id']}: the key lacks {number}")
            # A round number may be given for another reason.
            if "." in number or len(number) > 4:
                report.check(number not in sheet.split(), f"{lesson['id']}, {exercise['id']}: the page tells {number}")
            way = re.split(r"\{[^}]*\}|\[[^\]]*\]|\^\([^)]*\)|\n", lesson["text"][exercise["id"] + ".right"])
            longest = " ".join(max(way, key=len).strip(" .:,;=×−+/").split())
            report.check(longest in " ".join(key.split()), f"{lesson['id']}: the key lacks '{longest}'")
        report.check("If the answer is" in key and "If the answer is" not in sheet, f"{lesson['id']}: no replies")
        for text in (sheet, key):
            report.check("{" not in text and "nan" not in text, f"{lesson['id']}: a number is missing")
        (width, height), pages = size_of(page)
        good = (width, height) == ("595.28", "841.89") and pages <= 3
        report.check(good, f"{lesson['id']}: {width} x {height}, {pages} pages")


def same_numbers_as_numpy(folder):
    """What the page gives, read back from its words, gives the answer of the key."""
    page, answers = folder / "p.pdf", folder / "a.pdf"
    for seed in range(8):
        run("lesson", "print", "bytes", "--seed", str(seed), "-o", page, "--key", answers)
        sheet, key = words_of(page).replace("\u2009", ""), words_of(answers).replace("\u2009", "")
        found = re.search(r"One head has L = (\d+) queries and keys in fp32, with D = (\d+) and (\d+) query rows",
                          " ".join(sheet.split()))
        report.check(found, f"seed {seed}: the page gives no problem")
        n, d, br = (np.float64(x) for x in found.groups())
        want = 4 * (2 * n * d * (1 + n / br) + n)
        report.check(f"{want:.0f} bytes" in key and f"{want:.0f}" not in sheet, f"seed {seed}: {want}")
        again = words_of(page)
        run("lesson", "print", "bytes", "--seed", str(seed), "-o", page)
        report.check(words_of(page) == again, f"seed {seed}: the same seed prints another page")


def papers(folder):
    page = folder / "letter.pdf"
    done = run("lesson", "print", "masks", "--paper", "letter", "-o", page)
    report.check(done.returncode == 0 and size_of(page)[0] == ("612", "792"), f"letter: {done.stderr}")
    for arguments, words in ((("masks", "--paper", "a7", "-o", page), "Unknown paper size 'a7'"),
                             (("masks", "--paper", "a4", "-o", folder / "a.html"), "--paper applies only to PDFs"),
                             (("masks", "-o", page, "--key", folder / "a.html"), "is not a PDF"),
                             (("checkpoint-row", "-o", page), "has no exercises"),
                             (("99", "-o", page), "Unknown lesson '99'"),
                             (("masks", "-o", folder / "nowhere" / "a.pdf"), "nowhere")):
        done = run("lesson", "print", *arguments)
        good = done.returncode in (2, 3) and words in done.stderr
        report.check(good, f"{arguments}: {done.returncode} {done.stderr}")


def on_html(folder):
    """The HTML sheet has the exercises too, with the numbers of the same seed."""
    page, sheet = folder / "h.pdf", folder / "h.html"
    run("lesson", "print", "masks", "--seed", "3", "-o", page)
    run("lesson", "print", "masks", "--seed", "3", "-o", sheet)
    words = " ".join(words_of(page).split())
    tiles = re.search(r"has (\d+) queries, the same number of keys, and tiles of (\d+)", words)
    text = re.sub(r"<[^>]*>", "", sheet.read_text(encoding="utf-8"))
    report.check(tiles and tiles.group(0) in text, "HTML and PDF have other numbers")


for tool in ("pdftotext", "pdffonts", "pdfinfo"):
    if shutil.which(tool) is None:
        raise SystemExit(f"{tool} is missing: install poppler-utils (app/setup/packages_tests)")
with tempfile.TemporaryDirectory() as made:
    every_chapter(pathlib.Path(made))
    same_numbers_as_numpy(pathlib.Path(made))
    papers(pathlib.Path(made))
    on_html(pathlib.Path(made))
report.exit(least=200)
