// A voice over a real server: the server keeps of an answer what the voice has played, over breaking connections, and
// also when another client interrupts.
import { expect, onTestFinished, test } from 'vitest'
import { createCuttableWorld, open, serve, until } from '../session/session.test-kit.ts'
import { createSilentSpeaker } from './silent-speaker.ts'
import type { Voice, VoiceClient } from './voice-api.ts'
import { createVoice } from './voice.ts'

const COUNT =
  'The **first** train leaves at 9.40. The [next](https://trains.example) one is slower:\n- it leaves at 10.\n- it has 3 cars.'

function giveVoice(client: VoiceClient): Voice {
  const speaker = createSilentSpeaker({ wordsPerMinute: 6000 })
  const voice = createVoice(client, { speaker, confirmMs: 600_000 })
  onTestFinished(() => voice.close())
  return voice
}

/** Holds the voice when it has played this many words of the sentence. */
function holdAt(voice: Voice, index: number, words: number): Promise<void> {
  return new Promise((resolve) => {
    const off = voice.on('speech-word', (said) => {
      if (said.type !== 'sentence' || said.index !== index || said.words < words) return
      off()
      voice.pause()
      resolve()
    })
  })
}

const ANSWER_STEPS = [{ text: COUNT, hangs: 'until-aborted' as const }, { text: 'Yes?' }]

test('a session that was opened without speech gets no voice', async () => {
  const { url } = await serve(ANSWER_STEPS)
  expect(() => giveVoice(open({ url }))).toThrow('the session was opened without speech')
})

test('a barge-in in mid-sentence: the history has the words that were played', async () => {
  const { url, model } = await serve(ANSWER_STEPS)
  const client = open({ url, speech: 'only' })
  const voice = giveVoice(client)
  const { answer } = client.send('When?')
  await holdAt(voice, 1, 2)
  await voice.interrupt()
  expect(await answer).toMatchObject({ stop: 'cancelled', text: 'The **first** train leaves at 9.40. The [next' })
  await client.send('What?').answer
  expect(JSON.stringify(model.requests.at(-1))).not.toContain('one is slower')
})

test('an answer that was written long before: the voice cuts it where it was', async () => {
  const { url, model } = await serve([{ text: COUNT }, { text: 'Yes?' }])
  const client = open({ url, speech: true })
  const voice = giveVoice(client)
  const { answer } = client.send('When?')
  const held = holdAt(voice, 0, 3)
  await answer
  await held
  const next = client.send('What?', { delivery: 'interrupt', heard: voice.heard() })
  voice.stop()
  await next.answer
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/The \*\*first\*\* train"/)
})

test('somebody else interrupts: what the voice reported stays, and the voice is silent', async () => {
  const { url } = await serve(ANSWER_STEPS)
  const client = open({ url, session: 's', speech: 'only' })
  const other = open({ url, session: 's' })
  const reported = Promise.withResolvers<void>()
  const played: VoiceClient['played'] = async (place) => {
    await client.played(place)
    if (place.chars > 0) reported.resolve()
  }
  const voice = giveVoice({ ...client, played })
  const ends: boolean[] = []
  voice.on('speech-end', ({ isWhole }) => {
    ends.push(isWhole)
    voice.pause()
  })
  const { answer } = client.send('When?')
  await until(other, ({ messages }) => messages.some(({ role }) => role === 'assistant'))
  await reported.promise
  await other.interrupt()
  expect(await answer).toMatchObject({ stop: 'cancelled', text: 'The **first** train leaves at 9.40.' })
  await until(client, ({ activity }) => activity === 'idle')
  voice.resume()
  expect([ends, voice.getSnapshot()]).toEqual([[true], { state: 'idle', utterance: undefined, queued: 0 }])
})

test('a reload in mid-speech, and an interrupt before another word: what the page before had played stays', async () => {
  const { url, model } = await serve(ANSWER_STEPS)
  const before = open({ url, session: 's', speech: 'only' })
  const reported = Promise.withResolvers<void>()
  const played: VoiceClient['played'] = async (place) => {
    await before.played(place)
    if (place.chars > 0) reported.resolve()
  }
  const voice = giveVoice({ ...before, played })
  voice.on('speech-end', () => voice.pause())
  before.send('When?')
  await reported.promise
  voice.close()
  before.close()
  const after = open({ url, session: 's', speech: 'only' })
  await until(after, ({ isLoaded }) => isLoaded)
  const next = giveVoice(after)
  next.pause()
  await next.interrupt()
  await after.send('What?').answer
  expect(model.requests.at(-1)?.messages.map(({ parts }) => parts)).toMatchObject([
    [{ text: 'When?' }],
    [{ text: 'The **first** train leaves at 9.40.' }],
    [{ text: 'What?' }],
  ])
})

test('over connections that break, each sentence is played once and in order', async () => {
  const pieces = COUNT.match(/.{1,6}/gs) ?? []
  const { url } = await serve([{ pieces, pieceMs: 2 }])
  const { world, frames, cutAfter, connections } = createCuttableWorld()
  const client = open({ url, world, speech: true })
  const voice = giveVoice(client)
  const said: string[] = []
  voice.on('speech-end', ({ text, isWhole }) => void said.push(isWhole ? text : `${text} (cut)`))
  client.on('status', (status) => {
    if (status === 'open') cutAfter(frames() + 5)
  })
  await client.send('When?').answer
  cutAfter(Infinity)
  if (voice.getSnapshot().state !== 'idle')
    await new Promise<void>((resolve) => void voice.on('state', (state) => state === 'idle' && resolve()))
  expect(said).toEqual([
    'The first train leaves at 9.40.',
    'The next one is slower:',
    'it leaves at 10.',
    'it has 3 cars.',
  ])
  expect(connections()).toBeGreaterThan(1)
  expect(voice.heard()).toEqual({ type: 'all' })
})

test('a client that is closed takes its voice along, and refuses what is asked of it afterwards', async () => {
  const { url } = await serve(ANSWER_STEPS)
  const client = open({ url, speech: 'only' })
  const voice = giveVoice(client)
  const errors: unknown[] = []
  voice.on('error', (error) => void errors.push(error))
  client.send('When?').answer.catch(() => {})
  await holdAt(voice, 1, 2)
  const ended = new Promise((resolve) => void voice.on('speech-end', resolve))
  client.close()
  expect(await ended).toMatchObject({ index: 1, isWhole: false })
  expect(voice.getSnapshot()).toEqual({ state: 'idle', utterance: undefined, queued: 0 })
  await expect(client.played({ message: 't1', chars: 1 })).rejects.toMatchObject({ code: 'session_closed' })
  expect(errors).toEqual([])
})
