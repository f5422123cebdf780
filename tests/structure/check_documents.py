"""Checks what is easily broken in Markdown and not seen in its source: check_documents.py FOLDER. Links between files lead to
a file; a table has a header, and each of its rows as many cells."""
import os
import re
import sys

ROOT = sys.argv[1]


def documents():
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name != "build" and not name.startswith(".")]
        yield from (os.path.join(folder, name) for name in files if name.endswith(".md"))


def cells(row):
    return len(re.split(r"(?<!\\)\|", row.strip())) - 2


def wrong_in(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    above = ""
    in_code = False
    for number, row in enumerate(text.split("\n"), 1):
        if row.startswith("```"):
            in_code = not in_code
        if in_code or row.startswith("    "):
            continue
        for target in re.findall(r"\]\(([^)#]+)", re.sub(r"`[^`]*`", "", row)):
            if ":" not in target and not os.path.exists(os.path.join(os.path.dirname(path), target)):
                yield number, f"the link to {target} leads nowhere"
        if row.startswith("|"):
            if above.startswith("|") and cells(row) != cells(above):
                yield number, f"{cells(row)} cells in a table of {cells(above)}"
            elif not above.startswith("|") and not re.match(r"\|[-|: ]+\|$", text.split("\n")[number]):
                yield number, "a table without a header"
        above = row


failures = [f"{os.path.relpath(path, ROOT)}:{number}: {what}" for path in documents() for number, what in wrong_in(path)]
print("\n".join(failures) or "nothing is wrong")
sys.exit(1 if failures else 0)
