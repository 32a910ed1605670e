"""External failures: a sweep that is killed at any time and resumed, a disk that is full at any byte."""
import os
import resource
import signal
import sqlite3
import subprocess
import time

import oracle

SWEEP = """hardware: edge
network: ["H=2,N=512,E=64", "H=1,N=300,E=32"]
dataflow: [mas, flat, layerwise]
axes:
  l1.size: [512 KiB, 1 MiB, 2 MiB]
"""


def rows(folder, database):
    """All cells except those that depend on the host, in the order of the jobs' keys."""
    with sqlite3.connect(os.path.join(folder, database)) as connection:
        cursor = connection.execute('SELECT * FROM jobs ORDER BY "key"')
        names = [column[0] for column in cursor.description]
        return [{n: v for n, v in zip(names, row) if "wall" not in n and n != "checksum"} for row in cursor]


def kill_and_resume(program, folder, dice):
    """A sweep that is killed repeatedly gives the database of an undisturbed one."""
    with open(os.path.join(folder, "s.yaml"), "w", encoding="utf-8") as file:
        file.write(SWEEP)
    for _ in range(dice.randrange(1, 5)):
        process = subprocess.Popen([program, "sweep", "s.yaml", "--db", "killed.db", "--jobs", "2"], cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        time.sleep(dice.random() * 0.6)
        os.killpg(process.pid, dice.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        process.wait()
    for database in ("killed.db", "whole.db"):
        status, _, err = oracle.run([program, "sweep", "s.yaml", "--db", database, "--jobs", "2"], folder)
        wrong = oracle.check(status, err, (0,))
        if wrong:
            return f"sweep into {database}: {wrong}"
    killed, whole = rows(folder, "killed.db"), rows(folder, "whole.db")
    return None if killed == whole and killed else "what was killed and went on has other results"


def full_disk(program, folder, dice):
    """A limit on file size acts as a full disk: status 2 with a reason, and no partial file."""
    most = dice.choice([0, 1, 100, 1000, 4096, dice.randrange(20000)])

    def limits():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    outputs = dice.choice([["--json", "o.json"], ["--vcd", "o.vcd"], ["--timeline", "o.trace"], ["--out", "o.npy"],
                           ["--json", "o.json", "--vcd", "o.vcd"]])
    status, _, err = oracle.run([program, "run", "--net", "H=1,N=32,E=16"] + outputs, folder, limits=limits)
    wrong = oracle.check(status, err, (0, 2))
    left = [name for name in os.listdir(folder) if name.startswith(("o.", ".o"))]
    if not wrong and status == 2 and left:
        wrong = f"exit status 2, and {', '.join(sorted(left))} is left"
    return f"{' '.join(outputs)} with files of at most {most} bytes: {wrong}" if wrong else None
