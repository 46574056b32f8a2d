"""Calls that ask their caller before they answer: rounds of elicitation with the official client."""

from mcp_types import ElicitResult

from harness import MISSING_CAPABILITY, check, connect, equal, error_of, text

MULTI_ROUND = "test_input_required_result_multi_round"


class Person:
    """Fills in the forms of a server, and remembers what was asked."""

    def __init__(self, *answers: ElicitResult):
        self.answers = list(answers)
        self.asked = []

    async def __call__(self, _context, params) -> ElicitResult:
        self.asked.append((params.message, list(params.requested_schema["properties"])))
        return self.answers.pop(0)


def accept(**content) -> ElicitResult:
    return ElicitResult(action="accept", content=content)


@check("everything")
async def two_rounds_of_questions_end_in_one_answer(server):
    person = Person(accept(name="Ada"), accept(color="green"))
    async with connect(server, elicitation_callback=person) as client:
        said = text(await client.call_tool(MULTI_ROUND))
    equal("answer", said, "Hello, Ada! You like green.")
    equal(
        "asked once each, in order",
        person.asked,
        [("Step 1: What is your name?", ["name"]), ("Step 2: What is your favorite color?", ["color"])],
    )


@check("everything")
async def a_declined_form_is_an_answer_too(server):
    person = Person(ElicitResult(action="decline"), ElicitResult(action="cancel"))
    async with connect(server, elicitation_callback=person) as client:
        said = text(await client.call_tool(MULTI_ROUND))
    equal("answer", said, "Hello, stranger! You like none.")


@check("everything")
async def a_prompt_asks_as_a_tool_does(server):
    person = Person(accept(context="a test"))
    async with connect(server, elicitation_callback=person) as client:
        [message] = (await client.get_prompt("test_input_required_result_prompt")).messages
    equal("text", message.content.text, "Use this context: a test")


@check("everything")
async def who_cannot_answer_is_not_asked(server):
    async with connect(server) as client:
        error = await error_of(client.call_tool(MULTI_ROUND))
    equal("code", error.code, MISSING_CAPABILITY)


# confirm: what both sides of two rounds say


@check("confirm", serves=False)
async def a_call_that_asks_twice_does_its_work_once(program):
    code, lines = await program.lines()
    equal("exit code", code, 0)
    equal(
        "lines",
        lines,
        [
            "server: copies reports/old",
            'client: is asked `"Delete reports/old?"` under `sure`',
            'client: is asked `"Why delete reports/old?"` under `reason`',
            "client: reads `reports/old was deleted (it is old); a copy is at reports/old.bak`",
        ],
    )
