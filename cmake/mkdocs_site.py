"""Hooks of the site (mkdocs.yml): the navigation is docs/index.md's list of pages; files of the source tree that pages
link to become pages of their own under source/."""

import os
import re
import tempfile

from mkdocs.structure.files import File

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINK = re.compile(r"(\]\()([^)\s:#]+)(#[^)\s]*)?\)")
_generated = tempfile.TemporaryDirectory(prefix="attnvp-site-")
_origins = {}  # page under source/ -> file of the source tree


def _lines(text):
    """Each line, and whether it is outside of code blocks."""
    outside = True
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            outside = not outside
            yield line, False
        else:
            yield line, outside


def on_config(config):
    nav, section, group = [{"Overview": "index.md"}], None, None
    with open(os.path.join(config["docs_dir"], "index.md"), encoding="utf-8") as index:
        for line in index:
            heading = re.match(r"## (.+)", line)
            label = re.match(r"(\w[^|!]*):$", line)
            entry = re.match(r"- .*?\[", line) and re.findall(r"\[([^\]]+)\]\(([^)#]+\.md)\)", line)
            if heading:
                section = group = []
                nav.append({heading[1]: section})
            elif label and section is not None:
                group = []
                section.append({label[1]: group})
            elif entry and section is not None:
                group.extend({title: path} for title, path in entry if os.path.exists(os.path.join(config["docs_dir"], path)))
    config["nav"] = nav
    return config


def _page_of(path):
    return f"source/{path}" if path.endswith(".md") else f"source/{path}.md"


def _add(path, files, config):
    page = _page_of(path)
    if page in _origins:
        return
    try:
        with open(os.path.join(ROOT, path), encoding="utf-8") as source:
            text = source.read()
    except UnicodeDecodeError:
        return
    _origins[page] = path
    if not path.endswith(".md"):
        kind = os.path.splitext(path)[1][1:] or "text"
        kind = {"h": "cpp", "txt": "cmake" if "CMake" in path else "text", "ipynb": "json", "sv": "systemverilog"}.get(kind, kind)
        text = f"# {os.path.basename(path)}\n\n`{path}`\n\n````{kind}\n{text.rstrip()}\n````\n"
    target = os.path.join(_generated.name, page)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w", encoding="utf-8") as out:
        out.write(text)
    files.append(File(page, _generated.name, config["site_dir"], config["use_directory_urls"]))
    if path.endswith(".md"):
        _add_linked(text, os.path.dirname(path), files, config)


def _add_linked(text, folder, files, config):
    for line, outside in _lines(text):
        for link in LINK.finditer(line) if outside else ():
            path = os.path.normpath(os.path.join(folder, link[2]))
            if not path.startswith(("docs/", "..")) and os.path.isfile(os.path.join(ROOT, path)):
                _add(path, files, config)


def on_files(files, config):
    for file in list(files.documentation_pages()):
        with open(file.abs_src_path, encoding="utf-8") as source:
            _add_linked(source.read(), os.path.join("docs", os.path.dirname(file.src_path)), files, config)
    return files


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_path
    origin = _origins.get(here, os.path.join("docs", here))
    if here in _origins and not origin.endswith(".md"):
        return markdown

    def rewritten(link):
        path = os.path.normpath(os.path.join(os.path.dirname(origin), link[2]))
        if path.startswith("docs/"):
            target = path[len("docs/"):]
        elif _page_of(path) in _origins:
            target = _page_of(path)
        else:
            return link[0]  # not a page, such as a folder
        return f"{link[1]}{os.path.relpath(target, os.path.dirname(here) or '.')}{link[3] or ''})"

    return "\n".join(LINK.sub(rewritten, line) if outside else line for line, outside in _lines(markdown))
