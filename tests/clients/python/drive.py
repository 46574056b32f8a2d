"""Drives the examples with the official Python client, as an application would. Here: tools, and what clients leave behind.

    python drive.py [FOLDER]     the folder of the built examples; target/debug/examples if absent
"""

import asyncio
import base64
import re
import signal
import sys
from pathlib import Path

import anyio

# Each registers its own checks.
import callers, offers, rounds  # noqa: E401, F401
from harness import CHECKS, INTERNAL_ERROR, INVALID_PARAMS, PROTOCOL
from harness import check, connect, equal, error_of, only_text, run, soon, text, true

MANY = 50  # calls at once
LEAVERS = 20  # clients that leave at once


async def gather(*calls) -> list:
    return list(await asyncio.gather(*calls))


def tools_by_name(listing) -> dict:
    return {tool.name: tool for tool in listing.tools}


# hello: functions as tools


@check("hello")
async def discover_names_the_server_and_its_tools(server):
    async with connect(server) as client:
        equal("protocol version", client.protocol_version, PROTOCOL)
        true("server info", client.server_info is not None, client.server_info)
        equal("name", client.server_info.name, "calculator")
        true("version", client.server_info.version, client.server_info)
        true("capability tools", client.server_capabilities.tools is not None, client.server_capabilities)


@check("hello")
async def the_list_is_add_with_its_description_and_schema(server):
    async with connect(server) as client:
        tools = tools_by_name(await client.list_tools())
    equal("names", list(tools), ["add"])
    equal("description", tools["add"].description, "Adds two integers.")
    schema = tools["add"].input_schema
    equal("type", schema["type"], "object")
    equal("required", sorted(schema["required"]), ["a", "b"])
    equal("types", {name: part["type"] for name, part in schema["properties"].items()}, {"a": "integer", "b": "integer"})


@check("hello")
async def add_answers_the_sum(server):
    async with connect(server) as client:
        equal("text", text(await client.call_tool("add", {"a": 1, "b": 2})), "3")


@check("hello")
async def a_wrong_argument_is_an_error_result_that_names_its_path(server):
    async with connect(server) as client:
        result = await client.call_tool("add", {"a": 1, "b": "two"})
    equal("isError", result.is_error, True)
    said = only_text(result)
    true("names the path `b`", re.search(r"\bb\b", said), said)


@check("hello")
async def an_unknown_tool_is_a_protocol_error(server):
    async with connect(server) as client:
        error = await error_of(client.call_tool("subtract", {"a": 1, "b": 2}))
    equal("code", error.code, INVALID_PARAMS)


@check("hello")
async def many_calls_at_once_each_get_their_own_answer(server):
    async with connect(server) as client:
        await client.list_tools()
        results = await gather(*(client.call_tool("add", {"a": i, "b": 1000}) for i in range(MANY)))
    equal("sums", [text(result) for result in results], [str(i + 1000) for i in range(MANY)])


@check("hello")
async def sigterm_ends_a_server_with_an_idle_connection(server):
    async with connect(server) as client:
        text(await client.call_tool("add", {"a": 1, "b": 2}))
        equal("exit code", await server.end(), 0)


# jobs: a handler that streams, and what a client leaves behind


async def running(server) -> int:
    async with connect(server) as client:
        said = text(await client.call_tool("running"))
    count = re.search(r"\d+", said)
    true("a number of jobs", count, said)
    return int(count.group())


async def tree(server) -> int:
    """Lines of the actor tree, seen through a new connection: its own lines are the same in every look."""
    async with connect(server) as client:
        return len(text(await client.call_tool("tree")).splitlines())


async def render_until(leave: asyncio.Event, client, **options):
    """Starts a call of 50 s and leaves it as soon as `leave` is set."""
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: client.call_tool("render", {"frames": 1000, "delay_ms": 50}, **options))
        await leave.wait()
        group.cancel_scope.cancel()


@check("jobs")
async def the_list_has_render_with_its_schema(server):
    async with connect(server) as client:
        tools = tools_by_name(await client.list_tools())
    equal("names", sorted(tools), ["render", "running", "tree"])
    properties = tools["render"].input_schema["properties"]
    equal("types", {name: part["type"] for name, part in properties.items()}, {"frames": "integer", "delay_ms": "integer"})
    equal("frames at least", properties["frames"]["minimum"], 1)


@check("jobs")
async def progress_rises_to_the_total_before_the_result(server):
    seen = []

    async def progress(progress, total, message):
        seen.append((progress, total))

    async with connect(server) as client:
        result = await client.call_tool("render", {"frames": 5, "delay_ms": 40}, progress_callback=progress)
    true("text", "rendered 5 frames" in text(result), result)
    equal("totals", {total for _, total in seen}, {5})
    values = [value for value, _ in seen]
    true("more than one event", len(values) > 1, values)
    true("strictly increasing", all(a < b for a, b in zip(values, values[1:])), values)
    equal("last", values[-1], 5)


@check("jobs")
async def a_call_left_after_its_first_progress_is_gone_soon(server):
    before = await tree(server)
    first = asyncio.Event()

    async def progress(progress, total, message):
        first.set()

    async with connect(server) as client:
        await render_until(first, client, progress_callback=progress)
        # The client stays: only the connection of the call that it left is gone.
        await soon("jobs running", lambda: running(server), 0)
        text(await client.call_tool("running"))
    await soon("lines of the tree", lambda: tree(server), before)


