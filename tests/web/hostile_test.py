"""What a user or a mistake may hand to the page, in a browser of its own: nothing here is timed, so page_test.py goes
on beside it. python3 tests/web/hostile_test.py FOLDER BINARY, as page_test.py."""
import base64
import sys
import time

from playwright.sync_api import sync_playwright

from damage import FUZZ, random_states
from tab import ROOT, Tab, chromium, end, guarded, serve, verdict

STATES, FILES = 1000, 10000


def test_states(tab):
    opened = refused = 0
    worst, slowest = 0, ""
    for text in random_states(STATES):
        said = tab.js("""s => { const t = performance.now(); const why = attnscope.openState(s);
            attnscope.call('page_settle', [], []); attnscope.numbers('page_frame', performance.now() / 1000);
            return [why, performance.now() - t]; }""", text)
        opened, refused = opened + (said[0] == ""), refused + (len(said[0]) > 10)
        if said[1] > worst:
            worst, slowest = said[1], text
    verdict(opened + refused == STATES and opened > STATES / 20 and refused > STATES / 20 and not tab.thrown,
            f"{STATES} random states: {opened} open, {refused} are refused in words (the slowest takes {worst:.0f} ms: "
            f"{slowest})", "; ".join(tab.thrown[:3]))


def test_fuzz(browser, url):
    tab = Tab(browser, url, 320, 240)
    lots = []
    for kind, name in (("npy", "q.npy"), ("attn", "run.attn"), ("session", "run.attn"), ("lesson", "lesson.json"),
                       ("header", "own.cu")):
        for file in sorted((ROOT / "tests" / "fuzz" / "corpus" / kind).iterdir()):
            if file.stat().st_size < 100000:
                lots.append([name, base64.b64encode(file.read_bytes()).decode()])
    lots.append(["pasted.csv", base64.b64encode(b"1,2\n3,4\n\n1,0\n0,1\n\n5,6\n7,8\n").decode()])
    done, begun = 0, time.time()
    while done < FILES and not tab.thrown:
        done += tab.js(FUZZ, [lots, done, 500])
    tab.js("s => attnscope.openState(s)", "attn1,preset=blackboard")
    alive = tab.step() == 1 and len(tab.steps()["steps"]) == 34
    verdict(done == FILES and alive and not tab.thrown,
            f"{done} damaged files, {time.time() - begun:.0f} s: the page goes on", "; ".join(tab.thrown[:3]))
    tab.close()


def main():
    url = serve()
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        states = Tab(browser, url, 320, 240)
        guarded(test_states, states)
        states.close()
        guarded(test_fuzz, browser, url)
        browser.close()
    return end()


if __name__ == "__main__":
    sys.exit(main())
