"""What the tests of the page share: python3 TEST.py FOLDER BINARY. FOLDER: what app/web/build.sh made; pictures of what
was seen are left in FOLDER/seen. BINARY: the desktop program, which says what the page must show."""
import functools
import http.server
import io
import json
import pathlib
import subprocess
import sys
import threading
import time

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER, BINARY = pathlib.Path(sys.argv[1]), sys.argv[2]
SEEN = FOLDER / "seen"
CHROMIUM = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
failed = 0
seconds = {}


def verdict(good, what, why=""):
    global failed
    failed += not good
    print(f"{'PASS' if good else 'FAIL'} {what}{'' if good or not why else ': ' + why}", flush=True)
    return good


def serve():
    """The folder at a port of this machine."""
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass
    handler = functools.partial(Quiet, directory=str(FOLDER / "site"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/index.html"


def program(*arguments):
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{arguments}: {done.stderr}")
    return done.stdout


class Tab:
    """A page that is open. Whatever it throws, or asks of another place than its own, is kept."""

    def __init__(self, browser, url, width=1440, height=900, **more):
        self.context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True, **more)
        self.page = self.context.new_page()
        self.thrown, self.asked = [], set()
        self.page.on("pageerror", lambda e: self.thrown.append(str(e)))
        self.page.on("crash", lambda _: self.thrown.append("the page crashed"))
        self.page.on("request", lambda r: self.asked.add(r.url.split("/")[2] if r.url.startswith("http") else ""))
        self.page.goto(url)
        ready = "document.documentElement.dataset.ready || !document.getElementById('words').hidden"
        self.page.wait_for_function(ready, timeout=60000)

    def ready_ms(self):
        return int(self.js("document.documentElement.dataset.ready || '0'"))

    def js(self, script, argument=None):
        return self.page.evaluate(script, argument)

    def frames(self, count=3):
        self.js("""n => new Promise(done => {
            const f = () => n-- > 0 ? requestAnimationFrame(f) : done(); f(); })""", count)

    def rest(self, what):
        """Until no task runs, and what tasks brought is drawn."""
        self.until("attnscope.call('page_busy', [], [], 'number') === 0", f"the tasks of {what} end")
        self.frames(3)

    def steps(self):
        return json.loads(self.js("attnscope.call('page_json', ['number','number'], [1, 1e6], 'string')"))

    def step(self):
        return self.js("attnscope.call('page_step', [], [], 'number')") + 1

    def until(self, script, what, seconds=20):
        try:
            self.page.wait_for_function(script, timeout=seconds * 1000)
            return True
        except Exception:  # playwright's own kinds of time-out
            return verdict(False, what, "it did not come to be")

    def picture(self, name=None):
        image = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        if name:
            image.save(SEEN / f"{name}.png")
        return image

    def text(self):
        return [self.js(f"document.getElementById('{name}').textContent") for name in ("title", "sentence", "values")]

    def close(self):
        self.context.close()


def chromium(playwright):
    return playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)


def guarded(test, *arguments):
    begun = time.time()
    try:
        test(*arguments)
    except Exception as e:  # a browser that went, a download that did not come: the other tests go on
        verdict(False, test.__name__, f"{type(e).__name__}: {str(e)[:400]}")
    seconds[test.__name__.removeprefix("test_")] = time.time() - begun


def end():
    """How long each test took; the exit status."""
    print("     seconds: " + ", ".join(f"{test} {took:.0f}" for test, took in seconds.items()), flush=True)
    return 1 if failed else 0
