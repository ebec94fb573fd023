// A result behind a handle: the part that a model sees, and the part that is stored.
import type { ToolMessage } from '@baton/core/internal'
import { RULES } from '@baton/core/machine'
import { expect, test } from 'vitest'
import { showMoved } from './request.ts'

const timers = { start: () => () => {} }

function createStore(put: (name: string, text: string) => Promise<void>) {
  const blobs = {
    put: (_: string, name: string, text: string) => put(name, text),
    get: () => Promise.resolve(undefined),
    names: () => Promise.resolve([]),
  }
  return { blobs, timers }
}

function result(text: string, moved?: true): ToolMessage {
  const part = {
    type: 'result',
    callId: 'call_1_0',
    name: 'read',
    isError: false,
    content: [{ type: 'text', text }],
  } as const
  return { role: 'tool', parts: [{ ...part, ...(moved && { moved }) }] }
}

test('its beginning with the handle of its call; the whole is kept before', async () => {
  const kept: (readonly [string, string])[] = []
  const store = createStore((name, text) => Promise.resolve(void kept.push([name, text])))
  const text = 'x'.repeat(3000)
  const hint = 'Read on with result.read {"handle":"call_1_0_0","offset":1000}'
  expect(await showMoved('s', result(text, true), store)).toEqual(
    result(`${'x'.repeat(1000)}\n[characters 0 to 1000 of 3000. ${hint}]`),
  )
  expect(kept).toEqual([['result/call_1_0_0', text]])
})

test('a note about changed arguments stays before the beginning of the text', async () => {
  const store = createStore(() => Promise.resolve())
  const note = { type: 'text', text: '[A person changed the arguments to {"n":3}]' } as const
  const withNote = (message: ToolMessage): ToolMessage => ({
    ...message,
    parts: message.parts.map((part) => ({ ...part, content: [note, ...part.content] })),
  })
  const hint = 'Read on with result.read {"handle":"call_1_0_0","offset":1000}'
  expect(await showMoved('s', withNote(result('x'.repeat(3000), true)), store)).toEqual(
    withNote(result(`${'x'.repeat(1000)}\n[characters 0 to 1000 of 3000. ${hint}]`)),
  )
})

test('what is shown has no more characters than the machine counts for it, also of a long handle', async () => {
  const store = createStore(() => Promise.resolve())
  const message = result('x'.repeat(10_000_000), true)
  const parts = message.parts.map((part) => ({ ...part, callId: 'call_1000000_1000' }))
  const shown = await showMoved('s', { ...message, parts }, store)
  expect(JSON.stringify(shown).length - JSON.stringify(result('')).length).toBeLessThanOrEqual(RULES.movedChars)
})

test('a piece of a longer result keeps the handle of the whole, and its place in it', async () => {
  const store = createStore(() => Promise.reject(new Error('it is kept already')))
  const hint = (offset: number) => `Read on with result.read {"handle":"call_0_0_0","offset":${offset}}`
  const piece = `${'y'.repeat(4000)}\n[characters 8000 to 12000 of 90000. ${hint(12_000)}]`
  expect(await showMoved('s', result(piece, true), store)).toEqual(
    result(`${'y'.repeat(1000)}\n[characters 8000 to 9000 of 90000. ${hint(9000)}]`),
  )
})

test('a store that fails is told to the model, and the call of the model goes on', async () => {
  const store = createStore(() => Promise.reject(new Error('the disk is full')))
  expect(await showMoved('s', result('z'.repeat(3000), true), store)).toEqual(
    result(`${'z'.repeat(1000)}\n[characters 0 to 1000 of 3000. The rest could not be kept]`),
  )
})

test('other results are as they were', async () => {
  const store = createStore(() => Promise.reject(new Error('nothing is to be kept')))
  const message = result('x'.repeat(3000))
  expect(await showMoved('s', message, store)).toEqual(message)
})
