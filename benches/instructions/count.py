#!/usr/bin/env python3
"""How many instructions a `tools/call` takes, compared with the number that is kept in `expected.json`.

    python3 benches/instructions/count.py [--update]

Needs cargo and valgrind. The same program runs under callgrind with two numbers of calls; the difference is the cost of the
calls alone, and it is the same on every machine, up to the compiler and the C library. So the comparison allows `TOLERANCE`;
a change that costs more has to say why, with `--update`.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
EXPECTED = HERE / "expected.json"
FEW, MANY = 200, 1200
TOLERANCE = 0.10


def build():
    command = ["cargo", "build", "--release", "-p", "ractor_mcp_instructions", "--message-format=json-render-diagnostics"]
    built = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=HERE)
    artifacts = (json.loads(line) for line in built.stdout.splitlines())
    return next(a["executable"] for a in artifacts if a.get("executable"))


def instructions(program, calls, tools):
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", program, str(calls), str(tools)]
        run = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True)
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def per_call(program, tools):
    return round((instructions(program, MANY, tools) - instructions(program, FEW, tools)) / (MANY - FEW))


def main():
    program = build()
    found = {"one tool": per_call(program, 1), "a hundred tools": per_call(program, 100)}
    if "--update" in sys.argv:
        EXPECTED.write_text(json.dumps(found, indent=2) + "\n")
    expected = json.loads(EXPECTED.read_text())
    worse = []
    for name, count in found.items():
        change = count / expected[name] - 1
        print(f"{name}: {count} instructions a call, expected {expected[name]} ({change:+.1%})")
        if change > TOLERANCE:
            worse.append(name)
        elif change < -TOLERANCE:
            print("  that is better than what is kept: run with --update")
    if found["a hundred tools"] > found["one tool"] * 1.02:
        worse.append("more tools cost more")
    if worse:
        sys.exit(f"too many instructions: {', '.join(worse)}")


if __name__ == "__main__":
    main()
