"""Runs kernels with lanescope and checks what other tools would read: check_formats.py CHECK LANESCOPE SOURCE_DIR.

CHECK: schema (JSON against docs/report.schema.json), sarif, junit, html (in a headless Chromium). Ends with status 77,
for ctest a skipped test, when a tool is missing.
"""
import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

CHECK, LANESCOPE, SOURCE = sys.argv[1:4]
PTX = os.path.join(SOURCE, "kernels", "ptx")
REDUCE = ["reduce.ptx", "--grid", "2", "--block", "256", "--arg", "buf:2K=iota", "--arg", "buf:8", "--arg", "u32:512"]
TRANSPOSE = ["transpose.ptx", "--grid", "2x2", "--block", "32x8", "--arg", "buf:16K", "--arg", "buf:16K=iota", "--arg",
             "s32:64", "--arg", "s32:64"]
# Something of everything: conflicts with advice, divergence, sectors, findings, nothing counted, a free architecture.
RUNS = [
    REDUCE + ["--kernel", "reduce_divergent", "--kernel", "reduce_interleaved", "--kernel", "reduce_sequential"],
    TRANSPOSE + ["--kernel", "transpose_naive", "--kernel", "transpose_tile32"],
    TRANSPOSE + ["--kernel", "transpose_tile32", "--banks", "16", "--unit", "16"],
    ["transpose.ptx", "--grid", "4x4", "--block", "32x8", "--arg", "buf:16K", "--arg", "buf:16K=iota", "--arg", "s32:128",
     "--arg", "s32:128", "--kernel", "transpose_tile32"],
    REDUCE + ["--kernel", "reduce_divergent", "--no-count"],
]


def skip(missing):
    print(f"skipped: {missing} is missing")
    sys.exit(77)


def lanescope(*arguments, status=(0,)):
    done = subprocess.run([LANESCOPE, *arguments], cwd=PTX, capture_output=True, text=True)
    assert done.returncode in status, (arguments, done.returncode, done.stderr)
    return done.stdout


def outputs(form):
    return [lanescope("run", *run, "--format", form, status=(0, 3)) for run in RUNS]


