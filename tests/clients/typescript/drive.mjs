/**
 * Drives the example `everything` with the official TypeScript client.
 *
 *     node drive.mjs [PROGRAM]     the built example; target/debug/examples/everything if absent
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';

import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const PROGRAM = process.argv[2] ?? 'target/debug/examples/everything';
const PROTOCOL = '2026-07-28';
const START = 20_000; // milliseconds until the first line
const END = 5_000; // milliseconds from SIGTERM to the exit

/** Starts the server on a free port; returns the process and its URL. */
async function start() {
    const server = spawn(PROGRAM, { env: { ...process.env, ADDR: '127.0.0.1:0' }, stdio: ['ignore', 'pipe', 'inherit'] });
    // Whatever ends this process ends the server with it.
    process.on('exit', () => server.kill('SIGKILL'));
    process.on('SIGTERM', () => process.exit(143));
    const lines = createInterface({ input: server.stdout });
    const [line] = await Promise.race([
        once(lines, 'line', { signal: AbortSignal.timeout(START) }),
        once(server, 'exit').then(([code]) => assert.fail(`the server ended with ${code} before its first line`))
    ]);
    const [, address] = line.match(/^listening on (\S+)$/) ?? assert.fail(`the first line is ${JSON.stringify(line)}`);
    return { server, url: new URL(`http://${address}/mcp`) };
}

/** The text of a result that is one text block and no error. */
function text(result) {
    assert.notEqual(result.isError, true);
    assert.deepEqual(result.content.map(block => block.type), ['text']);
    return result.content[0].text;
}

suite('everything', { timeout: 60_000 }, () => {
    let server, url, client;

    before(async () => {
        ({ server, url } = await start());
    });

    after(async () => {
        if (!server) return; // it never started, and `before` has said why
        const exit = once(server, 'exit', { signal: AbortSignal.timeout(END) });
        server.kill('SIGTERM');
        assert.deepEqual(await exit, [0, null], 'exit code and signal after SIGTERM');
    });

    beforeEach(async () => {
        client = new Client({ name: 'drive', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
        await client.connect(new StreamableHTTPClientTransport(url));
    });

    afterEach(() => client.close());

    test('discover settles the revision and the capability', () => {
        assert.equal(client.getNegotiatedProtocolVersion(), PROTOCOL);
        assert.ok(client.getServerCapabilities().tools);
        assert.ok(client.getServerVersion().name);
    });

    test('the list describes every tool', async () => {
        const { tools } = await client.listTools();
        assert.equal(tools[0].name, 'test_simple_text');
        assert.deepEqual(tools.filter(tool => !tool.description), []);
    });

    test('a call answers its text', async () => {
        const result = await client.callTool({ name: 'test_simple_text' });
        assert.equal(text(result), 'This is a simple text response for testing.');
    });

    test('progress arrives in order', async () => {
        const seen = [];
        const onprogress = ({ progress, total }) => seen.push([progress, total]);
        text(await client.callTool({ name: 'test_tool_with_progress' }, { onprogress }));
        assert.deepEqual(seen, [[0, 100], [50, 100], [100, 100]]);
    });

    test('a tool error is a result', async () => {
        const result = await client.callTool({ name: 'test_error_handling' });
        assert.equal(result.isError, true);
        assert.equal(result.content[0].text, 'This tool intentionally returns an error for testing');
    });

    test('a crash is a protocol error and costs one answer', async () => {
        await assert.rejects(client.callTool({ name: 'boom' }), error => error instanceof ProtocolError && error.code === -32603);
        text(await client.callTool({ name: 'test_simple_text' }));
    });
});
