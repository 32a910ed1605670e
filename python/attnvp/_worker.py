"""The warm worker: the program `attnvp worker`, which forks a process for every command line that it is sent.

SystemC elaborates one machine a process, so every run has a process of its own. The worker is started once and has
nothing to load for the next run; requests of several threads are served side by side."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Sequence

from ._error import Error

Progress = Callable[[int, int], None]
FIRST_INPUT = 3  # files 0, 1 and 2 of a process have their names

_lock = threading.Lock()
_worker: Optional["_Worker"] = None


@dataclass
class Answer:
    status: int
    stdout: str
    stderr: str

    @property
    def sentence(self) -> str:
        """What went wrong, in the program's words."""
        lines = [line.removeprefix("attnvp: ") for line in self.stderr.splitlines()]
        return "\n".join(lines) or f"attnvp ended with status {self.status}"


def program() -> str:
    """The path of the program `attnvp`: ATTNVP_PROGRAM, else of the wheel, of the source tree's build, or on PATH."""
    chosen = os.environ.get("ATTNVP_PROGRAM")
    package = Path(__file__).resolve().parent
    for path in [chosen] if chosen else [package / "bin/attnvp", package.parents[1] / "build/release/cli/attnvp"]:
        if os.access(path, os.X_OK):
            return str(path)
    found = None if chosen else shutil.which("attnvp")
    if found is None:
        raise Error(
            f"the program attnvp is not at {chosen}, which ATTNVP_PROGRAM names" if chosen
            else "the program attnvp is not built; ./vp build makes it, or ATTNVP_PROGRAM names one", 2)
    return found


class _Worker:
    def __init__(self) -> None:
        self._path = program()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [self._path, "worker"], stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True)  # so that Ctrl-C is for us to pass on

    def send(self, request: bytes, files: Sequence[int]) -> None:
        socket.send_fds(self._socket, [request], files)

    def end(self) -> None:
        self._socket.close()  # which ends what still runs
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()


@atexit.register
def _end() -> None:
    if _worker is not None:
        _worker.end()


def _send(request: bytes, files: Sequence[int]) -> None:
    global _worker
    with _lock:
        if _worker is not None:
            try:
                return _worker.send(request, files)
            except ConnectionError:  # somebody ended it
                _worker.end()
                _worker = None
        _worker = _Worker()
        _worker.send(request, files)


def _wait(reply: int, progress: Optional[Progress]) -> str:
    """Reads the answer; returns its last line. KeyboardInterrupt ends the process and waits for that."""
    text, last, pid, interrupts = b"", "", 0, 0
    while True:
        try:
            piece = os.read(reply, 4096)
            if not piece:
                break
            *lines, text = (text + piece).split(b"\n")
            for line in map(bytes.decode, lines):
                word, *numbers = line.split()
                if word == "pid":
                    pid = int(numbers[0])
                    if interrupts:
                        os.killpg(pid, signal.SIGINT)
                elif word == "progress":
                    if progress and not interrupts:
                        progress(int(numbers[0]), int(numbers[1]))
                else:
                    last = line
            if last:
                break
        except BaseException:  # a KeyboardInterrupt, or what `progress` raises
            interrupts += 1
            if pid:
                os.killpg(pid, signal.SIGINT if interrupts == 1 else signal.SIGKILL)
            if interrupts == 1:
                failure = sys.exc_info()[1]
    if interrupts:
        assert failure is not None
        raise failure
    return last


def execute(arguments: Sequence[str], inputs: Sequence[int] = (), progress: Optional[Progress] = None) -> Answer:
    """Runs `attnvp ARGUMENTS` here and now: in this folder, with this environment. Files of `inputs` are /dev/fd/3, 4,
    ... to it. Raises Error only when there is no worker; else the status says how it went."""
    fields = [os.getcwd(), *(f"{name}={value}" for name, value in os.environ.items()), "", *arguments]
    if any("\0" in field for field in fields):
        raise Error("an argument has a zero character", 2)
    request = b"".join(os.fsencode(field) + b"\0" for field in fields)
    out, err = os.memfd_create("stdout"), os.memfd_create("stderr")
    nothing = os.open(os.devnull, os.O_RDONLY)
    ours, theirs = os.pipe()
    try:
        try:
            _send(request, [nothing, out, err, *inputs, theirs])
        except OSError as problem:
            raise Error(f"the worker cannot be asked: {problem.strerror}", 2) from None
        finally:
            os.close(theirs)
        word, _, number = (_wait(ours, progress) or "signal 0").partition(" ")
        answer = Answer(int(number), _text(out), _text(err))
        if word == "signal":
            what = signal.strsignal(answer.status) or "the worker is gone"
            raise Error(f"the simulator was ended: {what}", 1)
        return answer
    finally:
        for file in (out, err, nothing, ours):
            os.close(file)


def _text(file: int) -> str:
    return os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")
