// A voice says sentences, reports what was played, holds for a cough, and stops for a person. All in virtual time.
import { expect, test } from 'vitest'
import type { ClientError } from '../index.ts'
import { NotingSpeaker, PlayedSession, WORD_MS, createVirtualWorld } from './voice.test-kit.ts'
import type { VoiceOptions } from './voice-api.ts'
import { createVoice } from './voice.ts'

function openVoice(options: Partial<VoiceOptions> = {}) {
  const world = createVirtualWorld()
  const session = new PlayedSession()
  const speaker = new NotingSpeaker(world)
  const voice = createVoice(session, { speaker, world, ...options })
  const errors: ClientError[] = []
  const states: string[] = []
  voice.on('error', (error) => void errors.push(error))
  voice.on('state', (state) => void states.push(state))
  return { world, session, speaker, voice, errors, states }
}

test('sentences are said one after the other, and acknowledged when they were played', async () => {
  const { world, session, speaker, states } = openVoice()
  session.begin('t1')
  session.sentence('t1', 0, 'One two.')
  session.sentence('t1', 1, 'Three.')
  await world.pass(0)
  expect(session.reports).toEqual([{ message: 't1', chars: 0 }])
  await world.pass(2 * WORD_MS)
  expect(session.reports.at(-1)).toEqual({ message: 't1', chars: 9 })
  await world.pass(WORD_MS)
  expect(session.reports).toEqual([0, 9, 16].map((chars) => ({ message: 't1', chars })))
  expect(speaker.played.join(' ')).toBe('One two. Three.')
  expect(states).toEqual(['speaking', 'idle'])
  expect(world.timers()).toBe(0)
})

test('a sentence that ends while the report of the one before is under way is reported too', async () => {
  const { world, session } = openVoice()
  const gate = Promise.withResolvers<void>()
  const report = session.played.bind(session)
  let reports = 0
  session.played = async (place) => {
    await report(place)
    if ((reports += 1) === 2) await gate.promise
  }
  session.begin('t1')
  session.sentence('t1', 0, 'One.')
  session.sentence('t1', 1, 'Two.')
  await world.pass(2 * WORD_MS)
  gate.resolve()
  await world.pass(0)
  expect(session.reports.at(-1)).toEqual({ message: 't1', chars: 10 })
})

test('somebody speaks in mid-sentence: the server hears of each word that was played, and the rest is not said', async () => {
  const { world, session, speaker, voice } = openVoice()
  session.begin('t1')
  session.sentence('t1', 0, 'One two.')
  session.sentence('t1', 1, 'Three four five.')
  session.sentence('t1', 2, 'Six.')
  await world.pass(3 * WORD_MS)
  voice.pause()
  await world.pass(500)
  const dropped: number[] = []
  voice.on('speech-dropped', (sentences) => void dropped.push(...sentences.map(({ index }) => index)))
  const heard = { type: 'sentence', message: 't1', index: 1, words: 1 }
  const interrupted = voice.interrupt()
  expect(voice.heard()).toEqual(heard)
  await interrupted
  expect(session.interrupts).toEqual([heard])
  // The server has cut it there: a later report cuts nothing more.
  expect(voice.heard()).toEqual({ type: 'all' })
  expect(dropped).toEqual([2])
  session.sentence('t1', 3, 'Too late.')
  await world.pass(10_000)
  expect(speaker.played.join(' ')).toBe('One two. Three')
  session.finish('t1', 'cancelled')
  session.begin('t2')
  session.sentence('t2', 0, 'Yes?')
  await world.pass(WORD_MS)
  expect(speaker.played.at(-1)).toBe('Yes?')
})

test('between two sentences the earlier one was heard whole; before the first word nothing was', async () => {
  const { world, session, voice } = openVoice()
  session.begin('t1')
  expect(voice.heard()).toEqual({ type: 'none' })
  session.sentence('t1', 0, 'One two.')
  expect(voice.heard()).toEqual({ type: 'sentence', message: 't1', index: 0, words: 0 })
  session.sentence('t1', 1, 'Three.')
  await world.pass(2 * WORD_MS)
  expect(voice.getSnapshot().utterance).toMatchObject({ index: 1, words: 0 })
  expect(voice.heard()).toEqual({ type: 'sentence', message: 't1', index: 0 })
})

