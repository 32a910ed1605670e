#!/usr/bin/env python3
"""The page of `attnvp serve` in headless Chromium: a user's session. Skipped (77) without chromedriver.

    serve_page_test.py ATTNVP SOURCE_DIR [--pictures FOLDER] [--picture FILE] [--latency]

--pictures: screenshots of all of the page at three widths, light and dark. --picture: of its first screen. --latency: also prints the median times from a slider's step to
the numbers and the Gantt chart, and to all charts, on two layers.
"""
import base64
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

PROBLEMS = []


def check(condition, what):
    if not condition:
        PROBLEMS.append(what)
        print(f"failed: {what}", file=sys.stderr)


class Browser:
    """W3C WebDriver over HTTP."""

    def __init__(self, driver, folder):
        self.process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if "on port" in line and "successfully" in line:
                self.base = f"http://127.0.0.1:{line.rstrip('.').split('on port ')[1].strip().rstrip('.')}"
                break
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder / 'profile'}"],
                   "prefs": {"download.default_directory": str(folder)}}
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = f"/session/{answer['sessionId']}"
        self.call("POST", self.session + "/timeouts", {"script": 120000})

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.base + path, json.dumps(body).encode() if body is not None else None,
                                         {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=180) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(json.load(e)["value"]["message"].split("\n")[0]) from None

    def open(self, url):
        self.call("POST", self.session + "/url", {"url": url})

    def run(self, script, *args):
        return self.call("POST", self.session + "/execute/sync", {"script": script, "args": list(args)})

    def until(self, condition, what, seconds=90):
        for _ in range(seconds * 20):
            if self.run(f"return Boolean({condition})"):
                return True
            time.sleep(0.05)
        check(False, f"{what} does not come: {condition}; {self.run('return [$(`status`).textContent, $(`problem`).textContent]')}")
        return False

    def tuned(self):
        return self.until("app.done === app.version && app.answer && app.answer.is_tuned && window.lastAdvice === app.version", "the tuned result")

    def click(self, selector):
        element = self.call("POST", self.session + "/element", {"using": "css selector", "value": selector})
        self.call("POST", f"{self.session}/element/{next(iter(element.values()))}/click", {})

    def mouse(self, moves):
        """[(x, y, 'down' or 'up' or '')] in the window."""
        actions = []
        for x, y, what in moves:
            actions.append({"type": "pointerMove", "duration": 20, "x": round(x), "y": round(y)})
            if what:
                actions.append({"type": f"pointer{what.capitalize()}", "button": 0})
        self.call("POST", self.session + "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def keys(self, selector, text):
        element = self.call("POST", self.session + "/element", {"using": "css selector", "value": selector})
        self.call("POST", f"{self.session}/element/{next(iter(element.values()))}/value", {"text": text})

    def size(self, width, height, dark=False):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def cdp(self, command, **params):
        return self.call("POST", self.session + "/goog/cdp/execute", {"cmd": command, "params": params})

    def picture(self, path, is_whole=True):
        data = self.cdp("Page.captureScreenshot", captureBeyondViewport=is_whole)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def messages(self):
        return [e["message"] for e in self.call("POST", self.session + "/se/log", {"type": "browser"}) if e["level"] in ("SEVERE", "WARNING")]

    def end(self):
        try:
            self.call("DELETE", self.session)
        except (RuntimeError, OSError):
            pass
        self.process.terminate()
        self.process.wait(timeout=30)


STEP = """
const slider = document.getElementById('key-' + arguments[0]);
slider.value = Number(slider.value) + arguments[1];
slider.dispatchEvent(new Event('input', {bubbles: true}));
"""
LATENCY = """
const [key, by, done] = arguments, slider = document.getElementById('key-' + key);
const first = performance.now();
slider.value = Number(slider.value) + by;
slider.dispatchEvent(new Event('input', {bubbles: true}));
const version = app.version, look = () => {
  if (window.lastShown && window.lastShown.version === version) requestAnimationFrame(() => setTimeout(() => charts(performance.now() - first)));
  else setTimeout(look, 1);
}, charts = picture => {
  if (window.lastCharts === version) requestAnimationFrame(() => setTimeout(() => done([picture, performance.now() - first])));
  else setTimeout(() => charts(picture), 1);
};
look();
"""


def latency(browser, key, steps=24):
    times = []
    for i in range(steps):
        ms = browser.call("POST", browser.session + "/execute/async", {"script": LATENCY, "args": [key, -1 if i % 4 < 2 else 1]})
        times.append(ms)
        time.sleep(0.05)
    return [statistics.median(t) for t in zip(*times)]


def session(browser, url, folder):
    browser.size(1280, 900)
    browser.open(url)
    browser.until("typeof app === 'object' && app.answer", "the first result")
    browser.tuned()
    # Choose.
    for name, value in (("hardware", "edge-16nm"), ("dataflow", "flat"), ("network", "bert-base")):
        browser.run("const e = $(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('change', {bubbles: true}))", name, value)
        browser.until("app.done === app.version", "a choice")
    browser.tuned()
    check(browser.run("return app.answer.run.hardware") == "edge-16nm", "the machine is not chosen")
    before = browser.run("return app.answer.run.cycles")
    # Drag: the first picture is not tuned.
    for _ in range(4):
        browser.run(STEP, "dram.bandwidth", -1)
    browser.until("app.done === app.version", "a dragged value")
    browser.tuned()
    check(browser.run("return 'dram.bandwidth' in app.state.set"), "the slider sets no key")
    browser.click("#pin")
    check(browser.run("return app.pinned.query === app.answer.query"), "the state is not pinned")
    # By keyboard.
    browser.keys("#key-l1\\.size", "\ue012")
    browser.tuned()
    check(browser.run("return 'l1.size' in app.state.set"), "an arrow key moves no slider")
    check(browser.run("return !$('compare-section').hidden && $('compare').rows.length > 5"), "no comparison with the pin")
    # Follow the advice twice.
    cycles = [browser.run("return app.answer.run.seconds")]
    for _ in range(2):
        if not browser.until("document.querySelector('#advice button.main')", "advice"):
            return
        promise = browser.run("return document.querySelector('#advice button.main').textContent")
        browser.click("#advice button.main")
        browser.tuned()
        cycles.append(browser.run("return app.answer.run.seconds"))
        check(cycles[-1] < cycles[-2], f"the advice makes it slower: {promise}: {cycles}")
    browser.click("#undo")
    browser.tuned()
    check(abs(browser.run("return app.answer.run.seconds") - cycles[-2]) < 1e-12, "undo does not bring the state back")
    # Explain an interval of the Gantt chart, by mouse and by key.
    browser.run("$('gantt-box').scrollIntoView({block: 'center'})")
    box = browser.run("const r = $('gantt').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]")
    y = box[1] + 20
    browser.mouse([(box[0] + box[2] * .4, y, "down"), (box[0] + box[2] * .5, y, ""), (box[0] + box[2] * .7, y, "up")])
    check(browser.run("return Boolean(view.selected)"), "dragging selects no interval")
    browser.click("#explain")
    browser.until("!$('explanation').hidden && $('explain-table').rows.length > 1", "the critical path")
    check(browser.run("return $('explain-command').textContent").startswith("attnvp explain --hw edge-16nm"), "no command of the explanation")
    # Sweep, and click the front.
    browser.run("""const rows = document.querySelectorAll('.axis');
      [['l1.size', '128 KiB, 256 KiB, 512 KiB'], ['vec.lanes', '64, 128']].forEach(([key, values], i) => {
        rows[i].querySelector('select').value = key; rows[i].querySelector('select').onchange(); rows[i].querySelector('input').value = values; });
      rows[2].querySelector('select').value = ''; $('sweep-name').value = 'page';""")
    browser.click("#sweep-start")
    browser.until("sweeps.status && sweeps.status.is_done && sweeps.status.rows.length === 6", "the sweep's end")
    check((folder / "page.db").exists(), "no database of the sweep")
    browser.run("$('front').scrollIntoView({block: 'center'})")
    place = browser.run("const r = $('front').getBoundingClientRect(), p = charts.front.getDatasetMeta(0).data[0]; return [r.left + p.x, r.top + p.y]")
    browser.mouse([(*place, "down"), (*place, "up")])
    wanted = browser.run("const {rows, front} = sweeps.status; return rows[front[0]].axes")
    browser.until(f"app.state.set['l1.size'] === {json.dumps(wanted[0])} || app.keys.get('l1.size').text === {json.dumps(wanted[0])}", "the clicked machine")
    browser.tuned()
    seconds = browser.run("const {rows, front} = sweeps.status; return [rows[front[0]].seconds, app.answer.run.seconds]")
    check(abs(seconds[0] - seconds[1]) < 1e-9, f"the clicked job has other results: {seconds}")
    # Export.
    for button, name in (("save-report", "attnvp-report.html"), ("save-csv", "attnvp.csv"), ("save-png", "attnvp.png"), ("yaml-save", "attnvp-state.yaml")):
        browser.run("$(arguments[0]).closest('details')?.setAttribute('open', ''); $(arguments[0]).scrollIntoView({block: 'center'})", button)
        browser.click(f"#{button}")
        for _ in range(200):
            if (folder / name).exists() and (folder / name).stat().st_size:
                break
            time.sleep(0.1)
        check((folder / name).exists() and (folder / name).stat().st_size > 50, f"{name} is not saved: {browser.run('return $(`share-status`).textContent')}")
    # The address is the state.
    state = browser.run("return JSON.stringify(app.state)")
    query = browser.run("return location.hash")
    browser.open("about:blank")
    browser.open(url + query)
    browser.until("typeof app === 'object' && app.answer", "the page of an address")
    check(browser.run("return JSON.stringify(app.state)") == state, "the address has another state")
    check(before > 0, "no cycles")
    # An error is shown, and the page remains usable.
    browser.run("$('network').value = 'no-such-network'; $('network').onchange({target: $('network')})")
    browser.until("$('problem').textContent.includes('no-such-network')", "the sentence of an error")
    browser.run("$('network').value = 'bert-base'; $('network').onchange({target: $('network')})")
    browser.until("$('problem').textContent === ''", "the end of an error")
    browser.tuned()
    # Every width: nothing is wider than the window.
    for width in (400, 700, 1000, 1600):
        browser.size(width, 900)
        time.sleep(0.2)
        wide = browser.run("return document.documentElement.scrollWidth")
        check(wide <= width, f"at {width} px the page is {wide} px wide")
    unnamed = browser.run("""return [...document.querySelectorAll('button, input, select, textarea')].filter(e =>
        !(e.textContent.trim() || e.ariaLabel || e.labels?.length || e.title)).map(e => e.outerHTML.slice(0, 80))""")
    check(not unnamed, f"controls without a name: {unnamed}")
    messages = [m for m in browser.messages() if "422" not in m]
    check(not messages, f"messages on the console: {messages[:3]}")


def pictures(browser, url, target):
    browser.size(1600, 1000)
    browser.open(url)
    browser.until("typeof app === 'object' && app.answer", "the first result")
    browser.tuned()
    browser.click("#pin")
    browser.run(STEP, "dram.bandwidth", -6)
    browser.tuned()
    browser.run("$('explain').click()")
    browser.until("!$('explanation').hidden", "the critical path")
    if target.suffix == ".png":
        browser.size(1280, 860)
        time.sleep(0.5)
        browser.picture(target, False)
        return
    target.mkdir(parents=True, exist_ok=True)
    for width, dark in ((400, False), (1000, True), (1600, False)):
        browser.size(width, 1000, dark)
        time.sleep(0.5)
        height = browser.run("return document.documentElement.scrollHeight")
        browser.size(width, height, dark)
        time.sleep(0.5)
        browser.picture(target / f"serve-{width}{'-dark' if dark else ''}.png")


def main(program, source, *options):
    driver = shutil.which("chromedriver")
    if driver is None or shutil.which("chromium") is None:
        print("skipped: chromium and chromedriver are not installed")
        return 77
    program = str(pathlib.Path(program).resolve())
    folder = pathlib.Path(tempfile.mkdtemp(prefix="attnvp-page-"))
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    environment.pop("ATTNVP_CONFIGS", None)
    server = subprocess.Popen([program, "serve"], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    browser = None
    try:
        url = server.stdout.readline().strip()
        browser = Browser(driver, folder)
        shown = [options[i + 1] for i, option in enumerate(options) if option in ("--pictures", "--picture")]
        for target in shown:
            pictures(browser, url + "#hw=edge-16nm&net=bert-base&dataflow=flat", pathlib.Path(target))
        if not shown:
            session(browser, url, folder)
        if "--latency" in options:
            browser.size(1280, 900)
            for name, query in (("BERT-Base", "hw=edge-16nm&net=bert-base&dataflow=mas"), ("Llama-3.1-8B attention, 2,048", "hw=edge-16nm&net=llama3.1-8b&dataflow=mas")):
                browser.open("about:blank")
                browser.open(f"{url}#{query}")
                browser.until("typeof app === 'object' && app.answer", "the first result")
                browser.tuned()
                for key in ("dram.bandwidth", "mac.rows", "l1.size"):
                    picture, charts = latency(browser, key)
                    print(f"{name}, {key}: median {picture:.0f} ms to the picture, {charts:.0f} ms to all charts")
                    browser.until("app.answer.is_tuned", "the tuned result", 300)
    finally:
        if browser:
            browser.end()
        server.send_signal(signal.SIGINT)
        server.wait(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(PROBLEMS)} problems")
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
