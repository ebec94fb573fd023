"""A voice: collects the sentences of an answer and prints them as JSON lines. Interrupts after `most` sentences; 0 for never.

python voice.py ws://127.0.0.1:8080/ws SESSION TEXT MOST
"""

import asyncio
import json
import sys

from baton_client import Session


async def main(url, session, text, most):
    said = []

    def speak(frame):
        if frame["type"] == "sentences.dropped":
            del said[frame["index"] :]  # the model's attempt was discarded
            return
        said.append(frame)
        if len(said) == int(most):
            interrupts.append(asyncio.create_task(voice.interrupt(frame)))

    interrupts = []
    voice = Session(url, session, on_speech=speak)
    async with voice:
        answer = await voice.say(text)
        await asyncio.gather(*interrupts)
    for sentence in said:
        print(json.dumps({"index": sentence["index"], "text": sentence["text"]}))
    print(json.dumps({"answer": answer}))


asyncio.run(main(*sys.argv[1:]))