test('a cough: the voice is held, goes on in mid-sentence after two seconds, and nobody was told', async () => {
  const { world, session, speaker, voice, states } = openVoice()
  session.begin('t1')
  session.sentence('t1', 0, 'One two three.')
  await world.pass(WORD_MS)
  voice.pause()
  await world.pass(1000)
  voice.pause() // another cough does not extend it
  await world.pass(999)
  expect([voice.getSnapshot().state, speaker.played.length]).toEqual(['held', 1])
  await world.pass(1 + 2 * WORD_MS)
  expect(speaker.played.join(' ')).toBe('One two three.')
  expect(speaker.begun).toHaveLength(1)
  expect(session.interrupts).toEqual([])
  expect(states).toEqual(['speaking', 'held', 'speaking', 'idle'])
})

test('what comes while the voice is held waits, and a resume says it', async () => {
  const { world, session, speaker, voice } = openVoice()
  session.begin('t1')
  voice.pause()
  session.sentence('t1', 0, 'One.')
  await world.pass(1000)
  expect(speaker.begun).toEqual([])
  voice.resume()
  await world.pass(WORD_MS)
  expect(speaker.played).toEqual(['One.'])
  await world.pass(5000)
  expect(voice.getSnapshot()).toEqual({ state: 'idle', utterance: undefined, queued: 0 })
})

test('of an answer that began before this voice, the server knows what was heard until a word is said here', async () => {
  const { world, session, voice } = openVoice()
  session.activity = 'running'
  session.messages = [{ id: 't1', role: 'assistant' }]
  expect(voice.heard()).toEqual({ type: 'reported' })
  session.sentence('t1', 4, 'One two.')
  expect(voice.heard()).toEqual({ type: 'reported' })
  await world.pass(WORD_MS)
  expect(voice.heard()).toEqual({ type: 'sentence', message: 't1', index: 4, words: 1 })
})

test('an app that sends instead: what was heard stays known after the stop', async () => {
  const { world, session, voice } = openVoice()
  session.begin('t1')
  session.sentence('t1', 0, 'One two.')
  session.finish('t1') // a fast model: the answer is complete long before it was spoken
  await world.pass(WORD_MS)
  voice.stop()
  const heard = { type: 'sentence', message: 't1', index: 0, words: 1 }
  expect(voice.heard()).toEqual(heard)
  await world.pass(5000)
  expect(voice.heard()).toEqual(heard)
  expect(session.interrupts).toEqual([])
})

test('where all was said and nothing runs there is nothing to interrupt', async () => {
  const { world, session, voice } = openVoice()
  expect(voice.heard()).toEqual({ type: 'all' })
  session.begin('t1')
  session.sentence('t1', 0, 'One.')
  session.finish('t1')
  await world.pass(1000)
  expect(voice.heard()).toEqual({ type: 'all' })
  await voice.interrupt()
  expect(session.interrupts).toEqual([])
  // An answer without sentences, such as code, was displayed: an older place must not cut it.
  session.begin('t2')
  await voice.interrupt()
  expect(session.interrupts).toEqual([{ type: 'sentence', message: 't1', index: 0 }])
  session.finish('t2', 'cancelled')
  session.begin('t3')
  session.finish('t3')
  expect(voice.heard()).toEqual({ type: 'all' })
})

test.each([
  ['the turn was cancelled', (session: PlayedSession) => session.finish('t1', 'cancelled')],
  [
    'its text was cut after it had ended',
    (session: PlayedSession) => session.event({ type: 'text-cut', message: 't1' }),
  ],
  [
    'the conversation was taken back',
    (session: PlayedSession) => session.event({ type: 'messages-removed', fromExchange: 1, keep: [], keepSteps: [] }),
  ],
])('somebody else: %s, and the voice is silent', async (_, act) => {
  const { world, session, speaker } = openVoice()
  session.begin('t1')
  session.sentence('t1', 0, 'One two.')
  session.sentence('t1', 1, 'Three.')
  await world.pass(WORD_MS)
  act(session)
  session.sentence('t1', 2, 'Late.')
  await world.pass(5000)
  expect(speaker.played).toEqual(['One'])
})

