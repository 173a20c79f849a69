"""How long a frame of the page waits for a task. Tasks run between frames, each whole: a recording must not hold one up
for more than 8 ms, and a chapter, which is read with its runs when it is opened, not for more than 50."""

MOST_MS, MOST_CHAPTER_MS = 8, 50
# Every preset, other kernels and orders.
PRESETS = ("blackboard", "random", "late_outlier", "causal", "ragged", "large_logits", "equal_scores", "masked_row",
           "non_finite", "heads", "window", "padded", "bias", "large", "late_outlier_64", "words")
STATES = (
    *(f"attn1,preset={preset}" for preset in PRESETS),
    "attn1,preset=late_outlier,kernel=cpu_flash", "attn1,preset=causal,kernel=cpu_sequential",
    "attn1,L=32,D=16,br=8,bc=8,generator=normal,seed=4", "attn1,L=64,D=64,br=16,bc=16,generator=normal,seed=4",
    "attn1,kernel=cpu_flash_bwd,pass=backward,L=16,D=4,br=4,bc=4,generator=normal,seed=61",
)
CHAPTERS = ("attn1,workspace=learn", "attn1,workspace=learn,lesson=one-pass,beat=past")


def longest_wait(tab, state):
    """In milliseconds, the least of five openings: what else the machine does only adds. Or why it does not open."""
    times = []
    for _ in range(5):
        tab.js("attnscope.call('page_longest_ms', [], [], 'number')")
        why = tab.js("s => attnscope.openState(s)", state)
        if why:
            return why
        tab.until("attnscope.call('page_busy', [], [], 'number') === 0", f"the tasks of {state} end")
        tab.frames(3)
        times.append(tab.js("attnscope.call('page_longest_ms', [], [], 'number')"))
    return min(times)


def test_slices(tab, verdict):
    for what, states, most in (("recording", STATES, MOST_MS), ("chapter", CHAPTERS, MOST_CHAPTER_MS)):
        found = {state: longest_wait(tab, state) for state in states}
        wrong = [f"{state}: {ms}" for state, ms in found.items() if isinstance(ms, str) or ms > most]
        longest = max((ms for ms in found.values() if not isinstance(ms, str)), default=0)
        verdict(not wrong, f"no {what} holds a frame up for more than {most} ms: {longest:.1f} ms at most",
                "; ".join(wrong))
