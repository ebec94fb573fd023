// A browser's synthesis with its faults: voices that are listed late or never, an end that never fires, refusals,
// network voices.
import { expect, test } from 'vitest'
import type { BrowserSpeakerOptions } from './browser-speaker.ts'
import { createBrowserSpeaker } from './browser-speaker.ts'
import type { SynthesisLike, UtteranceLike, VoiceLike } from './synthesis.ts'
import { createVirtualWorld } from './voice.test-kit.ts'

const ANN: VoiceLike = { name: 'Ann', lang: 'en-GB', localService: true, default: false }
const NET: VoiceLike = { name: 'Net', lang: 'en-US', localService: false, default: true }
const EVA: VoiceLike = { name: 'Eva', lang: 'de-DE', localService: true, default: false }

class SpokenText implements UtteranceLike {
  readonly text: string
  voice: VoiceLike | null = null
  lang = ''
  rate = 1
  pitch = 1
  volume = 1
  onstart: UtteranceLike['onstart'] = null
  onend: UtteranceLike['onend'] = null
  onerror: UtteranceLike['onerror'] = null
  onboundary: UtteranceLike['onboundary'] = null

  constructor(text: string) {
    this.text = text
  }
}

/** A browser controlled by the test. */
class PlayedSynthesis implements SynthesisLike {
  speaking = false
  pending = false
  voices: readonly VoiceLike[]
  readonly said: SpokenText[] = []
  readonly acts: string[] = []
  readonly #listeners = new Set<() => void>()

