"""A voice: says each sentence of an answer, here by printing it as a JSON line. `most`: it interrupts after so many sentences."""

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
