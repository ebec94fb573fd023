// A client with a voice: each sentence once, over breaking connections, and what was heard when the user interrupts.
import { BatonError } from '@baton/core'
import type { SentenceFrame } from '@baton/protocol'
import { expect, test } from 'vitest'
import type { SessionClient } from '../index.ts'
import { createCuttableWorld, noteEvents, open, serve } from './session.test-kit.ts'

const ANSWER = 'It is Dr. Ng. She has **3.5** apples.\n- Red ones.\n- Green ones\n\nShall I ask her?'
const SAID = ['It is Dr. Ng.', 'She has 3.5 apples.', 'Red ones.', 'Green ones', 'Shall I ask her?']

/** Sentences that a voice has yet to say, or has said. */
function listen(client: SessionClient): SentenceFrame[] {
  const queue: SentenceFrame[] = []
  client.on('sentence', (sentence) => {
    if (sentence.index !== queue.length) throw new Error(`sentence ${sentence.index} follows ${queue.length}`)
    queue.push(sentence)
  })
  client.on('sentences.dropped', ({ index }) => void queue.splice(index))
  return queue
}

test('sentences come once each and in order, wherever the connection breaks', async () => {
  for (const every of [3, 5, 8]) {
    const pieces = ANSWER.match(/.{1,5}/gs) ?? []
    const { url } = await serve([{ pieces, pieceMs: 2 }])
    const { world, frames, cutAfter, connections } = createCuttableWorld()
    const client = open({ url, world, speech: true })
    const queue = listen(client)
    const said = client.send('Who is there?')
    await said.accepted
    cutAfter(frames() + every)
    client.on('status', (status) => {
      if (status === 'open') cutAfter(frames() + every)
    })
    expect(await said.answer).toMatchObject({ text: ANSWER })
    expect(queue.map(({ text }) => text)).toEqual(SAID)
    expect(queue.map(({ start, end }) => ANSWER.slice(start, end)).join('')).toBe(ANSWER)
    expect(connections()).toBeGreaterThan(1)
  }
})

test('an app that only speaks gets no text events, and interrupts with what was heard', async () => {
  const { url, model } = await serve([{ pieces: ['One. Two. ', 'Three'], hangs: 'until-aborted' }, { text: 'Fine.' }])
  const client = open({ url, speech: 'only' })
  const events = noteEvents(client)
  const { answer } = client.send('Count')
  const { message, end } = await new Promise<SentenceFrame>((resolve) => client.on('sentence', resolve))
  await client.interrupt({ heard: { type: 'chars', message, chars: end } })
  expect(await answer).toMatchObject({ stop: 'cancelled', text: 'One.' })
  await client.send('Stop').answer
  expect(events.filter(({ type }) => type === 'text')).toEqual([])
  expect(JSON.stringify(model.requests.at(-1))).not.toContain('Two')
})

test('sentences of an answer that was discarded are taken back', async () => {
  const error = new BatonError({ code: 'model_overloaded', message: 'busy', retryable: true })
  const { url } = await serve([{ text: 'One. Two. Three.', error }, { text: 'Uno. Due.' }])
  const client = open({ url, speech: true })
  const queue = listen(client)
  await client.send('Count').answer
  expect(queue.map(({ text }) => text)).toEqual(['Uno.', 'Due.'])
})
