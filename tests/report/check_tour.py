"""Runs the commands of docs/tour.md and compares what they print: check_tour.py LANESCOPE SOURCE_DIR [--rebase].

A block ```console holds lines `$ COMMAND`, each followed by its output. Commands run with bash in the source tree;
assignments (`$ NAME=…`) hold for those that follow. Every number of two or more digits in the text must be in a command
or its output. --rebase writes the outputs anew.
"""
import os
import re
import subprocess
import sys
import tempfile

LANESCOPE, SOURCE = sys.argv[1:3]
REBASE = "--rebase" in sys.argv
PAGE = os.path.join(SOURCE, "docs", "tour.md")

with open(PAGE, encoding="utf-8") as file:
    text = file.read()
environment = dict(os.environ, COLUMNS="100", PATH=os.path.dirname(LANESCOPE) + os.pathsep + os.environ["PATH"])
failures = []
assignments = ""
known = ""

with tempfile.TemporaryDirectory() as folder:
    environment["SAVED"] = folder

    def run(block):
        global assignments, known
        fresh = []
        for part in re.split(r"^(?=\$ )", block.group(1), flags=re.M):
            if not part:
                continue
            command, _, output = part.partition("\n")
            command = command[2:]
            if re.match(r"[A-Z]+=", command):
                assignments += command + "\n"
                actual = ""
            else:
                done = subprocess.run(["bash", "-c", assignments + command], cwd=SOURCE, env=environment, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                actual = done.stdout
            known += command + "\n" + actual
            if actual != output and not REBASE:
                failures.append(f"$ {command}\nprinted:\n{actual}\nthe page has:\n{output}")
            fresh.append("$ " + command + "\n" + actual)
        return "```console\n" + "".join(fresh) + "```\n"

    fresh_text = re.sub(r"```console\n(.*?)```\n", run, text, flags=re.S)

prose = re.sub(r"```.*?```", "", text, flags=re.S)
prose = re.sub(r"\]\([^)]*\)", "", re.sub(r"`[^`]*`", "", prose))
for number in re.findall(r"\d[\d,.]*\d", prose):
    if number not in known:
        failures.append(f"the number {number} in the text comes from no command")

if REBASE:
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(fresh_text)
if failures:
    sys.exit("\n\n".join(failures))
