// Names of other libraries get an error with Baton's name: in agents, tools, messages and settings.
import { expect, test } from 'vitest'
import { defineAgent } from './agent.ts'
import {
  decodeSendOptions,
  decodeConfiguration,
  decodeForkOptions,
  decodeRewind,
  decodeUrgent,
} from './decode-command.ts'
import { decodeReminderInput, decodeReminderOptions } from './decode-reminder.ts'
import { tool } from './tool.ts'
import type { Decoded } from '../shape/value-reader.ts'

const INPUT = { type: 'object' } as const

/** Joins an error's message and hint. */
function catchText(define: () => unknown): string {
  try {
    define()
  } catch (error) {
    const { message, hint } = error as { readonly message: string; readonly hint: string } // a BatonError
    return `${message} | ${hint}`
  }
  throw new Error('nothing was thrown')
}

test.each([
  ['system', 'it is called "instructions" here'],
  ['schema', 'it is called "output" here'],
  ['prompt', 'Send a message with session.send(…)'],
  ['stopWhen', "A condition is { tool: 'submit' }"],
  ['temperature', 'go into settings'],
  ['maxOutputTokens', 'go into settings'],
  ['maxRetries', 'Write retry: { attempts: 3 }'],
  ['abortSignal', 'session.send(text, { signal })'],
  ['onFinish', 'read its events'],
  ['activeTools', 'prepareStep'],
  ['memory', '{ window: { exchanges: 20 } }'],
  ['transformContext', '{ window: { exchanges: 20 } }'],
  ['cacheControl', 'go into settings'],
  ['tts', 'createVoice from @baton/client/voice'],
  ['llm', 'it is called "model" here'],
  ['allowInterruptions', 'onInterrupt: "cancel", "finish", "background" or "detach"'],
  ['toolExecution', 'parallel: false in tool()'],
  ['mcpServers', 'sources: createMcpServers({ … }).sources'],
  ['mcp', 'createMcpServers'],
  ['agents', 'nother agent is a tool: write tools: [delegate('],
  ['subagents', 'nother agent is a tool: write tools: [delegate('],
  ['handoffs', 'nother agent is a tool: write tools: [delegate('],
  ['workflows', 'workflow is a program'],
  ['beforeToolCall', 'approvalPolicy'],
  ['afterToolCall', 'in execute of tool()'],
  ['inputGuardrails', 'before session.send'],
  ['outputGuardrails', 'checkAnswer'],
  ['outputProcessors', 'checkAnswer'],
  ['toolUseBehavior', 'it is called "stopWhen" here'],
  ['middleware', 'prepareStep'],
  ['checkpointer', 'createHost({ store })'],
  ['interruptOn', 'approval in tool()'],
  ['recursionLimit', 'limits: { toolRounds: 20 }'],
  ['skills', 'a tool that reads them'],
  ['initialState', 'host.session'],
  ['onStepFinish', 'read its events'],
  ['instrcutions', 'it is called "instructions" here'],
  ['colour', 'Its fields are name, model'],
])('an agent with %s is told what to write', (name, told) => {
  expect(catchText(() => defineAgent({ name: 'a', [name]: 'x' }))).toContain(told)
})

test.each([
  ['parameters', 'it is called "input" here'],
  ['inputSchema', 'it is called "input" here'],
  ['handler', 'it is called "execute" here'],
  ['needsApproval', 'it is called "approval" here'],
  ['strict', 'settings: { strictTools: true }'],
  ['cancelOnInterruption', 'onInterrupt: "cancel", "finish", "background" or "detach"'],
  ['executionMode', 'parallel: false'],
  ['onUpdate', 'context.progress'],
  ['colour', 'Its fields are name, description'],
])('a tool with %s is told what to write', (name, told) => {
  expect(catchText(() => tool({ name: 't', description: 't', input: INPUT, [name]: INPUT }))).toContain(told)
})

test.each([
  ['lastMessages', 'exchanges'],
  ['maxTokens', 'contextTokens'],
  ['summarize', 'summarise'],
])('a window with %s is told what to write, and which fields there are', (name, told) => {
  const text = catchText(() => defineAgent({ name: 'a', window: { [name]: 5 } }))
  expect(text).toContain('its fields are contextTokens, actAtTokens, exchanges')
  expect(text).toContain(`Write "${told}" instead.`)
})

test('a field of the window is none of the limits', () => {
  const limits = { contextTokens: 32_000 } as object // as in JavaScript
  expect(catchText(() => defineAgent({ name: 'a', limits }))).toContain('limits has no field "contextTokens"')
})

test('a profile by its name is told where it is', () => {
  const profile = 'voice' as unknown as object // as in JavaScript
  expect(catchText(() => defineAgent({ name: 'a', profile }))).toContain("import { voice } from '@baton/host'")
})

test('a tool and an agent without a name are told to have one', () => {
  const tools = { description: 't', input: INPUT } // as in JavaScript
  expect(catchText(() => tool(tools as never))).toBe(
    'a tool needs a name, which is text, not undefined | Set one, such as name: "weather". The model calls the tool by its name.',
  )
  expect(catchText(() => tool({ ...tools, inputSchema: INPUT } as never))).toContain(
    'a tool without a name has no field',
  )
  expect(catchText(() => defineAgent({ model: 'offline' } as never))).toContain('an agent needs a name')
})

