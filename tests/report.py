#!/usr/bin/env python3
"""ctest's JUnit report, a line each: python3 report.py REPORT

PASS NAME, FAIL NAME, and for each reason why tests were skipped SKIP COUNT<tab>NAMES: REASON.
Where a test is a shard of a program, ROOM.shard_N, the program's tests count in its place: each is in
shards/ROOM.shard_N.xml beside the report. A shard that ended before it wrote that is FAIL ROOM.shard_N.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

MOST_NAMES = 2
MOST_LETTERS = 400


def reason_of(case):
    """What a skipped test said: GoogleTest's words after "Skipped", else its last line."""
    inside = case.find("skipped")
    output = case.findtext("system-out") or (inside is not None and (inside.text or inside.get("message"))) or ""
    said = re.search(r": Skipped\n(.*?)\n*(?=^\[  SKIPPED \]|\Z)", output, re.S | re.M)
    lines = [line.strip() for line in (said.group(1) if said else output).splitlines() if line.strip()]
    words = " ".join(lines if said else lines[-1:])
    return words[:MOST_LETTERS] or "it does not say why"


def of_shard(report, name):
    """Yields (name, status, case) of the tests in a shard's own report."""
    try:
        cases = list(ElementTree.parse(report.parent / "shards" / f"{name}.xml").getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return
    for case in cases:
        if case.get("status") == "run":
            status = "fail" if case.find("failure") is not None else "run"
            if case.get("result") == "skipped":
                status = "skipped"
            yield f"{name.split('.')[0]}.{case.get('classname')}.{case.get('name')}", status, case


def tests_of(report):
    """Yields (name, status, case): run, fail, or why it did not run."""
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name, status = case.get("name"), case.get("status")
        of_it = list(of_shard(report, name)) if re.search(r"\.shard_\d+$", name) else []
        yield from of_it
        # A sanitizer's words at the end of a shard are no test's.
        if not of_it or status == "fail" and all(s != "fail" for _, s, _ in of_it):
            yield name, status, case


def main():
    skipped = {}
    for name, status, case in tests_of(pathlib.Path(sys.argv[1])):
        if status == "run":
            print("PASS", name)
        elif status == "fail":
            print("FAIL", name)
        else:
            skipped.setdefault(reason_of(case), []).append(name)
    for reason, names in skipped.items():
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        print(f"SKIP {len(names)}\t{', '.join(names[:MOST_NAMES])}{more}: {reason}")


if __name__ == "__main__":
    main()
