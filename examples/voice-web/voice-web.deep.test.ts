// The voice page in a real browser, with a simulated recognition and synthesis, and with neither.
import { tool } from '@baton/core'
import { expect, test } from 'vitest'
import { call, createGatedTool, findMessageBox, say } from '../chat-web/chat-web.test-kit.ts'
import {
  expectStatus,
  hear,
  inject,
  openVoiceBrowser,
  playWords,
  readPlayed,
  readSentences,
  readTold,
  watchStatuses,
} from './voice-web.test-kit.ts'

const { hasBrowser, open, openPage } = openVoiceBrowser()
/** Timeout in milliseconds for conditions on a loaded machine. */
const PATIENCE_MS = 20_000
const injected = { prepare: inject }
const LONG = 'The first train leaves at nine. The next one has a dining car and many seats. There is a third one.'

test.skipIf(!hasBrowser)(
  'a whole conversation without voice and recognition: sentences take their time, all is heard',
  async () => {
    const { page, model } = await open([{ text: 'At **nine**. From here.' }, { text: 'Good bye.' }])
    const statuses = await watchStatuses(page)
    await say(page, 'When?')
    await page.getByText('From here.').waitFor()
    await expectStatus(page, 'Ready')
    expect(await statuses()).toContain('Speaking')
    await say(page, 'Thanks')
    await page.getByText('Good bye.').waitFor()
    await expectStatus(page, 'Ready')
    expect(await readSentences(page)).toEqual(
      ['At nine.', 'From here.', 'Good bye.'].map((heard) => ({ heard, rest: '', status: 'heard' })),
    )
    expect(readTold(model)).toEqual(['user: When?', 'assistant: At **nine**. From here.', 'user: Thanks'])
  },
)

test.skipIf(!hasBrowser)(
  'typing in mid-sentence, without voice and recognition: the history has the words that were shown as heard',
  async () => {
    const { page, model } = await open([{ text: LONG, hangs: 'until-aborted' }, { text: 'Yes.' }], [], {
      query: '?wpm=120',
    })
    await say(page, 'When?')
    await page.locator('.saying .heard', { hasText: 'The next' }).waitFor()
    await say(page, 'Is there coffee?')
    await page.getByText('Yes.').waitFor()
    const sentences = await readSentences(page)
    expect(sentences.map(({ status }) => status)).toEqual(['heard', 'unsaid', expect.any(String)])
    const heard = sentences.slice(0, 2).map((one) => one.heard)
    expect(readTold(model)).toEqual(['user: When?', `assistant: ${heard.join(' ')}`, 'user: Is there coffee?'])
  },
)

test.skipIf(!hasBrowser)('barge-in by speech in mid-sentence: the history has the words that were played', async () => {
  const { page, model } = await open([{ text: LONG, hangs: 'until-aborted' }, { text: 'Yes.' }], [], injected)
  await page.getByRole('button', { name: 'Listen' }).click()
  await hear(page, 'When does it leave?', true)
  await playWords(page, 10)
  await hear(page, 'is', false)
  await page.getByText('Holds: is somebody speaking?').waitFor()
  await hear(page, 'is there coffee', false)
  await page.locator('.unsaid').first().waitFor()
  await hear(page, 'Is there coffee?', true)
  await playWords(page, 11)
  expect(await readPlayed(page)).toBe('The first train leaves at nine. The next one has Yes.')
  expect(readTold(model)).toEqual([
    'user: When does it leave?',
    'assistant: The first train leaves at nine. The next one has',
    'user: Is there coffee?',
  ])
  await expectStatus(page, 'Ready')
})

test.skipIf(!hasBrowser)('barge-in into an answer that the model wrote long before', async () => {
  const { page, model } = await open([{ text: LONG }, { text: 'Yes.' }], [], injected)
  await say(page, 'When?')
  await page.getByText('There is a third one.').waitFor()
  await playWords(page, 2)
  await say(page, 'Coffee?')
  await playWords(page, 3)
  expect(readTold(model)).toEqual(['user: When?', 'assistant: The first', 'user: Coffee?'])
})

test.skipIf(!hasBrowser)(
  'a cough holds the voice, which goes on in the middle of the sentence; nobody is told',
  async () => {
    const { page, model } = await open([{ text: LONG }, { text: 'Bye.' }], [], injected)
    await page.getByRole('button', { name: 'Listen' }).click()
    await say(page, 'When?')
    await playWords(page, 3)
    await page.evaluate('bench.recognition.onspeechstart()')
    await hear(page, 'uh', false)
    await page.getByText('Holds: is somebody speaking?').waitFor()
    await page.getByText('Nobody spoke: goes on.').waitFor()
    await playWords(page, LONG.split(' ').length)
    expect(await readPlayed(page)).toBe(LONG)
    expect(await page.evaluate('bench.texts[1]')).toBe('leaves at nine.')
    await say(page, 'Bye')
    await playWords(page, LONG.split(' ').length + 1)
    expect(readTold(model)).toEqual(['user: When?', `assistant: ${LONG}`, 'user: Bye'])
  },
)

