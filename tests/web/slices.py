"""How long a frame of the page waits for what tasks do: they run between frames, in slices. Nothing that a link or a
file brings may hold one up for more than 8 ms where it is a recording or a chapter with its sessions, 10 ms where it is
a session, and 12 ms where Bench or Profile draws the bundled runs for the first time. Runs that came with the program
are there a few seconds after a link to Bench or Profile is opened."""
import base64
import pathlib
import time

MOST_SECONDS = 6
SESSIONS = pathlib.Path(__file__).resolve().parent.parent.parent / "assets" / "sessions"
# Every preset, other kernels and orders.
PRESETS = ("blackboard", "random", "late_outlier", "causal", "ragged", "large_logits", "equal_scores", "masked_row",
           "non_finite", "heads", "window", "padded", "bias", "large", "late_outlier_64", "words")
STATES = (
    *(f"attn1,preset={preset}" for preset in PRESETS),
    "attn1,preset=late_outlier,kernel=cpu_flash", "attn1,preset=causal,kernel=cpu_sequential",
    "attn1,L=32,D=16,br=8,bc=8,generator=normal,seed=4", "attn1,L=64,D=64,br=16,bc=16,generator=normal,seed=4",
    "attn1,kernel=cpu_flash_bwd,pass=backward,L=16,D=4,br=4,bc=4,generator=normal,seed=61",
)
# The map, a chapter of runs, those that speak of sessions, and beats that try many seeds, search a run or make large
# ones.
BEATS = (("checkpoint-row", "l"), ("two-halves", "transfer"), ("bug-museum", "stalls"), ("few-bits", "wrong"))
CHAPTERS = ("attn1,workspace=learn", "attn1,workspace=learn,lesson=one-pass,beat=past",
            *(f"attn1,workspace=learn,lesson={lesson}" for lesson in ("wall", "few-warps", "overlap")),
            *(f"attn1,workspace=learn,lesson={lesson},beat={beat}" for lesson, beat in BEATS))
WITH_RUNS = ("attn1,workspace=bench", "attn1,workspace=profile")


def longest(tab):
    return tab.js("attnscope.call('page_longest_ms', [], [], 'number')")


def wait_of_state(tab, state):
    """In milliseconds, or why it does not open."""
    longest(tab)
    why = tab.js("s => attnscope.openState(s)", state)
    if why:
        return why
    tab.frames(2)
    tab.rest(state)
    return longest(tab)


def wait_of_file(tab, file):
    tab.rest("what was open")
    longest(tab)
    tab.js("""async ([name, b]) =>
                  attnscope.open([new File([Uint8Array.from(atob(b), c => c.charCodeAt(0))], name)])""",
           [file.name, base64.b64encode(file.read_bytes()).decode()])
    tab.frames(2)
    tab.rest(file.name)
    waited = longest(tab)
    log = tab.js("attnscope.call('page_log', [], [], 'string')")
    return waited if f"{file.name}: " in log else f"it was not opened: {log[-300:]}"


def least(measure, times, most):
    """What else the machine does only adds: what is above the limit is measured again, three times as often at most."""
    found = [measure() for _ in range(times)]
    while not any(isinstance(each, str) for each in found) and min(found) > most and len(found) < 4 * times:
        found.append(measure())
    return next((each for each in found if isinstance(each, str)), None) or min(found)


def test_slices(tab, verdict):
    begun = time.time()
    for state in WITH_RUNS:
        tab.js("s => attnscope.openState(s)", state)
        tab.frames(2)
        tab.rest(state)
    took = (time.time() - begun) / len(WITH_RUNS)
    verdict(took <= MOST_SECONDS, f"a link to Bench or Profile shows what came with the program after {took:.1f} s")
    measured = (
        ("recording", {state: lambda state=state: wait_of_state(tab, state) for state in STATES}, 5, 8),
        ("chapter", {state: lambda state=state: wait_of_state(tab, state) for state in CHAPTERS}, 5, 8),
        ("link to Bench or Profile",
         {state: lambda state=state: wait_of_state(tab, state) for state in WITH_RUNS}, 3, 12),
        ("session", {file.name: lambda file=file: wait_of_file(tab, file) for file in sorted(SESSIONS.glob("*.attn"))},
         3, 10))
    for what, measures, times, most in measured:
        found = {name: least(measure, times, most) for name, measure in measures.items()}
        wrong = [f"{name}: {ms}" for name, ms in found.items() if isinstance(ms, str) or ms > most]
        worst = max((ms for ms in found.values() if not isinstance(ms, str)), default=0)
        verdict(not wrong, f"no {what} holds a frame up for more than {most} ms: {worst:.1f} ms at most",
                "; ".join(wrong))
