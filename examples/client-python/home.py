"""A device of the agent `home`: it takes pictures, approves what is paid, and knows the card. Prints what happens as JSON lines.

python home.py ws://127.0.0.1:8080/ws SESSION TEXT, with a server whose agent has the client tool `camera`
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
    home = Session(
        url,
        session,
        tools={"camera": camera},
        approve=lambda request: {"decision": "approve"},
        answer=lambda question: {"card": "red"},
        on_event=lambda event: tell(event=event),
    )
    async with home:
        tell(said=await home.say(text))


asyncio.run(main(*sys.argv[1:]))
