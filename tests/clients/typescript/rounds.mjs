/** Calls that ask their caller before they answer: the client fills in forms and sends the call again by itself. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { protocolError, serving, text } from './harness.mjs';

const MULTI_ROUND = { name: 'test_input_required_result_multi_round' };

suite('everything that asks', { timeout: 60_000 }, () => {
    const connect = serving('everything');

    /** A client whose person gives these answers, and what that person was asked. */
    async function person(...answers) {
        const client = await connect({ elicitation: { form: {} } });
        const asked = [];
        client.setRequestHandler('elicitation/create', async ({ params }) => {
            asked.push([params.message, Object.keys(params.requestedSchema.properties)]);
            return answers.shift();
        });
        return { client, asked };
    }

    test('two rounds of questions end in one answer', async () => {
        const accept = content => ({ action: 'accept', content });
        const { client, asked } = await person(accept({ name: 'Ada' }), accept({ color: 'green' }));
        assert.equal(text(await client.callTool(MULTI_ROUND)), 'Hello, Ada! You like green.');
        assert.deepEqual(asked, [
            ['Step 1: What is your name?', ['name']],
            ['Step 2: What is your favorite color?', ['color']]
        ]);
        await client.close();
    });

    test('declined and cancelled forms are answers too', async () => {
        const { client } = await person({ action: 'decline' }, { action: 'cancel' });
        assert.equal(text(await client.callTool(MULTI_ROUND)), 'Hello, stranger! You like none.');
        await client.close();
    });

    test('who cannot answer is not asked', async () => {
        const client = await connect();
        await assert.rejects(client.callTool(MULTI_ROUND), protocolError(-32021));
        await client.close();
    });
});
