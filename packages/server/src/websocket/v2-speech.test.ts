// A voice app of version 2 over real connections: the sentences it receives, and what it reports as heard.
import type { SessionEvent } from '@baton/core'
import { BatonError, defineAgent, tool } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import type { V2Cursor } from '@baton/protocol'
import { Speech } from '@baton/runtime'
import { expect, test } from 'vitest'
import { startForTest } from './test-server.test-kit.ts'
import type { V2App } from './v2.test-kit.ts'
import { connectV2App, joinTexts } from './v2.test-kit.ts'

const look = tool({
  name: 'look',
  description: 'Looks',
  input: { type: 'object', properties: {} },
  effect: 'pure',
  execute: () => 'seen',
})

async function start(steps: readonly ScriptedStep[]) {
  const model = createScriptedModel({ steps })
  const agent = defineAgent({ name: 'home', model, tools: [look], retry: { baseMs: 1 } })
  return await startForTest({ agent, limits: { addressSessionsPerMinute: 10_000, addressFramesPerMinute: 10_000 } })
}

async function begin(url: string, given: object = { speech: true }, isLoose = false): Promise<V2App> {
  const app = await connectV2App(url, { isLoose })
  await app.request('session.open', { session: 's', ...given })
  return app
}

async function say(app: V2App, input: string): Promise<void> {
  await app.request('input.send', { input, content: 'Speak' })
  await app.event('session', ({ activity, cursor }) => activity === 'idle' && cursor.pos > 1)
}

/** Sentences, voided ones, and the events of the given kinds, in order. */
function listTold({ frames }: V2App, ...kinds: readonly string[]): readonly string[] {
  return frames.flatMap((frame) => {
    if (frame.type === 'sentence') return `${frame.message}/${frame.index} ${frame.start}-${frame.end} ${frame.text}`
    if (frame.type === 'sentences.dropped') return `${frame.message} dropped from ${frame.index}`
    return frame.type === 'events' ? frame.events.map(({ type }) => type).filter((type) => kinds.includes(type)) : []
  })
}

const isAtCursor = (cursor: V2Cursor) => (event: SessionEvent) => event.cursor === cursor

const STEPS: readonly ScriptedStep[] = [
  { text: '**I** look. Wait', calls: [{ name: 'look', arguments: {} }] },
  { text: 'It is Dr. Ng.\n```\ncode\n```\nOpen?' },
]

test('sentences come without marks, before the call that follows them, and say what they cover', async () => {
  const { url } = await start(STEPS)
  const app = await begin(url)
  await say(app, 'i1')
  expect(listTold(app, 'step-finished')).toEqual([
    't1/0 0-11 I look.',
    't1/1 11-16 Wait',
    'step-finished',
    't1/2 18-31 It is Dr. Ng.',
    't1/3 31-50 Open?',
    'step-finished',
  ])
  const { text } = await app.event('turn-finished')
  expect(text.slice(31, 50)).toBe('\n```\ncode\n```\nOpen?')
  expect(app.events.some(({ type }) => type === 'text')).toBe(true)
})

test('with an output schema the words before a tool are spoken, and the value is not', async () => {
  const output = { type: 'object', properties: { verdict: { type: 'string' } }, required: ['verdict'] } as const
  const steps = [
    { text: 'I look.', calls: [{ name: 'look', arguments: {} }] },
    { pieces: ['{', '"verdict": "It is. ', 'Yes."}'] },
  ]
  const model = createScriptedModel({ steps })
  const { url } = await startForTest({ agent: defineAgent({ name: 'judge', model, tools: [look], output }) })
  const app = await begin(url)
  await say(app, 'i1')
  expect(listTold(app, 'turn-finished')).toEqual(['t1/0 0-7 I look.', 'turn-finished'])
})

