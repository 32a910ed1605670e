#!/usr/bin/env python3
"""Checks the language and form of README.md and docs/ (docs/results is generated and not read).

    docs_lint.py [ROOT] [PAGE...]    all pages, or these; exit status 1 where something is found

Refused are private vocabulary, personification and history (the lists below), sentences of more than 25 words, and
lines of more than 100 characters outside tables, code blocks and link targets (lines of docs/reference/commands.md,
which is generated, may be longer). docs/reference has to name every counter, signal and fault code of the models.
tests/docs_test.sh checks links.
"""

import pathlib
import re
import sys

MOST_WORDS = 25
MOST_CHARACTERS = 100

# In prose and in inline code.
ANYWHERE = [
    r"(?-i:`(?:Step|Posted|Completions|Bridge|Account|Cause|Place)\b)",
    r"\bagendas?\b", r"(?-i:\bJournals?\b)", r"\bledgers?\b", r"\bgivers?\b", r"\bhappenings?\b", r"\bprospects?\b",
]
# In prose; inline code is left out.
PROSE = [
    # private vocabulary
    r"\bhouse\b", r"\brooms?\b", r"\bwalks?\b", r"\bcontests?\b", r"\btrials?\b", r"\bchallenges?\b", r"\bmerits?\b",
    r"\befforts?\b", r"\bglance\b", r"\bjudges?\b", r"\byardsticks?\b", r"\briddles?\b",
    # personification and riddles
    r"\b(?:is|are|be|was|were|being) told\b", r"\btold of\b", r"\bknows? (?:nothing|of)\b", r"\bminds\b",
    r"\b(?:goes|go|going|went) on\b", r"\bbusiness\b", r"\b(?:no|some|every)body\b", r"\bwhoever\b", r"\bone's own\b",
    r"\bmakes? up for\b", r"\bmade up for\b", r"\bby way of\b", r"\bwhatever takes\b", r"\bof its own accord\b",
    r"\ball the same\b", r"\bdoes not care\b", r"\bworth a\b",
    # history and laboratory notes
    r"\bno longer\b(?! than)", r"\bformerly\b", r"\bused to be\b", r"\btried and\b", r"\btoday\b", r"\bnot kept\b",
    r"\bthe build before\b", r"\bis once more\b",
]
# At the start of a sentence that is no question.
START = r"(?:Of|What|Who|Whose|Where|Likewise)\b"

CODE = re.compile(r"`[^`]*`")
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s]*)\)")


class Page:
    def __init__(self, root, name):
        self.root, self.name = root, name
        self.text = (root / name).read_text(encoding="utf-8")
        self.found = []

    def say(self, line, what):
        self.found.append(f"{self.name}:{line}: {what}")

    def lines(self):
        """Number, kind (code, table, heading, blank, text) and text of each line."""
        fence, comment, before = None, False, "blank"
        for number, line in enumerate(self.text.split("\n"), 1):
            stripped = line.strip()
            kind = "text" if stripped else "blank"
            mark = re.match(r"(```+|~~~+)", stripped)
            if fence is not None:
                if stripped == fence:
                    fence = None
                kind = "code"
            elif mark:
                fence = mark.group(1)
                kind = "code"
            elif comment or stripped.startswith("<!--"):
                comment = "-->" not in stripped
                kind = "blank"
            elif stripped.startswith("|"):
                kind = "table"
            elif stripped.startswith("#"):
                kind = "heading"
            elif line.startswith("    ") and stripped and before in ("blank", "code"):
                kind = "code"  # indented
            before = kind
            yield number, kind, line

    def paragraphs(self):
        """First line number and text of each paragraph or list item; each cell row of a table is one."""
        start, parts = 0, []
        for number, kind, line in [*self.lines(), (0, "blank", "")]:
            item = kind == "text" and re.match(r"\s*(?:[-*+]|\d+\.)\s+", line)
            if parts and (kind != "text" or item):
                yield start, " ".join(parts)
                parts = []
            if kind == "text":
                if not parts:
                    start = number
                parts.append(line[item.end():].strip() if item else line.strip())
            elif kind == "table":
                for cell in line.strip().strip("|").split("|"):
                    yield number, cell.strip()
            elif kind == "heading":
                yield number, line.strip().lstrip("#").strip() + "?"  # no sentence

    def check_form(self):
        for number, kind, line in self.lines():
            if kind not in ("text", "heading"):
                continue
            length = len(LINK.sub(r"\1", line))
            if length > MOST_CHARACTERS and " " in line.strip():
                self.say(number, f"a line of {length} characters; allowed are {MOST_CHARACTERS}")

    def check_language(self):
        for number, paragraph in self.paragraphs():
            text = LINK.sub(lambda m: m.group(1).strip("![]"), paragraph)
            prose = CODE.sub("CODE", text)
            for expression, where in [*((e, text) for e in ANYWHERE), *((e, prose) for e in PROSE)]:
                hit = re.search(expression, where, re.IGNORECASE)
                if hit:
                    self.say(number, f"'{hit.group(0)}': another word (tests/docs_lint.py has the lists)")
            for sentence in re.split(r"(?<=[.!?])[)\"'*_]*\s+(?=[A-Z0-9`(\"*_])", prose):
                words = [w for w in sentence.split() if re.search(r"\w", w)]
                if len(words) > MOST_WORDS:
                    self.say(number, f"a sentence of {len(words)} words; allowed are {MOST_WORDS}: {sentence[:60]}...")
                if re.match(START, sentence) and not sentence.endswith("?") and len(words) > 6:
                    self.say(number, f"a sentence that begins with '{words[0]}': begin with its subject")


# What follows an owner and a name in a declaration: a counter's unit, or a signal's bits, states or unit.
DECLARED = {
    "Counter": r"\b\w+\{\s*(?:\*this|owner),\s*\"(\w+)\",\s*\"[^\"]+\",",
    "Signal": r"\b\w+[({](?:\*this|owner), (?:fmt::format\()?\"(?:[\w{}]+\.)?(\w+)\"(?:, i\))?, "
              r"(?:\d+[,;)}]|Signal::Real|k\w*(?:Names|States))",
}


def declared(root, kind):
    """Names of counters or signals as the models declare them."""
    names = set()
    for folder in ("models", "rtl"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".h", ".cpp"):
                names.update(re.findall(DECLARED[kind], file.read_text(encoding="utf-8")))
    return names


def enumerators(root, file, name):
    text = (root / file).read_text(encoding="utf-8")
    body = re.search(rf"enum (?:class )?{name}\b[^{{]*\{{(.*?)\}};", text, re.DOTALL).group(1)
    return set(re.findall(r"^ *(k\w+) *=", body, re.MULTILINE)) - {"kNone"}


def check_reference(root):
    names = {
        "docs/reference/counters.md": declared(root, "Counter"),
        "docs/reference/signals.md": declared(root, "Signal"),
        "docs/reference/descriptors.md": enumerators(root, "models/sim/fault.h", "FaultCode"),
    }
    found = []
    for page, listed in names.items():
        text = (root / page).read_text(encoding="utf-8")
        found += [f"{page}: no `{name}`" for name in sorted(listed) if f"`{name}`" not in text]
    return found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    pages = sys.argv[2:]
    if not pages:
        pages = ["README.md", *(str(p.relative_to(root)) for p in sorted((root / "docs").rglob("*.md")))]
    found = []
    for name in pages:
        page = Page(root, name)
        if not name.startswith("docs/results/"):
            if name != "docs/reference/commands.md":  # generated
                page.check_form()
            page.check_language()
        found += page.found
    found += check_reference(root)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
