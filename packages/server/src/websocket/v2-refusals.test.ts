// Plays every refusal that docs/protocol-2-reference.md lists for a request: the code tells an app what to do.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import type { RequestType } from '@baton/protocol'
import { afterEach, expect, test } from 'vitest'
import { startServer } from './test-server.test-kit.ts'
import { listCodes } from './v2-reference-page.test-kit.ts'
import type { V2App } from './v2.test-kit.ts'
import { connectV2App, RefusedRequest } from './v2.test-kit.ts'

const open: { stop: () => Promise<void> }[] = []

afterEach(async () => {
  for (const one of open.splice(0)) await one.stop()
})

const camera = tool({
  name: 'camera',
  description: 'Takes a picture',
  input: { type: 'object', properties: {} },
  effect: 'once',
})
const pay = tool({
  name: 'pay',
  description: 'Pays',
  input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  effect: 'once',
  approval: true,
  execute: ({ amount }) => `paid ${amount}`,
})
const choose = tool({
  name: 'choose',
  description: 'Asks for a card',
  input: { type: 'object', properties: {} },
  effect: 'once',
  execute: async (_, { ask }) => await ask({ message: 'Which card?', schema: CARD }),
})
const CARD = { type: 'object', properties: { card: { type: 'string' } }, required: ['card'] } as const

/** An app that has sent one message, over a model that then calls exactly the tools named by its input. */
async function begin(): Promise<{ readonly app: V2App; readonly other: () => Promise<V2App> }> {
  const named = new Set(['camera', 'pay', 'choose'])
  const model = createScriptedModel({
    steps: ({ messages }) => {
      const last = messages.at(-1)
      const said = last?.role === 'user' && last.parts[0]?.type === 'text' ? last.parts[0].text : ''
      if (said === 'wait') return { pieces: ['One'], hangs: 'until-aborted' }
      return named.has(said) ? { calls: [{ name: said, arguments: { amount: 3 } }] } : { text: 'Hello!' }
    },
  })
  const agent = defineAgent({ name: 'home', model, tools: [camera, pay, choose], limits: { inputChars: 2000 } })
  const server = await startServer({ agent, store: createMemoryStore() })
  open.push(server)
  const other = async (): Promise<V2App> => {
    const connected = await connectV2App(server.url, { isLoose: true })
    return connected
  }
  const app = await other()
  await app.request('session.open', { session: 's', device: { name: 'phone' } })
  await app.request('input.send', { input: 'first', content: 'Hi' })
  await app.event('turn-finished')
  return { app, other }
}

async function codeOf(app: V2App, type: RequestType, given: object): Promise<string | undefined> {
  try {
    await app.request(type, given as never)
    return undefined
  } catch (cause) {
    if (cause instanceof RefusedRequest) return cause.frame.code
    throw cause
  }
}

const LONG = 'x'.repeat(3000)

