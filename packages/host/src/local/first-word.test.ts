// How long a turn waits for the first word of an answer: retries and fallback models share one limit.
import type { AbortSignalLike, Model, ModelAnswer, ModelEvent } from '@baton/core/internal'
import { BatonError, voice } from '@baton/core/internal'
import { describe, expect, test } from 'vitest'
import { act, createManualTime, createTestWorld, noUnhandledRejections } from './test-world.test-kit.ts'
import type { ManualTime, TestWorldOptions } from './test-world.test-kit.ts'

noUnhandledRejections()

interface Said {
  readonly afterMs: number
  readonly text?: string
  readonly call?: string
  /** Milliseconds from its first piece to its last. */
  readonly talksMs?: number
  readonly fails?: { readonly retryAfterMs?: number }
  /** Says nothing, and ignores its abort signal. */
  readonly isDeaf?: true
}

/** Answers by its script. Without one, it says nothing and ends when its signal aborts. */
function createSlowModel(id: string, { environment: { timers } }: ManualTime, script: readonly Said[] = []) {
  const askedMs: number[] = []
  const wait = (ms: number) => new Promise<void>((resolve) => void timers.start(ms, resolve))
  const run = async (
    sink: (event: ModelEvent) => void,
    said: Said | undefined,
    signal: AbortSignalLike,
  ): Promise<ModelAnswer> => {
    if (!said || said.isDeaf)
      return await new Promise((_, reject) => {
        if (!said) signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
      })
    await wait(said.afterMs)
    if (said.fails) {
      const data = { status: 503, ...said.fails }
      throw new BatonError({ code: 'model_overloaded', message: 'overloaded', data })
    }
    const { text = '', call, talksMs = 0 } = said
    if (text !== '') sink({ type: 'text-delta', text })
    await wait(talksMs)
    const parts =
      call === undefined ? [{ type: 'text' as const, text }] : [{ type: 'call' as const, name: call, arguments: '{}' }]
    return { parts, finish: call === undefined ? 'end' : 'tool-calls', usage: {}, model: id }
  }
  const model: Model = {
    id,
    provider: 'slow',
    capabilities: { tools: 'native', images: false },
    run: (_request, sink, signal) => {
      askedMs.push(Math.round(environmentMs()))
      return run(sink, script[askedMs.length - 1], signal)
    },
  }
  let environmentMs = (): number => 0
  return { model, askedMs, countFrom: (readMs: () => number) => void (environmentMs = readMs) }
}

type Scripts = Readonly<Record<string, readonly Said[]>>

/** Plays one turn: returns its outcome, its duration, and when each model was called. */
async function play(scripts: Scripts, init: Partial<TestWorldOptions> = { profile: voice }) {
  const time = createManualTime()
  const slow = Object.entries(scripts).map(([id, script]) => createSlowModel(id, time, script))
  const world = createTestWorld({ time, steps: [], models: slow.map(({ model }) => model), ...init })
  const session = await world.open()
  const beganMs = time.nowMs()
  for (const { countFrom } of slow) countFrom(() => time.nowMs() - beganMs)
  const answer = session.send('go').answer.then(
    ({ text }) => text,
    (thrown: unknown) => (thrown instanceof BatonError ? thrown.code : 'internal'),
  )
  const outcome = await time.until(answer)
  return { outcome, tookMs: time.nowMs() - beganMs, asked: slow.map(({ askedMs }) => askedMs) }
}

describe('a voice agent', () => {
  test('whose provider hangs fails after 30 seconds', async () => {
    expect(await play({ one: [] })).toEqual({ outcome: 'model_timeout', tookMs: 30_000, asked: [[0]] })
  })

  test('asks its second model after half of the time, which has the other half', async () => {
    const spoken = await play({ one: [], two: [{ afterMs: 14_000, text: 'Hello.' }] })
    expect(spoken).toEqual({ outcome: 'Hello.', tookMs: 29_000, asked: [[0], [15_000]] })
    expect(await play({ one: [], two: [] })).toMatchObject({ outcome: 'model_timeout', tookMs: 30_000 })
  })

  test('whose first model does not stop waits 5 seconds before it asks the second one, within the same 30 seconds', async () => {
    const deaf = [{ afterMs: 0, isDeaf: true }] as const
    const spoken = await play({ one: deaf, two: [{ afterMs: 9000, text: 'Hello.' }] })
    expect(spoken).toEqual({ outcome: 'Hello.', tookMs: 29_000, asked: [[0], [20_000]] })
    const silent = await play({ one: deaf, two: [] })
    expect(silent).toEqual({ outcome: 'model_timeout', tookMs: 30_000, asked: [[0], [20_000]] })
  })

  test('gives its second model what the first one left', async () => {
    const refused = { afterMs: 1000, fails: { retryAfterMs: 60_000 } }
    const { outcome, tookMs, asked } = await play({ one: [refused], two: [] })
    expect([outcome, tookMs, asked]).toEqual(['model_timeout', 30_000, [[0], [1000]]])
  })

  test('tries again after a failure, within the same 30 seconds', async () => {
    const failing = { afterMs: 100, fails: {} }
    const { outcome, tookMs, asked } = await play({ one: [failing, failing] })
    expect([outcome, tookMs, asked[0]?.length]).toEqual(['model_timeout', 30_000, 3])
  })

  test('does not wait for a retry that would come too late', async () => {
    const busy = { afterMs: 29_900, fails: {} }
    expect(await play({ one: [busy] })).toMatchObject({ outcome: 'model_overloaded', tookMs: 29_900 })
  })

  test('lets an answer that has begun take its time', async () => {
    const talking = { afterMs: 29_000, text: 'Once upon a time', talksMs: 120_000 }
    expect(await play({ one: [talking] })).toMatchObject({ outcome: 'Once upon a time', tookMs: 149_000 })
  })

  test('waits again after a call', async () => {
    const script = [
      { afterMs: 20_000, call: 'act' },
      { afterMs: 20_000, text: 'Done.' },
    ]
    const tools = [act(() => 'done')]
    expect(await play({ one: script }, { profile: voice, tools })).toMatchObject({ outcome: 'Done.', tookMs: 40_000 })
  })

  test('may have another bound', async () => {
    const bound = { profile: voice, limits: { firstWordMs: 5000 } }
    expect(await play({ one: [] }, bound)).toMatchObject({ outcome: 'model_timeout', tookMs: 5000 })
  })
})

test('another agent has the bound that it names, and none by default', async () => {
  const late = [{ afterMs: 100_000, text: 'At last.' }]
  expect(await play({ one: late }, {})).toMatchObject({ outcome: 'At last.', tookMs: 100_000 })
  expect(await play({ one: late }, { limits: { firstWordMs: 40_000 } })).toMatchObject({ tookMs: 40_000 })
})
