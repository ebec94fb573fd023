// A request that is too large for its provider: the oldest images and files are removed in the same turn, and the words
// stay.
import type { StoredPart } from '../messages.ts'
import { TestSession } from '../testing/test-session.ts'
import { describe, expect, test } from 'vitest'
import { createHistory } from './history.ts'

const see: StoredPart = { type: 'text', text: 'See' }
const NOTE = '[An image was left out: the request was too large with it]'
const noRetry = { retryable: false }

function picture(handle: string): StoredPart {
  return { type: 'image', mediaType: 'image/png', source: { type: 'blob', handle, bytes: 2000 } }
}

function send(session: TestSession, inputId: string, ...parts: readonly StoredPart[]): TestSession {
  return session.send({ type: 'user-input', inputId, parts })
}

/** Handles of the images that a request would hold, and `-` for each note. */
function listImages(session: TestSession): readonly string[] {
  return session.history.messages(0, Infinity).flatMap((message) => {
    const parts = message.role === 'tool' ? message.parts.flatMap(({ content }) => content) : message.parts
    return parts.flatMap((part) => {
      if (part.type === 'text' && part.text === NOTE) return ['-']
      return part.type === 'image' && part.source.type === 'blob' ? [part.source.handle] : []
    })
  })
}

function refuse(session: TestSession): TestSession {
  return session.modelFails('model_request_too_large', noRetry)
}

describe('a request that is too large', () => {
  const talk = () => {
    const session = new TestSession()
    for (const name of ['a', 'b', 'c', 'd']) send(session, name, see, picture(name)).says('fine')
    return send(session, 'e', see, picture('e'))
  }

  test('is sent again in its turn without the older half of its images', () => {
    const session = refuse(talk())
    expect(session.factTypes()).toEqual(['attempt-superseded', 'inputs-left-out', 'model-started'])
    expect(session.fact('attempt-superseded')).toMatchObject({
      reason: 'too-large',
      error: { code: 'model_request_too_large' },
    })
    expect(session.fact('inputs-left-out')).toMatchObject({
      inputs: ['a', 'b', 'c'],
      reason: 'it failed: model_request_too_large',
      tooLarge: true,
    })
    expect(listImages(session)).toEqual(['-', '-', '-', 'd', 'e'])
    expect(session.lines()).toContain('user: See')
    expect(session.says('I see').fact('turn-finished').outcome).toBe('answered')
  })

  test('leaves the next turns as they are, so that the provider knows their beginning', () => {
    const session = refuse(talk()).says('I see')
    send(session, 'f', picture('f')).says('fine')
    expect(listImages(session)).toEqual(['-', '-', '-', 'd', 'e', 'f'])
  })

  test('that stays too large loses the newest image last, and then fails', () => {
    const session = refuse(refuse(talk()))
    expect(listImages(session)).toEqual(['-', '-', '-', '-', 'e'])
    expect(listImages(refuse(session))).toEqual(['-', '-', '-', '-', '-'])
    // Without images, older exchanges leave, and the turn ends once there is nothing older.
    for (let times = 0; times < 3; times++) expect(refuse(session).factTypes()).toContain('window-moved')
    expect(refuse(session).fact('turn-finished')).toMatchObject({
      outcome: 'failed',
      error: { code: 'model_request_too_large' },
    })
  })

  test('counts what is left in the estimate of its size', () => {
    const session = refuse(talk())
    const sizes = session.state.index.filter(({ role }) => role === 'user').map(({ chars, media }) => [chars, media])
    const note = see.text.length + NOTE.length
    const whole = see.text.length + 6000
    const media = (...inputs: readonly string[]) => ({ parts: 1, chars: 6000, inputs })
    expect(sizes).toEqual([
      [note, undefined],
      [note, undefined],
      [note, undefined],
      [whole, media('d')],
      [whole, media('e')],
    ])
  })

  test('is the same after a restart, and in a snapshot', () => {
    const session = refuse(talk())
    const before = session.lines()
    expect(session.restart().lines()).toEqual(before)
    const restored = createHistory({ snapshot: session.history.takeSnapshot() })
    expect(restored.messages(0, Infinity)).toEqual(session.history.messages(0, Infinity))
  })

  test('is sent again to the same model before another one is asked', () => {
    const session = refuse(send(new TestSession({ models: ['one', 'two'] }), 'x', see, picture('x'), picture('y')))
    expect(session.fact('model-started').model).toBe('one')
  })
})

describe('images of one message', () => {
  const session = () => send(new TestSession(), 'x', see, ...['a', 'b', 'c', 'd', 'e'].map(picture))

  test('leave one by one, the first ones first', () => {
    const refused = refuse(session())
    expect(listImages(refused)).toEqual(['-', '-', '-', 'd', 'e'])
    expect(refused.state.index[0]?.media).toEqual({ parts: 2, chars: 12_000, inputs: ['x'] })
    expect(listImages(refuse(refused))).toEqual(['-', '-', '-', '-', 'e'])
    expect(refused.says('fine').fact('turn-finished').outcome).toBe('answered')
  })

  test('do not come back when the turn is asked again', () => {
    const again = refuse(session()).says('fine').send({ type: 'rewind', inputId: 'r', exchange: 1, again: true })
    expect(listImages(again)).toEqual(['-', '-', '-', 'd', 'e'])
    expect(listImages(refuse(again))).toEqual(['-', '-', '-', '-', 'e'])
  })
})

test('images of results leave in the order of their calls', () => {
  const session = new TestSession().user('go').says({ calls: ['read', 'read'] })
  session.returns('call_1_0', { type: 'ok', content: [picture('a'), picture('b')] })
  session.returns('call_1_1', { type: 'ok', content: [see, picture('c'), picture('d'), picture('e')] })
  refuse(session)
  expect(session.fact('inputs-left-out')).toMatchObject({ inputs: [], steps: [1] })
  expect(listImages(session)).toEqual(['-', '-', '-', 'd', 'e'])
  expect(session.says('fine').fact('turn-finished').outcome).toBe('answered')
})

test('a window that is full of images, and has nothing older, loses them', () => {
  const session = send(new TestSession(), 'x', see, picture('a'), picture('b'))
  session.modelFails('context_overflow', noRetry)
  expect(listImages(session)).toEqual(['-', 'b'])
})

test('a request without images that is too large loses the older half of the conversation', () => {
  const session = new TestSession().user('old').says('fine').user('new')
  expect(refuse(session).told()).toEqual(['user: new'])
})
