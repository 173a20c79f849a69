#!/usr/bin/env python3
"""Draws sentences of the program for a reader, who marks what is wrong or unidiomatic and corrects it (see key.md).

    python3 tests/readers/sentences.py --seed 7               30 sentences, numbered
    python3 tests/readers/sentences.py --seed 7 --sources     the same, each with the file it comes from
    python3 tests/readers/sentences.py --list                 how many there are to draw from

Each of the four kinds gives a quarter: window, messages, lessons (with Step's sentences) and docs. The same seed draws
the same sentences as long as no text changes. A sentence is drawn by its hash: a change elsewhere leaves it in place.
"""
import argparse
import hashlib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WINDOW = ("viz/", "app/shell/")
LEAST_WORDS = 5
# A full stop, question mark or colon before a capital, not after an abbreviation or inside a number.
END = re.compile(r"(?<=[.?!])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z0-9`*“])")
ITALIC = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]+?)(?<=[^\s*])\*(?![\w*])")  # a label or a term: quoted when drawn
MARKUP = re.compile(r"\*\*|!?\[([^\]]*)\]\([^)]*\)")


def sentences_of(text):
    for sentence in END.split(" ".join(text.split())):
        if len(re.findall(r"[A-Za-z]{2,}", sentence)) >= LEAST_WORDS:
            yield sentence.strip()


def marked_texts():
    """(kind, file, text) of every text that the sources mark: the window's and the messages."""
    for entry in json.loads((ROOT / "assets/texts/en.json").read_text(encoding="utf-8"))["texts"]:
        texts = entry["en"] if isinstance(entry["en"], list) else [entry["en"]]
        kind = "window" if all(name.startswith(WINDOW) for name in entry["in"]) else "messages"
        for text in texts[:1]:
            if len(re.findall(r"\S {2,}(?=\S)", text)) > 2:
                continue  # the head of a table
            yield kind, entry["in"][0], re.split(r"(?:^|\n)Examples:", text)[0]


def strings_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings_in(part)


def lesson_texts():
    """The words of lessons and of Step's sentences; expressions and ids have too few words to be drawn."""
    for path in sorted((ROOT / "assets/lessons").glob("*.json")):
        if all(len(part) > 2 for part in path.stem.split(".")[1:]):  # a language has two letters
            for text in strings_in(json.loads(path.read_text(encoding="utf-8"))["text"]):
                yield "lessons", str(path.relative_to(ROOT)), text
    steps = {path: json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "assets").glob("step_texts*.json")}
    shared = {name: text for part in steps.values() for name, text in part.get("shared", {}).items()}
    for path, part in sorted(steps.items()):
        for text in strings_in(part):
            text = re.sub(r"\{@(\w+)\}", lambda found: shared[found.group(1)], text)  # as it is shown
            if " = " not in text:  # no formula
                yield "lessons", str(path.relative_to(ROOT)), text


def prose_of(page):
    """Paragraphs and list items of a page, without fences, tables and headings."""
    text = re.sub(r"^( *)```.*?^ *```$", "\n", page, flags=re.M | re.S)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text):
        if not re.match(r"\s*(#|\||<!--|!\[)", block):
            text = re.sub(r"^\s*(?:[-*]|\d+\.) ", "", block)
            yield MARKUP.sub(lambda found: found.group(1) or "", ITALIC.sub(r"“\1”", text))


def page_texts():
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for text in prose_of(path.read_text(encoding="utf-8")):
            yield "docs", str(path.relative_to(ROOT)), text


def all_sentences():
    """Kind to {sentence: file}."""
    found = {"window": {}, "messages": {}, "lessons": {}, "docs": {}}
    for texts in (marked_texts(), lesson_texts(), page_texts()):
        for kind, name, text in texts:
            for sentence in sentences_of(text):
                found[kind].setdefault(sentence, name)
    return found


def drawn(seed, count):
    """[(sentence, file)]: of each kind those whose hash with the seed is smallest, the kinds in turns."""
    def rank(sentence):
        return hashlib.sha256(f"{seed}\n{sentence}".encode()).hexdigest()

    kinds = [sorted(of_kind.items(), key=lambda item: rank(item[0])) for of_kind in all_sentences().values()]
    places = ((kinds[n % len(kinds)], n // len(kinds)) for n in range(count))
    return [of_kind[at] for of_kind, at in places if at < len(of_kind)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--sources", action="store_true", help="name each sentence's file")
    parser.add_argument("--list", action="store_true", help="print how many sentences of each kind there are")
    arguments = parser.parse_args()
    if arguments.list:
        for kind, of_kind in all_sentences().items():
            print(f"{kind:<10}{len(of_kind):>6}")
        return 0
    if arguments.count < 1:
        parser.error(f"Invalid --count {arguments.count}; use 1 or more.")
    for n, (sentence, name) in enumerate(drawn(arguments.seed, arguments.count), 1):
        print(f"{n:>3}. {sentence}" + (f"\n     {name}" if arguments.sources else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
