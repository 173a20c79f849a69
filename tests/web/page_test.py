"""The page in Chromium and Firefox: python3 tests/web/page_test.py FOLDER BINARY

FOLDER: what app/web/build.sh made; pictures of what it saw are left in FOLDER/seen. BINARY: the desktop program, which
says what the page must show. Prints a line each: PASS, FAIL or SKIP and what. Exit status 1 if one failed.
"""
import base64
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from desktop import same_values, written
from firefox import Firefox
from slices import test_slices
from tab import BINARY, FOLDER, ROOT, SEEN, Tab, chromium, end, guarded, program, serve, verdict

FIRST_STEP_SECONDS, NEAR, LIKE_PERCENT = 6, 8, 98


def desktop_steps(*arguments):
    text = program("step", *arguments)
    pieces = text.split("\n\nStep ")[1:]
    pieces = ["Step " + p for p in pieces]
    # After the last step comes the summary of the run.
    pieces[-1] = pieces[-1].split("\n\n")[0]
    return [written(p) for p in pieces]


def test_opens(browser, url):
    tab = Tab(browser, url)
    ms = tab.ready_ms()
    verdict(0 < ms <= FIRST_STEP_SECONDS * 1000, f"Chromium shows the first step after {ms} ms")
    verdict(tab.asked == {url.split('/')[2]}, "nothing is asked of another server", str(tab.asked))
    verdict(not tab.thrown, "nothing is thrown", "; ".join(tab.thrown[:3]))
    tab.picture("laptop")
    return tab


def test_walk(tab):
    """The blackboard by keyboard: text beside the canvas and numbers are the desktop's at every step."""
    wrong = same_values(tab.steps(), json.loads(program("step", "--preset", "blackboard", "--json")))
    verdict(not wrong, "every number of the blackboard is the desktop's", "; ".join(wrong[:3]))
    expected = desktop_steps("--preset", "blackboard")
    tab.page.focus("#canvas")
    tab.page.keyboard.press("Home")
    tab.frames()
    wrong = []
    for n, words in enumerate(expected):
        if tab.step() != n + 1:
            wrong.append(f"at step {tab.step()} instead of {n + 1}")
            break
        if tab.text() != words:
            wrong.append(f"step {n + 1}: {tab.text()} instead of {words}")
        if n + 1 < len(expected):
            tab.page.keyboard.press("ArrowRight")
            tab.until(f"attnscope.call('page_step', [], [], 'number') !== {n}", f"step {n + 2} by keyboard")
            tab.frames(2)
    verdict(not wrong and len(expected) == 34, f"{len(expected)} steps by keyboard, each with the desktop's words",
            "; ".join(wrong[:2]))


def test_held(tab):
    """A key that was struck steps once, however late the browser says that it is up; one that is held goes on."""
    tab.page.focus("#canvas")
    tab.page.keyboard.press("Home")
    tab.frames()
    tab.page.keyboard.down("ArrowRight")
    tab.page.wait_for_timeout(1000)  # a key that is held repeats sooner
    struck = tab.step()
    tab.page.keyboard.down("ArrowRight")  # with no up before it: what a held key repeats
    tab.page.wait_for_timeout(1000)
    held = tab.step()
    tab.page.keyboard.up("ArrowRight")
    verdict(struck == 2 and held > 4, "a key steps once until the browser says that it is held",
            f"steps {struck}, then {held}")


def test_kernels(tab):
    """Other orders and presets: the same bits."""
    for arguments, state in (
            (["--preset", "late_outlier", "--kernel", "cpu_flash"], "attn1,preset=late_outlier,kernel=cpu_flash"),
            (["--preset", "causal", "--kernel", "cpu_sequential"], "attn1,preset=causal,kernel=cpu_sequential"),
            (["--preset", "random", "--kernel", "cpu_multicore"], "attn1,preset=random,kernel=cpu_multicore"),
            (["--l", "32", "--d", "16", "--tile", "8x8", "--generator", "normal", "--seed", "4"],
             "attn1,L=32,D=16,br=8,bc=8,generator=normal,seed=4"),
            (["--pass", "backward", "--l", "16", "--d", "4", "--tile", "4x4", "--generator", "normal", "--seed", "61"],
             "attn1,kernel=cpu_flash_bwd,pass=backward,L=16,D=4,br=4,bc=4,generator=normal,seed=61")):
        why = tab.js("s => attnscope.openState(s)", state)
        tab.js("attnscope.call('page_settle', [], [])")
        wrong = [why] if why else same_values(tab.steps(), json.loads(program("step", *arguments, "--json")))
        verdict(not wrong, f"every number of `step {' '.join(arguments)}` is the desktop's", "; ".join(wrong[:2]))


