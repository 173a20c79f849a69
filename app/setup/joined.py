#!/usr/bin/env python3
"""Which sources may be compiled as one file: python3 app/setup/joined.py MOST SOURCE...

Sources that are compiled as one must not name the same thing in their unnamed namespaces, nor what a header names that
only another of them includes. Prints "GROUP<tab>SOURCE" a line, at most MOST sources a group, in the order given.
CMakeLists.txt (attnscope_join) and tests/tidy.py use it.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def private_names(text):
    """What stands in the unnamed namespaces of a source, as far as its layout by clang-format tells: names, and what
    an alias stands for, which may be said twice."""
    names, aliases, inside = set(), {}, False
    for line in text.split("\n"):
        alias = re.match(r"(?:using|namespace) (?:(\w+) = |.*::(\w+);)", line)
        if line.startswith("namespace {"):
            inside = True
        elif re.match(r"\}\s*// namespace$", line):
            inside = False
        elif alias:
            aliases[alias.group(1) or alias.group(2)] = line
        elif line.startswith("using namespace"):
            continue
        elif re.match(r"(?:INSTANTIATE_)?TEST(?:_SUITE)?(?:_[FP])?\(", line):
            continue  # a name of its own within its room
        elif inside or line.startswith(("static ", "#define ")):
            match = re.match(r"(?:struct|class|enum class|enum|#define)\s+(\w+)", line)
            if not match and line and (line[0].isalnum() or line[0] == "_"):
                plain = re.sub(r"<[^()]*?>", "", line)
                match = re.search(r"(\w+)\s*[(={\[;]", plain)
                if line.startswith("constexpr"):  # float kGap = 8, kEdge = 2;
                    names.update(re.findall(r"(\w+) =", plain))
            if match:
                names.add(match.group(1))
    return names, aliases


def public_names(text):
    """What a header names outside of classes, as far as its layout tells."""
    names = set()
    for line in text.split("\n"):
        line = re.sub(r"^template <.*?> (?=\w)", "", line)
        match = re.match(r"(?:struct|class|enum class|enum|union|using)\s+(\w+)", line)
        if not match and line and line[0].isalpha() and not line.startswith(("namespace ", "using ", "template ")):
            plain = re.sub(r"<[^()]*?>", "", line)
            match = re.search(r"(\w+)\s*[(={\[;]", plain)
            if re.match(r"(?:inline )?constexpr", plain):
                names.update(re.findall(r"(\w+) =", plain))
        if match:
            names.add(match.group(1))
    return names


class Headers:
    """What the headers of this repository name that a source sees, through other headers too."""

    def __init__(self):
        self.known = {}

    def read(self, path):
        if path not in self.known:
            file = ROOT / path
            text = file.read_text(encoding="utf-8") if file.is_file() else ""
            self.known[path] = (public_names(text), INCLUDE.findall(text))
        return self.known[path]

    def seen_by(self, text):
        names, seen, left = set(), set(), INCLUDE.findall(text)
        while left:
            path = left.pop()
            if path not in seen:
                seen.add(path)
                more, further = self.read(path)
                names |= more
                left += further
        return names


class Source:
    def __init__(self, text, headers):
        self.alone = "foreach_target.h" in text
        self.names, self.aliases = private_names(text)
        self.seen = headers.seen_by(text)
        # Names that a header which another brings may take; where its own headers have them it compiles with them.
        self.free = self.names - self.seen


class Group:
    def __init__(self, kind):
        self.kind, self.sources, self.alone = kind, [], False
        self.names, self.aliases, self.seen, self.free = set(), {}, set(), set()

    def takes(self, source):
        return not (self.alone or source.alone or self.names & source.names or self.names & source.aliases.keys() or
                    self.aliases.keys() & source.names or self.free & source.seen or source.free & self.seen or
                    any(self.aliases.get(name, line) != line for name, line in source.aliases.items()))

    def add(self, name, source):
        self.sources.append(name)
        self.alone = source.alone
        self.names |= source.names
        self.aliases.update(source.aliases)
        self.seen |= source.seen
        self.free |= source.free


def groups_of(sources, most, text_of, kind_of=lambda source: None):
    """First fit. Only sources of one kind come together; a source that includes itself stays alone."""
    groups, headers = [], Headers()
    for name in sources:
        source, kind = Source(text_of(name), headers), kind_of(name)
        for group in groups:
            if group.kind == kind and len(group.sources) < most and group.takes(source):
                break
        else:
            group = Group(kind)
            groups.append(group)
        group.add(name, source)
    return groups


def sources_of(compiled):
    """The sources in a file that CMake wrote to compile several as one; else the file itself."""
    if compiled.parent.name != "Unity" or not compiled.is_file():
        return [compiled]
    return [pathlib.Path(p) for p in re.findall(r'^#include "(.+)"$', compiled.read_text(encoding="utf-8"), re.M)]


def main():
    texts = {s: pathlib.Path(s).read_text(encoding="utf-8") for s in sys.argv[2:] if pathlib.Path(s).is_file()}
    for number, group in enumerate(groups_of(list(texts), int(sys.argv[1]), texts.get)):
        for source in group.sources:
            print(f"{number}\t{source}")


if __name__ == "__main__":
    main()
