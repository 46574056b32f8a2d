"""What the checks share: an example as a child process, and the list of checks that runs against it.

Every check gets a server of its own, so none can lean on what another left behind, and the end of every server is
checked too: exit code 0 soon after SIGTERM.
"""

import asyncio
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path

from mcp import Client, MCPError
from mcp.client import Transport

PROTOCOL = "2026-07-28"
START = 20.0  # seconds until the first line; a loaded machine may take its time
END = 5.0  # seconds from SIGTERM to the exit
CHECK = 60.0  # seconds for one check
SOON = 1.0  # seconds until what a client left behind has to be gone
INVALID_PARAMS, INTERNAL_ERROR, MISSING_CAPABILITY = -32602, -32603, -32021


class Failed(Exception):
    """A check did not find what it expects."""


class Example:
    """One running example: `async with Example(path) as server`, then `server.url`."""

    def __init__(self, program: Path):
        self.program = program
        self.url = ""

    async def __aenter__(self):
        self.errors = tempfile.TemporaryFile()
        self.process = await asyncio.create_subprocess_exec(
            self.program,
            env=os.environ | {"ADDR": "127.0.0.1:0"},
            stdout=asyncio.subprocess.PIPE,
            stderr=self.errors,
        )
        try:
            line = (await asyncio.wait_for(self.process.stdout.readline(), START)).decode()
            if not line.startswith("listening on "):
                raise Failed(f"the first line is {line!r}, not 'listening on ADDRESS'")
        except BaseException:
            await self.kill()
            raise
        self.url = f"http://{line.removeprefix('listening on ').strip()}/mcp"
        return self

    async def __aexit__(self, kind, error, _):
        if kind is not None:
            # What the check found says more than how the server ends after it.
            await self.kill()
        elif (code := await self.end()) != 0:
            raise Failed(f"after SIGTERM the exit code is {code}, not 0")

    async def end(self) -> int:
        """Asks the server to end, unless it has, and returns its exit code."""
        if self.process.returncode is None:
            self.process.terminate()
        try:
            return await asyncio.wait_for(self.process.wait(), END)
        except TimeoutError:
            await self.kill()
            raise Failed(f"still running {END} s after SIGTERM") from None

    async def kill(self):
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    async def line_with(self, part: str) -> str:
        """The next line of its output with this part."""
        while line := (await self.process.stdout.readline()).decode():
            if part in line:
                return line.strip()
        raise Failed(f"the output ended before a line with {part!r}")

    def stderr(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")


class Program(Example):
    """An example that is no server: it runs to its end by itself."""

    async def __aenter__(self):
        self.errors = tempfile.TemporaryFile()
        self.process = await asyncio.create_subprocess_exec(
            self.program, stdout=asyncio.subprocess.PIPE, stderr=self.errors
        )
        return self

    async def lines(self) -> tuple[int, list[str]]:
        """Waits for the end; the exit code, and what was printed."""
        output, _ = await self.process.communicate()
        return self.process.returncode, output.decode().splitlines()


def connect(server: Example | Transport, **options) -> Client:
    """A new official client; entering it asks `server/discover`. Nothing is cached, so every look is a real one."""
    target = server.url if isinstance(server, Example) else server
    return Client(target, cache=None, read_timeout_seconds=30, **options)


def text(result) -> str:
    """The text of a result that is one text block and no error."""
    equal("isError", result.is_error or False, False)
    return only_text(result)


def only_text(result) -> str:
    equal("content types", [block.type for block in result.content], ["text"])
    return result.content[0].text


def equal(what: str, found, expected):
    if found != expected:
        raise Failed(f"{what}: found {found!r}, expected {expected!r}")


def true(what: str, holds, found):
    if not holds:
        raise Failed(f"{what}: found {found!r}")


async def error_of(call) -> MCPError:
    """The protocol error that the call ends with."""
    try:
        result = await call
    except MCPError as error:
        return error
    raise Failed(f"expected a protocol error, found the result {result!r}")


async def soon(what: str, look, expected):
    """Looks again and again until the look gives `expected`; the last look starts within `SOON`."""
    began = time.monotonic()
    while True:
        last = time.monotonic() - began >= SOON
        found = await look()
        if found == expected:
            return
        if last:
            raise Failed(f"{what}, {SOON} s later: found {found!r}, expected {expected!r}")
        await asyncio.sleep(0.02)


CHECKS = []


def check(example: str, serves: bool = True):
    """Registers `async def what_holds(server)` as a check of that example; its name is the check's title."""

    def register(function):
        CHECKS.append((example, Example if serves else Program, function))
        return function

    return register


def leaves(error: BaseException):
    """The exceptions inside the groups that anyio wraps around them."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


async def run(programs: dict[str, Path]) -> int:
    """Runs all checks, prints a line for each and the count, and returns how many failed."""
    failed = 0
    for example, kind, function in CHECKS:
        title = f"{example}: {function.__name__.replace('_', ' ')}"
        server = kind(programs[example])
        try:
            async with asyncio.timeout(CHECK), server:
                await function(server)
            print(f"ok    {title}", flush=True)
        except Exception as group:
            failed += 1
            print(f"FAIL  {title}", flush=True)
            for error in leaves(group):
                known = isinstance(error, Failed)
                print("      " + (str(error) if known else "".join(traceback.format_exception(error))), flush=True)
            print(server.stderr(), file=sys.stderr, flush=True)
    print(f"{len(CHECKS) - failed} passed, {failed} failed", flush=True)
    return failed