test('a discarded attempt: its sentences are not said, also the one that is being said, and the next attempt is', async () => {
  const { world, session, speaker, voice } = openVoice()
  session.begin('t1')
  session.sentence('t1', 0, 'One.')
  session.sentence('t1', 1, 'Two three.')
  session.sentence('t1', 2, 'Four.')
  await world.pass(2 * WORD_MS)
  session.drop('t1', 1)
  expect(voice.heard()).toEqual({ type: 'sentence', message: 't1', index: 0 })
  session.sentence('t1', 1, 'Deux.')
  await world.pass(1000)
  expect(speaker.played).toEqual(['One.', 'Two', 'Deux.'])
})

test('a sentence that comes twice is said once', async () => {
  const { world, session, speaker } = openVoice()
  session.begin('t1')
  const one = session.sentence('t1', 0, 'One.')
  session.tell('sentence', one)
  await world.pass(WORD_MS)
  session.tell('sentence', one)
  await world.pass(1000)
  expect(speaker.played).toEqual(['One.'])
})

test.each(['rejects', 'hangs', 'deaf'] as const)(
  'a speaker that %s in mid-sentence: an error tells it, the words so far count, the next sentence is said',
  async (type) => {
    const { world, session, speaker, voice, errors } = openVoice()
    speaker.faultOf = (text) => (text.startsWith('One') ? { type, after: 1 } : { type: 'none' })
    const ends: boolean[] = []
    voice.on('speech-end', ({ isWhole }) => void ends.push(isWhole))
    session.begin('t1')
    session.sentence('t1', 0, 'One two.')
    await world.pass(WORD_MS)
    expect(voice.heard()).toEqual({ type: 'sentence', message: 't1', index: 0, words: 1 })
    await world.pass(60_000)
    expect(session.reports).toEqual([{ message: 't1', chars: 0 }])
    session.sentence('t1', 1, 'Three.')
    await world.pass(WORD_MS)
    expect(speaker.played).toEqual(['One', 'Three.'])
    expect(ends).toEqual([false, true])
    expect(errors.map(({ code }) => code)).toEqual(['handler_failed'])
    expect(errors[0]?.message).toContain(type === 'rejects' ? 'the sound broke' : 'timed out')
  },
)

test('a speaker that needs a moment to stop: nothing is said over its end', async () => {
  const { world, session, voice } = openVoice()
  const texts: string[] = []
  const slow = createVoice(session, {
    world,
    speaker: {
      speak: (text, { signal }) =>
        new Promise((resolve) => {
          texts.push(text)
          signal.addEventListener('abort', () => void world.start(300, resolve))
        }),
      pause: () => {},
      resume: () => {},
    },
  })
  voice.close()
  session.begin('t1')
  session.sentence('t1', 0, 'One two.')
  await world.pass(10)
  slow.stop()
  session.finish('t1', 'cancelled')
  session.begin('t2')
  session.sentence('t2', 0, 'Yes?')
  await world.pass(299)
  expect(texts).toEqual(['One two.'])
  await world.pass(1)
  expect(texts).toEqual(['One two.', 'Yes?'])
})

test('a speaker that throws, and one whose pause throws, are told too', async () => {
  const { world, session, speaker, voice, errors } = openVoice()
  speaker.faultOf = () => ({ type: 'throws' })
  session.begin('t1')
  session.sentence('t1', 0, 'One.')
  await world.pass(0)
  speaker.faultOf = () => ({ type: 'none' })
  speaker.pause = () => {
    throw new Error('no pause')
  }
  session.sentence('t1', 1, 'Two.')
  voice.pause()
  expect(errors.map(({ message }) => message)).toEqual([
    'the speaker failed at sentence 0 of t1: Error: no sound',
    "the speaker's pause failed: Error: no pause",
  ])
})

test('the time of a text does not run while the voice is held', async () => {
  const { world, session, speaker, voice, errors } = openVoice({ confirmMs: 600_000 })
  session.begin('t1')
  session.sentence('t1', 0, 'One two.')
  await world.pass(WORD_MS)
  voice.pause()
  await world.pass(500_000)
  voice.resume()
  await world.pass(WORD_MS)
  expect([speaker.played, errors]).toEqual([['One', 'two.'], []])
})

