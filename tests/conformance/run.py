"""Runs the official conformance suite against the example `everything`: no failure, no warning.

    python3 run.py [--server PROGRAM] [SCENARIO ...]     all of scenarios.txt if none is named

The suite's own exit code forgives warnings and skipped checks, so the verdict is taken from each scenario's checks.json.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Timer

HERE = Path(__file__).resolve().parent
SUITE = [
    HERE / "node_modules/node/bin/node",
    HERE / "node_modules/@modelcontextprotocol/conformance/dist/index.js",
]
REVISION = "2026-07-28"
START, SCENARIO, END = 20, 60, 5  # seconds: until the first line, for one scenario, from SIGTERM to the exit


# (scenario, check): the status other than SUCCESS that it may have, and why. One that no longer occurs is a failure.
ALLOWED = {
    ("server-sse-multiple-streams", "server-sse-streams-functional"): (
        "INFO",
        "tools/list is answered as one JSON object: there is no stream to judge",
    ),
}


def listed() -> list[str]:
    """The scenarios of scenarios.txt, in its order; comments and group headings left out."""
    lines = (line.split("#")[0].strip() for line in (HERE / "scenarios.txt").read_text().splitlines())
    return [line for line in lines if line and not line.startswith("[")]


def start(program: Path) -> tuple[subprocess.Popen, str]:
    """Starts the server on a free port; returns it and its URL."""
    server = subprocess.Popen([program], env=os.environ | {"ADDR": "127.0.0.1:0"}, stdout=subprocess.PIPE, text=True)
    silent = Timer(START, server.kill)  # a server that prints nothing would hold up readline for ever
    silent.start()
    line = server.stdout.readline().strip()
    silent.cancel()
    if not line.startswith("listening on "):
        server.kill()
        raise SystemExit(f"{program}: the first line is {line!r}, not 'listening on ADDRESS'")
    return server, f"http://{line.removeprefix('listening on ')}/mcp"


def end(server: subprocess.Popen) -> int:
    """Asks the server to end and returns its exit code, -9 if it had to be killed."""
    server.terminate()
    try:
        return server.wait(END)
    except subprocess.TimeoutExpired:
        server.kill()
        return server.wait()


def checks_of(scenario: str, url: str) -> list[dict]:
    """Runs one scenario in a process of its own and returns its checks; what goes wrong around it is a check too."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*SUITE, "server", "--url", url, "--scenario", scenario, "--spec-version", REVISION, "-o", folder]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=SCENARIO)
        except subprocess.TimeoutExpired:
            return [broken(f"still running after {SCENARIO} s")]
        files = list(Path(folder).glob("*/checks.json"))
        checks = [check for file in files for check in json.loads(file.read_text())]
    if not checks:
        return [broken(f"no check was made; the suite said: {(run.stdout + run.stderr).strip()[-2000:]}")]
    if run.returncode != 0 and all(check["status"] != "FAILURE" for check in checks):
        checks.append(broken(f"exit code {run.returncode}: {run.stderr.strip()[-2000:]}"))
    return checks


def broken(why: str) -> dict:
    return {"id": "run", "status": "FAILURE", "errorMessage": why}


def verdict(scenario: str, checks: list[dict]) -> tuple[int, int, list[str]]:
    """How many checks passed, how many are allowed not to, and a line for each fault."""
    passed, allowed, faults = 0, set(), []
    for check in checks:
        key, status = (scenario, check["id"]), check["status"]
        if status == "SUCCESS":
            passed += 1
        elif key in ALLOWED and ALLOWED[key][0] == status:
            allowed.add(key)
        else:
            faults.append(f"{status} {check['id']}: {check.get('errorMessage') or check.get('details')}")
    for key in [key for key in ALLOWED if key[0] == scenario and key not in allowed]:
        faults.append(f"STALE {key[1]}: allowed to be {ALLOWED[key][0]}, but it is not; take it out of ALLOWED")
    return passed, len(allowed), faults


def main() -> int:
    arguments = argparse.ArgumentParser(description="Runs the official conformance suite against a server.")
    arguments.add_argument("--server", type=Path, default=Path("target/debug/examples/everything"))
    arguments.add_argument("scenarios", nargs="*", default=listed())
    asked = arguments.parse_args()
    if missing := [str(file) for file in [asked.server, *SUITE] if not file.is_file()]:
        raise SystemExit(f"not found: {', '.join(missing)}")
    # An exception, so that the server is ended on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    server, url = start(asked.server.resolve())
    passed = failed = 0
    try:
        print(f"{'scenario':34} {'passed':>6} {'allowed':>8} {'failed':>6}")
        for scenario in asked.scenarios:
            good, allowed, faults = verdict(scenario, checks_of(scenario, url))
            print(f"{scenario:34} {good:6} {allowed:8} {len(faults):6}", flush=True)
            for fault in faults:
                print(f"    {fault}", flush=True)
            passed, failed = passed + good, failed + len(faults)
    finally:
        code = end(server)
    if code != 0:
        failed += 1
        print(f"    after SIGTERM the server's exit code is {code}, not 0")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
