"""Firefox by WebDriver BiDi, which it speaks by itself. It needs a display: headless it has no WebGL."""
import asyncio
import base64
import json
import pathlib
import subprocess
import tempfile
import time

import websockets

PORT = 9347


class Firefox:
    def __enter__(self):
        self.loop = asyncio.new_event_loop()
        self.profile = tempfile.TemporaryDirectory()
        pathlib.Path(self.profile.name, "user.js").write_text(
            'user_pref("webgl.force-enabled",true);user_pref("browser.shell.checkDefaultBrowser",false);'
            'user_pref("datareporting.policy.dataSubmissionEnabled",false);user_pref("app.normandy.enabled",false);'
            'user_pref("browser.aboutwelcome.enabled",false);', encoding="utf-8")
        self.process = subprocess.Popen(
            ["firefox-esr", "--no-remote", "--profile", self.profile.name, "--remote-debugging-port", str(PORT),
             "--window-size", "1440,1000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.number = 0
        self.loop.run_until_complete(self._connect())
        return self

    async def _connect(self):
        for _ in range(120):
            try:
                self.socket = await websockets.connect(f"ws://127.0.0.1:{PORT}/session", max_size=None,
                                                       ping_interval=None)
                break
            except OSError:
                await asyncio.sleep(0.5)
        await self._call("session.new", capabilities={})
        self.context = (await self._call("browsingContext.getTree"))["contexts"][0]["context"]

    async def _call(self, method, **parameters):
        self.number += 1
        await self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(await self.socket.recv())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer)
                return answer["result"]

    def call(self, method, **parameters):
        return self.loop.run_until_complete(self._call(method, **parameters))

    def open(self, url):
        self.call("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def value(self, script):
        said = self.call("script.evaluate", expression=script, target={"context": self.context}, awaitPromise=True)
        return said.get("result", {}).get("value")

    def until(self, script, seconds):
        end = time.time() + seconds
        while time.time() < end:
            value = self.value(script)
            if value:
                return value
            time.sleep(0.1)
        return None

    def press(self, key):
        name = {"ArrowRight": "\ue014", "ArrowLeft": "\ue012"}[key]
        self.call("input.performActions", context=self.context, actions=[
            {"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": name},
                                                      {"type": "keyUp", "value": name}]}])

    def picture(self, path):
        said = self.call("browsingContext.captureScreenshot", context=self.context)
        pathlib.Path(path).write_bytes(base64.b64decode(said["data"]))

    def __exit__(self, *_):
        self.loop.run_until_complete(self.socket.close())
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.loop.close()
        self.profile.cleanup()