test('an app that only speaks gets everything but the text', async () => {
  const { url } = await start(STEPS)
  const [whole, only] = [await begin(url), await begin(url, { speech: 'only' })]
  await say(only, 'i1')
  await whole.event('turn-finished')
  const kinds = (app: V2App): readonly string[] => app.events.map(({ type }) => type).filter((type) => type !== 'text')
  expect(only.events.map(({ type }) => type)).toEqual(kinds(whole))
  expect(listTold(only)).toEqual(listTold(whole))
})

test('an answer that had ended is not spoken when a session is opened, and the next one is', async () => {
  const { url } = await start([{ text: 'Old. Words.' }, { text: 'New words.' }])
  const first = await begin(url)
  await say(first, 'i1')
  const { text } = await first.event('turn-finished')
  for (const from of ['turn', 'start', 'now'] as const) {
    const app = await begin(url, { speech: true, from })
    if (from !== 'now') await app.event('turn-finished', (event) => event.text === text)
    await app.event('live')
    expect(listTold(app)).toEqual([])
    if (from !== 'now') continue
    await app.request('input.send', { input: 'i2', content: 'Speak' })
    await app.event('turn-finished')
    expect(listTold(app)).toEqual(['t2/0 0-10 New words.'])
  }
})

test('who comes in the midst of an answer hears all of it or goes on at a known place, and is refused elsewhere', async () => {
  const waiting: (() => void)[] = []
  const timers = { start: (_ms: number, fire: () => void) => (waiting.push(fire), () => {}) }
  const steps = [{ pieces: ['One. Two. ', 'Thr', 'ee. Fo', 'ur.'], pieceMs: 1 }]
  const { url } = await startForTest({
    agent: defineAgent({ name: 'home', model: createScriptedModel({ timers, steps }) }),
  })
  const first = await begin(url)
  const write = async (): Promise<void> => {
    const seen = [...joinTexts(first.events).values()].join('')
    const fire = await first.until(() => waiting.shift() ?? undefined)
    fire()
    await first.until(() => ([...joinTexts(first.events).values()].join('') === seen ? undefined : true))
  }
  await first.request('input.send', { input: 'i1', content: 'Speak' })
  await write()
  await write()
  const { cursor } = first.events.at(-1) ?? {}
  const turn = await begin(url, { speech: 'only', from: 'turn' })
  const late = await connectV2App(url)
  // This cursor does not say where "Thr" began.
  await expect(
    late.request('session.open', { session: 's', speech: true, from: cursor ?? 'now' }),
  ).rejects.toMatchObject({
    frame: { code: 'invalid_event', hint: expect.stringContaining('`next`') },
  })
  await late.request('session.open', { session: 's', speech: true, from: first.cursor() ?? 'now' })
  await write()
  await write()
  for (const app of [first, turn, late]) await app.event('turn-finished')
  const said = ['t1/0 0-4 One.', 't1/1 4-9 Two.', 't1/2 9-16 Three.', 't1/3 16-22 Four.']
  expect([listTold(first), listTold(turn)]).toEqual([said, said])
  expect(listTold(late)).toEqual(said.slice(2))
})

test('after the cursor of any event that is in the log, no sentence comes twice and none is missing', async () => {
  const [first, ...others] = STEPS
  const { url } = await start([{ ...first, pieces: ['**I** lo', 'ok. Wa', 'it'] }, ...others])
  const whole = await begin(url)
  await say(whole, 'i1')
  const nexts = whole.frames.flatMap((frame) => ('next' in frame && frame.next ? frame.next : []))
  const refused = new Set<string>()
  for (const from of [undefined, { pos: 0 }, ...nexts]) {
    // It may receive the rest of a text in one piece, with other cursors.
    const reader = from ? await begin(url, { speech: true, from }) : whole
    await reader.event('live')
    for (const { type, cursor } of reader.events) {
      const told = reader.frames.findIndex((frame) => frame.type === 'events' && frame.events.some(isAtCursor(cursor)))
      const app = await connectV2App(url)
      try {
        await app.request('session.open', { session: 's', speech: true, from: cursor })
      } catch {
        refused.add(type)
        continue
      }
      await app.event('live')
      const expected = listTold({ ...reader, frames: reader.frames.slice(told) })
      expect(listTold(app), `${JSON.stringify(cursor)} of ${type}, read from ${JSON.stringify(from)}`).toEqual(expected)
      app.close()
    }
    if (reader !== whole) reader.close()
  }
  // Only in the middle of a text.
  expect(refused).toEqual(new Set(['text']))
})

