// Sentences over connections that break anywhere, even if another server takes over: each is received once, in order,
// as over a connection that never breaks.
import type { Store } from '@baton/core'
import { BatonError, defineAgent, tool } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import type { V2Cursor, SentenceFrame, V2ServerFrame } from '@baton/protocol'
import { chooseCount } from '@baton/testing/depth'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { MemoryApp, MemoryServer } from './v2-memory-app.test-kit.ts'
import { isAt, startMemoryServer, turnLoop } from './v2-memory-app.test-kit.ts'

const PIECES = [
  'Hello. ',
  'It is 3.5 km. ',
  'Dr. Who? ',
  'z. B. ',
  'so',
  ' word ',
  'Yes! ',
  '😀 ',
  '… ',
  '... and ',
  '"Go." ',
  '\n',
  '\n\n',
  '\n- item\n',
  '\n1. one\n',
  '\n# Title\n',
  '\n```js\n',
  'a.b(). C\n```\n',
  '{ "a": "B. C", ',
  '| a | b |\n',
  '你好。',
  '「好。」',
  '**bold. Text** ',
  '[a link. B](https://a.example) ',
  '`code. X` ',
  'long words that run on and on '.repeat(14),
]

interface Script {
  /** Texts of the steps, each in its pieces; a tool is called after each step but the last. */
  readonly steps: readonly (readonly string[])[]
  /** Steps whose first attempt breaks off after this many pieces. */
  readonly broken: Readonly<Record<number, number>>
}

interface Cuts {
  /** Numbers of frames until the connection breaks, one after another. */
  readonly frames: readonly number[]
  /** Pieces that the model writes while there is no connection. */
  readonly away: number
  /** Number of first cuts where another server takes over: a turn that loses its model more often is given up. */
  readonly restarts: number
  readonly only: boolean
}

/** Writes a piece each time it is released. */
class Gate {
  #waiting: (() => void)[] = []
  readonly timers = {
    start: (_ms: number, fire: () => void) => {
      this.#waiting.push(fire)
      return () => {}
    },
  }

  open(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const one of waiting) one()
  }
}

const look = tool({
  name: 'look',
  description: 'Looks',
  input: { type: 'object', properties: {} },
  effect: 'pure',
  execute: () => 'seen',
})

function createScripted({ steps, broken }: Script, gate: Gate) {
  const tried = new Set<number>()
  const model = createScriptedModel({
    timers: gate.timers,
    steps: (request): ScriptedStep => {
      const index = request.messages.filter(({ role }) => role === 'tool').length
      const pieces = steps[index] ?? []
      const most = broken[index]
      if (most !== undefined && !tried.has(index)) {
        tried.add(index)
        const error = new BatonError({ code: 'model_overloaded', message: 'busy', retryable: true })
        return { pieces: pieces.slice(0, most), pieceMs: 1, error }
      }
      const calls = index < steps.length - 1 ? [{ name: 'look', arguments: {} }] : []
      return { pieces, pieceMs: 1, calls }
    },
  })
  return defineAgent({ name: 'voice', model, tools: [look], retry: { baseMs: 1 } })
}

/** The memory of an app with a voice: drops void sentences, and detects repeated or missing ones. */
class Voice {
  readonly sentences: SentenceFrame[] = []
  cursor: V2Cursor | undefined
  text = ''
  wholeText = ''
  stop: string | undefined
  restMost = 0
  isOver = false

  take(frame: V2ServerFrame): void {
    if ('next' in frame && frame.next) this.cursor = frame.next
    if ('next' in frame) this.restMost = Math.max(this.restMost, frame.next?.speech?.answer?.rest.length ?? 0)
    if (frame.type === 'error') throw new Error(JSON.stringify(frame))
    if (frame.type === 'sentences.dropped') this.sentences.splice(frame.index)
    if (frame.type === 'sentence') {
      if (frame.index !== this.sentences.length)
        throw new Error(`sentence ${frame.index} follows ${this.sentences.length}`)
      this.sentences.push(frame)
    }
    if (frame.type !== 'events') return
    for (const event of frame.events) {
      if (event.type === 'turn-finished') {
        this.wholeText = event.text
        this.stop = event.stop
      }
      // A tool is not called before the sentences preceding it were received.
      if (event.type === 'call' && event.call.status === 'proposed') this.text += `<${this.sentences.length}>`
    }
    this.isOver ||= isAt(frame, 'idle') && this.stop !== undefined
  }
}

