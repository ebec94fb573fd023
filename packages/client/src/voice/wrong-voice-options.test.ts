// Mistakes of programs when they create a voice: they fail at once, instead of a page that stays silent.
import { expect, test } from 'vitest'
import { openSession } from '../index.ts'
import { platformWorld } from '../world.ts'
import type { BrowserSpeakerOptions } from './browser-speaker.ts'
import { createBrowserSpeaker } from './browser-speaker.ts'
import type { SilentSpeakerOptions } from './silent-speaker.ts'
import { createSilentSpeaker } from './silent-speaker.ts'
import { PlayedSession } from './voice.test-kit.ts'
import type { VoiceClient, VoiceOptions } from './voice-api.ts'
import { createVoice } from './voice.ts'

const speaker = createSilentSpeaker()
const refusal = (message: string) => expect.objectContaining({ code: 'invalid_option', message })

test.each([
  [undefined, 'createVoice needs options, not undefined'],
  [{ speaker, confirmMS: 3 }, 'createVoice has no option "confirmMS"'],
  [{}, 'createVoice needs a speaker, not undefined'],
  [{ speaker: createSilentSpeaker }, 'createVoice needs a speaker, not function'],
  [{ speaker: null }, 'createVoice needs a speaker, not object'],
  [{ speaker: { speak: () => {} } }, 'createVoice needs a speaker, which has no method "pause"'],
  [{ speaker, world: { nowMs: () => 0 } }, 'createVoice needs a world, which has no method "start"'],
  [{ speaker, confirmMs: -1 }, 'createVoice: confirmMs must be a number from 0 to 2147483647, not -1'],
  [{ speaker, confirmMs: '2000' }, 'createVoice: confirmMs must be a number from 0 to 2147483647, not "2000"'],
  [{ speaker, confirmMs: Infinity }, 'createVoice: confirmMs must be a number from 0 to 2147483647, not Infinity'],
  [{ speaker, sentencesMax: 0 }, 'createVoice: sentencesMax must be a number from 1 to 9007199254740991, not 0'],
])('a voice with %j is refused', (options, message) => {
  expect(() => createVoice(new PlayedSession(), options as unknown as VoiceOptions)).toThrow(refusal(message)) // as in JavaScript
})

test.each([undefined, {}])('%j is no session', (client) => {
  expect(() => createVoice(client as unknown as VoiceClient, { speaker })).toThrow(/needs a client/) // as in JavaScript
})

test('every option that exists is taken', () => {
  const options: Required<VoiceOptions> = { speaker, confirmMs: 0, sentencesMax: 1, world: platformWorld() }
  createVoice(new PlayedSession(), options).close()
  const ofBrowser: Required<BrowserSpeakerOptions> = {
    synthesis: null,
    Utterance: class {
      voice = null
      lang = ''
      rate = 1
      pitch = 1
      volume = 1
      onstart = null
      onend = null
      onerror = null
      onboundary = null
    },
    voice: 'Ann',
    lang: 'en-GB',
    rate: 0.4,
    pitch: 2,
    volume: 0,
    wordsPerMinute: 1,
    world: platformWorld(),
  }
  createBrowserSpeaker(ofBrowser)
})

test('a session that was opened without speech has no sentences, and no voice', () => {
  const url = 'ws://127.0.0.1:9/ws'
  const mute = openSession({ url, session: 's' })
  expect(() => createVoice(mute, { speaker })).toThrow(
    expect.objectContaining({ code: 'invalid_option', hint: expect.stringContaining('speech: true') }),
  )
  mute.close()
  const speaking = openSession({ url, session: 's', speech: true })
  createVoice(speaking, { speaker }).close()
  speaking.close()
})

test.each([
  [{ wordsPerMinute: 0 }, 'wordsPerMinute must be a number from 1 to 10000, not 0'],
  [{ wordsPerMinute: '160' }, 'wordsPerMinute must be a number from 1 to 10000, not "160"'],
  [{ wpm: 160 }, 'has no option "wpm"'],
])('speakers with %j are refused', (options, message) => {
  expect(() => createSilentSpeaker(options as SilentSpeakerOptions)).toThrow(message) // as in JavaScript
  expect(() => createBrowserSpeaker(options as BrowserSpeakerOptions)).toThrow(message) // as in JavaScript
})

test.each([
  [{ rate: 99 }, 'rate must be a number from 0.4 to 10, not 99'],
  [{ volume: Number.NaN }, 'volume must be a number from 0 to 1, not NaN'],
])('a speaker of the browser with %j is refused', (options, message) => {
  expect(() => createBrowserSpeaker(options)).toThrow(message)
})

test('an event that a voice does not have is refused, with the events that it has', () => {
  const voice = createVoice(new PlayedSession(), { speaker })
  expect(() => voice.on('speech' as 'speech-end', () => {})).toThrow(
    expect.objectContaining({ code: 'invalid_option', hint: expect.stringContaining('speech-word, speech-end') }),
  )
})
