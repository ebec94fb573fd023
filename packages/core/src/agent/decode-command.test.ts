// Errors for commands and arguments that are almost right. Hostile values are in hostile-values.test.ts.
import { expect, test } from 'vitest'
import type { UserCommand } from '../machine/input.ts'
import { CLIENT_REPORTS, HOST_REPORTS, USER_COMMANDS } from '../machine/input.ts'
import {
  decodeDecision,
  decodeDescription,
  decodeQuestionAnswer,
  decodeSendOptions,
  decodeUserCommand,
  decodeEventsOptions,
  decodeInterruptOptions,
} from './decode-command.ts'
import type { DecodedCommand, DecodedDecision } from './decode-command.ts'
import { decodeClientReport, decodeOutcome } from './decode-report.ts'
import type { Decoded } from '../shape/value-reader.ts'

const refusal = (decoded: Decoded<unknown>): unknown => (decoded.ok ? decoded.value : decoded.refusal)

test.each([...HOST_REPORTS])('"%s" is for the host to say, whatever its fields are', (type) => {
  const message = `"${type}" comes from the host; a program or client cannot submit it`
  const forged = { type, callId: 'call_1_0', attempt: 1, outcome: { type: 'ok', content: [] } }
  expect(refusal(decodeUserCommand(forged))).toEqual({ code: 'illegal_input', message })
  expect(refusal(decodeClientReport(forged))).toEqual({ code: 'illegal_input', message })
})

test.each([
  { pos: 0 },
  { pos: 4, since: 2, attempt: 1, text: 0, reasoning: 0, inputs: [0, 0] },
  { pos: 4, read: 0, since: 0, attempt: 0 },
])('the cursor of an event is read back as it was given, also behind the very beginning: %j', (from) => {
  expect(decodeEventsOptions({ from })).toEqual({ ok: true, value: { from } })
})

test.each([...CLIENT_REPORTS])('"%s" is no command', (type) => {
  const message = `"${type}" is a report of an attached client, not a command`
  expect(refusal(decodeUserCommand({ type }))).toEqual({ code: 'illegal_input', message })
})

test.each([...USER_COMMANDS])('"%s" is no report', (type) => {
  const message = `"${type}" is a command of a person or program, not a client's report`
  expect(refusal(decodeClientReport({ type }))).toEqual({ code: 'illegal_input', message })
})

const approval = { type: 'approval', approvalId: 'a', principal: 'p' }

