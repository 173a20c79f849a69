"""The Release build compiles every source of the room kernels at -O3: python3 optimised.py BUILD

Of several -O options the last one counts. At -O2 the register tiles of the products are not
unrolled and the kernels run three times slower, which no other test would notice.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]


def main():
    entries = json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text())
    seen, wrong = 0, []
    for entry in entries:
        source = pathlib.Path(entry["file"])
        if ROOT / "kernels" not in source.parents:
            continue
        seen += 1
        levels = re.findall(r"\s-O(\S+)", entry["command"])
        if not levels or levels[-1] != "3":
            wrong.append(f"{source.relative_to(ROOT)}: {' '.join('-O' + level for level in levels) or 'no -O'}")
    for line in wrong:
        print("FAILED not at -O3:", line)
    print(f"{seen} sources of kernels, {len(wrong)} not at -O3")
    return 1 if wrong or seen < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
