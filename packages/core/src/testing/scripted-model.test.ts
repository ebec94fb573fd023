// Mistakes in a script: the error occurs where the script is written, not as an empty answer.
import { expect, test } from 'vitest'
import { createScriptedModel } from './scripted-model.ts'

test.each<[object, string]>([
  [{ steps: [{ text: 'Hi' }, { txt: 'Hello' }] }, 'step 2 of the script has no field "txt"; it is called "text" here'],
  [{ steps: [{ call: [] }] }, 'step 1 of the script has no field "call"; it is called "calls" here'],
  [{ stepps: [] }, 'createScriptedModel has no field "stepps"; it is called "steps" here'],
  [{}, 'createScriptedModel: steps must be an array or a function'],
  [{ steps: { text: 'Hi' } }, 'createScriptedModel: steps must be an array or a function'],
])('%j is refused', (init, message) => {
  expect(() => createScriptedModel(init as never)).toThrow(expect.objectContaining({ code: 'invalid_option', message }))
})

test('a script of all fields is taken', () => {
  const step = {
    text: 'a',
    reasoning: 'b',
    calls: [],
    sources: [],
    finish: 'end',
    usage: {},
    pieces: ['a'],
    pieceMs: 1,
  }
  expect(createScriptedModel({ id: 'a/b', steps: [step as never] }).id).toBe('a/b')
})

test('a model that waits before its next piece ends as soon as it is aborted', async () => {
  const stopped: number[] = []
  const timers = { start: (ms: number) => () => void stopped.push(ms) } // time stands still
  const model = createScriptedModel({ steps: [{ text: 'Hello', pieceMs: 60_000 }], timers })
  const controller = new AbortController()
  const answer = model.run({} as never, () => {}, controller.signal)
  controller.abort()
  await expect(answer).rejects.toMatchObject({ code: 'cancelled' })
  expect(stopped).toEqual([60_000])
})

test('calls with different arguments compile in a function, whatever fields the others have', async () => {
  const model = createScriptedModel({
    steps: (_, call) =>
      call === 0 ? { calls: [{ name: 'all', arguments: {} }, { name: 'one', arguments: { id: 7 } }] } : { text: 'done' }, // prettier-ignore
  })
  expect((await model.run({} as never, () => {}, new AbortController().signal)).parts).toEqual([
    { type: 'call', name: 'all', arguments: '{}' },
    { type: 'call', name: 'one', arguments: '{"id":7}' },
  ])
  // @ts-expect-error a number is neither an object nor JSON text
  createScriptedModel({ steps: [{ calls: [{ name: 'one', arguments: 7 }] }] })
})
