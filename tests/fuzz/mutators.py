"""Random changes of texts and of bytes; equal seeds give equal changes."""

NUMBERS = ["0", "1", "-1", "2", "3", "7", "64", "65", "1e9", "1e308", "1e-308", "-0", "nan", "inf", "0x10", "4294967295",
           "4294967296", "18446744073709551615", "18446744073709551616", "999999999999999999999", "0.5", "1/3", "1 GHz",
           "2 MiB", "64 EiB", "", "true", "null", "~", "[]", "{}", "[1, 2]", "{a: 1}", "auto", "none"]
SNIPPETS = ["\0", "\x1b[31m", "\xff", "\u202e", "\U0001f600", "%s%n", "'", '"', "\\", ": ", "- ", "#", "&a *a", "<<: *x", "!!binary x",
            "\t", "\r\n", "{", "}", "[", "]", ",", "=", "../../../etc/passwd", "A" * 5000, "--", "-", "\n\n", "<script>"]


def text(dice, original):
    """A text with a few random changes."""
    lines = original.split("\n")
    for _ in range(dice.choice([1, 1, 1, 2, 3, 8])):
        if not lines:
            lines = [""]
        at = dice.randrange(len(lines))
        line = lines[at]
        what = dice.randrange(10)
        if what == 0:
            del lines[at]
        elif what == 1:
            lines.insert(at, lines[dice.randrange(len(lines))])
        elif what == 2:
            other = dice.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif what in (3, 4, 5):
            words = line.split(" ")
            numeric = [i for i, w in enumerate(words) if any(c.isdigit() for c in w)]
            if numeric:
                words[dice.choice(numeric)] = dice.choice(NUMBERS)
            else:
                words[dice.randrange(len(words))] = dice.choice(NUMBERS)
            lines[at] = " ".join(words)
        elif what == 6:
            place = dice.randrange(len(line) + 1)
            lines[at] = line[:place] + dice.choice(SNIPPETS) + line[place:]
        elif what == 7:
            lines[at] = line[:dice.randrange(len(line) + 1)]
        elif what == 8:
            lines[at] = dice.choice([" ", "  ", "    "]) + line if dice.random() < 0.5 else line.lstrip()
        else:
            head, colon, _ = line.partition(":")
            lines[at] = head + colon + " " + dice.choice(NUMBERS + SNIPPETS)
    return "\n".join(lines).encode("utf-8", "surrogatepass" if False else "replace")


def binary(dice, original):
    """Bytes with bits flipped, and pieces removed, repeated or overwritten."""
    data = bytearray(original)
    for _ in range(dice.choice([1, 1, 2, 4, 16])):
        if not data:
            break
        at = dice.randrange(len(data))
        what = dice.randrange(6)
        if what == 0:
            data[at] ^= 1 << dice.randrange(8)
        elif what == 1:
            data[at] = dice.choice([0, 1, 0x7f, 0x80, 0xff])
        elif what == 2 and dice.random() < 0.3:
            del data[at:]
        elif what == 3:
            size = dice.randrange(1, 65)
            del data[at:at + size]
        elif what == 4:
            size = dice.choice([2, 4, 8])
            data[at:at + size] = dice.choice([b"\xff", b"\0", b"\x7f", b"\x80"]) * size
        else:
            size = dice.randrange(1, 65)
            source = dice.randrange(len(data))
            data[at:at] = data[source:source + size]
    return bytes(data)
