"""Headless Chromium, driven through its pipe: one tab, its script errors and network requests, and screenshots."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


IN_SIGHT = "Object.defineProperty(document, 'visibilityState', {value: '%s', configurable: true}) && true"


# wordsOf(figure) adds flaws of a figure's text to found.texts.
WORDS = r"""
function wordsOf(figure) {
  const panels = [...figure.querySelectorAll('.live > div > svg, .live > div')].filter(one => one.tagName === 'svg');
  for (const svg of panels) {
    const frame = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim() && getComputedStyle(text).opacity !== '0')
        .map(text => ({text: text.textContent, box: text.getBoundingClientRect()}));
    for (const axis of svg.querySelectorAll('.role-axis-label')) {
      const labels = [...axis.querySelectorAll('text')].filter(text => getComputedStyle(text).opacity !== '0').map(text => text.getBoundingClientRect());
      for (const [i, one] of labels.entries()) {
        for (const other of labels.slice(i + 1)) {
          const gap = Math.max(one.left, other.left) - Math.min(one.right, other.right);
          if (gap < 3 && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 3) { found.texts.push(`labels ${gap} pixels apart`); }
        }
      }
    }
    boxes.forEach(({text, box}, i) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) {
        found.texts.push(`cut: ${text}`);
      }
      for (const other of boxes.slice(i + 1)) {
        const wide = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
        const high = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
        const halo = text === other.text && box.left === other.box.left && box.top === other.box.top;  // its own, behind it
        if (wide > 1 && high > 3 && !halo) { found.texts.push(`${text} lies on ${other.text}`); }
      }
    });
  }
}
"""
# Runs axe-core, whose script is in the page.
AXE = """(async () => (await axe.run(document, {resultTypes: ['violations']})).violations
  .filter(one => ['serious', 'critical'].includes(one.impact)).map(one => one.id + ': ' + one.nodes[0].html.slice(0, 200)))()"""


class Chromium:
    def __init__(self, program=None):
        program = program or shutil.which("chromium")
        if not program:
            raise FileNotFoundError("no chromium (Debian package chromium)")
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.to_browser = os.pipe()
        self.from_browser, to_write = os.pipe()
        shell = f'exec 3<&{to_read} 4>&{to_write}; exec "$@"'
        self.process = subprocess.Popen(
            ["sh", "-c", shell, "sh", program, "--headless", "--no-sandbox", "--disable-gpu", "--log-level=3", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND", "--hide-scrollbars",
             f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Network", "Log":
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        self.profile.cleanup()

    def _message(self):
        while b"\0" not in self.buffer:
            part = os.read(self.from_browser, 1 << 20)
            if not part:
                raise RuntimeError("chromium has ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def evaluate(self, expression):
        """The value of a JavaScript expression; waits for promises."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression[:80]}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def wait_for(self, expression, seconds=30):
        end = time.monotonic() + seconds
        while True:
            try:
                value = self.evaluate(expression)
            except RuntimeError:  # the page is reloading
                value = None
            if value:
                return value
            if time.monotonic() > end:
                raise TimeoutError(f"not so within {seconds} s: {expression}")
            time.sleep(0.1)

    def open(self, url, width=1440, height=900, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=url)
        # Hides the page, so that a live page does not reload before a busy machine looks at it.
        self.wait_for("document.documentElement.dataset.figures === 'ready' && " + IN_SIGHT % "hidden", 60)

    def flaws_of_words(self):
        """Cut and overlapping words of all figures."""
        return self.evaluate("(() => { const found = {texts: []};" + WORDS + "document.querySelectorAll('figure.figure').forEach(wordsOf); return found.texts; })()")

    def barriers(self, axe):
        """Serious findings of axe-core; `axe` is the path of its script."""
        self.evaluate(axe.read_text() + ";0")
        return self.evaluate(AXE)

    def click(self, selector):
        """Clicks in the middle of the first such element."""
        place = self.evaluate(f"""(() => {{
          const element = document.querySelector({json.dumps(selector)});
          element.scrollIntoView({{block: 'center'}});
          const box = element.getBoundingClientRect();
          return [box.left + box.width / 2, box.top + box.height / 2];
        }})()""")
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def complaints(self):
        """Failed scripts and requests, console messages, and requests for anything but local files."""
        found = []
        for event in self.events:
            parameters = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            elif event["method"] == "Runtime.consoleAPICalled":
                found.append("console: " + " ".join(str(word.get("value", word.get("description"))) for word in parameters["args"]))
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                found.append(parameters["entry"]["text"])
            elif event["method"] == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(("file:", "data:", "blob:")):
                found.append("asked for " + parameters["request"]["url"])
        return found

    def picture(self, file, whole=True):
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self, file):
        file.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))
