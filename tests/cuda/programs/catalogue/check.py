#!/usr/bin/env python3
"""Runs the cases of a program of the catalogue with all checks, and compares what is found with the comments of its
source (cases.hpp). Usage: check.py LANESCOPE PROGRAM SOURCE [PATTERN OF CASES]"""

import json
import re
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path


def expected(source):
    """What the comments ask for: lines, with cases and the kinds that may be found there, and texts by case."""
    lines, texts = {}, {}
    for number, line in enumerate(Path(source).read_text().splitlines(), 1):
        for names, kinds in re.findall(r"// BUG (\S+) (\S+)", line):
            lines[number] = names.split(","), kinds.split("|")
        for name, text in re.findall(r"// SAYS (\S+) (.+)", line):
            texts[name] = text
    return lines, texts


def run(lanescope, program, case):
    """The findings that are no notes, and all that is said."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [lanescope, "run", "--check", "all,global,unused", "--no-count", "--format", "json", "-o", report, "--", program, case]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        told = json.loads(report.read_text()) if report.exists() else {}
    findings = told.get("findings", [])
    said = done.stdout + done.stderr + "".join(told.get("notes", []))
    return [f for f in findings if f["severity"] != "note"], said


def places(finding):
    has_two = finding["kind"] in ("race", "barrier-divergence") and finding["other"]
    return {finding["line"]} | ({finding["other"]["line"]} if has_two else set())


def defect(case, findings, said, lines, texts):
    """What is wrong with the findings of a case, in words; "" if nothing is."""
    name = case.removesuffix("_bad").removesuffix("_ok")
    if case.endswith("_ok"):
        return "accused" if findings or (name in texts and re.search(texts[name], said)) else ""
    if name in texts:
        return "" if re.search(texts[name], said) else "not said: " + texts[name]
    here = {n: kinds for n, (names, kinds) in lines.items() if any(fnmatch(name, pattern) for pattern in names)}
    for finding in findings:
        if any(finding["kind"] not in here.get(line, []) for line in places(finding)):
            return "a line or kind that is not expected"
    if not findings:
        return "missed"
    found = set().union(*map(places, findings))
    missing = [line for line in here if line not in found]
    return f"not found: lines {missing}" if missing else ""


def main():
    lanescope, program, source = sys.argv[1:4]
    lines, texts = expected(source)
    cases = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    failed = 0
    for case in cases:
        if len(sys.argv) > 4 and not re.search(sys.argv[4], case):
            continue
        findings, said = run(lanescope, program, case)
        if why := defect(case, findings, said, lines, texts):
            failed += 1
            print(f"{case}: {why}")
            for f in findings:
                print(f"    {f['severity']} {f['kind']} {f['file']}:{f['line']}: {f['message']}")
            print("    " + said.strip().replace("\n", "\n    "))
    print(f"{len(cases)} cases, {failed} wrong")
    sys.exit(1 if failed else 0)


main()
