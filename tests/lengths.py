#!/usr/bin/env python3
"""How long files and functions are. Prints a line for each that is too long; exit status 1 if there is one.

    python3 tests/lengths.py --files 450 FILE...        lines of a file
    python3 tests/lengths.py --functions 80 FILE...     lines from a function's opening brace to its closing one, of
                                                        C++, CUDA, Python and shell; a Python function's from its def
"""
import argparse
import ast
import pathlib
import re
import sys

CPP = {".h", ".cpp", ".cu", ".cuh"}
# Comments, literals and directives hold braces that open nothing.
SILENT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''
                    r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r"^(?:template <.*> )?(?:inline |typedef )?(?:namespace|struct|class|union|extern)\b(?!.*\)$)")
BRACKETS = re.compile(r"\([^()]*(?:\([^()]*\)[^()]*)*\)|operator[^\w\s(]+")
NAME = re.compile(r"([\w:~]+(?: ?[^\w\s()]{1,3})?) ?\(")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def kind_of(head):
    """What a brace opens that stands where only namespaces and classes are around it, and a function's name."""
    head = " ".join(re.sub(r"\b(?:public|private|protected):", " ", head).split())
    if SCOPE.search(head):
        return "scope", ""
    # A list of values stands behind "=".
    outside = BRACKETS.sub("", head)
    return ("function", head) if "(" in head and "=" not in outside else ("other", "")


def name_of(head):
    if named := re.match(r"(?:TEST|TEST_F|TEST_P)\((.*?)\)", head):
        return named.group(1).replace(", ", ".")
    found = NAME.search(re.sub(r"^template <.*?> ", "", head))
    return found.group(1) if found else head


def cpp_functions(text):
    """Name, first and last line of each function, those within functions left out."""
    text = SILENT.sub(blank, text)
    around, begin, line, functions = [], 0, 1, []
    for at, char in enumerate(text):
        if char == "\n":
            line += 1
        elif char == "{":
            inside = bool(around) and around[-1][0] != "scope"
            kind, head = ("other", "") if inside else kind_of(text[begin:at])
            around.append((kind, name_of(head), line, begin))
            begin = at + 1
        elif char == "}":
            kind, name, first, head_at = around.pop() if around else ("other", "", 0, 0)
            # A member that a constructor initialises in braces: the body comes.
            ends = not text[at + 1:at + 80].lstrip().startswith((",", "{"))
            if kind == "function" and ends:
                functions.append((name, first, line))
            begin = at + 1 if kind != "function" or ends else head_at
        elif char == ";":
            begin = at + 1
    return functions


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno


def shell_functions(text):
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if begins := re.match(r"(\w+)\(\) \{", line):
            end = next((n for n in range(number, len(lines)) if lines[n] == "}"), number - 1)
            yield begins.group(1), number, end + 1


def functions_of(path, text):
    if path.suffix in CPP:
        return cpp_functions(text)
    return {".py": python_functions, ".sh": shell_functions}.get(path.suffix, lambda _: [])(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int)
    parser.add_argument("--functions", type=int)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    found = []
    for path in arguments.paths:
        text = path.read_text(encoding="utf-8")
        lines = text.count("\n")
        if arguments.files and lines > arguments.files:
            found.append(f"{path}: {lines} lines")
        if arguments.functions:
            for name, first, last in functions_of(path, text):
                if last - first + 1 > arguments.functions:
                    found.append(f"{path}:{first}: {name} has {last - first + 1} lines")
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
