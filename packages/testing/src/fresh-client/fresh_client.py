"""A client of version 2 that was written from docs/protocol-2.md and docs/protocol-2-reference.md alone, to see whether they
suffice. It hides nothing: connections break when a play breaks them, and requests are sent when a play sends them."""

import asyncio
import itertools
import json

from websockets.asyncio.client import connect

SECONDS = 60


class Refused(Exception):
    def __init__(self, frame):
        super().__init__(f"{frame['code']}: {frame['message']}")
        self.code = frame["code"]


def encode(text):
    return text.encode("utf-16-le", "surrogatepass")


def count_units(text):
    return len(encode(text)) // 2


def cut(text, units):
    """The first UTF-16 units; a character that this would halve stays whole."""
    data = encode(text)
    end = 2 * units
    if 0 < end < len(data) and 0xD8 <= data[end - 1] <= 0xDB:
        end += 2
    return data[:end].decode("utf-16-le", "surrogatepass")


class Chat:
    """The conversation, put together from events."""

    def __init__(self):
        self.messages = []
        self.activity = None

    def find(self, message_id):
        return next((message for message in self.messages if message["id"] == message_id), None)

    def ids(self):
        return [message["id"] for message in self.messages]

    def text(self, message_id):
        steps = sorted(self.find(message_id)["steps"].items())
        return "\n\n".join(text for _, text in steps if text)

    def take(self, event):
        kind = event["type"]
        if kind == "message-added":
            message = dict(event["message"])
            if message["role"] == "assistant":
                message["steps"] = {}
            if not self.find(message["id"]):
                self.messages.append(message)
        elif kind == "message-entered":
            message = self.find(event["message"])
            if message:
                message["exchange"] = event["exchange"]
                self.messages.remove(message)
                self.messages.append(message)
        elif kind == "message-withdrawn":
            self.messages = [message for message in self.messages if message["id"] != event["message"]]
        elif kind == "messages-removed":
            self.take_back(event)
        elif kind in ("text", "text-cut", "step-reset"):
            self.take_text(event)
        elif kind == "session":
            self.activity = event.get("activity", self.activity)

    def take_text(self, event):
        answer = self.find(event["message"])
        if answer is None:
            return
        steps, step = answer["steps"], event["step"]
        if event["type"] == "step-reset":
            steps.pop(step, None)
        elif event["type"] == "text":
            steps[step] = cut(steps.get(step, ""), event["offset"]) + event["text"]
        else:
            steps[step] = cut(steps.get(step, ""), event["keepChars"])

    def take_back(self, event):
        kept = []
        for message in self.messages:
            if message.get("exchange", 0) < event["fromExchange"]:
                kept.append(message)
            elif message["role"] == "user":
                if message["id"] in event["keep"]:
                    kept.append(message)
            else:
                message["steps"] = {step: text for step, text in message["steps"].items() if step in event["keepSteps"]}
                if message["steps"]:
                    kept.append(message)
        self.messages = kept


class App:
    def __init__(self, url, chat=None):
        self.url = url
        self.chat = chat or Chat()
        self.frames, self.events = [], []
        self.next = None
        self.opened = None
        self._ids = itertools.count(1)
        self._waiting = {}
        self._came = asyncio.Event()
        self._is_closed = False

    async def start(self):
        self.socket = await connect(self.url, subprotocols=["baton.v2"], max_size=None)
        self.reading = asyncio.create_task(self._read())
        await self.until(lambda: self.frames and self.frames[0]["type"] == "hello")

    async def _read(self):
        try:
            async for text in self.socket:
                self._take(json.loads(text))
                self._came.set()
        except Exception:
            pass  # the connection broke: a play did that
        self._is_closed = True
        self._came.set()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(ConnectionError("the connection broke"))

    def _take(self, frame):
        self.frames.append(frame)
        answer = self._waiting.pop(frame.get("re"), None)
        if answer and frame["type"] == "ok":
            answer.set_result(frame)
        elif answer:
            answer.set_exception(Refused(frame))
        for event in frame.get("events", []):
            self.events.append(event)
            self.chat.take(event)
        self.next = frame["next"] if frame["type"] in ("events", "sentence", "sentences.dropped") else self.next

    async def ask(self, kind, **fields):
        request_id = str(next(self._ids))
        answer = self._waiting[request_id] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps({"id": request_id, "type": kind, **fields}))
        return await asyncio.wait_for(answer, SECONDS)

    async def code(self, kind, **fields):
        """The code of a refusal; None: it was not refused."""
        try:
            await self.ask(kind, **fields)
        except Refused as refused:
            return refused.code

    async def until(self, find):
        async def wait():
            while not (found := find()):
                if self._is_closed:
                    raise ConnectionError("the connection is closed")
                self._came.clear()
                await self._came.wait()
            return found

        return await asyncio.wait_for(wait(), SECONDS)

    async def event(self, kind, is_it=lambda event: True, since=0):
        return await self.until(
            lambda: next((event for event in self.events[since:] if event["type"] == kind and is_it(event)), None)
        )

    async def say(self, message_id, content, **more):
        """Says it, and waits for the end of the turn that answers it."""
        since = len(self.events)
        await self.ask("input.send", input=message_id, content=content, **more)
        return await self.event("turn-finished", since=since)

    async def offer(self, holder):
        event = await self.event(
            "call", lambda event: event["call"]["status"] == "waiting" and event["call"]["holder"] == holder
        )
        return event["call"]["callId"]

    def break_off(self):
        """As a network does: without a word."""
        self.socket.transport.abort()


async def open_app(url, session, chat=None, **given):
    app = App(url, chat)
    await app.start()
    app.opened = await app.ask("session.open", session=session, **given)
    app.next = app.next or app.opened["next"]
    return app
