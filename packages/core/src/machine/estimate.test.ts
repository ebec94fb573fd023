// The estimate of a request's tokens: the provider's last count, and the changes since.
import { describe, expect, test } from 'vitest'
import { TestSession } from '../testing/test-session.ts'
import { requestTokens } from './window.ts'

const SIGNED = { provider: 'one', model: 'one', data: {} }

function estimate({ spec, state }: TestSession): number {
  return requestTokens(spec, state)
}

/** A request that the provider counted as 1,000 tokens, and its call as 50. */
function counted(usage: Readonly<Record<string, number>> = {}): TestSession {
  const session = new TestSession({ window: { overheadTokens: 100 } }).user('x'.repeat(400))
  return session.says({ calls: ['read'], usage: { inputTokens: 1000, outputTokens: 50, ...usage } })
}

describe('before a provider has counted', () => {
  test('four characters are a token', () => {
    const session = new TestSession({ window: { overheadTokens: 100 } }).user('x'.repeat(400))
    expect(estimate(session)).toBe(200)
  })

  test('and after an answer without a count', () => {
    const session = new TestSession().user('x'.repeat(400)).says('y'.repeat(40))
    expect(estimate(session.user('z'.repeat(80)))).toBe(130)
  })
})

describe('after a provider has counted', () => {
  test('a request has what was counted, the answer, and its results with a frame around each', () => {
    const session = counted().returns('call_1_0', 'r'.repeat(200))
    expect(estimate(session)).toBe(1000 + 50 + 4 + 12 + 200 / 4)
  })

  test('what was said since is estimated', () => {
    const session = new TestSession().user('x').says({ text: 'y', usage: { inputTokens: 500, outputTokens: 7 } })
    expect(estimate(session.user('z'.repeat(40)))).toBe(500 + 7 + 2 * 4 + 10)
  })

  test('an answer whose output was not counted is estimated too', () => {
    const session = new TestSession().user('x').says({ text: 'y'.repeat(400), usage: { inputTokens: 500 } })
    expect(estimate(session)).toBe(500 + 4 + 100)
  })

  test('entries that have left the window take their share along, and the overhead stays', () => {
    const session = new TestSession({ window: { exchanges: 2, overheadTokens: 100 } })
    for (const text of ['a', 'b']) session.user(text.repeat(1000))
    session.says('A'.repeat(1000)).says({ text: 'B'.repeat(1000), usage: { inputTokens: 3100, outputTokens: 900 } })
    // The first exchange had 2,000 of the 3,000 counted characters.
    expect(estimate(session.user('c'.repeat(400)))).toBe(100 + 1000 + 900 + 2 * 4 + 100)
  })

  test('another model’s count says nothing', () => {
    const session = new TestSession({ models: ['one', 'two'] }).user('x'.repeat(400))
    session.says({ text: 'y', usage: { inputTokens: 5000, outputTokens: 1 } })
    session.send({ type: 'set-model', model: 'two' }).user('z'.repeat(399))
    expect(estimate(session)).toBe(200)
  })

  test('instructions or tools that grew count as what they grew by', () => {
    const session = counted()
    session.spec = { ...session.spec, window: { ...session.spec.window, overheadTokens: 300 } }
    expect(estimate(session.returns('call_1_0', ''))).toBe(1000 + 200 + 50 + 4 + 12)
  })

  test('an answer that was cut counts as what is left of it', () => {
    const session = new TestSession().user('x')
    session.says({ text: 'y'.repeat(400), usage: { inputTokens: 500, outputTokens: 100 } })
    session.send({ type: 'interrupt', reason: 'user', heard: { type: 'chars', chars: 40 } })
    expect(estimate(session)).toBe(500 + 4 + 10)
  })
})

describe('thoughts', () => {
  const usage = { inputTokens: 1000, outputTokens: 90, reasoningTokens: 80 }

  test('that the provider signed go back while their exchange runs, and not after it', () => {
    const session = new TestSession().user('go')
    const more = [{ type: 'reasoning', text: '', state: SIGNED }] as const
    session.says({ more, calls: ['read'], usage })
    expect(estimate(session.returns('call_1_0', ''))).toBe(1000 + 90 + 4 + 12)
    session.says({ text: 'A', usage: { inputTokens: 1106, outputTokens: 10 } })
    expect(estimate(session.user('next!!!!'))).toBe(1106 - 80 + 10 + 2 * 4 + 2)
  })

  test('that nobody signed do not go back', () => {
    const session = new TestSession().user('go').says({ calls: ['read'], usage })
    expect(estimate(session.returns('call_1_0', ''))).toBe(1000 + 10 + 4 + 12)
  })

  test('that were not counted have their share of the output', () => {
    const session = new TestSession().user('go')
    const more = [{ type: 'reasoning', text: 't'.repeat(300) }] as const
    session.says({ text: 'a'.repeat(100), more, usage: { inputTokens: 1000, outputTokens: 100 } })
    expect(estimate(session)).toBe(1000 + 25 + 4)
  })
})

test('what a result costs beside its characters is learnt where they are few, by half and within bounds', () => {
  const session = counted().returns('call_1_0', 'r'.repeat(40))
  session.says({ calls: ['read'], usage: { inputTokens: 1000 + 50 + 4 + 10 + 30, outputTokens: 50 } })
  expect(session.state.tokensPerResult).toBe((12 + 30) / 2)
  session.returns('call_2_0', '').says({ text: 'A', usage: { inputTokens: 1, outputTokens: 1 } })
  expect(session.state.tokensPerResult).toBe(11)
  expect(session.state.tokensPer1000Chars).toBe(250)
})

describe('tokens of 1,000 characters', () => {
  const learnt = ({ state }: TestSession): number => state.tokensPer1000Chars

  test('are learnt from what was added since the last count, by half', () => {
    const session = counted().returns('call_1_0', 'r'.repeat(1000))
    session.says({ text: 'A', usage: { inputTokens: 1000 + 50 + 4 + 12 + 500, outputTokens: 1 } })
    expect(learnt(session)).toBe((250 + 500) / 2)
    const more = session.user('z'.repeat(1000))
    more.says({ text: 'B', usage: { inputTokens: 1_000_000, outputTokens: 1 } })
    expect(learnt(more)).toBe(Math.round((375 + 2000) / 2))
  })

  test('are learnt from a long first request, and not from a short one, in which hidden prompts weigh', () => {
    const say = (chars: number) =>
      new TestSession().user('x'.repeat(chars)).says({ text: 'a', usage: { inputTokens: 2000 } })
    expect(learnt(say(4000))).toBe((250 + 500) / 2)
    expect(learnt(say(3999))).toBe(250)
  })

  test('are not learnt from a few characters, nor from pictures', () => {
    const few = counted().returns('call_1_0', 'r'.repeat(398))
    expect(learnt(few.says({ text: 'A', usage: { inputTokens: 5000 } }))).toBe(250)
    const image = {
      type: 'image',
      mediaType: 'image/png',
      source: { type: 'url', url: 'https://x.test/a.png' },
    } as const
    const seen = new TestSession().user('x').says({ text: 'y', usage: { inputTokens: 500, outputTokens: 1 } })
    seen.send({ type: 'user-input', inputId: 'i', parts: [{ type: 'text', text: 'z'.repeat(500) }, image] })
    expect(learnt(seen.says({ text: 'A', usage: { inputTokens: 900 } }))).toBe(250)
  })
})
