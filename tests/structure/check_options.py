"""Checks that every option of the program is in some page of the documentation: check_options.py PROGRAM FOLDER. An option
with several names needs one of them there; one that is accepted and changes nothing needs none."""
import glob
import re
import subprocess
import sys

PROGRAM, ROOT = sys.argv[1:]


def help_of(*command):
    return subprocess.run([PROGRAM, *command, "--help"], check=True, capture_output=True, text=True).stdout


text = ""
for page in [ROOT + "/README.md", *glob.glob(ROOT + "/docs/*.md")]:
    with open(page, encoding="utf-8") as file:
        text += file.read()
documented = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))

commands = re.findall(r"^  ([a-z]+)  ", help_of().split("Subcommands:")[1], re.MULTILINE)
missing = []
for command in commands:
    for line in help_of(command).split("\n"):
        names = re.match(r"  ((?:-[\w-]+,?)+)", line)
        if names and names[1] != "-h,--help" and "changes nothing here" not in line and not documented & set(names[1].split(",")):
            missing.append(f"lanescope {command}: no page of the documentation names {names[1]}")
print("\n".join(missing) or f"the options of {len(commands)} commands are documented")
sys.exit(1 if missing or not commands else 0)
