// Results that move behind handles because a request would not fit its model's window, even within a turn.
import { describe, expect, test } from 'vitest'
import { TestSession } from '../testing/test-session.ts'
import { createHistory } from './history.ts'
import type { WindowSpec } from './spec.ts'

/** Room for 1,000 tokens, or 4,000 characters. */
const WINDOW = { contextTokens: 1500, reserveTokens: 500 }

function look(session: TestSession, step: number, chars: number): TestSession {
  return session.says({ calls: ['read'] }).returns(`call_${step}_0`, `${step}`.repeat(chars))
}

function open(window: Partial<WindowSpec> = WINDOW): TestSession {
  return new TestSession({ window }).user('go')
}

/** For each result in the request, whether it is sent as a beginning and a handle. */
function listMoved({ state, history }: TestSession): readonly boolean[] {
  const messages = history.messages(state.attempt?.fromEntry ?? 0, state.attempt?.toEntry ?? 0)
  return messages.flatMap((message) =>
    message.role === 'tool' ? message.parts.map(({ moved }) => moved === true) : [],
  )
}

describe('a result behind a handle', () => {
  test('is one that is too large alone, so that the turn goes on', () => {
    const session = look(open(), 1, 40_000)
    expect(session.fact('results-moved')).toMatchObject({ calls: ['call_1_0'] })
    expect(session.state.phase).toBe('modelling')
    expect(listMoved(session)).toEqual([true])
    expect(session.fact('model-started').chars).toBeLessThan(4000)
    // People still see all of it.
    expect(session.lines().at(-1)).toBe(`call_1_0 = ${'1'.repeat(40_000)}`)
  })

  test('is the oldest of a long turn, and as many as leave a quarter of the room free', () => {
    const session = open({ ...WINDOW, contextTokens: 2500 })
    for (const step of [1, 2, 3]) look(session, step, 2500)
    // 7,500 of 8,000 characters.
    expect(session.logged('results-moved')).toEqual([])
    look(session, 4, 2500)
    expect(session.fact('results-moved').calls).toEqual(['call_1_0', 'call_2_0', 'call_3_0'])
    expect(listMoved(session)).toEqual([true, true, true, false])
  })

  test('is each of several in one step, where together they are too large', () => {
    const session = open().says({ calls: ['read', 'read', 'read'] })
    for (const at of [0, 1, 2]) session.returns(`call_1_${at}`, 'r'.repeat(2100))
    expect(listMoved(session)).toEqual([true, true, true])
  })

  test('leaves older exchanges as they are, where it alone is what does not fit', () => {
    const session = new TestSession({ window: WINDOW }).user('a').says('A').user('go')
    look(session, 2, 40_000)
    expect(session.factTypes()).toContain('results-moved')
    expect(session.logged('window-moved')).toEqual([])
    expect(session.told()[0]).toBe('user: a')
  })

  test('comes after older exchanges have left, where it is not', () => {
    const session = new TestSession({ window: WINDOW }).user('a'.repeat(1500)).says('A').user('go')
    look(session, 2, 1900)
    look(session, 3, 1900)
    expect(session.logged('window-moved')).toHaveLength(1)
    expect(session.logged('results-moved')).toEqual([])
  })

  test('makes room also where the provider, and not the estimate, says that the window is full', () => {
    const session = look(open({}), 1, 3000)
    session.modelFails('context_overflow', { retryable: false })
    expect(session.fact('attempt-superseded').reason).toBe('context-full')
    expect(listMoved(session)).toEqual([true])
    session.modelFails('context_overflow', { retryable: false })
    expect(session.fact('turn-finished').error?.code).toBe('context_overflow')
  })

  test('that is short saves nothing, and a request that does not fit is a typed error', () => {
    const session = open({ contextTokens: 500, reserveTokens: 50 })
    look(session, 1, 1900)
    expect(session.logged('results-moved')).toEqual([])
    expect(session.fact('turn-finished').error?.code).toBe('context_overflow')
  })

  test('with a summary: what is too large alone goes first, and the older steps are summarised where that is not enough', () => {
    const session = open({ ...WINDOW, summarise: true })
    look(session, 1, 1900)
    look(session, 2, 1900)
    look(session, 3, 40_000)
    expect(session.factTypes()).toEqual(expect.arrayContaining(['results-moved', 'summary-started']))
    session.send({
      type: 'summary-finished',
      attempt: session.state.attempt?.attempt ?? 0,
      text: 'two looks',
      usage: {},
    })
    expect(session.told()).toEqual([
      'user: go',
      'user: [Summary of the conversation so far] two looks',
      'call_3_0 read {}',
      expect.stringContaining('call_3_0 ='),
    ])
    expect(listMoved(session)).toEqual([true])
  })

  test('stays there after a rewind, a restart and a snapshot', () => {
    const session = look(open(), 1, 40_000).says('A').user('b').says('B')
    session.send({ type: 'rewind', inputId: 'r', exchange: 2, again: true })
    expect(listMoved(session)).toEqual([true])
    session.send({ type: 'host-restarted', downMs: 5 })
    expect(listMoved(session)).toEqual([true])
    const restored = createHistory({ snapshot: JSON.parse(JSON.stringify(session.history.takeSnapshot())) })
    expect(restored.entries()).toEqual(session.history.entries())
  })

  test('comes back with what a rewind brings back into the window', () => {
    const session = look(open({ ...WINDOW, exchanges: 2 }), 1, 40_000).says('A')
    const { index } = session.user('b').says('B').state
    session.user('c').says('C')
    expect(session.logged('window-moved')).toHaveLength(1)
    session.send({ type: 'rewind', inputId: 'r', exchange: 2, again: true, index })
    expect(listMoved(session)).toEqual([true])
    expect(session.state.phase).toBe('modelling')
  })
})