test('an interrupt stops the answer for its sender', async () => {
  const { url } = await start([{ pieces: ['One. Two. ', 'Thr'], hangs: 'until-aborted' }])
  const app = await begin(url)
  await app.request('input.send', { input: 'i1', content: 'Speak' })
  await app.until(() => ([...joinTexts(app.events).values()].join('').endsWith('Thr') ? true : undefined))
  await app.request('turn.interrupt', { heard: { type: 'chars', chars: 4 } })
  await app.event('turn-finished')
  expect(listTold(app)).toEqual(['t1/0 0-4 One.', 't1/1 4-9 Two.'])
})

test('sentences of a discarded attempt are void, and their numbers are reused', async () => {
  const error = new BatonError({ code: 'model_overloaded', message: 'busy', retryable: true })
  const { url } = await start([{ text: 'One. Two. Three', error }, { text: 'Uno. Due.' }])
  const app = await begin(url)
  await say(app, 'i1')
  expect(listTold(app, 'step-reset')).toEqual([
    't1/0 0-4 One.',
    't1/1 4-9 Two.',
    't1 dropped from 0',
    'step-reset',
    't1/0 0-4 Uno.',
    't1/1 4-9 Due.',
  ])
})

test('an interrupt says by a sentence what was heard, and leaves an answer alone that it does not name', async () => {
  const { url } = await start([{ text: 'One. Two. Three.' }, { text: 'Four. Five.' }, { text: 'Six.' }])
  const app = await begin(url)
  await say(app, 'i1')
  const heard = app.frames.find((frame) => frame.type === 'sentence' && frame.text === 'Two.')
  if (heard?.type !== 'sentence') throw new Error('it was not said')
  const { message, end } = heard
  await app.request('turn.interrupt', { heard: { type: 'chars', message, chars: end } })
  const texts = async (): Promise<readonly string[]> => {
    const { messages } = await app.request('session.messages', {})
    return messages.flatMap((one) => (one.role === 'assistant' ? one.steps.map(({ text }) => text) : []))
  }
  expect(await texts()).toEqual(['One. Two.'])
  await app.request('input.send', { input: 'i2', content: 'Speak' })
  await app.event('turn-finished', ({ turn }) => turn === 2)
  const loose = await connectV2App(url, { isLoose: true })
  await loose.request('session.open', { session: 's' })
  await expect(loose.request('turn.interrupt', { heard: { type: 'chars', message, chars: -1 } })).rejects.toThrow(
    'must be a number of 0 or more',
  )
  // The voice is still at the first answer, so nothing of the second one was heard.
  await app.request('turn.interrupt', { heard: { type: 'chars', message, chars: 2 } })
  expect(await texts()).toEqual(['One. Two.', ''])
  for (const other of ['t9', 'i1', ''])
    await expect(
      loose.request('turn.interrupt', { heard: { type: 'chars', message: other, chars: 2 } }),
    ).rejects.toMatchObject({ frame: { code: 'invalid_event' } })
})

test('reporting the played part keeps that much, even if another app interrupts', async () => {
  const steps = [{ text: 'One *two* three. Four five.', hangs: 'until-aborted' as const }, { text: 'Well.' }]
  const { url, host } = await start(steps)
  const app = await begin(url, { speech: true }, true)
  await app.request('input.send', { input: 'i1', content: 'Speak' })
  const [first] = await app.until(() => (listTold(app).length > 0 ? listTold(app) : undefined))
  expect(first).toBe('t1/0 0-16 One two three.')
  for (const chars of [0, 16, 3]) await app.request('speech.played', { message: 't1', chars })
  const session = await host.session('s')
  await session.interrupt({ reason: 'somebody else' })
  expect((await app.event('turn-finished')).text).toBe('One *two* three.')
  const wrong = [
    { message: 't9', chars: 1 },
    { message: 'i1', chars: 1 },
    { message: 't1', chars: -1 },
    { message: 't1', chars: 1.5 },
    { message: 't1' },
  ] as readonly { readonly message: string; readonly chars: number }[]
  for (const given of wrong)
    await expect(app.request('speech.played', given)).rejects.toMatchObject({ frame: { code: 'invalid_event' } })
})