def check_schema():
    try:
        import jsonschema
    except ImportError:
        skip("python3-jsonschema")
    with open(os.path.join(SOURCE, "docs", "report.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    reports = [json.loads(text) for text in outputs("json")]
    for report in reports:
        validator.validate(report)
    assert any(report["findings"] for report in reports) and any(report["advice"] for report in reports)
    # Nothing may be missing, of another type, or unknown.
    for spoil in (lambda r: r.pop("arch"), lambda r: r["launches"][0].pop("lines"),
                  lambda r: r["launches"][0]["lines"][0].update(wavefronts="many"),
                  lambda r: r["launches"][0]["lines"][0].update(surprise=1),
                  lambda r: r["hazards"][0].update(level="fatal")):
        broken = copy.deepcopy(reports[0])
        spoil(broken)
        assert not validator.is_valid(broken)


def check_sarif():
    """The fields that SARIF 2.1.0 requires and what code scanning relies on; the whole schema that OASIS publishes, if
    LANESCOPE_SARIF_SCHEMA names its file."""
    public = None
    if os.environ.get("LANESCOPE_SARIF_SCHEMA"):
        import jsonschema
        with open(os.environ["LANESCOPE_SARIF_SCHEMA"], encoding="utf-8") as file:
            public = jsonschema.Draft7Validator(json.load(file))
    levels = {"none", "note", "warning", "error"}
    results = 0
    for text in outputs("sarif"):
        log = json.loads(text)
        if public:
            public.validate(log)
        assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
        assert isinstance(log["runs"], list) and len(log["runs"]) == 1
        run = log["runs"][0]
        driver = run["tool"]["driver"]
        assert driver["name"] and driver["version"]
        ids = [rule["id"] for rule in driver["rules"]]
        assert len(ids) == len(set(ids))
        for rule in driver["rules"]:
            assert rule["shortDescription"]["text"] and rule["fullDescription"]["text"] and rule["help"]["text"]
            assert rule["defaultConfiguration"]["level"] in levels
        for result in run["results"]:
            results += 1
            assert ids[result["ruleIndex"]] == result["ruleId"]
            assert result["level"] in levels and result["message"]["text"]
            assert result["partialFingerprints"] and all(isinstance(v, str) for v in result["partialFingerprints"].values())
            for location in result["locations"]:
                physical = location["physicalLocation"]
                uri = physical["artifactLocation"]["uri"]
                assert re.fullmatch(r"(file://)?[A-Za-z0-9._~/%-]+", uri), uri
                assert uri.startswith("file://") or physical["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
                assert physical["region"]["startLine"] >= 1
                assert location["logicalLocations"][0]["fullyQualifiedName"]
            for suppression in result.get("suppressions", []):
                assert suppression["kind"] in {"inSource", "external"}
    assert results > 5


def check_junit():
    failures = 0
    for text in outputs("junit"):
        root = ElementTree.fromstring(text)
        assert root.tag == "testsuites"
        assert int(root.get("tests")) == len(root.findall(".//testcase"))
        assert int(root.get("failures")) == len(root.findall(".//failure"))
        for suite in root.findall("testsuite"):
            assert int(suite.get("tests")) == len(suite.findall("testcase"))
            assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
            assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped"))
            assert all(case.get("classname") and case.get("name") for case in suite.findall("testcase"))
        failures += int(root.get("failures"))
    assert failures > 3


def large(report):
    """200 kernels and 2,000 lines out of a report of few."""
    launch = next(l for l in report["launches"] if l["lines"])
    report = dict(report, launches=[], advice=[], findings=[], hazards=[])
    for kernel in range(200):
        copied = copy.deepcopy(launch)
        copied["kernel"] = f"kernel_{kernel}"
        copied["lines"] = []
        for line in range(10):
            new = copy.deepcopy(launch["lines"][line % len(launch["lines"])])
            new["line"] = 10 + 10 * kernel + line
            copied["lines"].append(new)
        report["launches"].append(copied)
    return report


def check_html():
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        skip("chromium")
    with tempfile.TemporaryDirectory() as folder:
        def draw(report, name):
            saved, page = os.path.join(folder, name + ".json"), os.path.join(folder, name + ".html")
            with open(saved, "w", encoding="utf-8") as file:
                json.dump(report, file)
            lanescope("view", saved, "-o", page)
            with open(page, "a", encoding="utf-8") as file:  # what the page's own script has left
                file.write("<script>document.documentElement.dataset.place = [scrollY, "
                           "document.querySelector('td.name').offsetWidth].join()</script>")
            done = subprocess.run(
                [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=5000",
                 "--window-size=800,600", "--user-data-dir=" + os.path.join(folder, "profile"), "file://" + page],
                capture_output=True, text=True, timeout=120)
            ready = re.search(r'data-ready="(\d+)"', done.stdout)
            assert ready, "the script did not come to its end:\n" + done.stderr[-2000:]
            return done.stdout, int(ready.group(1))

        report = json.loads(lanescope("run", *RUNS[1], "--format", "json"))
        page, _ = draw(report, "small")
        assert "32 wavefronts for 1 phase" in page and "The worst access then" in page
        assert page.count("<tr id=\"row-") == 2
        assert not re.search(r'(src|href)="https?:', page)
        scrolled, width = map(int, re.search(r'data-place="(\d+),(\d+)"', page).groups())
        assert scrolled == 0 and width >= 150, (scrolled, width)
        # What is no count, or not a sure one, is not shown as one.
        def shown(*run):
            page, _ = draw(json.loads(lanescope("run", *run, "--format", "json")), "shown")
            return re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)

        page = shown(*RUNS[4])
        assert "accesses were not counted" in page and "of their lanes active" not in page and "0 / 0" not in page
        page = shown(*TRANSPOSE, "--kernel", "transpose_naive", "--arch", "sm_80")
        assert re.search(r", ~[0-9,]+ wavefronts of L1", page) and "taken over from chips of 9.0" in page
        page, milliseconds = draw(large(report), "large")
        assert page.count("<tr id=\"row-") == 200
        assert milliseconds < 2000, f"drawn after {milliseconds} ms"


{"schema": check_schema, "sarif": check_sarif, "junit": check_junit, "html": check_html}[CHECK]()
