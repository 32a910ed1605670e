#!/usr/bin/env python3
"""Checks names in the C++ sources outside tests: names_lint.py [ROOT]

A type name has one definition, and standard terms replace the names of a private vocabulary (REPLACED).
Counted are classes, structs, unions, enumerations and aliases, in namespaces, in classes and in anonymous namespaces.
Classes in functions count too; aliases in functions, aliases of one letter, template parameters and specialisations do
not."""

import collections
import pathlib
import re
import sys

from comments_lint import FOLDERS

# Names that the language, the standard library or the coroutine protocol asks for in every class of a kind.
CONVENTIONAL = {"promise_type", "value_type", "iterator", "const_iterator", "reference", "pointer", "difference_type",
                "iterator_category", "size_type", "Awaiter"}
# In any capitals and with or without a trailing underscore; members of a class are names, too.
REPLACED = {"agenda": "event_queue", "completions": "initiator", "ledger": "stall_attribution", "givers": "signallers",
            "journal": "command_trace", "judge": "evaluate", "look": "check", "glance": "low_fidelity", "merit": "cost",
            "prospects": "candidates", "effort": "budget", "way": "route", "contest": "portfolio",
            "trial": "dry_run, validation", "challenge": "validation", "site": "module_context",
            "happening": "event", "house": "component", "room": "space, capacity", "account": "attribution"}
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
                   r"""|[A-Za-z_]\w*|\d[\w']*|::|\[\[|\]\]|[^\s\w]|\n""", re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
NAME = re.compile(r"[A-Za-z_]")
CLOSING = {"(": ")", "[[": "]]", "<": ">"}


def tokens(text):
    """(token, line number) without comments and directives."""
    line, found = 1, []
    for match in TOKEN.finditer(DIRECTIVE.sub(lambda m: "\n" * m.group(0).count("\n"), text)):
        token = match.group(0)
        if token != "\n" and not token.startswith(("//", "/*")):
            found.append((token, line))
        line += token.count("\n")
    found.append(("", line))
    return found


def behind(words, at):
    """Index behind the bracket that closes the one at `at`."""
    opening, depth = words[at], 0
    while words[at]:
        if words[at] == opening:
            depth += 1
        elif words[at] == CLOSING[opening]:
            depth -= 1
            if depth == 0:
                return at + 1
        elif opening == "<" and words[at] == "(":
            at = behind(words, at)
            continue
        elif opening == "<" and words[at] in ";{":
            return at
        at += 1
    return at


def definition(words, at):
    """Name of the type defined at the class-key `at`, or "", and the index to go on at."""
    end, name, plain = at + 1, "", True
    if words[at] == "enum" and words[end] in ("class", "struct"):
        end += 1
    while True:
        word = words[end]
        if word == "[[" or word == "<":
            plain = plain and word != "<"
            end = behind(words, end)
        elif word == "alignas":
            end = behind(words, end + 1)
        elif word == "::":
            name, end = "", end + 1
        elif word and NAME.match(word):
            plain = plain and (not name or word == "final")  # `struct stat file {}` is a variable
            name, end = (name if word == "final" else word), end + 1
        else:
            break
    if words[end] == ":":
        while words[end] and words[end] not in "{;":
            end += 1
    if words[end] != "{":
        return None, end
    return (name if plain else ""), end + 1


def types(text):
    """(name, line number) of each definition of a type."""
    found = tokens(text)
    words = [word for word, _ in found]
    scopes, at = [], 0  # of the open braces: "namespace", "type" or "block"
    while words[at]:
        word, line = found[at]
        if word == "template" and words[at + 1] == "<":
            at = behind(words, at + 1)
            continue
        if word == "namespace":
            while words[at] and words[at] not in "{;=":
                at += 1
            if words[at] == "{":
                scopes.append("namespace")
        elif word in ("struct", "class", "enum", "union") and words[at - 1] not in ("friend", "<", ",", "("):
            name, at = definition(words, at)
            if name is not None:
                scopes.append("type")
                if name:
                    yield name, line
            continue
        elif word == "using" and words[at + 2] == "=":
            if "block" not in scopes and len(words[at + 1]) > 1:
                yield words[at + 1], line
        elif word == "{":
            scopes.append("block")
        elif word == "}" and scopes:
            scopes.pop()
        at += 1


def replaced(text):
    """(name, line number) of each name for which another one is the term."""
    for word, line in tokens(text):
        if NAME.match(word) and word.lower().rstrip("_") in REPLACED:
            yield word, line


def main(root):
    places, files, found = collections.defaultdict(list), 0, 0
    for folder in (*FOLDERS, "python"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cpp", ".h") and path.is_file():
                files += 1
                text, file = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
                for name, line in types(text):
                    places[name].append(f"{file}:{line}")
                for name, line in replaced(text):
                    found += 1
                    print(f"{file}:{line}: the name {name}; standard terms: {REPLACED[name.lower().rstrip('_')]}")
    for name, where in sorted(places.items()):
        if len(where) > 1 and name not in CONVENTIONAL:
            found += 1
            print(f"{where[0]}: a type {name}, which is defined again at {', '.join(where[1:])}")
    print(f"{files} files, {len(places)} types, {found} problems")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