test.each<[string, Decoded<unknown>, string]>([
  ['a type that nobody knows', decodeUserCommand({ type: 'constructor' }), 'type must be "user-input", "transcript",'],
  ['no type', decodeUserCommand({}), 'or "cancel-reminder", not undefined'],
  ['a command that is text', decodeUserCommand('stop'), 'the command must be a plain object, not "stop"'],
  [
    'a field that is missing',
    decodeUserCommand({ type: 'set-model' }),
    'model is missing; a set-model has type, model',
  ],
  [
    'the index of a rewind, which the host makes',
    decodeUserCommand({ type: 'rewind', inputId: 'i', exchange: 1, again: true, index: [] }),
    'index is not a field of a rewind',
  ],
  [
    'a rewind to half an exchange',
    decodeUserCommand({ type: 'rewind', inputId: 'i', exchange: 0.5, again: true }),
    'exchange must be a whole number, not 0.5',
  ],
  [
    'an edit without validation',
    decodeUserCommand({ ...approval, decision: 'edit' }),
    'decision may not be "edit" here; session.decide takes new arguments',
  ],
  [
    'edited arguments with a forged check',
    decodeUserCommand({ ...approval, decision: 'approve', edited: { arguments: '{}', check: {} } }),
    'edited is not a field of an approval',
  ],
  [
    'a token of before',
    decodeUserCommand({ ...approval, decision: 'approve', tokenHash: 'x' }),
    'tokenHash is not a field of an approval',
  ],
  [
    'an answer without a value',
    decodeUserCommand({ type: 'question-answer', questionId: 'q', principal: 'p' }),
    'value is missing',
  ],
  [
    'an answer that declines and answers',
    decodeQuestionAnswer({ questionId: 'q', decline: true, value: 1 }),
    'value is not a field of an answer that declines',
  ],
  [
    'an answer that does not decline',
    decodeQuestionAnswer({ questionId: 'q', decline: false }),
    'decline must be true, or absent',
  ],
  [
    'a name with a line break',
    decodeUserCommand({ type: 'transcript', inputId: 'a\nb', speaker: '', text: '' }),
    'inputId must be a name of 1 to 256 characters without control characters, not "a\\nb"',
  ],
  [
    'an id that is an answer’s',
    decodeSendOptions({ inputId: 't12' }),
    'inputId must not be "t12", which is the id of an answer',
  ],
  [
    'a transcript with an answer’s id',
    decodeUserCommand({ type: 'transcript', inputId: 't1', speaker: '', text: '' }),
    'inputId must not be "t1", which is the id of an answer',
  ],
  [
    'a name that is too long',
    decodeSendOptions({ inputId: 'a'.repeat(257) }),
    'inputId must have 1 to 256 characters, not 257',
  ],
  [
    'an option that is misspelt',
    decodeSendOptions({ inputID: 'a' }),
    'inputID is not a field of the options of send; it is called "inputId" here',
  ],
  [
    'a temperature that is none',
    decodeSendOptions({ settings: { temperature: NaN } }),
    'settings.temperature must be a number of 0 or more, not NaN',
  ],
  [
    'no tokens',
    decodeSendOptions({ settings: { maxOutputTokens: 0 } }),
    'settings.maxOutputTokens must be a number of 1 or more, not 0',
  ],
  [
    'a way of delivery that is none',
    decodeSendOptions({ delivery: 'now' }),
    'delivery must be "queue", "steer" or "interrupt", not "now"',
  ],
  [
    'what was heard as a word',
    decodeInterruptOptions({ heard: 'none' }),
    "heard must be a plain object, not \"none\"; heard is { type: 'all' }, { type: 'none' }, { type: 'reported' }, { type: 'chars', chars: 35 }, { type: 'words', words: 12 } or { type: 'sentence', index: 2, words: 4 }",
  ],
  [
    'less than nothing heard',
    decodeInterruptOptions({ heard: { type: 'chars', chars: -1 } }),
    'heard.chars must be a number of 0 or more, not -1',
  ],
  [
    'a reason as long as a book',
    decodeInterruptOptions({ reason: 'a'.repeat(4097) }),
    'reason must have 0 to 4096 characters, not 4097',
  ],
  [
    'an approval with new input',
    decodeDecision({ approvalId: 'a', decision: 'approve', input: {} }),
    'input is not a field of an approval',
  ],
  ['an edit without input', decodeDecision({ approvalId: 'a', decision: 'edit' }), 'input is missing; an edit has'],
  [
    'an edit to a list',
    decodeDecision({ approvalId: 'a', decision: 'edit', input: [] }),
    'input must be a plain object, not an array',
  ],
  [
    'a decision for good',
    decodeDecision({ approvalId: 'a', decision: 'deny', remember: true }),
    'remember must be "tool" or "arguments", not true',
  ],
  [
    'an edit for later calls that its person has not seen',
    decodeDecision({ approvalId: 'a', decision: 'edit', input: {}, remember: 'tool' }),
    'remember must be "arguments", not "tool"',
  ],
  ['notes that are text', decodeDescription({ meta: 'a' }), 'meta must be a plain object, not "a"'],
  [
    'notes deep inside',
    decodeDescription({ meta: { a: [{ 'b c': 1n }] } }),
    'meta.a[0]["b c"] must be JSON, not a BigInt',
  ],
  [
    'a result that is text',
    decodeOutcome('done'),
    "the outcome must be a plain object, not \"done\"; an outcome is { type: 'ok', content: [{ type: 'text', text: '…' }] }",
  ],
  [
    'a result with a code of its own',
    decodeOutcome({ type: 'error', code: 'E_OOPS', message: '' }),
    'code must be a code of docs/errors.md, not "E_OOPS"',
  ],
  [
    'a result with a foreign image',
    decodeOutcome({ type: 'ok', content: [{ type: 'image', image: 'a' }] }),
    "content[0].image is not a field of an image part, which has type, mediaType, source, state?; an image part is { type: 'image'",
  ],
  [
    'a protocol number',
    decodeClientReport({ type: 'client-attached', connection: 'c', protocol: 1 }),
    'protocol is not a field of a client-attached',
  ],
  [
    'a tool that the server runs',
    decodeClientReport({
      type: 'client-tools',
      connection: 'c',
      tools: [{ name: 't', description: '', inputSchema: { type: 'object' }, effect: 'pure', runs: 'server' }],
    }),
    'tools[0].runs must be "client", not "server"',
  ],
  [
    'a tool whose arguments are a list',
    decodeClientReport({
      type: 'client-tools',
      connection: 'c',
      tools: [
        {
          name: 't',
          description: '',
          inputSchema: { type: 'array' },
          effect: 'pure',
          runs: 'client',
          timeoutMs: 1,
          parallel: true,
          onInterrupt: 'cancel',
        },
      ],
    }),
    'tools[0].inputSchema must have the type "object" at its root, not "array"',
  ],
])('%s is refused', (_, decoded, message) => {
  expect(refusal(decoded)).toMatchObject({ code: 'invalid_event', message: expect.stringContaining(message) as string })
})

test('no options are none', () => {
  expect(decodeSendOptions(undefined)).toEqual({ ok: true, value: {} })
  expect(decodeInterruptOptions(undefined)).toEqual({ ok: true, value: {} })
  expect(decodeSendOptions(null).ok).toBe(false)
})

test('what is decoded has the types of what is meant', () => {
  // The compiler checks most of it: a command is one of the machine's, and only an edit has an input.
  const command = (decoded: Extract<DecodedCommand, { readonly type: 'user-input' | 'interrupt' }>): UserCommand =>
    decoded
  const input = (decision: DecodedDecision): unknown => (decision.decision === 'edit' ? decision.input['a'] : undefined)
  const edit = decodeDecision({ approvalId: 'a', decision: 'edit', input: { a: 1 } })
  expect(edit.ok && input(edit.value)).toBe(1)
  const decoded = decodeUserCommand({ type: 'interrupt', reason: '', heard: { type: 'all' } })
  expect(decoded.ok && decoded.value.type === 'interrupt' && command(decoded.value).type).toBe('interrupt')
})

test('a trace context is taken as W3C says it, and refused with a name otherwise', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  expect(decodeSendOptions({ traceparent })).toEqual({ ok: true, value: { traceparent } })
  for (const wrong of [
    '',
    traceparent.toUpperCase(),
    `${traceparent}-more`,
    `ff${traceparent.slice(2)}`,
    traceparent.replace(/b7ad6b7169203331/, '0'.repeat(16)),
  ])
    expect(refusal(decodeSendOptions({ traceparent: wrong }))).toMatchObject({
      code: 'invalid_event',
      message: expect.stringContaining('traceparent must be a W3C traceparent') as unknown,
    })
})
