"""The example `auth` with the official client: what each token may, and what a client without one is told."""

import httpx2
from mcp import MCPError
from mcp.client.streamable_http import streamable_http_client

from harness import Failed, check, connect, equal, error_of, leaves, text, true


def bearing(server, token: str | None):
    """A client that sends this token with every request, as one does that has logged in."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return connect(streamable_http_client(server.url, http_client=httpx2.AsyncClient(headers=headers)))


async def is_refused(server, token: str | None):
    """The client fails to connect, by an error answer: it does not say which."""
    try:
        async with bearing(server, token):
            pass
    except Exception as group:
        found = [type(error) for error in leaves(group)]
        equal("the client fails with", found, [MCPError])
    else:
        raise Failed(f"the token {token!r} was taken")


async def challenge(server, token: str | None, tool: str = "who_am_i") -> tuple[int, str]:
    """Status and challenge of a call, which the client itself does not hand on."""
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": {"text": "x"} if tool == "write" else {}, "_meta": meta}
    async with httpx2.AsyncClient() as client:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        response = await client.post(server.url, headers=headers, json=body)
    return response.status_code, response.headers.get("WWW-Authenticate", "")


@check("auth")
async def each_token_is_its_caller_and_its_end_is_told(server):
    for token in ("reader", "writer"):
        async with bearing(server, token) as client:
            equal("caller", text(await client.call_tool("who_am_i")), token)
        told = await server.line_with("tools/call of")
        equal("told", told, f'tools/call of Some("{token}"): shutdown: reply')


@check("auth")
async def who_may_write_writes_and_nobody_else(server):
    async with bearing(server, "writer") as client:
        equal("answer", text(await client.call_tool("write", {"text": "milk"})), "noted: milk")
    async with bearing(server, "reader") as client:
        error = await error_of(client.call_tool("write", {"text": "milk"}))
    equal("what is missing", error.data, {"requiredScopes": ["notes:write"]})
    status, said = await challenge(server, "reader", "write")
    equal("status", status, 403)
    true("names the scope", 'error="insufficient_scope", scope="notes:write"' in said, said)


@check("auth")
async def who_has_no_token_learns_where_to_get_one(server):
    await is_refused(server, None)
    status, said = await challenge(server, None)
    equal("status", status, 401)
    true("names the scopes and no error", said.startswith('Bearer scope="notes:read", resource_metadata="'), said)
    async with httpx2.AsyncClient() as client:
        document = await client.get(server.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp"))
    equal("status", document.status_code, 200)
    equal("issuers", document.json()["authorization_servers"], ["https://issuer.example.com"])
    equal("scopes", document.json()["scopes_supported"], ["notes:read", "notes:write"])


@check("auth")
async def an_unknown_token_is_refused_as_such(server):
    await is_refused(server, "stolen")
    status, said = await challenge(server, "stolen")
    equal("status", status, 401)
    true("names the error", 'error="invalid_token"' in said, said)