def test_recordings(tab):
    """What GPUs recorded: each is shown, and comes to what the CPU does on the same numbers."""
    out = lambda steps: np.array(steps["out"]["values"], float)
    right = out(json.loads(program("step", "--preset", "late_outlier_64", "--json")))
    files = sorted((ROOT / "assets" / "recordings").glob("late_outlier_64_*.attn"))
    wrong = []
    for file in files:
        tab.js("p => attnscope.call('page_open', ['string'], [p])", f"/share/recordings/{file.name}")
        tab.frames(2)
        tab.rest(file.name)
        tab.frames(2)
        off = np.abs(out(tab.steps()) - right).max() if tab.text()[0].startswith("Step 1 of ") else np.inf
        if not off < 0.01:
            wrong.append(f"{file.name}: off by {off}")
    verdict(files and not wrong, f"{len(files)} recordings of GPUs are shown, each with the CPU's answer",
            "; ".join(wrong))


def swipe(tab, x0, y0, x1, y1):
    client = tab.context.new_cdp_session(tab.page)
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x0, "y": y0}]})
    for part in (0.3, 0.6, 1):
        client.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [
            {"x": x0 + part * (x1 - x0), "y": y0 + part * (y1 - y0)}]})
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_touch(browser, url):
    tab = Tab(browser, url, 390, 844, has_touch=True, is_mobile=True, device_scale_factor=3)
    tab.frames(10)
    tab.picture("phone")
    expected = desktop_steps("--preset", "blackboard")
    wrong = []
    for n in range(1, len(expected)):
        swipe(tab, 300, 400, 90, 405)
        tab.until(f"attnscope.call('page_step', [], [], 'number') === {n}", f"step {n + 1} by a swipe", 5)
        tab.frames(2)
        if tab.text() != expected[n]:
            wrong.append(f"step {n + 1}: {tab.text()}")
            break
    verdict(not wrong, "all steps by swipes, each with the desktop's words", "; ".join(wrong))
    swipe(tab, 90, 400, 300, 405)
    tab.until(f"attnscope.call('page_step', [], [], 'number') === {len(expected) - 2}", "a step back by a swipe", 5)
    tab.picture("phone_last")
    client = tab.context.new_cdp_session(tab.page)
    two = lambda d: [{"x": 195 - d, "y": 400, "id": 0}, {"x": 195 + d, "y": 400, "id": 1}]
    before = tab.picture()
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": two(40)[:1]})
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": two(40)})
    for d in (50, 60, 75):
        client.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": two(d)})
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    tab.frames(8)
    differs = np.abs(np.asarray(before, int) - np.asarray(tab.picture("phone_pinched"), int)).max(axis=2) > NEAR
    verdict(differs.mean() > 0.02, "two fingers scale the view")
    test_cells(browser, url)
    verdict(not tab.thrown, "nothing is thrown on a phone", "; ".join(tab.thrown[:3]))
    tab.close()
    for where, width, height, ratio in (("phone", 390, 844, 3), ("tablet", 820, 1180, 2)):
        tab = Tab(browser, url + "#attn1,preset=causal,cursor=20", width, height, has_touch=True,
                  is_mobile=True, device_scale_factor=ratio)
        tab.frames(10)
        tab.picture(where)
        test_targets(tab, where)
        tab.close()
    for name, state, width, height in (("phone_light", "attn1,preset=causal,cursor=20", 390, 844),
                                       ("phone_360", "attn1,preset=late_outlier,cursor=25", 360, 740),
                                       ("phone_412_light", "attn1,cursor=13", 412, 915)):
        theme = "?theme=light" if name.endswith("light") else ""
        tab = Tab(browser, f"{url}{theme}#{state}", width, height, has_touch=True, is_mobile=True,
                  device_scale_factor=2)
        tab.frames(10)
        tab.picture(name)
        tab.close()


def drag(tab, x, y0, y1):
    client = tab.context.new_cdp_session(tab.page)
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y0}]})
    for n in range(1, 9):
        client.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [
            {"x": x, "y": y0 + (y1 - y0) * n / 8}]})
        tab.frames(2)
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    client.detach()
    tab.frames(8)


