"""A device for the agent `home`: it takes pictures, approves payments, and knows the card. Prints events as JSON lines.

python home.py ws://127.0.0.1:8080/ws SESSION TEXT, with a server whose agent has the client tool `camera`
Without a text it sends nothing, and stays connected until the first turn has ended.
"""

import asyncio
import json
import sys

from baton_client import Session


def tell(**what):
    print(json.dumps(what), flush=True)


def camera(_input):
    tell(effect="camera")
    return "a hall"


async def main(url, session, text):
    heard = asyncio.get_running_loop().create_future()

    def on_event(event):
        tell(event=event)
        if event["type"] == "turn-finished" and not heard.done():
            heard.set_result(event["text"])

    home = Session(
        url,
        session,
        tools={"camera": camera},
        approve=lambda request: {"decision": "approve"},
        answer=lambda question: {"card": "red"},
        on_event=on_event,
    )
    async with home:
        tell(said=await (home.say(text) if text else heard))


asyncio.run(main(*sys.argv[1:]))
