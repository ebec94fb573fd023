// The cost of an attempt counts once in its turn, whether its answer is kept, discarded, refused or too late.
import { describe, expect, test } from 'vitest'
import { TestSession } from '../testing/test-session.ts'

const USAGE = { inputTokens: 100, outputTokens: 10, costMicros: 7 }
const SPENT = { tokens: 110, costMicros: 7 }

/** The spending of a turn, over all records. */
function spent(session: TestSession): { tokens: number; costMicros: number } {
  const used = [
    ...session.logged('step-finished'),
    ...session.logged('model-used'),
    ...session.logged('summary-finished'),
  ]
  return {
    tokens: used.reduce((sum, { usage }) => sum + (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0), 0),
    costMicros: used.reduce((sum, { usage }) => sum + (usage.costMicros ?? 0), 0),
  }
}

describe('what the provider counted counts', () => {
  test.each<[string, () => TestSession]>([
    ['of an answer', () => new TestSession().user('go').says({ text: 'yes', usage: USAGE })],
    ['of an empty answer that is asked for again', () => new TestSession().user('go').says({ text: '', usage: USAGE })],
    [
      'of a silent answer',
      () => new TestSession({ emptyAnswer: 'silence' }).user('go').says({ text: ' ', usage: USAGE }),
    ],
    ['of an answer that was refused', () => new TestSession().user('go').says({ finish: 'refusal', usage: USAGE })],
    [
      'of an answer with a call that could not be read',
      () => new TestSession().user('go').says({ text: 'a', finish: 'malformed-call', usage: USAGE }),
    ],
    [
      'of an answer that came while it was interrupted, and of which nothing was heard',
      () => new TestSession().user('go').interrupt({ type: 'none' }).says({ text: 'unheard', usage: USAGE }),
    ],
    [
      'of an answer that came too late',
      () => {
        const session = new TestSession().user('go')
        const late = session.answer({ text: 'late', usage: USAGE })
        return session.send({ type: 'pause' }).send(late)
      },
    ],
  ])('%s', (_, play) => {
    expect(spent(play())).toEqual(SPENT)
  })

  test('in the turn, and so in its limits', () => {
    const session = new TestSession({ limits: { turnTokens: 150 } }).user('go').says({ text: '', usage: USAGE })
    expect(session.state.turn).toMatchObject(SPENT)
    session.says({ calls: ['read'], usage: USAGE }).returns('call_1_0')
    expect(session.fact('turn-finished').error?.code).toBe('turn_tokens_exceeded')
  })

  test('of a summary without a word', () => {
    const session = new TestSession().user('go')
    session.send({ type: 'summary-finished', attempt: 1, text: '', usage: USAGE })
    expect(spent(session)).toEqual(SPENT)
  })

  test('and an answer without a count is no record of its own', () => {
    expect(new TestSession().user('go').says({ text: '' }).logged('model-used')).toEqual([])
  })
})
