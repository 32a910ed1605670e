#!/usr/bin/env python3
"""The server of `attnvp serve` without a browser: results, states, limits, and hostile requests.

    serve_test.py ATTNVP SOURCE_DIR
"""
import concurrent.futures
import http.client
import json
import os
import pathlib
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse

PROBLEMS = []
SMALL = {"hardware": "edge", "network": "H=2,N=64,E=32", "dataflow": "mas", "set": {}}


def check(condition, what):
    if not condition:
        PROBLEMS.append(what)
        print(f"failed: {what}", file=sys.stderr)


class Server:
    def __init__(self, program, folder, *options):
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        self.process = subprocess.Popen([program, "serve", *options], cwd=folder, env=environment,
                                        stdout=subprocess.PIPE, text=True)
        url = urllib.parse.urlparse(self.process.stdout.readline().strip())
        self.host, self.port = url.hostname, url.port
        self.token = urllib.parse.parse_qs(url.query)["token"][0]

    def ask(self, method, path, body=None, headers=None, token=True):
        """Status and body."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=120)
        own = {"Authorization": f"Bearer {self.token}"} if token else {}
        if body is not None:
            own["Content-Type"] = "application/json"
        try:
            connection.request(method, path, body, {**own, **(headers or {})})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def post(self, path, value):
        status, body = self.ask("POST", path, json.dumps(value))
        return status, json.loads(body)

    def simulate(self, what, state, **more):
        return self.post("/api/simulate", {"do": what, "state": state, **more})

    def raw(self, data, seconds=15):
        """Response to these bytes."""
        with socket.create_connection((self.host, self.port), timeout=seconds) as connection:
            connection.sendall(data)
            answer = b""
            try:
                while piece := connection.recv(65536):
                    answer += piece
            except (ConnectionError, TimeoutError):
                pass
            return answer

    def processes(self):
        """Process ids of the server, its launcher and its workers."""
        parents = {}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                except (OSError, IndexError):
                    pass
        family, grown = {self.process.pid}, True
        while grown:
            more = {pid for pid, parent in parents.items() if parent in family} - family
            grown = bool(more)
            family |= more
        return family

    def resident_bytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.split("\n") if line.startswith("VmRSS"))) * 1024

    def end(self):
        family = self.processes()
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(timeout=60)
        for _ in range(100):
            left = [pid for pid in family if pathlib.Path(f"/proc/{pid}/exe").exists()]
            if not left:
                break
            time.sleep(0.05)
        check(status == 0, f"exit status {status} after SIGINT")
        check(not left, "processes are left after the server's end")


def check_results(server, program, folder):
    """The page's numbers are those of `attnvp run`, and equal requests have equal answers."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    for state in (SMALL, {**SMALL, "hardware": "edge-16nm", "dataflow": "flat", "set": {"l1.size": "1 MiB", "mac.rows": "8"}},
                  {**SMALL, "network": "H=4,N=96,E=32,causal=1,type=int8"}):
        status, page = server.simulate("tuned", state)
        check(status == 200, f"tuned answers {status}: {page}")
        command = [program, *shlex.split(page["command"])[1:]]
        run = json.loads(subprocess.run([*command, "--json", "-"], capture_output=True, env=environment, check=True).stdout)
        for key in ("cycles", "machine_hash", "tiling", "energy_pj", "area_mm2", "dram", "command"):
            check(page["run"][key] == run[key], f"{key} of {state}: {page['run'][key]}, run has {run[key]}")
        again = [json.dumps({**server.simulate("quick", state)[1]["run"]}) for _ in range(3)]
        check(len(set(again)) == 1, f"equal requests have different answers: {state}")
        check(json.loads(again[0])["cycles"] == run["cycles"], "a tuned state is simulated with other tile sizes afterwards")
    status, quick = server.simulate("quick", {**SMALL, "dataflow": "flat"})
    check(status == 200 and quick["run"]["cycles"] > 0, f"quick answers {status}")
    check(quick["gantt"]["slices"] and quick["gantt"]["window"][0] < quick["gantt"]["window"][1], "no Gantt chart")
    check("<svg" in quick["floorplan"], "no floorplan")
    check(quick["run"]["energy_range_pj"]["low"]["total"] <= quick["run"]["energy_pj"]["total"], "no energy range")
    status, advice = server.simulate("advice", SMALL)
    check(status == 200 and advice["advice"], f"advice answers {status}: {advice}")


