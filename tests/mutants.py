#!/usr/bin/env python3
"""Whether the tests notice wrong code: python3 tests/mutants.py BUILD [--jobs N] [--seconds S] [WORD...]
With --stale: only whether every mutant's text still stands once in its folder (part of tests/rules.sh).

Each mutant below is one small mistake in a source. It is compiled by itself and linked before the rooms' libraries, so
that nothing else is built again; the tests of its program run until one fails. WORD: only mutants whose line holds it.
Prints KILLED, SURVIVED or STALE (its text is no longer in the source, or does not compile: mend the list), and a score.
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
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "app" / "setup"))
import joined  # noqa: E402  (which sources stand in one file)

SECONDS_OF_A_RUN = 120

KERNELS = ("test_kernels", "Judge*:Verdict*:NotFinite*:ChooseRows*:Reference*:Baseline*:TileLoads*:Compulsory*:OnChip*:"
           "PassCosts*")
# Not the long lists of shapes: what they alone would notice is not noticed in time.
GRADIENTS = ("test_kernels", "Gradients*:CpuBackward*-*OnTheListsOfShapes*")
FIGURES = ("test_profiling", "Figures*:DerivedFigures*:SpeedUp*:MetricTable*:*Baseline*")
CSV = ("test_profiling", "Csv*")
HISTORY = ("test_app", "History*")
TUNE = ("test_profiling", "Tune*:Tile*:JudgeTurns*")
SESSIONS = ("test_profiling", "SessionFile*")
COUNTS = ("test_profiling", "Counts*")
SCORES = ("test_kernels", "CpuScores*:ScoreReference*:Softcap*:Alibi*:Tanh*")

# (folder in which the text stands once, text, instead, who must notice)
MUTANTS = (
    # sessions that contradict themselves
    ("profiling/session", "  v.pass = false;\n", "", SESSIONS),
    ("profiling/session", "relate_to_baseline(m, rows, baseline_named_by(m));", "", SESSIONS),
    # the judge
    ("kernels/judge", "2 * baseline_error_ + 2 * rounding_", "20 * baseline_error_ + 2 * rounding_", KERNELS),
    ("kernels/judge", "judgement.error = error;", "judgement.error = 0;", KERNELS),
    ("kernels/judge", "} else if (!j.within()) {", "} else if (j.error > 2 * j.allowed) {", KERNELS),
    ("kernels/judge", "v.outputs.push_back(seen_lse_.judged());", "v.outputs.push_back(seen_lse_.judgement);", KERNELS),
    ("kernels/judge", "? 1e-5 : 1e-3) *", "? 1e-3 : 1e-3) *", KERNELS),
    ("kernels/judge", "6 * baseline_error_ + 6 * rounding_", "6 * baseline_error_ + 60 * rounding_", GRADIENTS),
    ("kernels/judge", "row[c] * (ds[c] - delta) * slope", "row[c] * ds[c] * slope", GRADIENTS),
    ("kernels/judge", "if (!wrong_kind.empty()) {", "if (false) {", KERNELS),
    ("kernels/judge", "std::isfinite(got) ? Match::finite : Match::wrong_kind;", "Match::finite;", KERNELS),
    ("kernels/judge", "return std::isnan(got) ? Match::same_kind : Match::wrong_kind;",
     "return Match::same_kind;", KERNELS),
    ("kernels/judge", "rows.push_back((n + 1) * kEdge);", "", KERNELS),
    ("kernels/judge", "out.lse.shape() != lse_shape ||", "", KERNELS),
    ("kernels/judge", "out.shape() == shape && ", "", KERNELS),
    # counts of instructions
    ("profiling/figures", "(sums[real]) - static_cast<std::int64_t>(sums[ideal]);", "(sums[real]);", COUNTS),
    ("profiling/figures", "if (!counts.has(real) || !counts.has(ideal))", "if (!counts.has(real))", COUNTS),
    ("profiling/session", "count != 0 && !c.has(row.counter)", "false", COUNTS),
    # softcap and ALiBi
    ("kernels/arithmetic", "row[n] = c * tanh_f32(row[n] * inverse);", "row[n] = c * tanh_f32(row[n]);", SCORES),
    ("kernels/arithmetic", "std::abs(own - at.c0 - c)", "std::abs(own - c)", SCORES),
    ("kernels/arithmetic", "if (!(size >= kTanhBend))", "if (!(size >= 1.0F))", SCORES),
    ("kernels/model", "each_batch ? b * Hq + h : h", "h", SCORES),
    # predicted bytes
    ("kernels/orders", "x.i > 0 ? Traffic{} : load_k().bytes(x);", "load_k().bytes(x);", KERNELS),
    ("kernels/orders", "at(t.read, TrafficPart::stats) = 2 * x.size.stat;",
     "at(t.read, TrafficPart::stats) = x.size.stat;", KERNELS),
    ("kernels/orders", "at(t.written, TrafficPart::stats) = 2 * x.size.stat;",
     "at(t.written, TrafficPart::stats) = x.size.stat;", KERNELS),
    ("kernels/orders", "score_bytes<2>(x);\n    at(t.written, TrafficPart::p) = x.size.p;", "score_bytes<2>(x);",
     KERNELS),
    ("kernels/orders", "Traffic t = score_bytes<2>(x);", "Traffic t = score_bytes<3>(x);", KERNELS),
    ("kernels/model", "hidden = hidden && w.order.skips_hidden;", "hidden = false;", KERNELS),
    ("kernels/model", "list.add_data(Tensor::k, Role::in, {batches, p.Hkv, keys, p.D});",
     "list.add_data(Tensor::k, Role::in, {batches, p.Hq, keys, p.D});", KERNELS),
    ("kernels/model", "list.add(Tensor::lse, answer, ElementType::f32, {p.B, p.Hq, p.Lq});", "", KERNELS),
    ("kernels/model", "product.over_dv ? p.Dv : p.D", "p.D", KERNELS),
    ("kernels/model", "saturating_product({{size, reached_by(p).entries}})", "t.bytes()", KERNELS),
    ("kernels/model", "sum += read[part] + written[part];", "sum += read[part];", KERNELS),
    # figures
    ("profiling/figures", "static_cast<double>(tensor_bytes(m.key.problem)) + static_cast<double>(m.workspace_bytes)",
     "static_cast<double>(tensor_bytes(m.key.problem))", FIGURES),
    ("profiling/figures", "static_cast<double>(tensor_bytes(m.key.problem)) + static_cast<double>(m.workspace_bytes)",
     "static_cast<double>(m.workspace_bytes)", FIGURES),
    ("profiling/figures", "derived(bytes.value / predicted.value", "derived(predicted.value / bytes.value", FIGURES),
    ("profiling/figures", 'over_prediction(m, "compulsory_bytes")', 'over_prediction(m, "tile_load_bytes")', FIGURES),
    ("profiling/figures", 'over_prediction(m, "tile_load_bytes")', 'over_prediction(m, "compulsory_bytes")', FIGURES),
    ("profiling/figures", "derived(100 * rate.value * 1e3 / m.peaks.peak_gflops",
     "derived(rate.value * 1e3 / m.peaks.peak_gflops", FIGURES),
    ("profiling/figures", "{Origin::derived, 100 * rate.value / roof", "{Origin::derived, rate.value / roof", FIGURES),
    ("profiling/figures", "span.available() ? span.value : time_us", "time_us", FIGURES),
    ("profiling/figures", "read.value + written.value", "read.value", FIGURES),
    ("profiling/figures", "flops_of(m.key.problem) / m.time.median * 1e-6",
     "flops_of(m.key.problem) / m.time.median * 1e-3", FIGURES),
    ("profiling/figures", "100 * (m.time.q3 - m.time.q1) / m.time.median",
     "100 * (m.time.q3 - m.time.median) / m.time.median", FIGURES),
    ("profiling/figures", "m.peaks.baseline_us / m.time.median", "m.time.median / m.peaks.baseline_us", FIGURES),
    ("profiling/figures", "row.key.l2 == m.key.l2 &&", "", FIGURES),
    ("profiling/figures", "row.key.problem == m.key.problem &&", "", FIGURES),
    ("profiling/figures", "m.time.n > 0 && m.time.n < 6", "m.time.n > 0 && m.time.n < 5", FIGURES),
    # CSV
    ("profiling/session/csv_field.cpp", r'",\"\r\n"', r'",\""', CSV),
    ("profiling/session/csv_field.cpp", r'",\"\r\n"', r'"\"\r\n"', CSV),
    ("profiling/session/csv_field.cpp", "if (c == '\"') field += '\"';", "", CSV),
    ("profiling/session/csv.cpp", '"not available: " + f.reason', 'f.reason', CSV),
    ("profiling/session/csv.cpp", '? "loaded" : "live"', '? "live" : "loaded"', CSV),
    # tiles
    ("profiling/tune/tune.cpp", "best->ci_high < usual.ci_low", "best->median < usual.median", TUNE),
    ("profiling/tune/tune.cpp", "m.verdict->not_judged ? TileFate::failed : TileFate::wrong", "TileFate::timed", TUNE),
    ("profiling/tune/tune.cpp", "gone() > (1 - kTurnsShare) * spec_.budget_s) return", "false) return", TUNE),
    ("profiling/tune/store.cpp", "if (hash_of(result.dump()) != sum)", "if (false)", TUNE),
    ("profiling/tune/store.cpp", "if (key != nullptr && !(*kept == *key))", "if (false)", TUNE),
    # undo
    ("app/state/apply/history.cpp", "  end_gesture();\n  Track& t = of(part);\n  if (t.past.empty())",
     "  Track& t = of(part);\n  if (t.past.empty())", HISTORY),
    ("app/state/apply/history.cpp", "t.future.clear();", "", HISTORY),
    ("app/state/apply/history.cpp", "if (goes_on) return;", "", HISTORY),
    ("app/state/apply/history.cpp", "t.past.size() > kMaxEntries", "t.past.size() > 2 * kMaxEntries", HISTORY),
)


def source_of(place, text):
    """The one source that holds the text, or None."""
    path = ROOT / place
    files = [path] if path.is_file() else sorted(path.rglob("*.cpp"))
    holding = [f for f in files if f.read_text(encoding="utf-8").count(text) == 1]
    return holding[0] if len(holding) == 1 else None


def run(command, folder, seconds):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=seconds)


def compile_of(command, compiled, source, made):
    """The command for another source and object. What a mistake leaves unused is not what is looked for."""
    command = [str(source) if pathlib.Path(w) == compiled else w for w in command]
    command[command.index("-o") + 1] = str(made)
    return [*command, "-Wno-error"]


class Mutants:
    def __init__(self, build, end):
        self.build, self.end = build, end
        entries = json.loads((build / "compile_commands.json").read_text())
        # By source: what is compiled for it, itself or the sources that are compiled as one with it.
        self.compiling = {}
        for e in entries:
            compiled = pathlib.Path(e["file"])
            for source in joined.sources_of(compiled):
                self.compiling[source] = (compiled, shlex.split(e["command"]), e["directory"])
        self.linking = {}
        self.made = tempfile.TemporaryDirectory()
        self.rests, self.one_at_a_time = {}, threading.Lock()

    def rest_of(self, source):
        """The object of the sources that are compiled as one with this one, made once. None: there are none."""
        compiled, command, folder = self.compiling[source]
        if compiled == source:
            return None
        with self.one_at_a_time:
            if source not in self.rests:
                name = f"rest_{len(self.rests)}"
                text, made = pathlib.Path(self.made.name) / f"{name}.cpp", pathlib.Path(self.made.name) / f"{name}.o"
                text.write_text(compiled.read_text(encoding="utf-8").replace(f'#include "{source}"', ""),
                                encoding="utf-8")
                done = run([*compile_of(command, compiled, text, made), "-O1"], folder, 300)
                self.rests[source] = made if done.returncode == 0 else None
                if done.returncode != 0:
                    raise RuntimeError(f"{compiled} does not compile without {source}: {done.stderr[:300]}")
            return self.rests[source]

    def link_of(self, program):
        """Ninja's command that links it, without what the shell does around."""
        if program not in self.linking:
            said = run(["ninja", "-C", str(self.build), "-t", "commands", f"bin/{program}"], self.build, 60).stdout
            last = [line for line in said.splitlines() if f"-o bin/{program} " in line + " "][-1]
            words = shlex.split(last)
            self.linking[program] = [w for w in words if w not in (":", "&&")]
        return self.linking[program]

    def try_one(self, mutant):
        place, text, instead, (program, tests) = mutant
        source = source_of(place, text)
        if source is None or source not in self.compiling:
            return "STALE", "its text does not stand once in " + place
        if time.monotonic() > self.end:
            return "STALE", "the time was up"
        with tempfile.TemporaryDirectory() as made:
            changed, wrong, linked = (pathlib.Path(made) / name for name in (source.name, "wrong.o", program))
            changed.write_text(source.read_text(encoding="utf-8").replace(text, instead), encoding="utf-8")
            compiled, command, folder = self.compiling[source]
            done = run(compile_of(command, compiled, changed, wrong), folder, 300)
            if done.returncode != 0:
                return "STALE", "it does not compile: " + done.stderr[:300]
            command = list(self.link_of(program))
            at = command.index("-o")
            command[at + 1] = str(linked)
            rest = self.rest_of(source)
            command[at:at] = [str(wrong)] if rest is None else [str(wrong), str(rest)]
            done = run(command, self.build, 300)
            if done.returncode != 0:
                return "STALE", "it does not link: " + done.stderr[-300:]
            try:
                done = run([str(linked), f"--gtest_filter={tests}", "--gtest_fail_fast", "--gtest_brief=1"], self.build,
                           SECONDS_OF_A_RUN)
            except subprocess.TimeoutExpired:
                return "KILLED", "by the time limit"
            if done.returncode == 0:
                return "SURVIVED", "no test of " + tests + " failed"
            failed = [line for line in done.stdout.splitlines() if line.startswith("[  FAILED  ]")]
            return "KILLED", failed[0][13:] if failed else f"exit {done.returncode}"


def stale():
    """A line for each mutant whose text is no longer there once."""
    return [f"tests/mutants.py: {text!r} does not stand once in {place}"
            for place, text, _, _ in MUTANTS if source_of(place, text) is None]


def main():
    if sys.argv[1:] == ["--stale"]:
        lines = stale()
        print(*lines, sep="\n", end="\n" if lines else "")
        return 1 if lines else 0
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=1500)
    options = parser.parse_intermixed_args()
    mutants = Mutants(options.build.resolve(), time.monotonic() + options.seconds)
    chosen = [m for m in MUTANTS if not options.words or any(w in " ".join(m[:3]) for w in options.words)]
    for _, _, _, (program, tests) in {m[3][0]: m for m in chosen}.values():
        mutants.link_of(program)
    bad = killed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for mutant, (outcome, why) in zip(chosen, pool.map(mutants.try_one, chosen)):
            line = f"{mutant[0]}: {mutant[1]!r} -> {mutant[2]!r}"
            print(outcome, line, "--", why, flush=True)
            killed += outcome == "KILLED"
            bad += outcome != "KILLED"
    print(f"{killed} of {len(chosen)} mutants were noticed")
    return 1 if bad or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