test.each([
  [{ type: 'words', words: 2, message: 't1' }, 'One *two'],
  [{ type: 'sentence', index: 0, words: 1 }, 'One'],
  [{ type: 'sentence', index: 1, message: 't1' }, 'One *two* three. Four five.'],
  [{ type: 'none' }, ''],
] as const)('an app says that it heard %o', async (heard, text) => {
  const { url } = await start([{ text: 'One *two* three. Four five.', hangs: 'until-aborted' }])
  const app = await begin(url)
  await app.request('input.send', { input: 'i1', content: 'Speak' })
  await app.until(() => (listTold(app).length > 0 ? true : undefined))
  await app.request('turn.interrupt', { heard })
  expect((await app.event('turn-finished')).text).toBe(text)
})

test('a whole sentence is not held back while the model thinks or a tool of the provider runs', () => {
  const of = { message: 't1', step: 1, cursor: { pos: 3 } }
  const sayBefore = (text: string, event: SessionEvent): readonly unknown[] => {
    const speech = new Speech()
    speech.take({ ...of, type: 'text', offset: 0, text })
    return speech.take(event).map(({ frame }) => ('text' in frame ? frame.text : frame.type))
  }
  const thinks: SessionEvent = { ...of, type: 'reasoning', offset: 0, text: 'Hm' }
  const searches: SessionEvent = { ...of, type: 'server-tool', name: 'search', status: 'started' }
  expect(sayBefore('Let me *think.*', thinks)).toEqual(['Let me think.'])
  expect(sayBefore('Let me thi', thinks)).toEqual([])
  expect(sayBefore('Let me look', searches)).toEqual(['Let me look'])
})

test('a cursor that the server did not make is refused', async () => {
  const { url } = await start([])
  const app = await connectV2App(url, { isLoose: true })
  const answer = { message: 't1', step: 1, base: 0, index: 0, first: 0, from: 0, at: 0, rest: '' }
  for (const wrong of [1, null, { silentTo: -1 }, { answer: {} }, { answer: { ...answer, rest: 'x'.repeat(9000) } }])
    await expect(
      app.request('session.open', { speech: true, from: { pos: 0, speech: wrong as object } }),
    ).rejects.toMatchObject({ frame: { code: 'invalid_event' } })
  await expect(app.request('session.open', { speech: 'never' as 'only' })).rejects.toMatchObject({
    frame: { code: 'invalid_event' },
  })
  const more = { ...answer, more: 'x'.repeat(9000) }
  const opened = await app.request('session.open', { speech: true, from: { pos: 0, speech: { answer: more } } })
  expect(opened.next).toEqual({ pos: 0, speech: { answer } })
})

test.each([
  { pos: 0, since: -1 },
  { pos: -1, since: -5 },
  { pos: 1.5, since: 0.5 },
  { pos: 9e15, since: 0 },
  { pos: 3, since: 9e15 },
  { pos: 3, since: '0' },
  { pos: 3, read: -1, since: 0 },
  { pos: null, since: 0 },
  { pos: 3, since: {} },
])('a cursor that no server made, %o, is refused, and the connection goes on', async (from) => {
  const { url } = await start(STEPS)
  await say(await begin(url), 'i1')
  const app = await connectV2App(url, { isLoose: true })
  await expect(
    app.request('session.open', { session: 's', speech: true, from: from as unknown as V2Cursor }),
  ).rejects.toMatchObject({ frame: { code: 'invalid_event' } })
  await app.request('session.open', { session: 's', speech: true, from: 'turn' })
})
