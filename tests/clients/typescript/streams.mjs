/** Subscription streams: what each is told, and how it ends. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, suite, test } from 'node:test';

import { END, connect, serving, start, text } from './harness.mjs';

const WATCHED = 'test://watched-resource';

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

suite('everything that changes', { timeout: 60_000 }, () => {
    const connect = serving('everything');
    let client;

    beforeEach(async () => {
        client = await connect();
    });

    afterEach(() => client.close());

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
    const { server, url } = await start('everything');
    const client = await connect(url);
    const stream = await client.listen({ toolsListChanged: true });
    const exit = once(server, 'exit', { signal: AbortSignal.timeout(END) });
    server.kill('SIGTERM');
    // Of the two signals, this client goes by the one that comes first: `notifications/cancelled` is `remote` to it, and the
    // result that follows would be `graceful`.
    assert.equal(await stream.closed, 'remote');
    assert.deepEqual(await exit, [0, null], 'an open stream holds up no shutdown');
    await client.close();
});
