"""tests/readers/sentences.py draws what stands in the program, each kind alike, and the same for the same seed."""

import collections
import pathlib
import sys

from pages import ROOT
from program import Report

sys.path.insert(0, str(ROOT / "tests" / "readers"))
import sentences  # noqa: E402  pylint: disable=wrong-import-position

report = Report()


def drawn_sentences():
    first = sentences.drawn(7, 30)
    report.check(first == sentences.drawn(7, 30), "the same seed draws other sentences")
    report.check(len({sentence for sentence, _ in first}) == 30, f"{len(first)} sentences, some of them twice")
    report.check(not {s for s, _ in first} & {s for s, _ in sentences.drawn(8, 4)} or
                 first != sentences.drawn(8, 30), "the seed changes nothing")
    for sentence, name in first:
        text = (ROOT / name).read_text(encoding="utf-8")
        words = max(sentence.split(), key=len).strip("`*.,:;()“”").split("{")[0]
        report.check(words in text, f"{name} does not have '{words}' of: {sentence}")


def kinds():
    found = sentences.all_sentences()
    of = {sentence: kind for kind, texts in found.items() for sentence in texts}
    counted = collections.Counter(of[sentence] for sentence, _ in sentences.drawn(1, 40))
    report.check(all(abs(n - 10) <= 1 for n in counted.values()) and len(counted) == 4, f"kinds of 40: {counted}")
    report.check(all(len(texts) > 300 for texts in found.values()), f"{ {k: len(v) for k, v in found.items()} }")
    for kind, start in (("window", ("viz/", "app/shell/")), ("lessons", ("assets/",)), ("docs", ("docs/", "README",
                                                                                              "CONTRIBUTING"))):
        strays = [name for name in found[kind].values() if not name.startswith(start)]
        report.check(not strays, f"{kind}: {strays[:3]}")


def prose():
    page = "# Heading of five whole words\n\nOne is here. Two is here, see [a link](b.md).\n\n```sh\nnot this at all " \
           "please\n```\n\n| no | table |\n\n- an item that has **some** words and *a label*\n"
    texts = [s for text in sentences.prose_of(page) for s in sentences.sentences_of(text)]
    report.check(texts == ["Two is here, see a link.", "an item that has some words and “a label”"], f"{texts}")


if not pathlib.Path(ROOT / "assets/texts/en.json").is_file():
    report.check(False, "assets/texts/en.json is missing")
drawn_sentences()
kinds()
prose()
report.exit(least=8)
