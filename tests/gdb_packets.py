#!/usr/bin/env python3
"""Valid and invalid packets to the debugger stub: gdb_packets.py PORT. The machine waits for a debugger."""

import re
import select
import socket
import sys

PC, REGISTERS, RAM = 32, 33, 0xC0000000
failures = []


class Wire:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.settimeout(60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.text = b""

    def silent(self, seconds):
        return not select.select([self.socket], [], [], seconds)[0]

    def ask(self, packet):
        data = packet.encode()
        self.socket.sendall(b"$" + data + b"#%02x" % (sum(data) % 256))
        while True:
            found = re.search(rb"\$([^#]*)#..", self.text)
            if found:
                self.text = self.text[found.end():]
                self.socket.sendall(b"+")
                return found[1].decode()
            self.text += self.socket.recv(4096)


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: found {found!r}, not {wanted!r}")


wire = Wire(int(sys.argv[1]))
if not wire.silent(1.5):
    failures.append("the stub speaks first")
expect("?", wire.ask("?"), "T05thread:1;")

registers, word = wire.ask("g"), wire.ask(f"m{RAM:x},4")
expect("registers", len(registers), 8 * REGISTERS)
for bad in ["P", "P5", "P5=", "P5=1234", "P5=123456789a", "P5=1234567x", "P=12345678", "Px=12345678", "P5:12345678",
            "Pffffffffff=12345678", "P400=12345678", "G", "G00", "G" + registers[:-2], "G" + registers + "00",
            "Gx" + registers[1:], "M", f"M{RAM:x}", f"M{RAM:x},4", f"M{RAM:x},4:", f"M{RAM:x},4:112233", f"M{RAM:x},4:1122334455",
            f"M{RAM:x},4:1122334x", f"M{RAM:x}:11223344", "M1c0000000,4:11223344", f"M{RAM:x},x:11", "M40,4:11223344",
            "m", f"m{RAM:x}", f"m{RAM:x},", f"m{RAM:x},0", "mx,4", "m1c0000000,4", "m40,4", "p", "px", "p400", "Hg", "Hx1", "H",
            "Hg9", "T", "T0", "T9", "Tx", "Z0", "Z0,", "Z0,xx,4", f"Z2,{RAM:x},0", f"Z0,{RAM:x}", "cx", "sx", "vCont;", "vCont;x",
            "vCont;s:9", "vCont;s:1:", "vCont;sc", "qThreadExtraInfo,9", "qXfer:features:read:target.xml:0", "qRcmd,6"]:
    expect(bad, wire.ask(bad), "E01")
expect("registers afterwards", wire.ask("g"), registers)
expect("memory afterwards", wire.ask(f"m{RAM:x},4"), word)

expect("P", wire.ask("P5=78563412"), "OK")
expect("p", wire.ask("p5"), "78563412")
expect("G", wire.ask("G" + registers), "OK")
expect("g", wire.ask("g"), registers)
expect("M", wire.ask(f"M{RAM:x},4:01020304"), "OK")
expect("m", wire.ask(f"m{RAM:x},4"), "01020304")
expect("M of nothing", wire.ask(f"M{RAM:x},0:"), "OK")
expect("M back", wire.ask(f"M{RAM:x},4:{word}"), "OK")
expect("H", [wire.ask(p) for p in ("Hg0", "Hg1", "Hc-1")], ["OK"] * 3)
expect("vCont?", wire.ask("vCont?"), "vCont;c;C;s;S")
before = wire.ask(f"p{PC:x}")
expect("a step", wire.ask("vCont;s:1;c"), "T05thread:1;")
if wire.ask(f"p{PC:x}") == before:
    failures.append("a step stays where it was")
expect("a step with a signal", wire.ask("vCont;S05:1"), "T05thread:1;")
expect("a packet nobody knows", wire.ask("X0,0:"), "")
expect("D", wire.ask("D"), "OK")
print("\n".join(failures))
sys.exit(bool(failures))
