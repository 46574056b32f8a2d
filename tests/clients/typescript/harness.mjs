/**
 * What the checks share: an example as a child process, and the official client.
 *
 * Every file of checks is one suite against one server; the end of the server is checked too: exit code 0 soon after
 * SIGTERM.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before } from 'node:test';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const FOLDER = process.argv[2] ?? 'target/debug/examples';
const START = 20_000; // milliseconds until the first line
export const END = 5_000; // milliseconds from SIGTERM to the exit

// Whatever ends this process ends its servers with it.
const servers = new Set();
process.on('exit', () => servers.forEach(server => server.kill('SIGKILL')));
process.on('SIGTERM', () => process.exit(143));

/** Starts an example on a free port; returns the process and its URL. The caller ends it. */
export async function start(example) {
    const env = { ...process.env, ADDR: '127.0.0.1:0' };
    const server = spawn(join(FOLDER, example), { env, stdio: ['ignore', 'pipe', 'inherit'] });
    servers.add(server);
    const lines = createInterface({ input: server.stdout });
    const [line] = await Promise.race([
        once(lines, 'line', { signal: AbortSignal.timeout(START) }),
        once(server, 'exit').then(([code]) => assert.fail(`the server ended with ${code} before its first line`))
    ]);
    const [, address] = line.match(/^listening on (\S+)$/) ?? assert.fail(`the first line is ${JSON.stringify(line)}`);
    return { server, url: new URL(`http://${address}/mcp`) };
}

/**
 * Serves an example while the tests of a suite run. Returns how to connect to it: a function from the capabilities of a
 * client to that client.
 */
export function serving(example) {
    let server, url;

    before(async () => {
        ({ server, url } = await start(example));
    });

    after(async () => {
        if (!server) return; // it never started, and `before` has said why
        const exit = once(server, 'exit', { signal: AbortSignal.timeout(END) });
        server.kill('SIGTERM');
        assert.deepEqual(await exit, [0, null], 'exit code and signal after SIGTERM');
        servers.delete(server);
    });

    return capabilities => connect(url, capabilities);
}

/** A new official client with these capabilities, connected. */
export async function connect(url, capabilities = {}) {
    const options = { capabilities, versionNegotiation: { mode: 'auto' } };
    const client = new Client({ name: 'drive', version: '1.0.0' }, options);
    await client.connect(new StreamableHTTPClientTransport(url));
    return client;
}

/** The text of a result that is one text block and no error. */
export function text(result) {
    assert.notEqual(result.isError, true);
    assert.deepEqual(result.content.map(block => block.type), ['text']);
    return result.content[0].text;
}

/** A check of an error: the protocol error with this code, which also has what `more` says. */
export function protocolError(code, more = {}) {
    return { name: 'ProtocolError', code, ...more };
}