test('limits and retries know the names of others', () => {
  expect(catchText(() => defineAgent({ name: 'a', limits: { maxSteps: 5 } as object }))).toContain('Write "toolRounds"')
  expect(catchText(() => defineAgent({ name: 'a', retry: { maxRetries: 5 } as object }))).toContain('Write "attempts"')
})

test.each([
  ['a tool of another library', { description: 'x', inputSchema: {}, execute: () => 1 }],
  ['what tool() was to be given', { name: 't', description: 'x', input: INPUT }],
  ['nothing', undefined],
])('an agent does not take %s as a tool', (_, one) => {
  expect(catchText(() => defineAgent({ name: 'a', tools: [one as never] }))).toContain(
    'agent "a": tools[0] was not made by Baton’s tool()',
  )
})

test.each([
  ['an Output', { name: 'object', responseFormat: {}, parseCompleteOutput: () => {} }, 'pass the schema itself'],
  ['a jsonSchema()', { jsonSchema: { type: 'object' }, validate: () => {} }, 'pass the JSON Schema itself'],
])('%s of the AI SDK is no schema', (_, schema, told) => {
  expect(catchText(() => defineAgent({ name: 'a', output: schema as never }))).toContain(told)
  expect(catchText(() => tool({ name: 't', description: 't', input: schema as never }))).toContain(told)
  expect(decodeSendOptions({ output: schema })).toMatchObject({
    ok: false,
    refusal: { code: 'invalid_schema', message: expect.stringContaining(told) },
  })
})

test('fields with nothing around them are told, with what to write around', () => {
  const input = { city: { type: 'string' } }
  expect(catchText(() => tool({ name: 't', description: 't', input }))).toContain('no type, and the fields "city"')
  expect(catchText(() => tool({ name: 't', description: 't', input }))).toContain('z.object({ … })')
})

test('a tool without a description is refused', () => {
  expect(catchText(() => tool({ name: 't', input: INPUT } as never))).toContain('description must be text')
})

const refuse = (decoded: Decoded<unknown>): string => (decoded.ok ? 'taken' : decoded.refusal.message)

test.each([
  [
    decodeSendOptions({ abortSignal: 1 }),
    'abortSignal is not a field of the options of send; it is called "signal" here',
  ],
  [decodeSendOptions({ messageId: 'x' }), 'it is called "inputId" here'],
  [decodeSendOptions({ schema: {} }), 'it is called "output" here'],
  [decodeSendOptions({ maxOutputTokens: 5 }), 'model settings go into settings'],
  [decodeSendOptions({ system: 'x' }), 'write it in defineAgent'],
  [decodeSendOptions({ prompt: 'x' }), 'the message is the first argument'],
  [decodeSendOptions({ colour: 1 }), 'colour is not a field of the options of send, which has model?'],
  [decodeSendOptions({ settings: { maxTokens: 5 } }), 'it is called "maxOutputTokens" here'],
  [decodeConfiguration({ temperature: 1 }), 'model settings go into settings'],
  [decodeRewind({ messageId: 'x' }), 'it is called "message" here'],
  [decodeForkOptions({ messageId: 'x' }), 'it is called "before" here'],
  [decodeUrgent({ type: 'order.paid' }), 'it is called "name" here'],
  [decodeUrgent({ name: 'order.paid', data: {} }), 'it is called "detail" here'],
  [decodeReminderInput({ text: 'x' }), 'it is called "message" here'],
  [decodeReminderInput(undefined), 'a reminder must be text, or an object such as { name, message }, not undefined'],
  [decodeReminderOptions({ timezone: 'Europe/Berlin' }), 'it is called "zone" here'],
])('a value %# with a name of another library is refused with ours', (decoded, told) => {
  expect(refuse(decoded)).toContain(told)
})

test.each([
  ['zod', 'Zod has since 4.2'],
  ['valibot', 'toStandardJsonSchema'],
])('a schema of %s that cannot describe itself: the message says what to do', (vendor, advice) => {
  const input = { '~standard': { version: 1, vendor, validate: (value: unknown) => ({ value }) } } as const
  expect(() => tool({ name: 'a', description: 'a', input, execute: () => 1 })).toThrow(advice)
})

test('sources in the place of tools, the servers themselves, and an agent among the tools are told what to write', () => {
  const source = { name: 'files', list: () => Promise.resolve([]) }
  const servers = { sources: [source], close: () => Promise.resolve() }
  const define = (options: object): string => catchText(() => defineAgent({ name: 'a', ...options }))
  expect(define({ tools: servers.sources })).toContain('Write sources: [ … ] beside tools')
  expect(define({ tools: [source] })).toContain('Write sources: [ … ] beside tools')
  expect(define({ tools: servers })).toContain('Write sources: servers.sources beside tools')
  expect(define({ tools: [servers] })).toContain('Write sources: servers.sources beside tools')
  expect(define({ sources: servers })).toContain('Write sources: servers.sources')
  expect(define({ sources: [servers] })).toContain('Write sources: servers.sources')
  expect(define({ tools: [defineAgent({ name: 'writer' })] })).toContain('delegate(')
  expect(define({ tools: [defineAgent({ name: 'writer' })] })).toContain('tools[0] is the agent "writer"')
})
