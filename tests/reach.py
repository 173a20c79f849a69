#!/usr/bin/env python3
"""What a file reaches: itself, every file it includes in quotes, the source beside each header, and so on.

    python3 tests/reach.py FILE...                    how many files
    python3 tests/reach.py --list FILE...             their paths
    python3 tests/reach.py --why TARGET FILE...       a shortest chain of includes to TARGET
    python3 tests/reach.py --most 240 FILE...         prints a line where there are more, and nothing else
    python3 tests/reach.py --listed LIST              what the files of a list (app/setup/core.txt) reach
    python3 tests/reach.py --outside LIST             the sources among those that are not in the list
"""
import argparse
import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def beside(path):
    """A header's source and a source's header, where there is one."""
    other = {".h": ".cpp", ".cpp": ".h"}.get(pathlib.PurePath(path).suffix)
    name = str(pathlib.PurePath(path).with_suffix(other)) if other else ""
    return [name] if name and (ROOT / name).is_file() else []


def next_of(path):
    included = [name for name in INCLUDE.findall((ROOT / path).read_text(encoding="utf-8"))
                if (ROOT / name).is_file()]
    return included + beside(path)


def reached(starts):
    """Each file reached, with the file that it was first reached from."""
    came_from = {start: "" for start in starts}
    queue = collections.deque(starts)
    while queue:
        path = queue.popleft()
        for other in next_of(path):
            if other not in came_from:
                came_from[other] = path
                queue.append(other)
    return came_from


def listed(patterns):
    """The files of a list: a pattern a line, from the root; "!" takes away, "#" says something."""
    files = set()
    for line in pathlib.Path(patterns).read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        found = {str(path.relative_to(ROOT)) for path in ROOT.glob(line.removeprefix("!"))}
        files = files - found if line.startswith("!") else files | found
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--listed")
    parser.add_argument("--outside")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--why")
    parser.add_argument("--most", type=int)
    arguments = parser.parse_args()
    if arguments.listed:
        print("\n".join(sorted(reached(sorted(listed(arguments.listed))))))
        return
    if arguments.outside:
        files = listed(arguments.outside)
        came_from = reached(sorted(files))
        for path in sorted(came_from):
            if path.endswith(".cpp") and path not in files:
                print(f"{came_from[path]} reaches {path}")
        return
    came_from = reached(arguments.files)
    if arguments.why:
        path = arguments.why
        while path:
            print(path)
            path = came_from[path]
    elif arguments.list:
        print("\n".join(sorted(came_from)))
    elif arguments.most is None:
        print(len(came_from))
    elif len(came_from) > arguments.most:
        print(f"{' '.join(arguments.files)}: {len(came_from)} files, at most {arguments.most}; "
              "see python3 tests/reach.py --list")


if __name__ == "__main__":
    main()
