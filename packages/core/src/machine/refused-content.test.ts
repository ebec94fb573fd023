// Content that a provider refuses for what it is: when it leaves the history, and the note that replaces it.
import type { StoredPart } from '../messages.ts'
import { TestSession, toOutcome } from '../testing/test-session.ts'
import { describe, expect, test } from 'vitest'
import { createHistory } from './history.ts'

const image: StoredPart = {
  type: 'image',
  mediaType: 'image/png',
  source: { type: 'blob', handle: 'abc', bytes: 2000 },
}
const file: StoredPart = { ...image, type: 'file', mediaType: 'application/pdf' }
const see: StoredPart = { type: 'text', text: 'See' }
const noRetry = { retryable: false }
const REASON = 'it failed: model_invalid_request'

function note(what: string, reason = REASON): string {
  return `${what} was left out: the provider refused it (${reason})]`
}

function send(session: TestSession, inputId: string, ...parts: readonly StoredPart[]): TestSession {
  return session.send({ type: 'user-input', inputId, parts })
}

describe('an image that the provider refuses', () => {
  const refused = () => send(new TestSession(), 'x', see, image, file).modelFails('model_invalid_request', noRetry)

  test('is left out with the end of its turn, and its text stays', () => {
    const session = refused()
    expect(session.factTypes()).toEqual(['attempt-failed', 'inputs-left-out', 'turn-finished'])
    const chars = see.text.length + note('[An image').length * 2
    expect(session.fact('inputs-left-out')).toEqual({
      type: 'inputs-left-out',
      inputs: ['x'],
      reason: REASON,
      sizes: [{ entry: 1, chars }],
    })
    expect(session.state.index).toEqual([{ entry: 1, exchange: 1, role: 'user', chars, inputs: ['x'], notes: [] }])
    session.user('Never mind')
    expect(session.told()).toEqual([
      'user: See',
      `user: ${note('[An image')}`,
      `user: ${note('[A file')}`,
      'user: Never mind',
    ])
    expect(session.says('fine').fact('turn-finished').outcome).toBe('answered')
  })

  test('is gone after a restart too, and in a snapshot', () => {
    const session = refused()
    const before = session.lines()
    expect(session.restart().lines()).toEqual(before)
    const restored = createHistory({ snapshot: session.history.takeSnapshot() })
    expect(restored.messages(0, Infinity)).toEqual(session.history.messages(0, Infinity))
  })

  test('does not come back when its turn is asked again', () => {
    const session = refused().send({ type: 'rewind', inputId: 'r', exchange: 1, again: true })
    expect(session.told()).toEqual(['user: See', `user: ${note('[An image')}`, `user: ${note('[A file')}`])
  })

  test('is not left out while another model is to be asked, nor while the same one is', () => {
    const session = send(new TestSession({ models: ['one', 'two'] }), 'x', image)
    expect(session.modelFails('model_invalid_request', noRetry).factTypes()).not.toContain('inputs-left-out')
    expect(session.modelFails('model_content_refused', { retryable: true }).factTypes()).not.toContain(
      'inputs-left-out',
    )
    expect(session.told()).toEqual(['user: [image]'])
    session.fire('retry').modelFails('model_invalid_request', noRetry)
    expect(session.factTypes()).toContain('inputs-left-out')
  })

  test('of each input of the turn is left out, and nothing of older turns', () => {
    const session = send(new TestSession(), 'old', image).says('fine')
    send(session, 'x', image).says({ calls: ['read'] })
    session.send({ type: 'user-input', inputId: 'y', parts: [image], delivery: 'steer' })
    session.user('words', { delivery: 'steer' }).returns('call_2_0').modelFails('model_invalid_request', noRetry)
    expect(session.fact('inputs-left-out').inputs).toEqual(['x', 'y'])
    expect(session.lines().filter((line) => line === 'user: [image]')).toHaveLength(1)
    expect(session.lines()).toContain('user: words')
  })

  test('asked again with its turn is still known as one', () => {
    const session = send(new TestSession(), 'x', image).says('fine')
    session.send({ type: 'rewind', inputId: 'r', exchange: 1, again: true })
    session.modelFails('model_invalid_request', noRetry)
    expect(session.fact('inputs-left-out').inputs).toEqual(['x'])
  })

  test('in a result is left out of it', () => {
    const session = new TestSession().user('go').says({ calls: ['read', 'put'] })
    session.returns('call_1_0', { type: 'ok', content: [see, image] }).returns('call_1_1', 'plain')
    session.modelFails('model_invalid_request', noRetry)
    expect(session.fact('inputs-left-out')).toMatchObject({ inputs: [], steps: [1] })
    expect(session.state.index.at(-1)?.media).toBeUndefined()
    expect(session.user('on').told()).toEqual([
      'user: go',
      'call_1_0 read {}',
      'call_1_1 put {}',
      `call_1_0 = See | ${note('[An image')}`,
      'call_1_1 = plain',
      'user: on',
    ])
  })

  test('changes the past of the answers behind it, and not of those before', () => {
    const session = send(new TestSession(), 'old', see).says('before')
    send(session, 'x', image)
      .says({ text: 'behind', calls: ['read'] })
      .returns('call_2_0')
    session.modelFails('model_invalid_request', noRetry)
    const answers = session.history.messages(0, Infinity).filter((message) => message.role === 'assistant')
    expect(answers.map(({ rebased }) => rebased)).toEqual([undefined, true])
  })

  test('keeps the notes that came with it', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['read'] })
      .interrupt()
    session.send({ type: 'tool-finished', callId: 'call_1_0', attempt: 1, outcome: toOutcome('late') })
    send(session, 'x', image).modelFails('model_invalid_request', noRetry)
    expect(session.lines().slice(-2)).toEqual([
      'user: The tool "read" (call_1_0) finished after all: "late"',
      `user: ${note('[An image')}`,
    ])
  })
})