/** Refusals for an app that has had one answer, `t1` to `first`, and whose session is at rest. */
const AT_REST: readonly (readonly [RequestType, object, code: string | undefined])[] = [
  ['ping', { more: 1 }, 'invalid_event'],
  ['session.open', { session: 'other' }, 'illegal_input'],
  ['session.messages', { before: 'nobody' }, 'invalid_option'],
  ['session.messages', { limit: 0 }, 'invalid_event'],
  ['session.describe', { title: LONG }, 'invalid_event'],
  ['session.describe', { session: 'nobody', title: 'x' }, 'unknown_session'],
  ['session.configure', { model: 'other/model' }, 'invalid_option'],
  ['session.control', { action: 'continue' }, 'illegal_input'],
  ['session.control', { action: 'start' }, 'illegal_input'],
  ['session.fork', { before: 'nobody' }, 'unknown_input'],
  ['session.list', { cursor: '\u0000' }, 'invalid_option'],
  ['approval.list', { cursor: 'nothing' }, 'invalid_option'],
  ['approval.list', { order: 'best' }, 'invalid_event'],
  ['approval.decide', { approvalId: 'nothing', decision: 'approve', session: 's' }, 'approval_refused'],
  ['session.delete', { session: 'nobody' }, undefined],
  ['input.send', { input: 'i', content: '  ' }, 'invalid_event'],
  ['input.send', { input: 'i', content: LONG }, 'input_too_large'],
  ['input.send', { input: 'i', content: 'x', model: 'other/model' }, 'invalid_option'],
  ['input.send', { input: 'i', content: 'x', output: { type: 'array' } }, 'invalid_schema'],
  [
    'input.send',
    { input: 'i', content: 'x', delivery: 'interrupt', heard: { type: 'chars', chars: 1, message: 't9' } },
    'invalid_event',
  ],
  ['input.hear', { input: 'i', speaker: 'Ann', text: ' ' }, 'invalid_transcript'],
  ['input.notify', { input: 'i', name: '' }, 'invalid_event'],
  ['input.withdraw', { input: 'first' }, 'unknown_input'],
  ['input.rewind', { input: 'i', message: 'nobody' }, 'unknown_input'],
  ['input.rewind', { input: 'i', message: 't1', replace: 'x' }, 'invalid_event'],
  ['input.rewind', { input: 'i', message: 'first', replace: 'x', again: true }, 'invalid_event'],
  ['input.rewind', { input: 'i', message: 'first', replace: ' ' }, 'invalid_event'],
  ['turn.interrupt', { turn: 't9' }, 'invalid_event'],
  ['turn.interrupt', { turn: 't1', heard: { type: 'sentence', index: 9 } }, 'invalid_event'],
  ['speech.played', { message: 't9', chars: 3 }, 'invalid_event'],
  ['approval.decide', { approvalId: 'nothing', decision: 'approve' }, 'approval_refused'],
  ['question.answer', { questionId: 'nothing', value: 1 }, 'question_refused'],
  ['device.attach', { name: 'phone', leaseMs: 10 }, 'invalid_option'],
  ['device.attach', { name: 'phone', runs: ['pay'] }, 'invalid_option'],
  ['device.attach', { name: 'phone', models: ['tiny'] }, 'invalid_option'],
  ['device.attach', { name: 'phone', tools: [{ name: '' }] }, 'invalid_event'],
  ['call.claim', { callId: 'call_9_9' }, 'call_over'],
  ['call.result', { callId: 'call_9_9', outcome: {} }, 'invalid_event'],
  ['model.pieces', { run: 'r', pieces: [] }, 'illegal_input'],
  ['model.result', { run: 'r', outcome: { error: { message: 'x' } } }, 'illegal_input'],
]

test('at rest, each request is refused with a code that the page lists', async () => {
  const { app } = await begin()
  const told: unknown[] = []
  for (const [type, given] of AT_REST) told.push([type, given, await codeOf(app, type, given)])
  expect(told).toEqual(AT_REST)
  const unlisted = AT_REST.filter(([type, , code]) => code !== undefined && !listCodes(type).includes(code))
  expect(unlisted).toEqual([])
})

test('a request that was refused without `retryable` is refused again', async () => {
  const { app } = await begin()
  for (const [type, given, code] of AT_REST) {
    if (code === undefined) continue
    for (let times = 0; times < 2; times++) {
      const thrown: unknown = await app.request(type, given as never).catch((cause: unknown) => cause)
      const { code: told, retryable } = (thrown as RefusedRequest).frame
      expect([type, given, told, retryable]).toEqual([type, given, code, undefined])
    }
  }
})

test('without a session or a device each request says so', async () => {
  const { other } = await begin()
  const app = await other()
  const listed: readonly RequestType[] = ['session.info', 'session.messages', 'session.control', 'session.fork']
  for (const type of [...listed, 'session.configure', 'session.describe'] as const) {
    const given = type === 'session.control' ? { action: 'pause' } : {}
    expect([type, await codeOf(app, type, given)]).toEqual([type, 'illegal_input'])
    expect(listCodes(type)).toContain('illegal_input')
  }
  expect(await codeOf(app, 'session.open', { session: 'nobody', existing: true })).toBe('unknown_session')
  expect(await codeOf(app, 'session.open', { session: '..' })).toBe('invalid_event')
  expect(await codeOf(app, 'session.open', { session: 's', from: { pos: 999 } })).toBe('invalid_event')
  // Absent and false are the same.
  expect(await codeOf(app, 'session.open', { session: 's', existing: false, speech: false })).toBeUndefined()
  for (const [type, given] of [
    ['device.release', {}],
    ['call.claim', { callId: 'call_1_0' }],
    ['call.result', { callId: 'call_1_0', outcome: { output: 1 } }],
  ] as const) {
    expect([type, await codeOf(app, type, given)]).toEqual([type, 'illegal_input'])
    expect(listCodes(type)).toContain('illegal_input')
  }
})

