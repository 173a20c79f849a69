#!/usr/bin/env python3
"""Which sources may be compiled as one file: python3 app/setup/joined.py MOST SOURCE...

Sources that are compiled as one must not name the same thing in their unnamed namespaces. Prints "GROUP<tab>SOURCE" a
line, at most MOST sources a group, in the order given. CMakeLists.txt (attnscope_join) and tests/tidy.py use it.
"""
import pathlib
import re
import sys


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


class Group:
    def __init__(self, kind):
        self.kind, self.sources, self.names, self.aliases, self.alone = kind, [], set(), {}, False

    def differs(self, names, aliases):
        return (self.names & names or self.names & aliases.keys() or self.aliases.keys() & names or
                any(self.aliases.get(name, line) != line for name, line in aliases.items()))


def groups_of(sources, most, text_of, kind_of=lambda source: None):
    """First fit. Only sources of one kind come together; a source that includes itself stays alone."""
    groups = []
    for source in sources:
        text = text_of(source)
        alone, (names, aliases) = "foreach_target.h" in text, private_names(text)
        for group in groups:
            fits = group.kind == kind_of(source) and len(group.sources) < most and not group.alone and not alone
            if fits and not group.differs(names, aliases):
                break
        else:
            group = Group(kind_of(source))
            groups.append(group)
        group.sources.append(source)
        group.names |= names
        group.aliases.update(aliases)
        group.alone = alone
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
