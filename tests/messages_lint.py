#!/usr/bin/env python3
"""Checks the form of error messages in the sources: messages_lint.py [SOURCE_DIR]

A message is one line of at most 160 characters (values that are filled in apart), without a full stop at its end, without
two negations in one clause, and without words that say little. Messages are the string literals in what the functions
below are given."""
import pathlib
import re
import sys

CALLS = re.compile(
    r'\b(ConfigError|RunError|StoppedError|TilingError|ElfError|ProgramError|InputError|fail|fail_at|refuse|complain|'
    r'left_out|Exceeded)\s*\(')
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
NEGATION = re.compile(r"\b(not|no|never|none|nothing|nobody|neither|without|cannot|unless)\b")
WEAK = re.compile(r'\b(one too many|for ever|nobody|likewise|as far as|all there is|something|somehow|whatever|please|sorry|'
                  r'oops|illegal|simply|just|is told|minds)\b', re.I)
LONGEST = 160


def argument(text: str, start: int) -> str:
    """The text between the parentheses that open before start."""
    depth, i = 1, start
    while i < len(text) and depth > 0:
        if text[i] == '"':
            i = LITERAL.match(text, i).end() if LITERAL.match(text, i) else i + 1
            continue
        if text[i] == "'" and i + 2 < len(text) and (text[i + 2] == "'" or text[i + 1] == '\\'):
            i += 3
            continue
        depth += {'(': 1, ')': -1}.get(text[i], 0)
        i += 1
    return text[start:i - 1]


def messages(text: str):
    """(offset, message): adjacent literals are one, as in C++."""
    for call in CALLS.finditer(text):
        inside = argument(text, call.end())
        at = 0
        while (first := LITERAL.search(inside, at)) is not None:
            message, at = first.group(1), first.end()
            while (more := re.compile(r'\s*"((?:[^"\\\n]|\\.)*)"').match(inside, at)) is not None:
                message, at = message + more.group(1), more.end()
            yield call.end() + first.start(), message


def problems(message: str):
    plain = re.sub(r'\{[^{}]*\}', '', message)
    if '\\n' in message:
        yield 'more than one line'
    if len(plain) > LONGEST:
        yield f'{len(plain)} characters; allowed are {LONGEST}'
    if re.search(r'\w\.$', message):
        yield 'ends with a full stop'
    for clause in re.split(r'[;:]', plain):
        if len(NEGATION.findall(clause)) > 1:
            yield f'two negations in "{clause.strip()}"'
    if (weak := WEAK.search(plain)) is not None:
        yield f'says "{weak.group(0)}"'


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else '.').resolve()
    found = count = 0
    for folder in ('cli', 'explore', 'platform', 'models', 'firmware', 'rtl', 'python'):
        for path in sorted((root / folder).rglob('*')):
            if path.suffix not in ('.cpp', '.h'):
                continue
            text = path.read_text(encoding='utf-8')
            for offset, message in messages(text):
                if ' ' not in message:
                    continue
                count += 1
                for problem in problems(message):
                    found += 1
                    line = text.count('\n', 0, offset) + 1
                    print(f'{path.relative_to(root)}:{line}: {problem}: {message}')
    print(f'{count} messages, {found} problems')
    if count == 0:
        print('no message was found')
    return 1 if found > 0 or count == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
