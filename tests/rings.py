#!/usr/bin/env python3
"""Rings of includes, where a header and its source are one, and of Python's imports, those within functions too: what
names one another in a circle is one thing in several files. Prints a line for each ring, with a shortest way round it;
exit status 1 if there is one.

  python3 tests/rings.py FOLDER...
"""

import ast
import collections
import pathlib
import re
import sys

SOURCE = {".h", ".cpp", ".py"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def stem(path):
    return str(pathlib.PurePath(path).with_suffix(""))


def included(path, text):
    """What a source or header includes: (stem, line)."""
    for match in INCLUDE.finditer(text):
        yield stem(match.group(1)), text.count("\n", 0, match.start()) + 1


def imported(path, text):
    """What a Python file imports of the files beside it and in the folders around it: (stem, line). Within a package
    only what begins with a dot is one of them."""
    in_package = (path.parent / "__init__.py").is_file()
    for node in ast.walk(ast.parse(text)):
        relative = isinstance(node, ast.ImportFrom) and node.level > 0
        if not isinstance(node, (ast.Import, ast.ImportFrom)) or (in_package and not relative):
            continue
        folder = path.parents[node.level - 1] if relative else path.parent
        module = getattr(node, "module", None)
        names = [module] if module else [alias.name for alias in node.names]
        for name in names:
            there = folder.joinpath(*name.split("."))
            if there.with_suffix(".py").is_file():
                yield str(there), node.lineno


def read(folders):
    """What each stem includes: stem -> {stem: "FILE:LINE"}, in the order of the files' names."""
    edges = {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.suffix not in SOURCE:
                continue
            text = path.read_text(encoding="utf-8")
            here = edges.setdefault(stem(path), {})
            for there, line in (imported if path.suffix == ".py" else included)(path, text):
                if there != stem(path):
                    here.setdefault(there, f"{path}:{line}")
    return edges


def shortest_round(edges, start):
    """A shortest way from `start` back to it, as stems, or nothing."""
    came, queue = {}, collections.deque([start])
    while queue:
        here = queue.popleft()
        for there in edges.get(here, {}):
            if there == start:
                way = [here]
                while way[-1] != start:
                    way.append(came[way[-1]])
                return way[::-1]
            if there not in came:
                came[there] = here
                queue.append(there)
    return []


def rings(edges):
    """A shortest way round through each stem that stands in a ring, each ring of files once."""
    found = {}
    for start in sorted(edges):
        way = shortest_round(edges, start)
        if way:
            found.setdefault(frozenset(way), way)
    return sorted(found.values(), key=lambda way: (len(way), way))


def main(folders):
    if not folders:
        print(__doc__)
        return 2
    edges = read(folders)
    found = rings(edges)
    for way in found:
        closing = (f"{edges[here][there]} includes {there}" for here, there in zip(way, way[1:] + way[:1]))
        print("; ".join(closing))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
