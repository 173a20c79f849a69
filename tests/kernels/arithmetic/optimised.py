"""The Release build compiles the sources that compute at -O3: python3 optimised.py BUILD

Of several -O options the last one counts. At -O2 the register tiles of the products are not
unrolled and the kernels run three times slower, which no other test would notice.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "app" / "setup"))
import joined  # noqa: E402  (which sources stand in one file)

COMPUTING = ("arithmetic", "base", "cpu", "judge", "recording")


def main():
    entries = json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text())
    levels, wrong = {}, []
    for entry in entries:
        for source in joined.sources_of(pathlib.Path(entry["file"])):
            if any(ROOT / "kernels" / room in source.parents for room in COMPUTING):
                levels[source.relative_to(ROOT)] = re.findall(r"\s-O(\S+)", entry["command"])
    for room in COMPUTING:
        for source in (ROOT / "kernels" / room).rglob("*.cpp"):
            found = levels.get(source.relative_to(ROOT))
            if not found or found[-1] != "3":
                wrong.append(f"{source.relative_to(ROOT)}: {found}")
    for line in wrong:
        print("FAILED not at -O3:", line)
    print(f"{len(levels)} sources that compute, {len(wrong)} not at -O3")
    return 1 if wrong or len(levels) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
