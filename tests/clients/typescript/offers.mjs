/** What a server offers beside tools: resources, templates, prompts, completion, pages. */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, suite, test } from 'node:test';

import { protocolError, serving } from './harness.mjs';

const TEMPLATE = 'test://template/{id}/data';

suite('everything it offers', { timeout: 60_000 }, () => {
    const connect = serving('everything');
    let client;

    beforeEach(async () => {
        client = await connect();
    });

    afterEach(() => client.close());

    test('the capabilities say what is offered', () => {
        const { resources, prompts, completions } = client.getServerCapabilities();
        assert.ok(resources && prompts && completions);
    });

    test('the resources are listed with their types', async () => {
        const { resources } = await client.listResources();
        assert.deepEqual([resources[0].uri, resources[0].mimeType], ['test://static-text', 'text/plain']);
        assert.ok(resources.some(({ uri, mimeType }) => uri === 'test://static-binary' && mimeType === 'image/png'));
    });

    test('a resource of text and one of bytes are read', async () => {
        const { contents: [text] } = await client.readResource({ uri: 'test://static-text' });
        assert.deepEqual([text.mimeType, text.text], ['text/plain', 'This is the content of the static text resource.']);
        const { contents: [binary] } = await client.readResource({ uri: 'test://static-binary' });
        assert.equal(Buffer.from(binary.blob, 'base64').toString('latin1', 1, 4), 'PNG');
    });

    test('a resource that is not there is a protocol error with its URI', async () => {
        const uri = 'test://nowhere';
        await assert.rejects(client.readResource({ uri }), protocolError(-32602, { data: { uri } }));
    });

    test('a template is listed, and read with a variable that needs an encoding', async () => {
        const { resourceTemplates } = await client.listResourceTemplates();
        assert.deepEqual(resourceTemplates.map(template => template.uriTemplate), [TEMPLATE]);
        const { contents: [read] } = await client.readResource({ uri: 'test://template/a%20b/data' });
        assert.equal(JSON.parse(read.text).id, 'a b');
    });

    test('the prompts are listed with their arguments', async () => {
        const { prompts } = await client.listPrompts();
        const prompt = prompts.find(({ name }) => name === 'test_prompt_with_arguments');
        assert.deepEqual(prompt.arguments.map(({ name, required }) => [name, required]), [['arg1', true], ['arg2', true]]);
    });

    test('a prompt is filled in with its arguments', async () => {
        const name = 'test_prompt_with_arguments';
        const { messages: [message] } = await client.getPrompt({ name, arguments: { arg1: 'one', arg2: 'grün' } });
        assert.equal(message.content.text, "Prompt with arguments: arg1='one', arg2='grün'");
        await assert.rejects(client.getPrompt({ name, arguments: { arg1: 'one' } }), protocolError(-32602));
    });

    test('an unknown prompt is a protocol error', async () => {
        await assert.rejects(client.getPrompt({ name: 'no_such_prompt' }), protocolError(-32602));
    });

    test('an argument of a prompt and a variable of a template are completed', async () => {
        const prompt = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
        const words = await client.complete({ ref: prompt, argument: { name: 'arg1', value: 'par' } });
        assert.deepEqual(words.completion.values, ['paris', 'park', 'party']);
        const template = { type: 'ref/resource', uri: TEMPLATE };
        const ids = await client.complete({ ref: template, argument: { name: 'id', value: '12' } });
        assert.deepEqual(ids.completion.values, ['123', '124']);
    });
});

suite('notes, a list in pages', { timeout: 60_000 }, () => {
    const connect = serving('notes');
    const PAGES = [['about://notes', 'notes://garden'], ['notes://groceries', 'notes://library']];
    const uris = ({ resources }) => resources.map(({ uri }) => uri);
    let client;

    beforeEach(async () => {
        client = await connect();
    });

    afterEach(() => client.close());

    test('the client puts the pages together', async () => {
        assert.deepEqual(uris(await client.listResources()), PAGES.flat());
    });

    test('each page is where the cursor of the one before leads', async () => {
        const whole = await client.request({ method: 'resources/list', params: {} });
        assert.deepEqual(uris(whole), PAGES[0]);
        const rest = await client.listResources({ cursor: whole.nextCursor });
        assert.deepEqual([uris(rest), rest.nextCursor], [PAGES[1], undefined]);
    });

    test('a cursor of nowhere is a protocol error', async () => {
        await assert.rejects(client.listResources({ cursor: 'nowhere' }), protocolError(-32602));
    });
});
