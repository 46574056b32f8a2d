"""What a server offers beside tools, read with the official client: resources, templates, prompts, completion, pages."""

import base64

from mcp_types import PromptReference, ResourceTemplateReference

from harness import INVALID_PARAMS, check, connect, equal, error_of, true

TEMPLATE = "test://template/{id}/data"


# everything: each kind of offer


@check("everything")
async def the_resources_are_listed_with_their_types(server):
    async with connect(server) as client:
        true("capability resources", client.server_capabilities.resources is not None, client.server_capabilities)
        listing = await client.list_resources()
    types = {str(resource.uri): resource.mime_type for resource in listing.resources}
    equal("first", next(iter(types.items())), ("test://static-text", "text/plain"))
    equal("binary", types["test://static-binary"], "image/png")
    equal("next cursor", listing.next_cursor, None)


@check("everything")
async def a_resource_of_text_is_read(server):
    async with connect(server) as client:
        [contents] = (await client.read_resource("test://static-text")).contents
    equal("text", contents.text, "This is the content of the static text resource.")
    equal("MIME type", contents.mime_type, "text/plain")


@check("everything")
async def a_resource_of_bytes_is_read(server):
    async with connect(server) as client:
        [contents] = (await client.read_resource("test://static-binary")).contents
    blob = base64.b64decode(contents.blob, validate=True)
    true("PNG signature", blob.startswith(b"\x89PNG\r\n"), blob)


@check("everything")
async def a_resource_that_is_not_there_is_a_protocol_error_with_its_uri(server):
    async with connect(server) as client:
        error = await error_of(client.read_resource("test://nowhere"))
        equal("code and data", (error.code, error.data), (INVALID_PARAMS, {"uri": "test://nowhere"}))
        # Not every resource under a template exists either; this one does.
        [contents] = (await client.read_resource("test://template/a%20b/data")).contents
    true("the variable, decoded", '"id":"a b"' in contents.text, contents.text)


@check("everything")
async def the_templates_are_listed(server):
    async with connect(server) as client:
        listing = await client.list_resource_templates()
    equal("templates", [template.uri_template for template in listing.resource_templates], [TEMPLATE])
    equal("MIME type", listing.resource_templates[0].mime_type, "application/json")


@check("everything")
async def the_prompts_are_listed_with_their_arguments(server):
    async with connect(server) as client:
        true("capability prompts", client.server_capabilities.prompts is not None, client.server_capabilities)
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
    equal("first", next(iter(prompts)), "test_simple_prompt")
    arguments = prompts["test_prompt_with_arguments"].arguments
    equal("arguments", [(argument.name, argument.required) for argument in arguments], [("arg1", True), ("arg2", True)])


@check("everything")
async def a_prompt_is_filled_in_with_its_arguments(server):
    async with connect(server) as client:
        result = await client.get_prompt("test_prompt_with_arguments", {"arg1": "one", "arg2": "grün"})
    [message] = result.messages
    equal("role and text", (message.role, message.content.text), ("user", "Prompt with arguments: arg1='one', arg2='grün'"))


@check("everything")
async def an_unknown_prompt_and_a_missing_argument_are_protocol_errors(server):
    async with connect(server) as client:
        unknown = await error_of(client.get_prompt("no_such_prompt"))
        missing = await error_of(client.get_prompt("test_prompt_with_arguments", {"arg1": "one"}))
    equal("codes", (unknown.code, missing.code), (INVALID_PARAMS, INVALID_PARAMS))
    true("names the argument", "arg2" in missing.message, missing.message)


@check("everything")
async def an_argument_of_a_prompt_is_completed(server):
    prompt = PromptReference(name="test_prompt_with_arguments")
    async with connect(server) as client:
        true("capability completions", client.server_capabilities.completions is not None, client.server_capabilities)
        completion = (await client.complete(prompt, {"name": "arg1", "value": "par"})).completion
        none = (await client.complete(prompt, {"name": "arg1", "value": "x"})).completion
        unknown = await error_of(client.complete(PromptReference(name="no_such_prompt"), {"name": "arg1", "value": ""}))
    equal("values", completion.values, ["paris", "park", "party"])
    equal("nothing fits", none.values, [])
    equal("code", unknown.code, INVALID_PARAMS)


@check("everything")
async def a_variable_of_a_template_is_completed(server):
    async with connect(server) as client:
        template = ResourceTemplateReference(uri=TEMPLATE)
        completion = (await client.complete(template, {"name": "id", "value": "12"})).completion
    equal("values", completion.values, ["123", "124"])


# notes: a list in pages


async def pages(client) -> list[list[str]]:
    """The URIs of each page, as far as cursors lead."""
    found, cursor = [], None
    while True:
        listing = await client.list_resources(cursor=cursor)
        found.append([str(resource.uri) for resource in listing.resources])
        if (cursor := listing.next_cursor) is None:
            return found


@check("notes")
async def the_list_comes_in_pages_without_a_gap(server):
    async with connect(server) as client:
        found = await pages(client)
    expected = [["about://notes", "notes://garden"], ["notes://groceries", "notes://library"]]
    equal("pages", found, expected)


@check("notes")
async def a_cursor_that_was_altered_is_refused(server):
    async with connect(server) as client:
        cursor = (await client.list_resources()).next_cursor
        middle = len(cursor) // 2
        altered = cursor[:middle] + ("A" if cursor[middle] != "A" else "B") + cursor[middle + 1 :]
        error = await error_of(client.list_resources(cursor=altered))
    equal("code", error.code, INVALID_PARAMS)


@check("notes")
async def a_note_is_found_by_template_and_completion_and_read(server):
    async with connect(server) as client:
        [template] = (await client.list_resource_templates()).resource_templates
        reference = ResourceTemplateReference(uri=template.uri_template)
        [title] = (await client.complete(reference, {"name": "title", "value": "gro"})).completion.values
        [note] = (await client.read_resource(template.uri_template.replace("{title}", title))).contents
        missing = await error_of(client.read_resource("notes://attic"))
        [asked] = (await client.get_prompt("summarise", {"title": title})).messages
    equal("note", (note.mime_type, note.text), ("text/plain", "Bread, salt, olives."))
    equal("code", missing.code, INVALID_PARAMS)
    true("the prompt names the note", "notes://groceries" in asked.content.text, asked.content.text)