def test_cells(browser, url):
    """A tap pins a cell, and the next lets it go: nothing of it stays. A finger moves the page as far as it goes."""
    tab = Tab(browser, url + "#attn1,cursor=13", 390, 844, has_touch=True, is_mobile=True, device_scale_factor=2)
    tab.frames(10)
    before = np.asarray(tab.picture(), int)
    pinned = lambda: re.search(r"select=\d+/\d+/\d+/\w+/\d", tab.js("attnscope.call('page_state', [], [], 'string')"))
    tap(tab, *SCORE)
    tab.frames(60)  # longer than a tooltip waits
    tab.picture("phone_pinned")
    followed = pinned()
    tap(tab, *SCORE)
    tab.frames(60)
    after = np.asarray(tab.picture("phone_let_go"), int)
    verdict(bool(followed) and not pinned() and np.abs(before - after).max() <= NEAR,
            "a tap follows a cell and the next lets it go, with nothing left over the page")
    drag(tab, 195, 560, 460)
    moved = np.asarray(tab.picture("phone_scrolled"), int)
    tab.close()
    # Of the middle of the page, twice as many pixels as of the page's own.
    part = slice(500, 900)
    by = {n: np.abs(before[part.start + 2 * n:part.stop + 2 * n] - moved[part]).mean() for n in range(0, 160)}
    best = min(by, key=by.get)
    verdict(80 <= best <= 110, f"the page moves with the finger: {best} pixels of 100")


SCORE = (122, 318)  # S of row 0 and the first key, by the pictures
NEXT_X = 180  # within the button, by the pictures


def tap(tab, x, y):
    client = tab.context.new_cdp_session(tab.page)
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    client.detach()
    tab.frames(10)  # what lies under the finger is found over a few


LEAST_TARGET, LEAST_IN_FOOT = 44, 44  # of the page's pixels


def test_targets(tab, where):
    """How high Next is for a finger is found by trying."""
    low = tab.js("document.getElementById('canvas').clientHeight")
    found = []
    for y in range(low - 130, low - 8, 2):
        tab.js("s => attnscope.openState(s)", "attn1,preset=causal,cursor=20")
        tab.frames(6)
        tap(tab, NEXT_X, y)
        if tab.step() == 22:
            found.append(y)
    high = found[-1] - found[0] + 2 if found else 0
    verdict(high >= LEAST_TARGET, f"on a {where} a finger presses Next within {high} pixels", str(found))
    small = tab.js("""[...document.querySelectorAll('footer button')].map(b => b.getBoundingClientRect())
        .filter(b => b.height < %d || b.width < %d || b.right > innerWidth).length""" % (LEAST_IN_FOOT, LEAST_IN_FOOT))
    verdict(small == 0, f"the line under the picture has targets of {LEAST_IN_FOOT} pixels on a {where}", str(small))
    tab.until("document.fonts.check('14px Roboto') && [...document.fonts].length === 2", "the program's font", 10)


def test_pictures(browser, url):
    for name, state, arguments in (
            ("blackboard", "attn1,cursor=13", ["--preset", "blackboard", "--step", "14"]),
            ("late_outlier", "attn1,preset=late_outlier,cursor=25", ["--preset", "late_outlier", "--step", "26"]),
            ("wrong_run", "attn1,preset=late_outlier,kernel=museum_alpha_on_l_only,cursor=14",
             ["--kernel", "museum_alpha_on_l_only", "--preset", "late_outlier", "--step", "15"]),
            ("fragments", "attn1,L=16,D=64,br=4,bc=4,chart=fragments",
             ["--l", "16", "--d", "64", "--tile", "4x4", "--chart", "fragments"]),
            ("learn", "attn1,workspace=learn,lesson=one-pass,beat=past",
             ["--view", "learn", "--state", "attn1,workspace=learn,lesson=one-pass,beat=past"])):
        tab = Tab(browser, f"{url}?still#{state}")
        tab.rest(name)
        tab.frames(12)
        drawn = np.asarray(tab.picture(f"page_{name}"), int)
        file = SEEN / f"desktop_{name}.png"
        view = arguments if "--view" in arguments else ["--view", "step", *arguments]
        program("shot", *view, "--size", "1440x900", "-o", file)
        desktop = np.asarray(Image.open(file).convert("RGB"), int)
        near = 100 * (np.abs(drawn - desktop).max(axis=2) <= NEAR).mean() if drawn.shape == desktop.shape else 0
        verdict(near >= LIKE_PERCENT, f"{name}: {near:.2f} % of the pixels are the desktop's")
        tab.close()


