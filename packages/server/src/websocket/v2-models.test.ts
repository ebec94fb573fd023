// An app's frames about its model, whatever they contain: an unreadable frame ends the call, an empty one is counted,
// and an ended call is not started.
import type { ClientModel, ModelAnswer, ModelRequest, ModelRunner } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { V2ServerFrame } from '@baton/protocol'
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { V2Models } from './v2-models.ts'

const REQUEST: ModelRequest = {
  instructions: '',
  messages: [],
  tools: [],
  toolChoice: { type: 'none' },
  settings: {},
  session: 's',
}
const ANSWER: ModelAnswer = { parts: [], finish: 'end', usage: {}, model: 'tiny' }

/** A device with one model, and the host's handle to it. */
function openDevice() {
  const runners: ModelRunner[] = []
  const known = {
    id: 'device/tiny',
    attach: (_: string, runner: ModelRunner) => {
      runners.push(runner)
      return () => {}
    },
  } as Partial<ClientModel> as ClientModel // the parts in use
  const frames: V2ServerFrame[] = []
  let ids = 0
  const models = new V2Models(
    { session: 's', known: [known], newId: () => `run-${(ids += 1)}`, write: (frame) => void frames.push(frame) },
    ['device/tiny'],
  )
  const abort = new AbortController()
  const ask = async (): Promise<ModelAnswer | undefined> => await runners[0]?.run(REQUEST, () => {}, abort.signal)
  return { models, frames, abort, ask }
}

test.each([{}, { error: null }, { error: 'no' }, { error: {} }, { error: { message: { toString: 1 } } }])(
  'the outcome %j is refused, and fails the call',
  async (outcome) => {
    const { models, ask } = openDevice()
    const answered = ask()
    answered.catch(() => {})
    expect(() => models.finish({ run: 'run-1', outcome: outcome as never })).toThrow(
      expect.objectContaining({ code: 'invalid_event' }),
    )
    await expect(answered).rejects.toMatchObject({ code: 'model_malformed_answer' })
    expect(models.finish({ run: 'run-1', outcome: { answer: ANSWER } })).toEqual({ ignored: 'late' })
  },
)

test.each([
  [{ type: 'model.pieces', pieces: [{ type: 'text-delta', text: 'a' }] }, true],
  [{ type: 'model.pieces', pieces: [] }, false],
  [{ type: 'model.pieces', pieces: 'many' }, false],
  [{ type: 'model.pieces' }, false],
  [{ type: 'model.pieces', pieces: Array.from({ length: 1001 }, () => ({})) }, false],
  [{ type: 'model.result', outcome: {} }, true],
])('only a frame that brings something is free of limits', (frame, isFree) => {
  const { models, ask, abort } = openDevice()
  ask().catch(() => {})
  expect(models.awaits({ id: '1', run: 'run-1', ...frame } as never)).toBe(isFree)
  expect(models.awaits({ id: '1', ...frame, run: 'run-2' } as never)).toBe(false)
  expect(models.awaits({ id: '1', ...frame, run: {} } as never)).toBe(false)
  abort.abort()
  expect(models.awaits({ id: '1', ...frame, run: 'run-1' } as never)).toBe(false)
})

test('a call that ended before it began is not offered to the app', async () => {
  const { models, frames, abort, ask } = openDevice()
  abort.abort()
  await expect(ask()).rejects.toMatchObject({ code: 'cancelled' })
  expect(frames).toEqual([])
  expect(models.finish({ run: 'run-1', outcome: { answer: ANSWER } })).toEqual({ ignored: 'late' })
})

test.each([{ toString: 1 }, 5, null, 'other'])('the model %j is refused', (name) => {
  const init = { session: 's', known: [], newId: () => 'run', write: () => {} }
  expect(() => new V2Models(init, [name as never])).toThrow(
    expect.objectContaining({ message: `this server has no model ${JSON.stringify(name)} that apps may run` }),
  )
})

test('a frame with more than 1,000 pieces is refused, and the call goes on', async () => {
  const { models, ask } = openDevice()
  const answered = ask()
  const pieces = (count: number) => Array.from({ length: count }, () => ({ type: 'text-delta', text: 'a' }) as const)
  expect(() => models.take({ run: 'run-1', pieces: pieces(1001) })).toThrow('pieces must be at most 1000, not 1001')
  models.take({ run: 'run-1', pieces: pieces(1000) })
  models.finish({ run: 'run-1', outcome: { answer: ANSWER } })
  expect(await answered).toEqual(ANSWER)
})

test('a call cancelled while the app runs it is withdrawn once, and the app’s result is late', async () => {
  const { models, frames, abort, ask } = openDevice()
  const asked = ask()
  abort.abort()
  await expect(asked).rejects.toMatchObject({ code: 'cancelled' })
  expect(frames.map(({ type }) => type)).toEqual(['model.run', 'model.cancel'])
  expect(models.finish({ run: 'run-1', outcome: { answer: ANSWER } })).toEqual({ ignored: 'late' })
})

test('an answered call no longer listens for its end', async () => {
  const { models, frames, abort, ask } = openDevice()
  const asked = ask()
  expect(models.finish({ run: 'run-1', outcome: { answer: ANSWER } })).toEqual({})
  expect(await asked).toEqual(ANSWER)
  abort.abort()
  expect([frames.map(({ type }) => type), getEventListeners(abort.signal, 'abort')]).toEqual([['model.run'], []])
})

test('if one of several models has no room for an app, none stays attached', () => {
  const left: string[] = []
  const create = (id: string, isFull = false): ClientModel =>
    ({
      id,
      attach: () => {
        if (isFull) throw new BatonError({ code: 'rate_limited', message: 'full' })
        return () => void left.push(id)
      },
    }) as Partial<ClientModel> as ClientModel // the parts in use
  const known = [create('m/one'), create('m/two'), create('m/full', true)]
  const init = { session: 's', known, newId: () => 'r', write: () => {} }
  expect(() => new V2Models(init, ['m/one', 'm/two', 'm/full'])).toThrow('full')
  expect(left).toEqual(['m/one', 'm/two'])
})
