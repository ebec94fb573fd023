// Shared code of the voice page's tests: simulated recognition and synthesis, and the content of the page.
import type { Tool } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { OpenOptions } from '../chat-web/chat-web.test-kit.ts'
import { openBrowser } from '../chat-web/chat-web.test-kit.ts'
import { bundleVoicePage, startVoiceServer } from './server.ts'

type Steps = Parameters<typeof createScriptedModel>[0]['steps']

/** A fast speaking rate for tests: a word takes 60 ms. */
const QUERY = '?wpm=1000'

export function openVoiceBrowser() {
  const { hasBrowser, openPage, closers } = openBrowser()
  let program: Promise<string> | undefined
  const openServer = async (steps: Steps, tools: readonly Tool[] = []) => {
    const model = createScriptedModel({ steps })
    program ??= bundleVoicePage()
    const server = await startVoiceServer(defineAgent({ name: 'a', model, tools: [...tools] }), {
      pageProgram: await program,
    })
    closers.push(server.stop)
    return { model, url: server.url }
  }
  const open = async (steps: Steps, tools: readonly Tool[] = [], options: OpenOptions = {}) => {
    const { model, url } = await openServer(steps, tools)
    const page = await openPage(url, { query: QUERY, ...options })
    await expectStatus(page, 'Ready')
    return { model, url, page }
  }
  return { hasBrowser, open, openServer, openPage, closers }
}

export async function expectStatus(page: Page, text: string): Promise<void> {
  await page.locator('.status', { hasText: text }).waitFor()
}

/** Records every status that the page shows, including those that disappear before a test could look. */
export async function watchStatuses(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(`{
    const bench = (globalThis.bench ??= {})
    bench.statuses = []
    const status = document.querySelector('.status')
    const note = () => bench.statuses.push(status.textContent)
    new MutationObserver(note).observe(status, { characterData: true, childList: true, subtree: true })
  }`)
  return () => page.evaluate<string[]>('bench.statuses')
}

/** Runs before the page's own program. `bench.hear(text, isFinal)` is the recognition's result. */
export const INJECTED_RECOGNITION = `(() => {
  const bench = (globalThis.bench ??= {})
  bench.hear = (text, isFinal) =>
    bench.recognition.onresult({ resultIndex: 0, results: [{ isFinal, 0: { transcript: text } }] })
  class Recognition {
    start() { bench.recognition = this }
    abort() { bench.recognition = undefined }
  }
  globalThis.SpeechRecognition = globalThis.webkitSpeechRecognition = Recognition
})()`

/** `said` records each word that was played; `step(n)` plays n words of the present utterance. */
const INJECTED_SYNTHESIS = `(() => {
  const bench = Object.assign((globalThis.bench ??= {}), { said: [], texts: [], now: undefined })
  const synthesis = {
    get speaking() { return bench.now !== undefined },
    pending: false,
    getVoices: () => [{ name: 'Test', lang: 'en-US', localService: true, default: true }],
    speak(utterance) {
      const words = [...utterance.text.matchAll(/\\S+/g)]
      bench.texts.push(utterance.text)
      bench.now = { utterance, words, at: 0 }
      utterance.onstart?.({})
    },
    cancel() { bench.now = undefined },
    resume() {},
    addEventListener() {},
    removeEventListener() {},
  }
  bench.step = (count) => {
    for (let played = 0; played < count && bench.now; played++) {
      const { utterance, words, at } = bench.now
      utterance.onboundary?.({ name: 'word', charIndex: words[at].index })
      bench.said.push(words[at][0])
      bench.now.at += 1
      const next = words[at + 1]
      if (next) utterance.onboundary?.({ name: 'word', charIndex: next.index })
      else { bench.now = undefined; utterance.onend?.({}) }
    }
  }
  Object.defineProperty(globalThis, 'speechSynthesis', { value: synthesis, configurable: true })
  globalThis.SpeechSynthesisUtterance = class { constructor(text) { this.text = text } }
})()`

export async function inject(page: Page): Promise<void> {
  await page.addInitScript(INJECTED_RECOGNITION)
  await page.addInitScript(INJECTED_SYNTHESIS)
}

/** Plays the words that the page's synthesis has queued so far, until `count` were played in total. */
export async function playWords(page: Page, count: number): Promise<void> {
  const play = async (): Promise<number> =>
    (await page.evaluate(`(bench.step(${count} - bench.said.length > 0 ? 1 : 0), bench.said.length)`)) as number // a count
  await expect.poll(play, { interval: 10 }).toBe(count)
}

export async function hear(page: Page, text: string, isFinal: boolean): Promise<void> {
  await page.evaluate(`bench.hear(${JSON.stringify(text)}, ${isFinal})`)
}

/** The text that was played. */
export async function readPlayed(page: Page): Promise<string> {
  return (await page.evaluate("bench.said.join(' ')")) as string // joined
}

export interface ShownSentence {
  readonly heard: string
  readonly rest: string
  readonly status: string
}

export function readSentences(page: Page): Promise<readonly ShownSentence[]> {
  return page.evaluate<readonly ShownSentence[]>(
    `[...document.querySelectorAll('.sentence')].map((one) => ({
      heard: one.querySelector('.heard').textContent,
      rest: one.querySelector('.rest')?.textContent ?? '',
      status: one.className.replace('sentence ', ''),
    }))`,
  )
}

/** The model's newest input, as texts by role. */
export function readTold({
  requests,
}: {
  readonly requests: readonly { readonly messages: readonly object[] }[]
}): readonly string[] {
  const messages = (requests.at(-1)?.messages ?? []) as readonly {
    readonly role: string
    readonly parts: readonly { readonly type: string; readonly text?: string }[]
  }[]
  return messages.map(({ role, parts }) => `${role}: ${parts.map(({ type, text }) => text ?? type).join(' ')}`)
}