test.each(['model_auth_failed', 'model_provider_failed'] as const)(
  'a turn that fails with %s leaves nothing out',
  (code) => {
    const session = send(new TestSession(), 'x', image).modelFails(code, noRetry)
    expect(session.factTypes()).toEqual(['attempt-failed', 'turn-finished'])
  },
)

test('an invalid request without images of its own may be the fault of anything: nothing is left out', () => {
  const session = send(new TestSession(), 'old', image).says('fine').user('go')
  session.modelFails('model_invalid_request', noRetry)
  expect(session.factTypes()).toEqual(['attempt-failed', 'turn-finished'])
})

describe('content that is refused', () => {
  const reason = 'it failed: model_content_refused'

  test('is an image of an older turn where this one has none, as another provider may see it', () => {
    const session = send(new TestSession(), 'old', see, image).says('fine').user('go')
    session.modelFails('model_content_refused', noRetry)
    expect(session.fact('inputs-left-out').inputs).toEqual(['old'])
    expect(session.lines()).toEqual(['user: See', `user: ${note('[An image', reason)}`, 'assistant: fine', 'user: go'])
  })

  test('is what was said since the last answer where there is no image at all', () => {
    const session = new TestSession().user('fine words').says('fine').user('bad words')
    session.modelFails('model_auth_failed', noRetry).user('worse words')
    session.modelFails('model_content_refused', noRetry)
    expect(session.fact('inputs-left-out')).toMatchObject({ inputs: ['u2', 'u3'] })
    const left = `user: ${note('[An input', reason)}`
    expect(session.lines()).toEqual(['user: fine words', 'assistant: fine', left, left])
    expect(session.user('good words').says('fine').fact('turn-finished').outcome).toBe('answered')
  })

  test('is an event or a transcript as well', () => {
    const session = new TestSession().send({ type: 'urgent-event', inputId: 'x', name: 'offer', message: 'bad' })
    session.modelFails('model_content_refused', noRetry)
    session.send({ type: 'transcript', inputId: 'y', speaker: 'ann', text: 'bad' }).fire('batch')
    session.modelFails('model_content_refused', noRetry)
    expect(session.lines().join()).not.toContain('bad')
  })

  test('is left out at once for what waits behind it', () => {
    const session = new TestSession().user('bad words').user('good words')
    session.modelFails('model_content_refused', noRetry)
    expect(session.told()).toEqual([`user: ${note('[An input', reason)}`, 'user: good words'])
  })
})

test('the provider’s words are told in one short line', () => {
  const session = send(new TestSession(), 'x', image)
  const message = ` broken\n\n${'w'.repeat(192)}😀 and so on`
  session.send({
    type: 'model-failed',
    attempt: 1,
    error: { code: 'model_invalid_request', message, retryable: false },
  })
  expect(session.fact('inputs-left-out').reason).toBe(`broken ${'w'.repeat(192)}😀`)
})

test('a file of text counts what it is long, and no more once it is left out', () => {
  const large: StoredPart = { ...file, mediaType: 'text/csv', source: { type: 'blob', handle: 'abc', bytes: 90_000 } }
  const session = send(new TestSession(), 'x', see, large)
  expect(session.state.index[0]?.chars).toBe(see.text.length + 90_000)
  session.modelFails('model_invalid_request', noRetry)
  expect(session.state.index[0]?.chars).toBe(see.text.length + note('[An image').length)
})

test('a record counts the images of what entered, and only where there are some', () => {
  const session = send(new TestSession(), 'x', image)
  const [entered] = session.logged('inputs-entered')
  expect(entered?.entries).toEqual([
    { entry: 1, inputs: ['x'], notes: [], chars: 6000, media: { parts: 1, chars: 6000, inputs: ['x'] } },
  ])
  expect(new TestSession().user('words').logged('inputs-entered')[0]?.entries[0]).not.toHaveProperty('media')
})