def check_explain(server, program):
    status, path = server.simulate("explain", SMALL)
    check(status == 200 and path["path"], f"explain answers {status}")
    covered = sum(step["to"] - step["from"] for step in path["path"])
    check(covered == path["to"] - path["from"] or path["path"][0]["kind"] != "work" or path["path"][0]["from"] > path["from"],
          "steps of the critical path have gaps")
    for before, after in zip(path["path"], path["path"][1:]):
        check(before["to"] == after["from"], f"a gap between {before} and {after}")
    text = subprocess.run([program, "explain", "--net", SMALL["network"], "--json", "-"], capture_output=True, check=True).stdout
    own = json.loads(text)["critical_path"]
    check(own["by_engine"] == path["by_engine"], f"explain differs: {own['by_engine']} and {path['by_engine']}")


def check_states(server):
    """Every form of a state gives the same state."""
    for state in (SMALL, {**SMALL, "tiling": "nq=32,nkv=64", "set": {"l1.size": "2 MiB", "dram.bandwidth": "12.5 GB/s", "cores.1.mac.rows": "8"}},
                  {**SMALL, "network": "a&b=c%20 +#\"'\\ü", "hardware": "<script>"}):
        status, forms = server.post("/api/state", {"state": state})
        check(status == 200 and forms["state"] == state, f"state {state} answers {status}: {forms}")
        for form in ("query", "yaml"):
            status, again = server.post("/api/state", {form: forms[form]})
            check(status == 200 and again["state"] == state, f"{form} of {state} gives {again}")
    for bad in ({"state": {"hardwre": "edge"}}, {"state": {"hardware": 1}}, {"state": {"set": {"a": "x" * 400}}}, {"query": "hw=%zz"},
                {"yaml": "hardware: [1]"}, {"yaml": "[" * 30000}, {"yaml": "{a: " * 9000}, {"yaml": "hardware: edge\n" * 2}, {"state": {"hardware": "a\nb"}}):
        status, answer = server.post("/api/state", bad)
        check(status == 422 and answer["error"], f"{bad} answers {status}")


