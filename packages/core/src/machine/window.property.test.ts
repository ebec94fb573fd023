// Random conversations in random windows: each request fits by the machine's own estimate, which learns from providers'
// counts and refusals, or its turn ends with a typed error. Calls and results are never separated, and the session
// continues.
import { chooseCount } from '@baton/testing/depth'
import { expect, test } from 'vitest'
import { validateHistory } from '../testing/neutral-history.ts'
import type { Random } from '../testing/random.ts'
import { createRandom } from '../testing/random.ts'
import { TestSession, toOutcome } from '../testing/test-session.ts'
import { requestTokens } from './window.ts'
import type { WindowSpec } from './spec.ts'

const CHARS_PER_TOKEN = 4
const LATE = { code: 'model_timeout', message: 'late', retryable: false } as const

function chooseWindow(random: Random): Partial<WindowSpec> {
  const contextTokens = random.pick([60, 200, 1000, 4096])
  return {
    contextTokens,
    ...(random.chance(0.5) && { actAtTokens: Math.ceil(contextTokens * random.pick([0.5, 0.85, 1])) }),
    reserveTokens: Math.floor(contextTokens * random.pick([0, 0.1, 0.4])),
    overheadTokens: Math.floor(contextTokens * random.pick([0, 0.1, 0.3])),
    exchanges: random.pick([1, 2, 4, 20, Number.MAX_SAFE_INTEGER]),
    keepExchanges: random.pick([1, 2, 5]),
    summarise: random.chance(0.5),
  }
}

function checkRequest(session: TestSession, seed: number): void {
  const { spec, state } = session
  const { contextTokens = 0, reserveTokens } = spec.window
  const tokens = requestTokens(spec, state)
  expect([seed, tokens + reserveTokens <= contextTokens]).toEqual([seed, true])
  const { fromEntry = 0, toEntry = 0 } = state.attempt ?? {}
  const [issue] = validateHistory(session.history.messages(fromEntry, toEntry))
  expect([seed, issue]).toEqual([seed, undefined])
}

interface Counts {
  requests: number
  /** Overestimation factor of a provider that counts more tokens than estimated. */
  refusals: number
  overflows: number
  moves: number
  results: number
  summaries: number
}

function play(seed: number, counts: Counts): void {
  const random = createRandom(seed)
  const window = chooseWindow(random)
  const { contextTokens = 0 } = window
  const session = new TestSession({ window })
  /** This provider's tokens per 1,000 characters: Chinese text has many more than English. */
  const density = random.pick([150, 250, 400, 900])
  const size = (): number => 1 + random.below(random.pick([20, 400, contextTokens * CHARS_PER_TOKEN]))
  const told = new Set<number>()
  for (let turn = 0; turn < 3 + random.below(12); turn++) {
    session.user('u'.repeat(size()))
    for (let steps = 0; session.state.phase !== 'idle' && steps < 60; steps++) {
      const { phase, attempt } = session.state
      if (phase === 'summarising') {
        const text = 's'.repeat(1 + random.below(400))
        const id = attempt?.attempt ?? 0
        if (random.chance(0.1)) session.send({ type: 'summary-failed', attempt: id, error: LATE })
        else session.send({ type: 'summary-finished', attempt: id, text, usage: {} })
        continue
      }
      if (phase === 'calling') {
        for (const { callId } of session.state.step?.calls ?? []) session.returns(callId, toOutcome('r'.repeat(size())))
        continue
      }
      const id = attempt?.attempt ?? 0
      if (!told.has(id)) {
        told.add(id)
        counts.requests += 1
        checkRequest(session, seed)
      }
      const inputTokens = Math.ceil((session.fact('model-started').chars * density) / 1000)
      if (inputTokens > contextTokens) {
        counts.refusals += 1
        session.modelFails('context_overflow')
        const { retry } = session.state
        if (retry) session.send({ type: 'timer-fired', timer: 'retry', generation: retry.generation })
        continue
      }
      const calls = random.chance(0.4) ? Array.from({ length: 1 + random.below(3) }, () => 'read') : []
      const text = 'a'.repeat(size())
      const outputTokens = Math.ceil((text.length * density) / 1000)
      session.says({ text, calls, usage: { inputTokens, ...(random.chance(0.9) && { outputTokens }) } })
    }
    expect([seed, session.state.phase]).toEqual([seed, 'idle'])
    // A turn fails only when everything older is removed and all long results are behind handles.
    const { error } = session.logged('turn-finished').at(-1) ?? {}
    const exchanges = new Set(session.state.index.map(({ exchange }) => exchange)).size
    const isWhole = exchanges === 1 && session.state.index.every(({ long }) => !long)
    const isAlone = error?.message.startsWith('the running exchange') ? isWhole : true
    expect([seed, turn, isAlone]).toEqual([seed, turn, true])
  }
  const codes = session.logged('turn-finished').flatMap(({ error }) => error?.code ?? [])
  expect([seed, codes.filter((code) => code !== 'context_overflow')]).toEqual([seed, []])
  counts.overflows += codes.length
  counts.moves += session.logged('window-moved').length
  counts.results += session.logged('results-moved').length
  counts.summaries += session.logged('summary-finished').length
}

test('each request fits its window, or its turn ends with a typed error', () => {
  const counts: Counts = { requests: 0, refusals: 0, overflows: 0, moves: 0, summaries: 0, results: 0 }
  const seeds = chooseCount({ quick: 150, landing: 500, deep: 10_000 })
  for (let seed = 1; seed <= seeds; seed++) play(seed, counts)
  console.log(`window: ${seeds} conversations, ${JSON.stringify(counts)}`)
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(seeds / 5)
})