def test_link(browser, url):
    tab = Tab(browser, url)
    tab.page.focus("#canvas")
    for _ in range(5):
        tab.page.keyboard.press("ArrowRight")
        tab.frames(2)
    tab.until("location.hash.includes('cursor=')", "the link follows the view")
    link, words = tab.js("location.href"), tab.text()
    tab.close()
    tab = Tab(browser, link)
    verdict(tab.text() == words and tab.js("location.href") == link, "the link opens the same view", link)
    tab.js("location.hash = '#attn1,preset=causal,cursor=3'")
    tab.until("document.getElementById('title').textContent.startsWith('Step 4 ')", "a link that is edited is followed")
    tab.js("location.hash = '#attn1,nothing=1'")
    tab.until("!document.getElementById('words').hidden", "a wrong link is refused in words")
    tab.close()
    tab = Tab(browser, url + "?order=naive&step=3&theme=light&panel=tiles", 700, 420)
    tab.frames(8)
    tab.picture("figure")
    light = np.asarray(tab.picture(), int).mean()
    kernel = tab.steps()["order"]
    verdict(kernel == "naive" and tab.step() == 3 and light > 140, "a figure has its order, step, theme and panel",
            f"{kernel}, step {tab.step()}, brightness {light:.0f}")
    tab.close()
    tab = Tab(browser, url + "?theme=light#attn9", 700, 420)
    light = np.asarray(tab.picture(), int).mean()
    verdict(light > 140, "beside a wrong link the theme holds", f"brightness {light:.0f}")
    tab.close()
    for wrong in ("order=sideways", "step=0", "theme=pink", "panel=all"):
        tab = Tab(browser, f"{url}?{wrong}", 500, 400)
        words = tab.js("document.getElementById('refused').textContent")
        verdict(wrong.split("=")[1] in words and tab.ready_ms() > 0, f"{wrong} is refused in words", words)
        tab.close()


def test_lessons(tab):
    said = tab.js("attnscope.call('page_check_lessons', [], [], 'string')").strip().split("\n")
    files = [f for f in (ROOT / "assets" / "lessons").glob("*.json") if f.name.count(".") == 1 and "_" in f.name]
    good = [line for line in said if line.endswith(": ok")]
    verdict(len(good) == len(said) == len(files), f"{len(good)} of {len(files)} chapters pass the lesson tests",
            "; ".join(line for line in said if not line.endswith(": ok"))[:600])


def test_learn(browser, url):
    tab = Tab(browser, url + "#attn1,workspace=learn")
    tab.rest("the chapters")
    tab.picture("chapters")
    tab.js("s => attnscope.openState(s)", "attn1,workspace=learn,lesson=one-pass,beat=past")
    tab.rest("a chapter")
    title = tab.text()[0]
    verdict(":" in title, "a lesson's card is text too", title)
    tab.close()
    tab = Tab(browser, url + "#attn1,workspace=learn,lesson=one-pass,beat=past", 390, 844, has_touch=True,
              is_mobile=True, device_scale_factor=3)
    tab.rest("a chapter")
    tab.picture("phone_lesson")
    tab.close()


def test_files(browser, url):
    """Own numbers and what leaves the page."""
    tab = Tab(browser, url)
    q, k, v = (np.arange(8, dtype=np.float32).reshape(4, 2) * s for s in (0.5, 0.25, 1))
    text = "\n\n".join("\n".join(",".join(map(str, row)) for row in m) for m in (q, k, v))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, m in (("q", q), ("k", k), ("v", v)):
            np.save(folder / f"{name}.npy", m.reshape(1, 1, 4, 2))
        names = [folder / f"{n}.npy" for n in "qkv"]
        expected = json.loads(program("step", "--q", names[0], "--k", names[1], "--v", names[2], "--json"))
    tab.js("t => attnscope.openText(t)", text)
    tab.until("attnscope.call('page_state', [], [], 'string').includes('q_file')", "pasted numbers are the document's")
    tab.frames(4)
    verdict(tab.steps()["out"] == expected["out"], "pasted numbers give the desktop's answer")
    recording = (ROOT / "tests" / "fuzz" / "corpus" / "attn" / "cpu_flash.attn")
    tab.js("""async b => attnscope.open([new File([Uint8Array.from(atob(b), c => c.charCodeAt(0))], 'run.attn')])""",
           base64.b64encode(recording.read_bytes()).decode())
    tab.until("attnscope.call('page_log', [], [], 'string').includes('run.attn')", "a recording opens")
    with tab.page.expect_download(timeout=20000) as download:
        tab.page.focus("#canvas")
        tab.page.keyboard.press("Control+s")
    with tempfile.TemporaryDirectory() as folder:
        session, picture = pathlib.Path(folder) / "session.attn", pathlib.Path(folder) / "session.png"
        download.value.save_as(session)
        program("shot", "--session", session, "--view", "step", "--size", "640x480", "-o", picture)
        drawn = np.asarray(Image.open(picture).convert("RGB"), int)
        verdict(drawn.std() > 10, "a session that the page saved opens in the desktop program")
    file = ROOT / "assets" / "sessions" / "h100-steps.attn"
    tab.js("""async ([b, name]) =>
                  attnscope.open([new File([Uint8Array.from(atob(b), c => c.charCodeAt(0))], name)])""",
           [base64.b64encode(file.read_bytes()).decode(), file.name])
    tab.until("attnscope.call('page_log', [], [], 'string').includes('h100-steps.attn: ')", "a session opens")
    with tab.page.expect_download(timeout=20000) as download:
        tab.page.keyboard.press("Control+e")
    with tempfile.TemporaryDirectory() as folder:
        csv, report = pathlib.Path(folder) / "page.csv", pathlib.Path(folder) / "report"
        download.value.save_as(csv)
        program("report", file, "-o", report)
        rows = [len(p.read_text().splitlines()) for p in (csv, next(report.glob("*.csv")))]
        verdict(rows[0] == rows[1] > 1, "a session's measurements are downloaded as CSV", str(rows))
    verdict(not tab.thrown, "nothing is thrown over files", "; ".join(tab.thrown[:3]))
    tab.close()


