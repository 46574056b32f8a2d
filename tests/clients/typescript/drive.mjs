/**
 * Drives the examples with the official TypeScript client. Here: tools.
 *
 *     node drive.mjs [FOLDER]     the folder of the built examples; target/debug/examples if absent
 */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, suite, test } from 'node:test';

import { serving, protocolError, text } from './harness.mjs';

import './offers.mjs';
import './rounds.mjs';
import './streams.mjs';

const PROTOCOL = '2026-07-28';

suite('everything', { timeout: 60_000 }, () => {
    const connect = serving('everything');
    let client;

    beforeEach(async () => {
        client = await connect();
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
        await assert.rejects(client.callTool({ name: 'boom' }), protocolError(-32603));
        text(await client.callTool({ name: 'test_simple_text' }));
    });
});