def check_hostile(server, folder):
    secret = folder.parent / "secret.yaml"
    secret.write_text("base: edge\nl1:\n  size: 3 MiB\n")
    (folder / "link.yaml").symlink_to(secret)
    (folder / "target.vcd").symlink_to(folder.parent / "stolen.vcd")
    (folder / "far.yaml").write_text(f"base: {secret}\n")
    bomb = ["a0: &a0 [1, 1]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 20)]
    (folder / "bomb.yaml").write_text("\n".join(bomb) + "\n")
    for token in ("", "?token=", "?token=" + "0" * 32):
        check(server.ask("GET", "/" + token, token=False)[0] == 403, f"a wrong token is let in: {token}")
    check(server.ask("GET", "/api/catalogue", token=False)[0] == 403, "no token is let in")
    check(server.ask("GET", f"/api/catalogue?token={server.token}", token=False)[0] == 403, "the interface takes a token of the address")
    check(server.ask("GET", "/", headers={"Host": "evil.example"})[0] == 403, "another Host is let in")
    for path in ("/etc/passwd", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/../../etc/passwd", "//etc/passwd", "/api/catalogue/..%2f..%2fsecret.yaml"):
        status, body = server.ask("GET", path)
        check(status in (400, 403, 404) and b"root:" not in body, f"{path} answers {status}")
    states = [{"hardware": name} for name in (str(secret), "../secret.yaml", "link.yaml", "far.yaml", "bomb.yaml", "/etc/passwd", "/dev/zero.yaml")]
    states += [{"network": name} for name in ("hf:/etc", "hf:..", "../secret.yaml", "bert-base,bias=/etc/passwd", "bert-base, block_mask = ../x", "H=2,N=64,E=32,bias=x.npy")]
    states += [{"set": {key: value}} for key, value in (("control.firmware", "/tmp/x.elf"), ("l1.kind", "plugin:/tmp/x.so"), ("vec.kind", "plugin"), ("l1.library", "x.so"),
                                                        ("energy", "../secret.yaml"), ("energy", "/etc/passwd"), ("dram.part", "/etc/passwd"), ("no.such", "1"))]
    states += [{"tiling": "../secret.yaml"}, {"dataflow": "../x"}, {"hardware": "no-such"}, {"set": {"l1.size": "-1"}}]
    for state in states:
        status, answer = server.simulate("quick", {**SMALL, **state})
        check(status == 422 and answer.get("error") and "\n" not in answer["error"], f"{state} answers {status}: {answer}")
    for name in ("../x", "/tmp/x", ".x", "-x", "a/b", "", "x" * 65, "a\0b", "target"):
        check(server.simulate("waveform", SMALL, name=name)[0] == 422, f"a waveform is written to {name!r}")
        if name != "target":
            check(server.post("/api/sweep", {"do": "start", "name": name, "state": SMALL, "axes": {"l1.size": ["1 MiB"]}})[0] == 422, f"a sweep is written to {name!r}")
    check(not (folder.parent / "stolen.vcd").exists(), "a symbolic link was followed")
    check(server.post("/api/sweep", {"do": "start", "name": "s", "state": SMALL, "axes": {"hardware": ["edge", "../secret.yaml"]}})[0] == 422, "an axis names a file")
    for body in (b"", b"{", b"[]", b"null", b"[" * 60000, b'{"do": 1}', b'{"do": "quick"}', b'{"do": "quick", "state": 1}', b"\xff\xfe"):
        status, answer = server.ask("POST", "/api/simulate", body)
        check(400 <= status < 500 and b"error" in answer, f"{body[:20]} answers {status}")
    # Bodies: too long, of unknown length, compressed, of another type.
    check(server.ask("POST", "/api/state", b"x" * 70000)[0] == 413, "a long body is taken")
    head = f"POST /api/state HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nAuthorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
    for more, status in (("Content-Length: 99999999999\r\n\r\n", 413), ("Content-Length: -1\r\n\r\n", 413), ("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 411), ("\r\n", 411),
                         ("Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", 415)):
        answer = server.raw((head + more).encode())
        check(answer.startswith(f"HTTP/1.1 {status} ".encode()), f"{more[:40]!r} answers {answer[:40]!r}")
    check(server.ask("POST", "/api/state", b"{}", headers={"Content-Type": "text/plain"})[0] == 415, "a form is taken")
    check(server.ask("DELETE", "/")[0] == 405, "DELETE is taken")
    for data in (b"GET / HTTP/1.1\r\n" + b"X-Long: " + b"a" * 300000 + b"\r\n\r\n", b"\0" * 5000, b"GET " + b"/" * 100000 + b" HTTP/1.1\r\n\r\n",
                 b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 60000 + b"\r\n"):
        check(b"200 OK" not in server.raw(data), f"{data[:20]} is answered")
    check(server.ask("GET", "/api/catalogue")[0] == 200, "no answer after hostile requests")


def check_injection(server, folder):
    """Names from files reach the page as data only."""
    evil = "<img src=x onerror=alert(1)>"
    (folder / "evil.yaml").write_text(f"name: \"{evil}</script>\"\nbase: edge\n")
    status, answer = server.simulate("quick", {**SMALL, "hardware": "evil.yaml"})
    check(status == 200 and evil not in answer["floorplan"], "a machine's name is markup in the floorplan")
    status, report = server.post("/api/simulate", {"do": "report", "states": [{**SMALL, "hardware": "evil.yaml"}]})
    check(status == 200 and evil not in report["text"], "a machine's name is markup in the report page")
    status, page = server.ask("GET", f"/?token={server.token}", token=False)
    check(status == 200 and b"evil" not in page and b"nonce" in page, "the page has names of files")


def check_crowd(server):
    """Slow clients and many connections: others are served, memory stays bounded."""
    slow = []
    for _ in range(40):
        connection = socket.create_connection((server.host, server.port), timeout=30)
        connection.sendall(b"GET / HTTP/1.1\r\nX: ")
        slow.append(connection)
    check(server.ask("GET", "/api/catalogue")[0] == 200, "slow clients keep others out")
    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        states = [{**SMALL, "set": {"dram.latency": f"{100 + i % 7} ns"}} for i in range(150)]
        statuses = list(pool.map(lambda state: server.simulate("quick", state)[0], states))
    check(set(statuses) <= {200, 503} and statuses.count(200) >= 30, f"150 requests answer {sorted(set(statuses))}")
    for connection in slow:
        try:
            connection.settimeout(30)
            check(len(connection.recv(1)) in (0, 1), "a slow client is answered")
        except ConnectionError:
            pass
        except TimeoutError:
            check(False, "a slow client is not turned away")
        connection.close()
    check(server.resident_bytes() < 400 << 20, f"the server takes {server.resident_bytes() >> 20} MiB")


def check_failures(server, folder):
    """A worker that dies or takes too long is replaced."""
    server.simulate("quick", SMALL)
    for pid in server.processes() - {server.process.pid}:
        if pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1] != str(server.process.pid):
            os.kill(pid, signal.SIGKILL)
    statuses = [server.simulate("quick", SMALL)[0] for _ in range(6)]
    check(set(statuses) <= {200, 500} and statuses[-1] == 200, f"after the workers' end: {statuses}")
    every_command = {"simulation.steady_state": "off"}
    huge = {**SMALL, "network": "llama3.1-8b,N=16384", "dataflow": "flash2", "set": every_command}
    status, answer = server.simulate("tuned", huge)
    check(status == 504, f"a job that takes too long answers {status}: {answer}")
    check(server.simulate("quick", SMALL)[0] == 200, "no answer after a long job")


def check_files(server, folder):
    status, wave = server.simulate("waveform", SMALL, name="wave")
    check(status == 200 and wave["gtkwave"] == "gtkwave wave.gtkw", f"waveform answers {status}: {wave}")
    check(all((folder / name).stat().st_size > 0 for name in wave["files"]), "waveform files are missing")
    status, table = server.post("/api/simulate", {"do": "csv", "states": [SMALL, {**SMALL, "dataflow": "flat"}]})
    check(status == 200 and len(table["text"].strip().split("\n")) == 3, f"csv answers {status}")


def check_sweep(server, program, folder):
    request = {"do": "start", "name": "small", "state": SMALL, "axes": {"l1.size": ["128 KiB", "256 KiB", "512 KiB"], "dataflow": ["mas", "flat"]}}
    status, answer = server.post("/api/sweep", request)
    check(status == 200, f"sweep answers {status}: {answer}")
    for _ in range(600):
        status, progress = server.post("/api/sweep", {"do": "status", "name": "small", "goals": ["seconds", "area_mm2.total"]})
        if progress.get("is_done"):
            break
        time.sleep(0.1)
    check(progress.get("done") == 6 and len(progress["rows"]) == 6 and progress["front"], f"sweep ends with {progress}")
    check(server.post("/api/sweep", request)[0] == 422, "a sweep replaces another one's file")
    check(server.post("/api/sweep", {"do": "status", "name": "none"})[0] == 422, "an unknown sweep")
    check(server.post("/api/sweep", {"do": "status", "name": "small", "goals": ["(" * 30000]})[0] == 422, "a goal of any length")
    small = {**SMALL, "network": "H=2,N=64,E=32", "set": {"l1.banks": "16"}}
    check(server.post("/api/sweep", {"do": "start", "name": "failing", "state": small, "axes": {"l1.size": ["1 KiB", "1 MiB"]}})[0] == 200, "a sweep with failures")
    for _ in range(600):
        progress = server.post("/api/sweep", {"do": "status", "name": "failing"})[1]
        if progress.get("is_done"):
            break
        time.sleep(0.05)
    check(progress["failed"] == 1 and progress["done"] == 1 and progress["failure"], f"a failing job: {progress}")
    # Pause and resume: the jobs so far are kept.
    values = [f"{100 + i} ns" for i in range(60)]
    check(server.post("/api/sweep", {"do": "start", "name": "long", "state": SMALL, "axes": {"dram.latency": values}})[0] == 200, "a second sweep")
    server.post("/api/sweep", {"do": "pause", "name": "long"})
    for what in ("paused", "done"):
        for _ in range(600):
            progress = server.post("/api/sweep", {"do": "status", "name": "long"})[1]
            if not progress["is_running"]:
                break
            time.sleep(0.05)
        check(not progress["is_running"], f"the sweep is not {what}")
        server.post("/api/sweep", {"do": "resume", "name": "long"})
    for _ in range(600):
        progress = server.post("/api/sweep", {"do": "status", "name": "long"})[1]
        if not progress["is_running"]:
            break
        time.sleep(0.05)
    check(len(progress["rows"]) == 60, f"a resumed sweep has {len(progress['rows'])} of 60 rows")
    subprocess.run([program, "sweep", "small.yaml", "--db", "own.db"], cwd=folder, capture_output=True, check=True)

    def rows(name):
        database = sqlite3.connect(folder / name)
        table = next(t for (t,) in database.execute("select name from sqlite_master where type='table'") if "key" in
                     [c[1] for c in database.execute(f"pragma table_info({t})")] and "cycles" in [c[1] for c in database.execute(f"pragma table_info({t})")])
        return sorted(database.execute(f"select * from {table}"), key=str)

    check(rows("small.db") == rows("own.db"), "the page's sweep differs from `attnvp sweep`")


def main(program, source):
    program = str(pathlib.Path(program).resolve())
    base = pathlib.Path(tempfile.mkdtemp(prefix="attnvp-serve-"))
    folder = base / "work"
    folder.mkdir()
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    os.environ.pop("ATTNVP_CONFIGS", None)
    server = None
    try:
        server = Server(program, folder, "--jobs", "2", "--limit", "5")
        check_results(server, program, folder)
        check_explain(server, program)
        check_states(server)
        check_hostile(server, folder)
        check_injection(server, folder)
        check_files(server, folder)
        check_sweep(server, program, folder)
        check_crowd(server)
        check_failures(server, folder)
        server.end()
        server = None
        busy = socket.socket()
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        result = subprocess.run([program, "serve", "--port", str(busy.getsockname()[1])], cwd=folder, capture_output=True, text=True)
        check(result.returncode == 2 and result.stderr.startswith("attnvp: --port"), f"a port in use: {result.stderr}")
    finally:
        if server:
            server.process.kill()
        shutil.rmtree(base, ignore_errors=True)
    print(f"{len(PROBLEMS)} problems")
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
