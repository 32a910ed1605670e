"""Conditions on every command, for any input: it ends in time with status 0, 1 or 2; other than 0 with a reason in
printable sentences."""
import os
import re
import signal
import subprocess

FORBIDDEN = re.compile(
    r"unexpected failure|[Aa]ssert|AddressSanitizer|LeakSanitizer|runtime error:|terminate called|Segmentation|std::|"
    r"basic_string|bad_alloc|stack smashing|double free|vector::|map::at")
TIMEOUT = 120  # seconds, on an idle host


def patience():
    """Timeout on a busy host: longer in proportion to its load."""
    return TIMEOUT * max(1, os.getloadavg()[0] / (os.cpu_count() or 1))


def unprintable(text):
    return [c for c in text if not (c.isprintable() or c == "\n")]


def run(argv, cwd, env=None, limits=None):
    """Status (negative: a signal; None: too late), stdout, stderr."""
    process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True, preexec_fn=limits)
    try:
        out, err = process.communicate(timeout=patience())
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return None, out, err


def check(status, err, allowed=(0, 1, 2)):
    """Violated condition, or None."""
    text = err.decode("utf-8", "replace")
    if status is None:
        return f"did not end within {TIMEOUT} s of a host of its own"
    found = FORBIDDEN.search(text)
    if found:
        return f"says {found.group()!r}"
    if status not in allowed:
        return f"ended by signal {-status}" if status < 0 else f"exit status {status}"
    if "�" in text or unprintable(text):
        return "stderr has what cannot be printed"
    lines = [line for line in text.split("\n") if line]
    if status == 2 and not any(line.startswith("attnvp: ") for line in lines):
        return "exit status 2 and no sentence that says why"
    if any(len(line) > 4000 for line in lines):
        return "a sentence of more than 4000 characters"
    return None