test('a refused claim says whether the call has ended for this device', async () => {
  const { app, other } = await begin()
  await app.request('input.send', { input: 'i', content: 'camera' })
  const { call } = await app.event('call', ({ call: { status } }) => status === 'waiting')
  const { callId } = call
  const tablet = await other()
  await tablet.request('session.open', { session: 's', device: { name: 'tablet' } })
  expect(await codeOf(tablet, 'call.claim', { callId })).toBe('call_not_offered')
  await app.request('call.claim', { callId })
  expect(await codeOf(tablet, 'call.claim', { callId })).toBe('call_not_offered')
  await app.request('call.result', { callId, outcome: { output: 'a hall' } })
  expect(await codeOf(tablet, 'call.claim', { callId })).toBe('call_over')
  expect(await codeOf(app, 'call.claim', { callId })).toBe('call_over')
  expect(listCodes('call.claim')).toEqual(expect.arrayContaining(['call_over', 'call_not_offered', 'illegal_input']))
})

test('while a turn runs, what it does not allow is refused', async () => {
  const { app } = await begin()
  await app.request('input.send', { input: 'i', content: 'wait' })
  await app.event('text', ({ text }) => text === 'One')
  const rewind = { input: 'r', message: 'first', replace: 'Hi again' }
  expect(await codeOf(app, 'input.rewind', { ...rewind, interrupt: false })).toBe('turn_in_progress')
  expect(listCodes('input.rewind')).toContain('turn_in_progress')
  // The request that ends the turn is accepted, and its repetition gets the same answer.
  expect(await app.request('input.rewind', { ...rewind, interrupt: true })).toEqual({ turn: 'r' })
  expect(await app.request('input.rewind', { ...rewind, interrupt: true })).toEqual({ turn: 'r' })
  await app.event('turn-finished', ({ message }) => message === 't3')
  expect(app.events.filter(({ type }) => type === 'messages-removed')).toHaveLength(1)
})

test('a decision that does not fit leaves its request open, and a second one finds nothing', async () => {
  const { app } = await begin()
  await app.request('input.send', { input: 'i', content: 'pay' })
  const { approvalId } = await app.event('approval-requested')
  const edit = { approvalId, decision: 'edit', input: { amount: 'all' } }
  expect(await codeOf(app, 'approval.decide', edit)).toBe('invalid_arguments')
  expect(await codeOf(app, 'approval.decide', { approvalId, decision: 'approve' })).toBeUndefined()
  expect(await codeOf(app, 'approval.decide', { approvalId, decision: 'approve' })).toBe('approval_refused')
  expect(listCodes('approval.decide')).toEqual(expect.arrayContaining(['invalid_arguments', 'approval_refused']))
  await app.event('turn-finished', ({ message }) => message === 't2')
  await app.request('input.send', { input: 'j', content: 'choose' })
  const { questionId } = await app.event('question-asked')
  expect(await codeOf(app, 'question.answer', { questionId, value: { card: 4 } })).toBe('question_refused')
  expect(await codeOf(app, 'question.answer', { questionId, value: { card: 'red' } })).toBeUndefined()
  expect(await codeOf(app, 'question.answer', { questionId, value: { card: 'red' } })).toBe('question_refused')
})

test('a stopped session takes nothing until it is started', async () => {
  const { app } = await begin()
  await app.request('session.control', { action: 'stop' })
  for (const [type, given] of [
    ['input.send', { input: 'i', content: 'x' }],
    ['input.hear', { input: 'i', speaker: 'Ann', text: 'x' }],
    ['input.notify', { input: 'i', name: 'bell' }],
    ['input.rewind', { input: 'i', message: 'first' }],
    ['session.control', { action: 'pause' }],
    ['session.control', { action: 'stop' }],
  ] as const) {
    expect([type, await codeOf(app, type, given)]).toEqual([type, 'session_stopped'])
    expect(listCodes(type)).toContain('session_stopped')
  }
  await app.request('session.control', { action: 'start' })
  await app.request('session.control', { action: 'pause' })
  expect(await codeOf(app, 'session.control', { action: 'pause' })).toBe('illegal_input')
  expect(await codeOf(app, 'input.rewind', { input: 'r', message: 'first', again: true })).toBe('illegal_input')
})
