"""The worker: the program `attnvp worker`, which forks a process for every command line that it receives.

SystemC elaborates one machine a process, so every run has a process of its own. The worker is started once and has
nothing to load for the next run; requests of several threads are served concurrently."""

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
from typing import Callable, Optional, Sequence, Tuple

from ._error import Error

Progress = Callable[[int, int], None]
FIRST_INPUT = 3  # 0, 1 and 2 are the standard streams

_lock = threading.Lock()
_worker: Optional["_Worker"] = None


@dataclass
class Answer:
    status: int
    stdout: str
    stderr: str

    @property
    def sentence(self) -> str:
        """The program's error message."""
        lines = [line.removeprefix("attnvp: ") for line in self.stderr.splitlines()]
        return "\n".join(lines) or f"attnvp ended with status {self.status}"


def program() -> str:
    """The path of the program `attnvp`: ATTNVP_PROGRAM, or in the wheel, in the source tree's build, or on PATH."""
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
                start_new_session=True)  # Ctrl-C is handled here and passed on

    def send(self, request: bytes, files: Sequence[int]) -> None:
        socket.send_fds(self._socket, [request], files)

    def end(self) -> None:
        self._socket.close()  # ends running processes
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
            except ConnectionError:  # the worker has ended
                _worker.end()
                _worker = None
        _worker = _Worker()
        _worker.send(request, files)


def _wait(reply: int, progress: Optional[Progress]) -> Tuple[str, bool]:
    """Reads the answer; returns its last line, and whether a process was started. KeyboardInterrupt ends the process and
    waits for its end."""
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
        except BaseException:  # KeyboardInterrupt, or an exception of `progress`
            interrupts += 1
            if pid:
                os.killpg(pid, signal.SIGINT if interrupts == 1 else signal.SIGKILL)
            if interrupts == 1:
                failure = sys.exc_info()[1]
    if interrupts:
        assert failure is not None
        raise failure
    return last, pid != 0


def execute(arguments: Sequence[str], inputs: Sequence[int] = (), progress: Optional[Progress] = None) -> Answer:
    """Runs `attnvp ARGUMENTS` in this folder with this environment. Files of `inputs` are its /dev/fd/3, 4, ... Raises
    Error only if there is no worker; otherwise the status gives the result."""
    fields = [os.getcwd(), *(f"{name}={value}" for name, value in os.environ.items()), "", *arguments]
    request = b"".join(_field(field) for field in fields)
    out, err = os.memfd_create("stdout"), os.memfd_create("stderr")
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        last, begun = _ask(request, [nothing, out, err, *inputs], progress)
        if not last and not begun:  # the worker ended before it received the request
            last, begun = _ask(request, [nothing, out, err, *inputs], progress)
        if not last:
            raise Error("the worker was ended while it ran this; the next call starts another one", 1)
        word, _, number = last.partition(" ")
        if word == "signal":
            raise Error(f"the simulator was ended: {signal.strsignal(int(number)) or f'signal {number}'}", 1)
        return Answer(int(number), _text(out), _text(err))
    finally:
        for file in (out, err, nothing):
            os.close(file)


def _ask(request: bytes, files: Sequence[int], progress: Optional[Progress]) -> Tuple[str, bool]:
    """The answer's last line, empty if the worker ended first, and whether a process was started."""
    ours, theirs = os.pipe()
    try:
        try:
            _send(request, [*files, theirs])
        except OSError as problem:
            raise Error(f"the request to the worker failed: {problem.strerror}", 2) from None
        finally:
            os.close(theirs)
        return _wait(ours, progress)
    finally:
        os.close(ours)


def _field(text: str) -> bytes:
    """One field of a request."""
    try:
        field = os.fsencode(text)
    except UnicodeEncodeError:
        raise Error(f"an argument is not valid text: found {ascii(text)}, which has a lone surrogate", 2) from None
    if b"\0" in field:
        raise Error("an argument has a zero character", 2)
    return field + b"\0"


def _text(file: int) -> str:
    return os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")