const DEADLINE_MS = 180_000

async function play(script: Script, { frames: cuts, away, restarts, only }: Cuts): Promise<Voice> {
  const gate = new Gate()
  const agent = createScripted(script, gate)
  const store: Store = createMemoryStore()
  const voice = new Voice()
  const speech = only ? 'only' : true
  let server: MemoryServer = startMemoryServer(agent, store)
  const open = (): MemoryApp => {
    const app = server.connect()
    app.send('session.open', { session: 's', speech, ...(voice.cursor && { from: voice.cursor }) })
    return app
  }
  let app = open()
  app.send('input.send', { input: 'i1', content: 'Speak' })
  const remaining = [...cuts]
  let taken = 0
  const untilMs = Date.now() + DEADLINE_MS
  while (!voice.isOver) {
    if (Date.now() > untilMs) throw new Error('the turn did not end in time')
    const frame = app.next()
    if (!frame) {
      gate.open()
      await turnLoop(1)
      continue
    }
    voice.take(frame)
    if ('next' in frame) taken += 1
    if (taken < (remaining[0] ?? Infinity) || voice.isOver) continue
    taken = 0
    remaining.shift()
    app.drop()
    if (cuts.length - remaining.length <= restarts) {
      await server.stop()
      server = startMemoryServer(agent, store)
    }
    for (let piece = 0; piece < away; piece++) {
      gate.open()
      await turnLoop(1)
    }
    app = open()
  }
  await server.stop()
  return voice
}

const strip = (sentence: SentenceFrame): object => ({ ...sentence, next: undefined })

const scripts = fc
  .array(fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 })
  .chain((steps) =>
    fc.record({
      steps: fc.tuple(...steps.map((parts) => chunk(parts.join('')))),
      broken: fc.dictionary(fc.constantFrom('0', '1'), fc.integer({ min: 0, max: 8 })),
    }),
  )

/** The text in random pieces. */
function chunk(text: string): fc.Arbitrary<readonly string[]> {
  return fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 }).map((sizes) => {
    const pieces: string[] = []
    for (let at = 0, index = 0; at < text.length; index++) {
      const size = sizes[index % sizes.length] ?? 1
      pieces.push(text.slice(at, at + size))
      at += size
    }
    return pieces
  })
}

const cutsOf = fc.record({
  frames: fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 6 }),
  away: fc.integer({ min: 0, max: 6 }),
  restarts: fc.integer({ min: 0, max: 2 }),
  only: fc.boolean(),
})

test('sentences over broken connections are those of one that never breaks, and cover the text', async () => {
  await fc.assert(
    fc.asyncProperty(scripts, cutsOf, async (script, cuts) => {
      const whole = await play(script, { frames: [], away: 0, restarts: 0, only: false })
      const broken = await play(script, cuts)
      expect(broken.stop).toBe(whole.stop)
      expect(broken.sentences.map(strip)).toEqual(whole.sentences.map(strip))
      expect(broken.text).toBe(whole.text)
      expect(findUncovered(whole)).toEqual([])
      expect(Math.max(whole.restMost, broken.restMost)).toBeLessThan(1100)
    }),
    { numRuns: chooseCount({ quick: 40, deep: 400 }), seed: 7, endOnFailure: true },
  )
})

/** Sentences of a step must be contiguous, and state what they cover. */
function findUncovered({ sentences, wholeText, stop }: Voice): readonly SentenceFrame[] {
  // A turn whose last step is blank fails, and has no text.
  if (stop !== 'end') return []
  return sentences.filter(({ start, end, text, step }, index) => {
    const before = sentences[index - 1]
    const at = before?.step === step ? before.end : Math.max(start, before?.end ?? 0)
    return start !== at || end <= start || !hasInOrder(letters(wholeText.slice(start, end)), letters(text))
  })
}

function hasInOrder(covered: string, said: string): boolean {
  let at = 0
  for (const letter of covered) if (said.startsWith(letter, at)) at += letter.length
  return at === said.length
}

const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '')
