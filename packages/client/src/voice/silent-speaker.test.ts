// A speaker without sound takes the time that saying a text would, and can be held and stopped meanwhile.
import { expect, test } from 'vitest'
import { createSilentSpeaker } from './silent-speaker.ts'
import { estimateSpeechMs } from './speech-time.ts'
import { createVirtualWorld } from './voice.test-kit.ts'

function speak(text: string) {
  const world = createVirtualWorld()
  const speaker = createSilentSpeaker({ world })
  const abort = new AbortController()
  const words: number[] = []
  const said = { isOver: false }
  void speaker.speak(text, { signal: abort.signal, onWord: (word) => void words.push(word) }).then(() => {
    said.isOver = true
  })
  return { world, speaker, abort, words, said }
}

test('word by word, as long as saying it takes', async () => {
  const { world, words, said } = speak('One two three.')
  await world.pass(estimateSpeechMs('One two') - 1)
  expect(words).toEqual([1])
  await world.pass(1)
  expect(words).toEqual([1, 2])
  await world.pass(1000)
  expect([words, said.isOver, world.timers()]).toEqual([[1, 2, 3], true, 0])
})

test('a pause in mid-word takes nothing of its time', async () => {
  const { world, speaker, words } = speak('One two three.')
  const half = estimateSpeechMs('One') - 10
  await world.pass(half)
  speaker.pause()
  await world.pass(60_000)
  expect(words).toEqual([])
  speaker.resume()
  await world.pass(9)
  expect(words).toEqual([])
  await world.pass(1)
  expect(words).toEqual([1])
})

test('who hears of a word may hold the voice there', async () => {
  const world = createVirtualWorld()
  const speaker = createSilentSpeaker({ world })
  const words: number[] = []
  const onWord = (word: number): void => {
    words.push(word)
    if (word === 1) speaker.pause()
  }
  const said = speaker.speak('One two.', { signal: new AbortController().signal, onWord })
  await world.pass(60_000)
  expect(words).toEqual([1])
  speaker.resume()
  await world.pass(1000)
  await said
  expect(words).toEqual([1, 2])
})

test('who hears of a word may hold the voice there and release it at once, and each word is told once', async () => {
  const world = createVirtualWorld()
  const speaker = createSilentSpeaker({ world })
  const words: number[] = []
  const onWord = (word: number): void => {
    words.push(word)
    speaker.pause()
    speaker.resume()
  }
  void speaker.speak('One two three.', { signal: new AbortController().signal, onWord })
  await world.pass(estimateSpeechMs('One two') - 1)
  expect([words, world.timers()]).toEqual([[1], 1])
  await world.pass(1000)
  expect([words, world.timers()]).toEqual([[1, 2, 3], 0])
})

test('an abort ends it at once, also while it is held', async () => {
  for (const isHeld of [false, true]) {
    const { world, speaker, abort, words, said } = speak('One two.')
    await world.pass(300)
    if (isHeld) speaker.pause()
    abort.abort()
    await world.pass(0)
    expect(said.isOver).toBe(true)
    speaker.resume()
    await world.pass(10_000)
    expect([words, world.timers()]).toEqual([[1], 0])
  }
})

test.each([0, -1, Number.NaN, Infinity])('%d words a minute are refused', (wordsPerMinute) => {
  expect(() => createSilentSpeaker({ wordsPerMinute })).toThrow('wordsPerMinute must be a number from 1 to 10000')
})

test('a text without words is over at once', async () => {
  const { world, said } = speak('…')
  await world.pass(0)
  expect(said.isOver).toBe(true)
})
