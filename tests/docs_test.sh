#!/bin/bash
# Links of the pages: files exist, and anchors are headings, as spelled by GitHub and by mkdocs. docs/index.md lists every
# page of docs/. If mkdocs is installed, the site is built without warnings.
#   docs_test.sh ATTNVP SOURCE_DIR
cd -- "$2" || exit 2
python3 - <<'END'
import os, re, sys, unicodedata

def pages():
    yield from ("README.md", "CHANGELOG.md", "configs/README.md", "traces/README.md")
    for folder, _, names in os.walk("docs"):
        yield from (os.path.join(folder, name) for name in names if name.endswith(".md"))

def text_of(page):
    """Without code blocks."""
    return re.sub(r"^( *)```.*?^\1```", "", open(page, encoding="utf-8").read(), flags=re.M | re.S)

def anchors(page):
    """Those of headings that GitHub and mkdocs spell alike."""
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *$", text_of(page), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading).lower()
        github = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        ascii_ = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
        if github == re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_).strip()):
            found.add(github)
    return found

problems = []
for page in pages():
    for image, target in re.findall(r"(!?)\[(?:[^\]]|\](?!\())*\]\(([^)\s]+)\)", text_of(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(path):
            problems.append(f"{page}: there is no {target}")
        elif anchor and anchor not in anchors(path):
            problems.append(f"{page}: {path} has no heading for #{anchor}")

listed = {os.path.normpath(os.path.join("docs", t)) for t in re.findall(r"\]\(([^)#]+)", text_of("docs/index.md"))}
for page in pages():
    if page.startswith("docs/") and page != "docs/index.md" and page not in listed:
        problems.append(f"docs/index.md does not list {page}")
print(*problems, sep="\n", file=sys.stderr)
sys.exit(bool(problems))
END
status=$?
if command -v mkdocs >/dev/null; then
  folder=$(mktemp -d)
  trap 'rm -rf -- "$folder"' EXIT
  mkdocs build --strict --site-dir "$folder/site" >"$folder/log" 2>&1 && [[ -s $folder/site/search/search_index.json ]] ||
    { grep -E 'WARNING|ERROR|Aborted' "$folder/log" >&2; status=1; }
fi
exit "$status"
