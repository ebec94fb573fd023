"""A client for Baton's WebSocket protocol, version 2 (docs/protocol-2.md). Requires Python 3.11 and the websockets package.

    async with Session(url, "my-session", tools={"weather": weather}) as session:
        print(await session.say("What is the weather?"))
"""

import asyncio
import inspect
import json
import random
import uuid

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus

PING_SECONDS = 20
ANSWER_SECONDS = 30
OPEN_SECONDS = 30
BACKOFF_SECONDS = (0.1, 10)
DEVICE_TAKEN = 4409
RETRIES = 8


class Refused(Exception):
    """The server refused a request: `code` is a code listed in docs/errors.md."""

    def __init__(self, frame):
        super().__init__(f"{frame['code']}: {frame['message']}")
        self.code = frame["code"]
        self.retryable = frame.get("retryable", False)
        self.retry_after_ms = frame.get("retryAfterMs")


class Session:
    """One session. It reconnects automatically: no message is lost, no event is delivered twice, no tool runs twice.

    `async with` raises Refused, InvalidStatus (from websockets) for a wrong token, or ConnectionError after 30 s without a server.

    url        ws://127.0.0.1:8080/ws, with ?token=... if the server requires a token
    session    the session's name; None for a new session
    tools      the agent's client tools that run here, by name: functions or coroutine functions of the input
    approve    called with each approval request; returns {"decision": "approve"} or "deny", or "edit" with an "input"
    answer     called with each question of a tool; returns a value that matches its schema, or None to decline
    on_event   called with each session event once, in order
    on_speech  called with each `sentence` for a voice once, in order, and with `sentences.dropped`
    """

    def __init__(self, url, session=None, *, tools=None, approve=None, answer=None, on_event=None, on_speech=None):
        self.url, self.session = url, session or f"python-{uuid.uuid4()}"
        self.tools, self.approve, self.answer = tools or {}, approve, answer
        self.on_event, self.on_speech = on_event or (lambda event: None), on_speech
        self.device = f"python-{uuid.uuid4()}"
        self._socket = None
        self._is_open = asyncio.Event()
        self._cursor = "turn"  # where the events continue
        self._waiting = {}  # requests without an answer, by id
        self._turns = {}  # inputs without a complete answer, by input id
        self._entered = []  # inputs that the model reads in the running turn
        self._calls = set()  # calls that this program runs or is claiming
        self._tasks = set()
        self._lost = None  # why the newest connection ended

    async def __aenter__(self):
        self._connection = asyncio.create_task(self._stay_connected())
        opening = asyncio.create_task(self._is_open.wait())
        done, _ = await asyncio.wait({opening, self._connection}, timeout=OPEN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        opening.cancel()
        if self._connection.done():
            self._connection.result()  # raises why
        if not done:
            await self.__aexit__()
            raise ConnectionError(f"no session at {self.url.split('?')[0]} in {OPEN_SECONDS} s: {self._lost}")
        return self

    async def __aexit__(self, *_):
        # One after another: a task whose request fails at the moment of its cancellation would not notice the cancellation.
        for tasks in (list(self._tasks), [self._connection]):
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def say(self, content, **options):
        """Sends a message and returns the text of its complete answer. Options are those of `input.send`."""
        input_id = str(uuid.uuid4())
        turn = self._turns[input_id] = asyncio.get_running_loop().create_future()
        try:
            await self.deliver("input.send", input=input_id, content=content, **options)
            await asyncio.wait({turn, self._connection}, return_when=asyncio.FIRST_COMPLETED)
            return turn.result()["text"] if turn.done() else self._connection.result()
        finally:
            self._turns.pop(input_id, None)

    async def interrupt(self, sentence=None):
        """Ends the turn. `sentence` is the last sentence that was heard; without it, the whole written answer counts as heard."""
        heard = sentence and {"heard": {"type": "chars", "message": sentence["message"], "chars": sentence["end"]}}
        await self.request("turn.interrupt", **(heard or {}))

    async def deliver(self, kind, **fields):
        """Sends a request, over several connections if necessary, until it is answered. Raises Refused."""
        refusals = 0
        while True:
            await self._is_open.wait()
            try:
                return await self.request(kind, **fields)
            except Refused as cause:  # a server that is shutting down refuses new turns: the next one accepts them
                refusals += 1
                if not cause.retryable or refusals > RETRIES:
                    raise
                await asyncio.sleep(refusals if cause.retry_after_ms is None else cause.retry_after_ms / 1000)
            except (ConnectionError, TimeoutError):
                pass  # the ids in it make a repeat harmless

    async def request(self, kind, **fields):
        """Sends a request over the present connection. Raises Refused, ConnectionError or TimeoutError."""
        request_id = str(uuid.uuid4())
        answer = self._waiting[request_id] = asyncio.get_running_loop().create_future()
        try:
            if self._socket is None:
                raise ConnectionError("not connected")
            await self._socket.send(json.dumps({"id": request_id, "type": kind, **fields}))
            return await asyncio.wait_for(answer, ANSWER_SECONDS)
        except ConnectionClosed as cause:
            self._is_open.clear()
            raise ConnectionError(str(cause)) from cause
        finally:
            self._waiting.pop(request_id, None)
            if answer.done() and not answer.cancelled():
                answer.exception()  # marks it as retrieved: sending may have failed before it was awaited

    async def _stay_connected(self):
        tries = 0
        while True:
            try:
                async with connect(self.url, subprotocols=["baton.v2"], max_size=None, ping_interval=PING_SECONDS) as socket:
                    if socket.subprotocol != "baton.v2":
                        raise Refused({"code": "invalid_option", "message": "the server does not support baton.v2"})
                    self._socket = socket
                    reading = asyncio.create_task(self._read(socket))
                    try:
                        await self._open()
                        tries = 0
                        await reading
                    finally:
                        reading.cancel()
            except Refused as cause:
                if not cause.retryable:
                    raise
                self._lost = cause
            except InvalidStatus as cause:
                if cause.response.status_code in (401, 403, 404):
                    raise
                self._lost = cause
            except (ConnectionError, ConnectionClosed, InvalidMessage, OSError, TimeoutError) as cause:
                self._lost = cause
            finally:
                self._lose()
            least, most = BACKOFF_SECONDS
            longest = min(most, least * 2**tries)
            await asyncio.sleep(longest / 2 + random.random() * longest / 2)
            tries = min(tries + 1, 10)

    async def _open(self):
        given = {"from": self._cursor, "device": {"name": self.device, "runs": list(self.tools)}}
        if self.on_speech:
            given["speech"] = True
        opened = await self.request("session.open", session=self.session, **given)
        if self._cursor == "turn":
            self._cursor = opened["next"]
        self._is_open.set()

    def _lose(self):
        if getattr(self._socket, "close_code", None) == DEVICE_TAKEN:
            self.device = f"python-{uuid.uuid4()}"
        self._socket = None
        self._is_open.clear()

    async def _read(self, socket):
        try:
            async for text in socket:
                frame = json.loads(text)
                answer = self._waiting.get(frame.get("re"))
                if frame["type"] == "events":
                    for event in frame["events"]:
                        self._take(event)
                    self._cursor = frame["next"]
                elif frame["type"] in ("sentence", "sentences.dropped") and self.on_speech:
                    self.on_speech(frame)
                    self._cursor = frame["next"]
                elif frame["type"] == "session.closed":
                    return  # the session is then opened again
                elif answer and not answer.done():
                    answer.set_result(frame) if frame["type"] == "ok" else answer.set_exception(Refused(frame))
        finally:
            self._is_open.clear()
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(ConnectionError("the connection broke"))

    def _take(self, event):
        match event["type"]:
            case "message-entered":
                self._entered.append(event["message"])
            case "turn-finished":
                for turn in (self._turns.get(input_id) for input_id in self._entered):
                    if turn and not turn.done():
                        turn.set_result(event)
                self._entered.clear()
            case "call":
                call = event["call"]
                is_mine = call.get("holder") == self.device and call["name"] in self.tools
                if is_mine and call["status"] in ("waiting", "running") and call["callId"] not in self._calls:
                    self._calls.add(call["callId"])
                    self._start(self._run(call["callId"]))
            case "approval-requested" if self.approve:
                self._start(self._decide(event))
            case "question-asked" if self.answer:
                self._start(self._answer(event))
        self.on_event(event)

    def _start(self, work):
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, call_id):
        """Claims and runs a call. The claim is logged before the tool starts, so no other device runs the call."""
        device = self.device
        try:
            call = (await self.deliver("call.claim", callId=call_id))["call"]
        except Refused:
            self._calls.discard(call_id)  # it has settled or belongs to another device; it may be offered again
            return
        try:
            outcome = {"output": await finish(self.tools[call["name"]](call["input"]))}
        except Exception as cause:  # an exception is the tool's result
            outcome = {"error": str(cause) or type(cause).__name__}
        await self._reply("call.result", callId=call_id, outcome=outcome, device=device)

    async def _decide(self, event):
        await self._reply("approval.decide", approvalId=event["approvalId"], **await finish(self.approve(event)))

    async def _answer(self, event):
        value = await finish(self.answer(event))
        reply = {"decline": True} if value is None else {"value": value}
        await self._reply("question.answer", questionId=event["questionId"], **reply)

    async def _reply(self, kind, **fields):
        try:
            await self.deliver(kind, **fields)
        except Refused:
            pass  # it was settled in the meantime, as the events show


async def finish(value):
    return await value if inspect.isawaitable(value) else value