def test_gif(browser, url):
    tab = Tab(browser, url, 640, 480)
    size = tuple(tab.js("[canvas.width, canvas.height]"))
    with tab.page.expect_download(timeout=60000) as download:
        tab.js("attnscope.call('page_save_steps', ['number','number','string'], [1, 4, 'steps.gif'])")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "steps.gif"
        download.value.save_as(file)
        gif = Image.open(file)
        verdict(gif.n_frames == 4 and gif.size == size, "a GIF of four steps is downloaded")
    with tab.page.expect_download(timeout=20000) as download:
        tab.page.focus("#canvas")
        tab.page.keyboard.press("F12")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "picture.png"
        download.value.save_as(file)
        verdict(Image.open(file).size == size, "a picture is downloaded")
    tab.close()


def test_one_file(browser):
    tab = Tab(browser, (FOLDER / "attnscope.html").as_uri())
    verdict(tab.ready_ms() > 0 and tab.text()[0].startswith("Step 1 of 34") and not tab.thrown,
            f"one file opens by file:// in Chromium after {tab.ready_ms()} ms", "; ".join(tab.thrown[:3]))
    tab.close()


def test_firefox(url):
    with Firefox() as firefox:
        firefox.open(url)
        ready = int(firefox.until("document.documentElement.dataset.ready || ''", 60) or 0)
        verdict(0 < ready <= FIRST_STEP_SECONDS * 1000, f"Firefox shows the first step after {ready} ms")
        for n in range(1, 6):
            firefox.press("ArrowRight")
            firefox.until(f"document.getElementById('title').textContent.startsWith('Step {n + 1} ') ? '1' : ''", 10)
        title = firefox.value("document.getElementById('title').textContent")
        verdict(title == desktop_steps("--preset", "blackboard")[5][0], "Firefox walks by keyboard", title)
        firefox.picture(SEEN / "firefox.png")
        firefox.open((FOLDER / "attnscope.html").as_uri())
        ready = int(firefox.until("document.documentElement.dataset.ready || ''", 60) or 0)
        verdict(ready > 0, f"one file opens by file:// in Firefox after {ready} ms")


def main():
    SEEN.mkdir(exist_ok=True)
    url = serve()
    # What is timed has the machine for itself; then two browsers share it.
    guarded(test_firefox, url)
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        tab = test_opens(browser, url)
        guarded(test_slices, tab, verdict)
        guarded(test_one_file, browser)
        beside = str(ROOT / "tests" / "web" / "hostile_test.py")
        other = subprocess.Popen([sys.executable, beside, str(FOLDER), BINARY], stdout=subprocess.PIPE, text=True)
        tab.js("s => attnscope.openState(s)", "attn1,preset=blackboard")
        for test in (test_walk, test_held, test_kernels, test_recordings, test_lessons):
            guarded(test, tab)
        tab.close()
        for test in (test_link, test_learn, test_files, test_gif, test_touch, test_pictures):
            guarded(test, browser, url)
        browser.close()
    print(other.communicate(timeout=600)[0], end="", flush=True)
    return end() or other.returncode


if __name__ == "__main__":
    sys.exit(main())