test('too many sentences wait: no more of that answer is said, and an error tells it', async () => {
  const { world, session, speaker, errors } = openVoice({ sentencesMax: 2 })
  session.begin('t1')
  for (const index of [0, 1, 2, 3, 4]) session.sentence('t1', index, `${index}`)
  await world.pass(10_000)
  expect(speaker.played).toEqual(['0', '1', '2'])
  expect(errors.map(({ code }) => code)).toEqual(['queue_full'])
})

test('while nothing can be told to the server, only the newest place waits', async () => {
  const { world, session, errors } = openVoice()
  session.isBroken = true
  session.begin('t1')
  session.sentence('t1', 0, 'One.')
  await world.pass(50)
  session.isBroken = false
  await world.pass(1000)
  expect(session.reports).toEqual([{ message: 't1', chars: 5 }])
  expect(errors.map(({ message }) => message)).toEqual(['Error: the connection is broken'])
})

const waiting = { afterMs: 1000, say: 'One moment.' }

test('waiting words are said when a call runs long and nothing else is to say; they are no history', async () => {
  const { world, session, speaker, voice } = openVoice()
  session.begin('t1')
  session.sentence('t1', 0, 'I look.')
  session.call({ waiting, status: 'proposed' })
  await world.pass(2000)
  expect(speaker.played).toEqual(['I', 'look.'])
  session.call({ waiting })
  session.call({ waiting }) // the event of another change
  await world.pass(999)
  expect(speaker.begun).toHaveLength(1)
  await world.pass(1 + WORD_MS)
  expect(speaker.begun.at(-1)).toBe('One moment.')
  expect(voice.heard()).toEqual({ type: 'sentence', message: 't1', index: 0 })
  await world.pass(10_000)
  expect(speaker.begun).toHaveLength(2)
  expect(session.reports.at(-1)).toEqual({ message: 't1', chars: 8 })
})

test('waiting words wait for the sentence that is being said, and are not said when the result came first', async () => {
  const { world, session, speaker } = openVoice()
  session.begin('t1')
  session.sentence('t1', 0, 'w '.repeat(20).trim())
  session.call({ waiting })
  session.call({ callId: 'c2', waiting: { ...waiting, say: 'Still there.' } })
  session.call({ callId: 'c3', waiting: { afterMs: 5000, say: 'Sorry.' } })
  await world.pass(1500)
  session.call({ waiting, status: 'settled' })
  await world.pass(2000)
  session.call({ callId: 'c3', status: 'settled' })
  await world.pass(10_000)
  expect(speaker.begun.slice(1)).toEqual(['Still there.'])
})

test('of two calls that run long at once, the words of one are said', async () => {
  const { world, session, speaker } = openVoice()
  session.begin('t1')
  session.sentence('t1', 0, 'w '.repeat(20).trim())
  session.call({ waiting })
  session.call({ callId: 'c2', waiting: { ...waiting, say: 'Still there.' } })
  await world.pass(30_000)
  expect(speaker.begun.slice(1)).toEqual(['One moment.'])
})

test('an interrupt takes waiting words away, and they do not come again', async () => {
  const { world, session, speaker, voice } = openVoice()
  session.begin('t1')
  session.call({ waiting })
  await voice.interrupt()
  session.call({ waiting })
  await world.pass(10_000)
  expect(speaker.begun).toEqual([])
  expect(session.interrupts).toEqual([{ type: 'none' }])
})

test('a closed voice is silent, follows nothing, and leaves no timer', async () => {
  const { world, session, speaker, voice } = openVoice()
  session.begin('t1')
  session.call({ waiting })
  session.sentence('t1', 0, 'One two.')
  await world.pass(WORD_MS)
  voice.pause()
  voice.close()
  voice.close()
  voice.pause()
  await world.pass(0)
  expect([speaker.played, session.listeners(), world.timers()]).toEqual([['One'], 0, 0])
  expect(speaker.isPaused).toBe(false)
})

test('a listener that stops the voice when it begins', async () => {
  const { world, session, speaker, voice } = openVoice()
  voice.on('speech-start', () => voice.stop())
  session.begin('t1')
  session.sentence('t1', 0, 'One.')
  session.finish('t1')
  session.begin('t2')
  session.sentence('t2', 0, 'Two.')
  await world.pass(5000)
  expect([speaker.begun, voice.getSnapshot().state]).toEqual([[], 'idle'])
})