@check("jobs")
async def calls_left_before_any_event_are_gone_soon(server):
    before = await tree(server)
    leave = asyncio.Event()

    async def leaver():
        async with connect(server) as client:
            await render_until(leave, client)

    async with anyio.create_task_group() as group:
        for _ in range(LEAVERS):
            group.start_soon(leaver)
        while await running(server) < LEAVERS:
            await asyncio.sleep(0.02)
        during = await tree(server)
        true("a line of the tree for each call", during >= before + LEAVERS, during)
        leave.set()
    await soon("jobs running", lambda: running(server), 0)
    await soon("lines of the tree", lambda: tree(server), before)


# everything: each kind of content, and a crash


async def content(server, tool: str) -> list:
    async with connect(server) as client:
        result = await client.call_tool(tool)
    equal("isError", result.is_error or False, False)
    return result.content


def is_image(block):
    equal("type and MIME type", (block.type, block.mime_type), ("image", "image/png"))
    true("PNG signature", base64.b64decode(block.data, validate=True).startswith(b"\x89PNG\r\n"), block.data)


def is_resource(block, uri: str, mime_type: str, said: str):
    equal("type", block.type, "resource")
    resource = block.resource
    equal("resource", (str(resource.uri), resource.mime_type, resource.text), (uri, mime_type, said))


@check("everything")
async def the_list_describes_every_tool(server):
    async with connect(server) as client:
        tools = tools_by_name(await client.list_tools())
    equal("first", next(iter(tools)), "test_simple_text")
    true("boom", "boom" in tools, list(tools))
    equal("without description", [tool.name for tool in tools.values() if not tool.description], [])


@check("everything")
async def simple_text(server):
    async with connect(server) as client:
        said = text(await client.call_tool("test_simple_text"))
    equal("text", said, "This is a simple text response for testing.")


@check("everything")
async def a_tool_error_is_a_result(server):
    async with connect(server) as client:
        result = await client.call_tool("test_error_handling")
    equal("isError", result.is_error, True)
    equal("text", only_text(result), "This tool intentionally returns an error for testing")


@check("everything")
async def image(server):
    [block] = await content(server, "test_image_content")
    is_image(block)


@check("everything")
async def audio(server):
    [block] = await content(server, "test_audio_content")
    equal("type and MIME type", (block.type, block.mime_type), ("audio", "audio/wav"))
    sound = base64.b64decode(block.data, validate=True)
    equal("RIFF and WAVE", (sound[:4], sound[8:12]), (b"RIFF", b"WAVE"))


@check("everything")
async def embedded_resource(server):
    [block] = await content(server, "test_embedded_resource")
    is_resource(block, "test://embedded-resource", "text/plain", "This is an embedded resource content.")


@check("everything")
async def mixed_content_keeps_its_order(server):
    first, second, third = await content(server, "test_multiple_content_types")
    equal("text", (first.type, first.text), ("text", "Multiple content types test:"))
    is_image(second)
    is_resource(third, "test://mixed-content-resource", "application/json", '{"test":"data","value":123}')


@check("everything")
async def progress_arrives_in_order(server):
    seen = []

    async def progress(progress, total, message):
        seen.append((progress, total))

    async with connect(server) as client:
        text(await client.call_tool("test_tool_with_progress", progress_callback=progress))
    equal("progress and total", seen, [(0, 100), (50, 100), (100, 100)])


@check("everything")
async def a_crash_costs_one_answer(server):
    underway = asyncio.Event()

    async def progress(progress, total, message):
        underway.set()

    async with connect(server) as client:
        await client.list_tools()
        slow = asyncio.create_task(client.call_tool("test_tool_with_progress", progress_callback=progress))
        await underway.wait()
        error = await error_of(client.call_tool("boom"))
        equal("code", error.code, INTERNAL_ERROR)
        # The client has this code and this text for an HTTP error without a JSON-RPC body.
        true("an answer of the server's own", error.message != "Server returned an error response", error.message)
        text(await slow)
        text(await client.call_tool("test_simple_text"))


@check("everything")
async def many_calls_at_once(server):
    async with connect(server) as client:
        await client.list_tools()
        results = await gather(*(client.call_tool("test_simple_text") for _ in range(MANY)))
    equal("texts", {text(result) for result in results}, {"This is a simple text response for testing."})


# bench: what load is measured with


@check("bench")
async def the_tools_that_benchmarks_call_answer(server):
    async with connect(server) as client:
        tools = tools_by_name(await client.list_tools())
        equal("add", text(await client.call_tool("add", {"a": 1, "b": 2})), "3")
        equal("streams told", text(await client.call_tool("publish", {})), "0")
    equal("names", list(tools), ["add", "publish"])


def main() -> int:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "target/debug/examples").resolve()
    programs = {example: folder / example for example, _, _ in CHECKS}
    if missing := [str(program) for program in programs.values() if not program.is_file()]:
        raise SystemExit(f"not built: {', '.join(missing)}; `cargo build --examples` builds them")
    # An exception, so that the server of the check in progress is ended on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return 1 if asyncio.run(run(programs)) else 0


if __name__ == "__main__":
    raise SystemExit(main())