  constructor(voices: readonly VoiceLike[]) {
    this.voices = voices
  }
  getVoices(): readonly VoiceLike[] {
    return this.voices
  }
  speak(utterance: UtteranceLike): void {
    this.speaking = true
    this.said.push(utterance as SpokenText) // created by the class above
    this.acts.push('speak')
  }
  cancel(): void {
    this.speaking = false
    this.acts.push('cancel')
  }
  resume(): void {}
  addEventListener(_: string, listener: () => void): void {
    this.#listeners.add(listener)
  }
  removeEventListener(_: string, listener: () => void): void {
    this.#listeners.delete(listener)
  }
  list(voices: readonly VoiceLike[]): void {
    this.voices = voices
    for (const listener of this.#listeners) listener()
  }
  boundary(charIndex: number, name = 'word'): void {
    this.said.at(-1)?.onboundary?.({ name, charIndex } as never)
  }
  end(): void {
    this.speaking = false
    this.said.at(-1)?.onend?.({} as never)
  }
  fail(error: string): void {
    this.speaking = false
    this.said.at(-1)?.onerror?.({ error } as never)
  }
}

function begin(text: string, voices: readonly VoiceLike[] = [ANN], options: Partial<BrowserSpeakerOptions> = {}) {
  const world = createVirtualWorld()
  const synthesis = new PlayedSynthesis(voices)
  const speaker = createBrowserSpeaker({ synthesis, Utterance: SpokenText, world, ...options })
  const abort = new AbortController()
  const words: number[] = []
  const outcome: { error?: unknown; isOver: boolean } = { isOver: false }
  speaker.speak(text, { signal: abort.signal, onWord: (word) => void words.push(word) }).then(
    () => void (outcome.isOver = true),
    (error: unknown) => void Object.assign(outcome, { isOver: true, error }),
  )
  return { world, synthesis, speaker, abort, words, outcome }
}

test('a voice of the machine says the text whole, and its boundaries tell the words', async () => {
  const { world, synthesis, words, outcome } = begin('One two three.', [ANN], { rate: 1.2 })
  await world.pass(0)
  expect(synthesis.said.map(({ text, voice, lang, rate }) => [text, voice, lang, rate])).toEqual([
    ['One two three.', ANN, 'en-GB', 1.2],
  ])
  synthesis.boundary(14, 'sentence')
  synthesis.boundary(0)
  expect(words.at(-1) ?? 0).toBe(0)
  synthesis.boundary(4)
  synthesis.boundary(8)
  expect(words.at(-1)).toBe(2)
  expect(outcome.isOver).toBe(false)
  synthesis.end()
  await world.pass(0)
  expect([words.at(-1), outcome, world.timers()]).toEqual([3, { isOver: true }, 0])
})

test.each([
  [{}, [NET, ANN, EVA], 'Net'],
  [{ lang: 'en-AU' }, [NET, EVA, ANN], 'Ann'],
  [{ lang: 'en-US' }, [ANN, NET], 'Net'],
  [{ lang: 'de' }, [NET, ANN, EVA], 'Eva'],
  [{ lang: 'fr' }, [NET, ANN], 'Net'],
  [{ voice: 'Eva', lang: 'en' }, [NET, ANN, EVA], 'Eva'],
  [{ voice: 'Bob' }, [ANN], 'Ann'],
])('of %j and %j it takes %s', async (options, voices, name) => {
  const { world, synthesis } = begin('One.', voices, options)
  await world.pass(0)
  expect(synthesis.said[0]?.voice?.name).toBe(name)
})

test('voices that are listed late are waited for', async () => {
  const { world, synthesis } = begin('One.', [])
  await world.pass(500)
  expect(synthesis.said).toEqual([])
  synthesis.list([ANN])
  await world.pass(0)
  expect(synthesis.said).toHaveLength(1)
})

test('without a voice, as in headless Chromium, a text takes its time word by word', async () => {
  const { world, synthesis, speaker, words, outcome } = begin('One two.', [])
  await world.pass(1000 + 200)
  expect(words).toEqual([1])
  speaker.pause()
  await world.pass(5000)
  expect(words).toEqual([1])
  speaker.resume()
  await world.pass(1000)
  expect([words, outcome, synthesis.acts]).toEqual([[1, 2], { isOver: true }, []])
})

test('a pause before the voices are listed holds a silent text too', async () => {
  const { world, speaker, words, outcome } = begin('One two.', [])
  speaker.pause()
  await world.pass(10_000)
  expect(words).toEqual([])
  speaker.resume()
  await world.pass(1000)
  expect([words, outcome.isOver]).toEqual([[1, 2], true])
})

test('a page without synthesis is silent', async () => {
  const { world, words } = begin('One two.', [], { synthesis: null })
  await world.pass(1000)
  expect(words).toEqual([1, 2])
})

test('a pause cancels, and a resume says the rest from the word that was cut', async () => {
  const { world, synthesis, speaker, words, outcome } = begin('One two three.')
  await world.pass(0)
  synthesis.boundary(4)
  const [first] = synthesis.said
  speaker.pause()
  first?.onerror?.({ error: 'interrupted' } as never)
  await world.pass(10_000)
  expect([synthesis.acts, outcome.isOver]).toEqual([['speak', 'cancel'], false])
  speaker.resume()
  await world.pass(0)
  expect(synthesis.said.at(-1)?.text).toBe('two three.')
  synthesis.boundary(4)
  expect(words.at(-1)).toBe(2)
  synthesis.end()
  await world.pass(0)
  expect([words.at(-1), outcome]).toEqual([3, { isOver: true }])
})

test('after a cancel the next text waits for a moment', async () => {
  const { world, synthesis, speaker } = begin('One two three.')
  await world.pass(0)
  speaker.pause()
  speaker.resume()
  await world.pass(49)
  expect(synthesis.said).toHaveLength(1)
  await world.pass(1)
  expect(synthesis.said).toHaveLength(2)
})

test('an abort is silent at once, also in a pause, and settles', async () => {
  for (const isHeld of [false, true]) {
    const { world, synthesis, speaker, abort, outcome } = begin('One two three.')
    await world.pass(0)
    if (isHeld) speaker.pause()
    abort.abort()
    expect(synthesis.acts).toEqual(['speak', 'cancel'])
    await world.pass(100)
    expect([outcome, world.timers()]).toEqual([{ isOver: true }, 0])
  }
})

test('an end that is never told: silence for two seconds is one', async () => {
  const { world, synthesis, outcome } = begin('One.')
  await world.pass(0)
  synthesis.boundary(0)
  await world.pass(60_000)
  expect(outcome.isOver).toBe(false)
  synthesis.speaking = false
  await world.pass(2500)
  expect(outcome).toEqual({ isOver: true })
})

test.each([
  [
    'a refusal',
    (synthesis: PlayedSynthesis) => synthesis.fail('not-allowed'),
    'the browser did not speak: not-allowed',
  ],
  [
    'a synthesis that never begins',
    (synthesis: PlayedSynthesis) => void (synthesis.speaking = false),
    'the browser did not begin to speak',
  ],
])('%s is an error', async (_, act, message) => {
  const { world, synthesis, words, outcome } = begin('One.')
  await world.pass(0)
  act(synthesis)
  await world.pass(3000)
  expect(outcome).toMatchObject({ isOver: true, error: { code: 'handler_failed', message } })
  expect([words, world.timers()]).toEqual([[], 0])
})

test('a voice of the network says a long text in pieces that end before it falls silent, and each counts when it was said', async () => {
  const text = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ')
  const { world, synthesis, words } = begin(text, [NET])
  for (let pieces = 0; pieces < 10; pieces++) {
    await world.pass(0)
    synthesis.end()
  }
  await world.pass(0)
  const pieces = synthesis.said.map((piece) => piece.text)
  expect(pieces.join('')).toBe(text)
  expect(pieces.length).toBeGreaterThan(2)
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(121)
  expect(words).toHaveLength(pieces.length)
  expect(words.at(-1)).toBe(60)
})

test('a long word without a space is cut', async () => {
  const { world, synthesis } = begin('x'.repeat(300), [NET])
  await world.pass(0)
  expect(synthesis.said[0]?.text).toHaveLength(120)
})

test('a slow voice of the network says shorter pieces', async () => {
  const { world, synthesis } = begin('x'.repeat(300), [NET], { rate: 0.5 })
  await world.pass(0)
  expect(synthesis.said[0]?.text).toHaveLength(60)
})

test('a voice of the network says shorter pieces where a character takes as long as four letters', async () => {
  const text = '春眠不觉晓'.repeat(20)
  const { world, synthesis } = begin(text, [NET])
  for (let pieces = 0; pieces < 10; pieces++) {
    await world.pass(0)
    synthesis.end()
  }
  await world.pass(0)
  const pieces = synthesis.said.map((piece) => piece.text)
  expect(pieces.join('')).toBe(text)
  expect(pieces.map(({ length }) => length)).toEqual([30, 30, 30, 10])
})

test('a character of two UTF-16 units is not cut in half', async () => {
  const text = `x${'🎉'.repeat(100)}`
  const { world, synthesis } = begin(text, [NET])
  for (let pieces = 0; pieces < 3; pieces++) {
    await world.pass(0)
    synthesis.end()
  }
  await world.pass(0)
  const pieces = synthesis.said.map((piece) => piece.text)
  expect(pieces.join('')).toBe(text)
  expect(pieces.every((piece) => piece.isWellFormed())).toBe(true)
})

test.each([
  [{ rate: 0.1 }, 'createBrowserSpeaker: rate must be a number from 0.4 to 10, not 0.1'],
  [{ pitch: 3 }, 'createBrowserSpeaker: pitch must be a number from 0 to 2, not 3'],
  [{ volume: Number.NaN }, 'createBrowserSpeaker: volume must be a number from 0 to 1, not NaN'],
  [{ wordsPerMinute: 0 }, 'createBrowserSpeaker: wordsPerMinute must be a number from 1 to 10000, not 0'],
])('%o is refused', (options, message) => {
  expect(() => begin('One.', [ANN], options)).toThrow(message)
})