test.skipIf(!hasBrowser)('the echo of the voice is nobody who speaks', async () => {
  const { page } = await open([{ text: LONG }], [], injected)
  await page.getByRole('button', { name: 'Listen' }).click()
  await say(page, 'When?')
  await playWords(page, 3)
  await hear(page, 'the first train', false)
  await hear(page, 'The first train leaves at nine', true)
  await playWords(page, LONG.split(' ').length)
  expect(await readPlayed(page)).toBe(LONG)
  expect(await page.locator('[data-type=note]').count()).toBe(0)
})

test.skipIf(!hasBrowser)('a person who repeats words of the voice after it has spoken is heard', async () => {
  const { page, model } = await open(
    [{ text: 'Platform 3, or platform 5?' }, { text: 'Yes.' }, { text: 'Yes.' }],
    [],
    injected,
  )
  await page.getByRole('button', { name: 'Listen' }).click()
  await say(page, 'Where?')
  await playWords(page, 5)
  await expectStatus(page, 'Ready')
  await expect
    .poll(
      async () => {
        await hear(page, 'platform 5', true)
        return readTold(model).at(-1)
      },
      { timeout: PATIENCE_MS },
    )
    .toBe('user: platform 5')
})

test.skipIf(!hasBrowser)('a slow tool: the page says that it takes a moment, and the history does not', async () => {
  const gate = createGatedTool()
  const wait = { ...gate.wait, title: 'Search', waiting: { afterMs: 50, say: 'One moment.' } }
  const { page, model } = await open(
    [{ text: 'I look.', calls: [call('wait')] }, { text: 'Here it is.' }],
    [wait],
    injected,
  )
  await say(page, 'Find it')
  await playWords(page, 4)
  gate.open()
  await playWords(page, 7)
  expect(await readPlayed(page)).toBe('I look. One moment. Here it is.')
  await expectStatus(page, 'Ready')
  expect(await page.locator('[data-type=waiting]').textContent()).toContain('One moment. (not in the conversation)')
  expect(JSON.stringify(model.requests.at(-1))).not.toContain('One moment')
})

test.skipIf(!hasBrowser)(
  'an interrupt while a tool runs that goes on: its outcome is told with the next input',
  async () => {
    const gate = Promise.withResolvers<string>()
    const book = tool({
      name: 'book',
      description: 'books',
      input: { type: 'object', properties: {} },
      effect: 'once',
      onInterrupt: 'detach',
      execute: () => gate.promise,
    })
    const steps = [{ text: 'I book it.', calls: [call('book')] }, { text: 'It is sunny.' }, { text: 'Done.' }]
    const { page, model } = await open(steps, [book], injected)
    await say(page, 'Book')
    await playWords(page, 3)
    await page.getByText('book: running').waitFor()
    await say(page, 'And the weather?')
    await page.getByText('goes on').waitFor()
    await playWords(page, 6)
    gate.resolve('seat 14')
    await expect
      .poll(
        async () => {
          await say(page, 'Thanks')
          await page.getByText('Done.').waitFor()
          return readTold(model).join('\n')
        },
        { timeout: PATIENCE_MS },
      )
      .toContain('seat 14')
  },
)

test.skipIf(!hasBrowser)(
  'a reload in mid-speech: the page shows what was said, no sentence is said again, and the next ones are',
  async () => {
    const gate = createGatedTool()
    const steps = [{ text: 'One two. Three four.', calls: [call('wait')] }, { text: 'Five six.' }]
    const { page } = await open(steps, [gate.wait], injected)
    await say(page, 'Count')
    await playWords(page, 3)
    await page.reload()
    await findMessageBox(page).waitFor()
    await page.getByText('One two. Three four.').waitFor()
    gate.open()
    await playWords(page, 2)
    expect(await readPlayed(page)).toBe('Five six.')
    await expectStatus(page, 'Ready')
  },
)

test.skipIf(!hasBrowser)(
  'a browser that does not let the page listen says why, and one that cannot says that',
  async () => {
    const { page, url } = await open([], [], injected)
    await page.getByRole('button', { name: 'Listen' }).click()
    await page.evaluate("bench.recognition.onerror({ error: 'no-speech' })")
    await page.evaluate('bench.recognition.onend()')
    await page.getByRole('button', { name: 'Stop listening' }).waitFor()
    await page.evaluate("bench.recognition.onerror({ error: 'not-allowed' })")
    await page.getByText('Speech recognition stopped (not-allowed). Type instead.').waitFor()
    const without = await openPage(url, {
      prepare: async (one) =>
        void (await one.addInitScript('globalThis.SpeechRecognition = globalThis.webkitSpeechRecognition = undefined')),
    })
    await without.getByRole('button', { name: 'Listen' }).click()
    await without.getByText('This browser does not support speech recognition. Type instead.').waitFor()
  },
)

test.skipIf(!hasBrowser)('a browser that refuses to speak: the page says so, and goes on', async () => {
  const { page } = await open([{ text: 'One. Two.' }], [], injected)
  await say(page, 'Count')
  await page.waitForFunction('bench.now')
  await page.evaluate(
    "(() => { const { utterance } = bench.now; bench.now = undefined; utterance.onerror({ error: 'not-allowed' }) })()",
  )
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').textContent()).toContain('not-allowed')
  await playWords(page, 1)
  expect(await readPlayed(page)).toBe('Two.')
})
