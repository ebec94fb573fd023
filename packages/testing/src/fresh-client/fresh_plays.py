"""Promises of docs/protocol-2.md, played from outside: `python fresh_plays.py NODE SERVER FOLDER`. Prints a line for each that holds."""

import asyncio
import json
import subprocess
import sys
import traceback
import uuid

from fresh_client import count_units, open_app

NODE, SERVER, FOLDER = sys.argv[1:4]


class Server:
    def __init__(self):
        self.port = "0"
        self.start()

    def start(self):
        command = [NODE, "--conditions=@baton/source", SERVER, self.port, f"{FOLDER}/store.db", f"{FOLDER}/requests"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.port = self.url.rsplit(":", 1)[1].split("/")[0]

    def stop(self):
        self.process.kill()
        self.process.wait()

    def kill_and_start(self):
        self.stop()
        self.start()

    def last_request(self):
        with open(f"{FOLDER}/requests") as lines:
            return json.loads(lines.readlines()[-1])

    def told(self):
        """All texts that the model was asked with, newest request."""
        parts = [part for message in self.last_request() for part in message["parts"]]
        inner = [content for part in parts for content in part.get("content", [part])]
        return [part["text"] for part in inner if part["type"] == "text"]


def new(prefix):
    return f"{prefix}-{uuid.uuid4().hex[:8]}"


async def a_once_call_runs_once_over_breaks_and_a_kill(server):
    session, name = new("s"), new("phone")
    device = {"name": name, "runs": ["door.open"]}
    app = await open_app(server.url, session, device=device)
    await app.ask("input.send", input="m1", content="open the door")
    call = await app.offer(name)
    assert "again" not in await app.ask("call.claim", callId=call)
    for kills in (False, True):
        kept, chat = app.next, app.chat
        app.break_off()
        if kills:
            server.kill_and_start()
        app = await open_app(server.url, session, chat, device=device, **{"from": kept})
        assert (await app.ask("call.claim", callId=call))["again"] is True
    assert "ignored" not in await app.ask("call.result", callId=call, outcome={"output": "opened"})
    assert (await app.ask("call.result", callId=call, outcome={"output": "opened"}))["ignored"] == "duplicate"
    finished = await app.event("turn-finished")
    assert finished["text"] == app.chat.text("t1") == "One moment.\n\nGot opened."
    assert await app.code("call.claim", callId=call) == "call_over"


async def another_device_answers_for_nobody(server):
    session, one, two = new("s"), new("one"), new("two")
    app = await open_app(server.url, session, device={"name": one})
    await app.ask("input.send", input="m1", content="open")
    call = await app.offer(one)
    await app.ask("call.claim", callId=call)
    other = await open_app(server.url, session, device={"name": two})
    assert await other.code("call.claim", callId=call) == "call_not_offered"
    assert (await other.ask("call.result", callId=call, outcome={"output": "forged"}))["ignored"] == "foreign"
    app.break_off()
    server.kill_and_start()
    other = await open_app(server.url, session, device={"name": two})
    assert (await other.ask("call.result", callId=call, outcome={"output": "forged"}))["ignored"] == "foreign"
    # Its page was loaded again: a new name, and the saved result under the old one.
    again = await open_app(server.url, session, device={"name": new("one")}, messages=50)
    held = again.opened["messages"][-1]["steps"][-1]["calls"][0]
    assert (held["status"], held["holder"]) == ("running", one)
    assert "ignored" not in await again.ask("call.result", callId=call, outcome={"output": "true words"}, device=one)
    assert "true words" in (await again.event("turn-finished"))["text"]


async def a_late_result_is_read_with_the_next_turn(server):
    name = new("phone")
    app = await open_app(server.url, new("s"), device={"name": name})
    await app.ask("input.send", input="m1", content="quick")
    call = await app.offer(name)
    await app.ask("call.claim", callId=call)
    settled = await app.event("call", lambda event: event["call"]["status"] == "settled")
    assert settled["call"]["result"] == {
        "type": "unknown",
        "code": "tool_result_timeout",
        "message": "no result came in the time of the call: it may have run",
    }
    await app.event("turn-finished")
    assert "Error: tool_result_timeout (it may have run)" in server.told()
    assert (await app.ask("call.result", callId=call, outcome={"output": "agent 7"}))["ignored"] == "late"
    await app.say("m2", "and now?")
    assert any("agent 7" in text for text in server.told())


async def an_interrupt_ends_the_turn_that_it_names(server):
    app = await open_app(server.url, new("s"), speech=True)
    await app.ask("input.send", input="m1", content="hang")
    sentence = await app.until(lambda: next((f for f in app.frames if f["type"] == "sentence"), None))
    assert await app.code("turn.interrupt", turn="t9") == "invalid_event"
    heard = {"type": "chars", "message": "t1", "chars": sentence["end"]}
    assert (await app.ask("turn.interrupt", turn="t1", heard=heard))["turn"] == "t1"
    finished = await app.event("turn-finished")
    assert finished["stop"] == "cancelled"
    assert finished["text"] == app.chat.text("t1") and finished["text"].strip() == "It is raining."
    since = len(app.events)
    await app.ask("input.send", input="m2", content="hang on")
    await app.event("text", since=since)
    await app.ask("input.send", input="m3", content="later")
    # Sent again, it ends neither the next turn nor what waits.
    assert "turn" not in await app.ask("turn.interrupt", turn="t1", queue="withdraw")
    assert [waits["inputId"] for waits in (await app.ask("session.info"))["info"]["queued"]] == ["m3"]
    assert app.chat.activity == "running"
    assert (await app.ask("turn.interrupt", turn="t2", queue="withdraw"))["turn"] == "t2"
    await app.event("message-withdrawn", lambda event: event["message"] == "m3")
    await app.event("turn-finished", lambda event: event["message"] == "t2")


async def what_was_heard_counts_the_blank_line_and_whole_characters(server):
    session, name = new("s"), new("phone")
    app = await open_app(server.url, session, device={"name": name}, speech=True)
    await app.ask("input.send", input="m1", content="open")
    call = await app.offer(name)
    await app.ask("call.claim", callId=call)
    await app.ask("call.result", callId=call, outcome={"output": "a b. c d"})
    whole = (await app.event("turn-finished"))["text"]
    assert whole == "One moment.\n\nGot a b. c d."
    sentences = [frame for frame in app.frames if frame["type"] == "sentence"]
    assert [whole[one["start"] : one["end"]].strip() for one in sentences] == [one["text"] for one in sentences]
    # Its turn has ended; the voice has played so much of it.
    await app.ask("speech.played", message="t1", chars=count_units("One moment.\n\nGot a"))
    since = len(app.events)
    assert "turn" not in await app.ask("turn.interrupt", turn="t1")
    await app.event("text-cut", since=since)
    assert app.chat.text("t1") == "One moment.\n\nGot a"
    await app.say("m2", "hello")
    answers = [message["parts"] for message in server.last_request() if message["role"] == "assistant"]
    said = [part["text"] for parts in answers for part in parts if part["type"] == "text"]
    assert said == ["One moment.", "Got a"]
    story = (await app.say("m3", "story"))["text"]
    face = story.index("\N{GRINNING FACE}")
    since = len(app.events)
    await app.ask("turn.interrupt", heard={"type": "chars", "chars": count_units(story[:face]) + 1})
    await app.event("text-cut", since=since)
    assert app.chat.text("t3") == story[: face + 1]
    # The same for who comes later, by the messages and by the whole log.
    later = await open_app(server.url, session, messages=50)
    assert [step["text"] for step in later.opened["messages"][1]["steps"]] == ["One moment.", "Got a"]
    reader = await open_app(server.url, session, **{"from": "start"})
    await reader.event("live")
    assert [reader.chat.text(answer) for answer in ("t1", "t3")] == [app.chat.text(answer) for answer in ("t1", "t3")]


async def a_message_is_edited_asked_again_and_taken_back(server):
    session = new("s")
    app = await open_app(server.url, session)
    for said in ("one", "two", "three"):
        await app.say(said, said)
    edit = {"input": "two-b", "message": "two", "replace": "two, otherwise"}
    assert (await app.ask("input.rewind", **edit))["turn"] == "two-b"
    await app.event("turn-finished", lambda event: event["message"] == "t4")
    assert (await app.ask("input.rewind", **edit))["turn"] == "two-b"
    assert app.chat.ids() == ["one", "t1", "two-b", "t4"]
    assert app.chat.text("t4") == "Heard: two, otherwise"
    assert (await app.ask("input.rewind", input="r2", message="t4", again=True))["turn"] == "two-b"
    await app.event("turn-finished", lambda event: event["message"] == "t5")
    assert app.chat.ids() == ["one", "t1", "two-b", "t5"]
    since = len(app.events)
    await app.ask("input.send", input="h", content="hang")
    await app.event("text", since=since)
    assert await app.code("input.rewind", input="r3", message="two-b", interrupt=False) == "turn_in_progress"
    await app.ask("input.rewind", input="r3", message="two-b", interrupt=True)
    await app.until(lambda: app.chat.ids() == ["one", "t1"])
    later = await open_app(server.url, session, messages=50)
    assert [message["id"] for message in later.opened["messages"]] == ["one", "t1"]
    reader = await open_app(server.url, session, **{"from": "start"})
    await reader.event("live")
    assert reader.chat.ids() == ["one", "t1"]


async def anybody_of_the_principal_decides_and_only_once(server):
    session = new("s")
    app = await open_app(server.url, session)
    await app.ask("input.send", input="m1", content="pay")
    asked = (await app.event("approval-requested"))["approvalId"]
    watch = await open_app(server.url, session, device={"name": new("watch"), "runs": []}, messages=5)
    assert [one["approvalId"] for one in watch.opened["info"]["approvals"]] == [asked]
    wrong = {"approvalId": asked, "decision": "edit", "input": {"amount": "all"}}
    assert await watch.code("approval.decide", **wrong) == "invalid_arguments"
    await watch.ask("approval.decide", approvalId=asked, decision="edit", input={"amount": 2}, remember="arguments")
    decided = await app.event("approval-decided")
    assert (decided["decision"], decided["remember"]) == ("edit", "arguments")
    assert await app.code("approval.decide", approvalId=asked, decision="deny") == "approval_refused"
    assert (await app.event("turn-finished"))["text"] == "Got paid 2."
    assert '[A person changed the arguments to {"amount":2}]' in server.told()
    await watch.ask("device.release")
    await app.say("m2", "pay", asks=False)
    settled = [event["call"] for event in app.events if event["type"] == "call"][-1]
    assert (settled["result"]["type"], settled["result"]["code"]) == ("denied", "call_denied")


async def offers_of_the_past_are_left_and_an_unclaimed_call_moves(server):
    session, old, young = new("s"), new("old"), new("new")
    app = await open_app(server.url, session, device={"name": old, "leaseMs": 5000})
    await app.ask("input.send", input="m1", content="open")
    call = await app.offer(old)
    app.break_off()
    page = await open_app(server.url, session, device={"name": young})
    await page.event("live")
    past = [event["call"] for event in page.events if event["type"] == "call" and event["call"]["status"] == "waiting"]
    assert [one["holder"] for one in past] == [old]
    assert await page.offer(young) == call
    await page.ask("call.claim", callId=call)
    app = await open_app(server.url, session, device={"name": old})
    assert (await app.ask("call.result", callId=call, outcome={"output": "mine"}))["ignored"] == "foreign"
    await page.ask("call.result", callId=call, outcome={"error": "the door is stuck"})
    assert (await page.event("turn-finished"))["text"].endswith("Got Error: the door is stuck.")
    await open_app(server.url, session, device={"name": young})
    await asyncio.wait_for(page.reading, 60)
    assert page.socket.close_code == 4409


async def a_reader_goes_on_in_the_middle_of_a_text(server):
    session = new("s")
    app = await open_app(server.url, session)
    await app.event("live")
    await app.ask("input.send", input="m1", content="hang")
    await app.event("text", lambda event: "coat" in event["text"])
    kept, chat = app.next, app.chat
    app.break_off()
    app = await open_app(server.url, session, chat, **{"from": kept})
    await app.event("live")
    assert [event["type"] for event in app.events] == ["live"]
    kept = app.next
    server.kill_and_start()
    app = await open_app(server.url, session, chat, **{"from": kept})
    await app.event("step-reset")
    await app.event("text", lambda event: "coat" in event["text"])
    assert chat.text("t1") == "It is raining. Take a coat."
    assert await app.code("session.open", session=session) == "illegal_input"
    await app.ask("turn.interrupt", turn="t1", heard={"type": "words", "words": 4})
    assert (await app.event("turn-finished"))["text"] == chat.text("t1") == "It is raining. Take"


PLAYS = [
    a_once_call_runs_once_over_breaks_and_a_kill,
    another_device_answers_for_nobody,
    a_late_result_is_read_with_the_next_turn,
    an_interrupt_ends_the_turn_that_it_names,
    what_was_heard_counts_the_blank_line_and_whole_characters,
    a_message_is_edited_asked_again_and_taken_back,
    anybody_of_the_principal_decides_and_only_once,
    offers_of_the_past_are_left_and_an_unclaimed_call_moves,
    a_reader_goes_on_in_the_middle_of_a_text,
]


async def main():
    server = Server()
    try:
        for play in PLAYS:
            try:
                await play(server)
                print(f"holds: {play.__name__}")
            except Exception:
                print(f"broken: {play.__name__}: {traceback.format_exc(limit=3)}")
    finally:
        server.stop()


asyncio.run(main())
