/**
 * Drives the example `everything` with the official TypeScript client.
 *
 *     node drive.mjs [PROGRAM]     the built example; target/debug/examples/everything if absent
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';

import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const PROGRAM = process.argv[2] ?? 'target/debug/examples/everything';
const PROTOCOL = '2026-07-28';
const START = 20_000; // milliseconds until the first line
const WATCHED = 'test://watched-resource';
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

/** Collects the changes that a client is told of; the function waits until there are so many, and returns all of them. */
function notificationsOf(client) {
    const seen = [];
    let wake = () => {};
    for (const kind of ['tools/list_changed', 'prompts/list_changed', 'resources/list_changed', 'resources/updated']) {
        client.setNotificationHandler(`notifications/${kind}`, notification => {
            seen.push(notification);
            wake();
        });
    }
    return async count => {
        while (seen.length < count) await new Promise(resolve => (wake = resolve));
        assert.equal(seen.length, count, JSON.stringify(seen));
        return seen;
    };
}

/** The subscription that a notification belongs to. */
const subscription = notification => notification.params._meta['io.modelcontextprotocol/subscriptionId'];

/** Changes something; the server tells how many streams it told. */
const trigger = async (client, change) => text(await client.callTool({ name: `test_trigger_${change}` }));

/** A stream's end reaches the server a moment after its client has closed it. */
async function eventually(check) {
    while (!(await check())) await setTimeout(10);
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

    test('two streams with different filters get exactly their own notifications', async () => {
        const told = notificationsOf(client);
        const tools = await client.listen({ toolsListChanged: true });
        const watched = await client.listen({ resourceSubscriptions: [WATCHED] });
        assert.deepEqual(tools.honoredFilter, { toolsListChanged: true });
        assert.deepEqual(watched.honoredFilter, { resourceSubscriptions: [WATCHED] });

        assert.equal(await trigger(client, 'prompt_change'), 'told 0 streams');
        assert.equal(await trigger(client, 'tool_change'), 'told 1 streams');
        const [ofTools] = await told(1);
        assert.equal(await trigger(client, 'resource_update'), 'told 1 streams');
        const [, ofWatched] = await told(2);
        assert.equal(ofTools.method, 'notifications/tools/list_changed');
        assert.deepEqual([ofWatched.method, ofWatched.params.uri], ['notifications/resources/updated', WATCHED]);
        assert.notEqual(subscription(ofTools), subscription(ofWatched), 'each has the id of its own stream');

        await tools.close();
        assert.equal(await tools.closed, 'local');
        await eventually(async () => (await trigger(client, 'tool_change')) === 'told 0 streams');
        assert.equal(await trigger(client, 'resource_update'), 'told 1 streams');
        const last = (await told(3)).at(-1);
        assert.equal(subscription(last), subscription(ofWatched), 'the other stream goes on');
        await watched.close();
    });
});

test('a server that ends says so on its streams', { timeout: 30_000 }, async () => {
    const { server, url } = await start();
    const client = new Client({ name: 'drive', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(url));
    const stream = await client.listen({ toolsListChanged: true });
    const exit = once(server, 'exit', { signal: AbortSignal.timeout(END) });
    server.kill('SIGTERM');
    // Of the two signals, this client goes by the one that comes first: `notifications/cancelled` is `remote` to it, and the
    // result that follows would be `graceful`.
    assert.equal(await stream.closed, 'remote');
    assert.deepEqual(await exit, [0, null], 'an open stream holds up no shutdown');
    await client.close();
});
