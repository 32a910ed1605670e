#!/usr/bin/env python3
"""Checks the language of comments and the names of types in the C++ sources: comments_lint.py [ROOT]

Comments keep the word lists of docs_lint.py and begin sentences with their subject. Names of the private vocabulary
that the project once had are not types again."""

import pathlib
import re
import sys

from docs_lint import ANYWHERE, CODE, PROSE, START

FOLDERS = ("cli", "explore", "platform", "models", "firmware", "rtl", "benchmarks", "examples")
# Standard terms replace these: event queue, stall attribution, command trace, slot, module context, adaptor.
TYPES = re.compile(r"\b(?:Agenda|Posted|Completions|Bridge|Ledger|Givers|Journal|Account|Cause|Site|Place|Glance|Prospects|"
                   r"Contest|Trial|Way|Lane)\b(?=\s*(?:[{:;]|final\b))")
DECLARED = re.compile(r"^\s*(?:class|struct|enum class|enum|using)\s+(\w+)")
# In code comments these are plain words.
PLAIN = (r"\bchallenges?\b", r"\btoday\b", r"\bworth a\b")


def comments(text):
    """(line number, text) of each block of // comments."""
    start, parts = 0, []
    for number, line in enumerate(text.split("\n"), 1):
        hit = re.match(r"(?:[^\"]|\"(?:[^\"\\]|\\.)*\")*?//\s?(.*)", line)
        own_line = line.strip().startswith("//")
        if parts and not (own_line and hit):
            yield start, " ".join(parts)
            parts = []
        if hit:
            if not parts:
                start = number
            parts.append(hit.group(1).strip())
            if not own_line:
                yield start, " ".join(parts)
                parts = []
    if parts:
        yield start, " ".join(parts)


def problems(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        name = DECLARED.match(line)
        if name and TYPES.match(name.group(1) + "{"):
            yield number, f"a type named {name.group(1)}"
    lists = [*ANYWHERE, *(e for e in PROSE if e not in PLAIN)]
    for number, comment in comments(text):
        if comment.startswith(("NOLINT", "clang-format")):
            continue
        prose = re.sub(r'"[^"]*("|$)', "TEXT", CODE.sub("CODE", comment))
        for expression in lists:
            hit = re.search(expression, prose, re.IGNORECASE)
            if hit:
                yield number, f"'{hit.group(0)}': another word (tests/docs_lint.py has the lists): {comment[:70]}"
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", prose):
            if re.match(START, sentence) and not sentence.endswith("?") and len(sentence.split()) > 6:
                yield number, f"a sentence that begins with '{sentence.split()[0]}': begin with its subject"


def main(root):
    found = files = 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h") or not path.is_file():
                continue
            files += 1
            for number, what in problems(path, path.read_text(encoding="utf-8")):
                found += 1
                print(f"{path.relative_to(root).as_posix()}:{number}: {what}")
    print(f"{files} files, {found} problems")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
