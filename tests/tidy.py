#!/usr/bin/env python3
"""clang-tidy over every source of the rooms:
    python3 tests/tidy.py BUILD [--program P] [--jobs N] [--seconds S] [FILE...]

Nearly all of its time goes to the headers, which it walks again for each source. So it gets
groups of sources, each group included into one file; sources of a group must not name the same
thing in their unnamed namespaces. Where a group does not compile after all, its sources are
looked at one by one. Prints a line a source: PASS, FAIL or SKIP; findings go to stderr.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "app" / "setup"))
import joined  # noqa: E402  (which sources may stand in one file)

ROOMS = ("kernels", "profiling", "viz", "app")
MOST_OF_A_GROUP = 24
# Its dataflow may take minutes over a group whose sources take seconds each: they are then looked at one by one.
GROUP_SECONDS = 300
# Of what is compiled for several processors one is looked at.
# A reserved name is the compiler's warning: clang-tidy's check of them names every one of the system's headers first,
# and takes a fifth of all the time. What is optimised, and how, is nothing that is looked at: sources that differ in it
# alone come together.
EXTRA = ["-DHWY_COMPILE_ONLY_STATIC", "-DHWY_SHARED_DEFINE", "-Wno-everything", "-Wreserved-identifier"]
UNSEEN = re.compile(r"-O.|-fPI[CE]|-DHWY_SHARED_DEFINE|--param|ggc-min-heapsize=.*|-W.*|-MD|-fpch-preprocess")
COMPILER = re.compile(r"(clang|clang\+\+|gcc|g\+\+|cc|c\+\+)(-\d+)?")
FINDING = re.compile(r"^(/[^:\n]+):\d+:\d+: (?:warning|error): ", re.M)


def flags_of(entry):
    """The compile command without what launches the compiler, source, output and precompiled header: each file must
    include what it uses, and another compiler's precompiled header cannot be read."""
    words = shlex.split(entry["command"])
    compiler = next(n for n, word in enumerate(words) if COMPILER.fullmatch(os.path.basename(word)))
    kept, skip = [], False
    for word in words[compiler + 1:]:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-include", "-Xclang", "-MT", "-MF"):
            skip = True
        elif not UNSEEN.fullmatch(word):
            kept.append(word)
    return tuple(kept)


def look(sources, flags, options, number):
    """Returns {source: what was found}, or None where they do not compile together or take too long."""
    left = options.end - time.monotonic()
    if left <= 0:
        return {}
    if len(sources) == 1:
        file = ROOT / sources[0]
    else:
        file = options.folder / f"group_{number}.cpp"
        file.write_text("".join(f'#include "{ROOT / s}"  // NOLINT(bugprone-suspicious-include)\n' for s in sources))
    command = [options.program, "--quiet", f"--config-file={ROOT}/.clang-tidy",
               f"--header-filter=^{re.escape(str(ROOT))}/({'|'.join(ROOMS)})/.*\\.(h|cpp)$"]
    command += options.option + [str(file), "--", *flags, *EXTRA]
    try:
        done = subprocess.run(command, cwd=options.build, capture_output=True, text=True,
                              timeout=left if len(sources) == 1 else min(left, GROUP_SECONDS))
    except subprocess.TimeoutExpired:
        return {} if len(sources) == 1 or left <= GROUP_SECONDS else None
    if options.option:
        sys.stderr.write(done.stderr)
    if "clang-diagnostic-error" in done.stdout and len(sources) > 1:
        if options.verbose:
            sys.stderr.write(done.stdout)
        return None
    found = dict.fromkeys(sources, "")
    starts = [m.start() for m in FINDING.finditer(done.stdout)] + [len(done.stdout)]
    for begin, end in zip(starts, starts[1:]):
        words = done.stdout[begin:end]
        path = os.path.relpath(words.split(":", 1)[0], ROOT)
        # A finding in a header belongs to the first that includes it.
        found[path if path in found else sources[0]] += words
    if done.returncode != 0 and not any(found.values()):
        found[sources[0]] = done.stdout + done.stderr
    return found


def changed_lately():
    """Sources of the last commits: they are looked at first, since the time may not do for all."""
    done = subprocess.run(["git", "-C", str(ROOT), "log", "-100", "--name-only", "--format="], capture_output=True,
                          text=True)
    return set(done.stdout.split()) if done.returncode == 0 else set()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--program", default="clang-tidy-16")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--verbose", action="store_true", help="say why a group did not compile")
    parser.add_argument("--option", action="append", default=[], help="one for clang-tidy")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.end = time.monotonic() + options.seconds
    options.folder = options.build / "tidy"
    options.folder.mkdir(exist_ok=True)
    entries = json.loads((options.build / "compile_commands.json").read_text())
    flags = {os.path.relpath(e["file"], ROOT): flags_of(e) for e in entries}
    wanted = [os.path.relpath(pathlib.Path(f).resolve(), ROOT) for f in options.files]
    sources = sorted(f for f in flags if f.split("/")[0] in ROOMS and (not wanted or f in wanted))

    def work(job):
        number, group = job
        begin = time.monotonic()
        found = look(group.sources, group.kind, options, number)
        if found is None:
            found = {}
            for source in group.sources:
                found |= look([source], group.kind, options, number)
        if options.verbose:
            print(f"{time.monotonic() - begin:.1f} s {' '.join(group.sources)}", file=sys.stderr)
        return group.sources, found

    bad = False
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        # Then the largest, so that no core waits at the end.
        lately = changed_lately()
        groups = joined.groups_of(sources, MOST_OF_A_GROUP, lambda s: (ROOT / s).read_text(), flags.get)
        jobs = sorted(enumerate(groups), key=lambda j: (lately.isdisjoint(j[1].sources), -len(j[1].sources)))
        for looked_at, found in pool.map(work, jobs):
            for source in looked_at:
                if source not in found:
                    print(f"SKIP {source}", flush=True)
                elif found[source]:
                    bad = True
                    print(f"FAIL {source}", flush=True)
                    print(found[source], file=sys.stderr, flush=True)
                else:
                    print(f"PASS {source}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
