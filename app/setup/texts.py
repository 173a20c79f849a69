#!/usr/bin/env python3
"""Collects the texts that are marked in the sources (kernels/base/text.h) into assets/texts/en.json.

    python3 app/setup/texts.py            writes it anew
    python3 app/setup/texts.py --check    exit 1 where it is not what the sources say

Marked are tr("..."), marked("..."), phrase("...", ...) and plural(n, "...", "...", ...), whose texts are literals;
those that stand side by side are one. A translator begins with a copy of the file and puts "to" beside each "en".
"""
import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CATALOGUE = ROOT / "assets" / "texts" / "en.json"
ROOMS = ("kernels", "profiling", "viz", "app")
CALL = re.compile(r"\b(tr|marked|phrase|plural)\(")
LITERAL = re.compile(r'\s*"((?:[^"\\\n]|\\.)*)"')
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'", "0": "\0"}


def without_comments(source):
    """Comments blanked out, strings kept."""
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?\*/',
                  lambda m: m.group(0) if m.group(0)[0] in "\"'" else " ", source, flags=re.S)


def unescaped(text):
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m.group(1), m.group(0)), text)


def literals(source, at):
    """The adjacent literals at a place as one text, and where they end; None where there are none."""
    parts = []
    while found := LITERAL.match(source, at):
        parts.append(unescaped(found.group(1)))
        at = found.end()
    return ("".join(parts), at) if parts else (None, at)


def end_of_argument(source, at):
    """The place of the comma or bracket that ends an argument."""
    depth = 0
    while at < len(source):
        c = source[at]
        if c == '"':
            at = LITERAL.match(source, at).end()
            continue
        if c == "'" and source[at + 1:at + 3] and re.match(r"'(?:[^'\\]|\\.)'", source[at:]):
            at += re.match(r"'(?:[^'\\]|\\.)'", source[at:]).end()
            continue
        if c in "([{":
            depth += 1
        elif c in ")]}":
            if depth == 0:
                return at
            depth -= 1
        elif c == "," and depth == 0:
            return at
        at += 1
    return at


def with_places(text):
    """"{} of {:.1f}" as "{0} of {1:.1f}", as kernels/base/text.cpp does."""
    out, place, n = [], 0, 0
    while n < len(text):
        c = text[n]
        out.append(c)
        if c in "{}":
            if text[n + 1:n + 2] == c:
                out.append(c)
                n += 1
            elif c == "{" and text[n + 1:n + 2] in ("}", ":"):
                out.append(str(place))
                place += 1
        n += 1
    return "".join(out)


def marked(source):
    """(kind, texts) of each mark of a source; texts is None where one is no literal."""
    source = without_comments(source)
    for call in CALL.finditer(source):
        kind, at = call.group(1), call.end()
        if re.search(r"(std::string|const char\*|Literal|\w&?)\s+$", source[:call.start()]) and \
                not re.search(r"(return|else|case)\s+$", source[:call.start()]):
            continue  # its declaration
        if kind == "plural":
            at = end_of_argument(source, at) + 1
        text, end = literals(source, at)
        if text is None:
            yield kind, None
        elif kind == "plural":
            at = end_of_argument(source, end) + 1
            other, _ = literals(source, at)
            yield kind, None if other is None else [with_places(text), with_places(other)]
        else:
            yield kind, text if kind in ("tr", "marked") else with_places(text)


def collected():
    """The catalogue, and a line for each mark that cannot be collected."""
    found, faults = {}, []
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*")):
            if path.suffix not in (".h", ".cpp") or path == ROOT / "kernels/base/text.h":
                continue
            name = str(path.relative_to(ROOT))
            for kind, text in marked(path.read_text(encoding="utf-8")):
                if text is None:
                    faults.append(f"{name}: {kind}() of something else than a literal")
                    continue
                key = json.dumps(text, ensure_ascii=False)
                found.setdefault(key, (text, set()))[1].add(name)
    texts = [{"en": text, "in": sorted(files)} for _, (text, files) in sorted(found.items())]
    return {"version": 1, "language": "en", "plural": "one_other", "texts": texts}, faults


def written(catalogue):
    lines = [json.dumps(entry, ensure_ascii=False) for entry in catalogue["texts"]]
    head = '{"version": 1, "language": "en", "plural": "one_other", "texts": [\n'
    return head + ",\n".join(lines) + "\n]}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    catalogue, faults = collected()
    for fault in faults:
        print("FAILED", fault)
    text = written(catalogue)
    if arguments.check:
        now = CATALOGUE.read_text(encoding="utf-8") if CATALOGUE.is_file() else ""
        if now != text:
            print("FAILED assets/texts/en.json is not what the sources say: run python3 app/setup/texts.py")
        print(f"{len(catalogue['texts'])} texts")
        return 1 if faults or now != text else 0
    CATALOGUE.parent.mkdir(parents=True, exist_ok=True)
    CATALOGUE.write_text(text, encoding="utf-8")
    print(f"{len(catalogue['texts'])} texts in {CATALOGUE.relative_to(ROOT)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
