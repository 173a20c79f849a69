#!/usr/bin/env python3
"""ctest's JUnit report, a line each: python3 report.py REPORT

PASS NAME, FAIL NAME, and for each reason why tests were skipped SKIP COUNT<tab>NAMES: REASON.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

MOST_NAMES = 2
MOST_LETTERS = 400


def reason_of(case):
    """What a skipped test said: GoogleTest's words after "Skipped", else its last line."""
    output = case.findtext("system-out") or ""
    said = re.search(r": Skipped\n(.*?)\n*(?=^\[  SKIPPED \]|\Z)", output, re.S | re.M)
    lines = [line.strip() for line in (said.group(1) if said else output).splitlines() if line.strip()]
    words = " ".join(lines if said else lines[-1:])
    return words[:MOST_LETTERS] or "it does not say why"


def main():
    skipped = {}
    for case in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
        name, status = case.get("name"), case.get("status")
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
