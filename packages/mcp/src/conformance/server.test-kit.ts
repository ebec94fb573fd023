// A server as users build it, with the tools that the conformance suite needs as ordinary tools of an agent. It prints
// its address.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '@baton/core'
import { createHost, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { createNodeListener } from '@baton/server/http'
import { createMcpHandler } from '../server/index.ts'

const NONE = { type: 'object', properties: {} } as const
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA='
const image = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: PNG } } as const
const toFile = (mediaType: string, text: string) => {
  const source = { type: 'base64', data: Buffer.from(text).toString('base64') } as const
  return { type: 'file', mediaType, name: 'note', source } as const
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** The title of a question's schema is its key. */
const form = (title: string, properties: JsonObject, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  title,
  properties,
  required,
})

/** A tool that asks one question after another and reports the answers. */
const asking = (name: string, questions: readonly { readonly message: string; readonly schema: JsonObject }[]) =>
  tool({
    name,
    description: 'Asks the user.',
    input: NONE,
    execute: async (_, { ask }) => {
      const answers: unknown[] = []
      for (const question of questions) answers.push(await ask(question))
      return `action=accept, content=${JSON.stringify(answers)}`
    },
  })

const DEFAULTS = form(
  'person',
  {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
  [],
)

const CHOICES = form(
  'choices',
  {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: {
      type: 'string',
      oneOf: [
        { const: 'value1', title: 'First Option' },
        { const: 'value2', title: 'Second Option' },
        { const: 'value3', title: 'Third Option' },
      ],
    },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: {
      type: 'array',
      items: {
        anyOf: [
          { const: 'value1', title: 'First Choice' },
          { const: 'value2', title: 'Second Choice' },
          { const: 'value3', title: 'Third Choice' },
        ],
      },
    },
  },
  [],
)

const TASK_MS = 120_000

const plain = [
  tool({
    name: 'test_simple_text',
    description: 'Returns a text.',
    input: NONE,
    effect: 'pure',
    execute: () => 'This is a simple text response for testing.',
  }),
  tool({
    name: 'test_image_content',
    description: 'Returns a picture.',
    input: NONE,
    effect: 'pure',
    execute: () => ({ content: [image] }),
  }),
  tool({
    name: 'test_audio_content',
    description: 'Returns a sound.',
    input: NONE,
    effect: 'pure',
    execute: () => ({
      content: [{ type: 'file', mediaType: 'audio/wav', source: { type: 'base64', data: WAV } }] as const,
    }),
  }),
  tool({
    name: 'test_embedded_resource',
    description: 'Returns a file.',
    input: NONE,
    effect: 'pure',
    execute: () => ({ content: [toFile('text/plain', 'This is an embedded resource content.')] }),
  }),
  tool({
    name: 'test_multiple_content_types',
    description: 'Returns several things.',
    input: NONE,
    effect: 'pure',
    execute: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        image,
        toFile('application/json', '{"test":"data","value":123}'),
      ] as const,
    }),
  }),
  tool({
    name: 'test_error_handling',
    description: 'Fails.',
    input: NONE,
    execute: () => Promise.reject(new Error('This tool intentionally returns an error for testing')),
  }),
  tool({
    name: 'test_tool_with_progress',
    description: 'Tells how far it is.',
    input: NONE,
    execute: async (_, { progress }) => {
      for (const done of [0, 50, 100]) {
        progress({ progress: done, total: 100 })
        await pause(60)
      }
      return 'done'
    },
  }),
]

const questions = [
  tool({
    name: 'test_elicitation',
    description: 'Asks the user for a name and an address.',
    input: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    execute: async ({ message }, { ask }) => {
      const schema = form('user', {
        username: { type: 'string', description: 'User’s response' },
        email: { type: 'string', description: 'User’s email address' },
      })
      return `User response: ${JSON.stringify(await ask({ message: String(message), schema }))}`
    },
  }),
  asking('test_elicitation_sep1034_defaults', [{ message: 'Who is it?', schema: DEFAULTS }]),
  asking('test_elicitation_sep1330_enums', [{ message: 'Which ones?', schema: CHOICES }]),
  asking('test_input_required_result_elicitation', [
    { message: 'What is your name?', schema: form('user_name', { name: { type: 'string' } }) },
  ]),
  asking('test_input_required_result_request_state', [
    { message: 'Please confirm', schema: form('confirm', { ok: { type: 'boolean' } }) },
  ]),
  asking('test_input_required_result_tampered_state', [
    { message: 'Please confirm', schema: form('confirm', { ok: { type: 'boolean' } }) },
  ]),
  asking('test_input_required_result_multi_round', [
    { message: 'Step 1: What is your name?', schema: form('step1', { name: { type: 'string' } }) },
    { message: 'Step 2: What is your favorite color?', schema: form('step2', { color: { type: 'string' } }) },
  ]),
]

const tasks = [
  tool({
    name: 'greet',
    description: 'Greets.',
    input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    effect: 'pure',
    execute: ({ name }) => `Hello, ${String(name)}!`,
  }),
  tool({
    name: 'slow_compute',
    description: 'Takes long.',
    input: {
      type: 'object',
      properties: { seconds: { type: 'number' }, label: { type: 'string' } },
      required: ['seconds'],
    },
    effect: 'pure',
    timeoutMs: TASK_MS,
    execute: async ({ seconds }) => {
      await pause(Number(seconds) * 1_000)
      return 'computed'
    },
  }),
  tool({
    name: 'failing_job',
    description: 'Takes long, and fails.',
    input: NONE,
    timeoutMs: TASK_MS,
    execute: async () => {
      await pause(1_000)
      throw new Error('the job failed')
    },
  }),
  tool({
    name: 'confirm_delete',
    description: 'Deletes a file once the user agrees.',
    input: { type: 'object', properties: { filename: { type: 'string' } } },
    timeoutMs: TASK_MS,
    execute: async ({ filename }, { ask }) => {
      const schema = form('confirm', { confirm: { type: 'boolean' } })
      const { confirm } = (await ask({ message: `Delete ${String(filename)}?`, schema })) as JsonObject // by its schema
      return confirm === true ? `Deleted ${String(filename)}.` : 'Kept.'
    },
  }),
]

/** A schema with everything in JSON Schema 2020-12; as text, because an object with a `then` looks like a promise. */
const ADDRESSES = JSON.parse(`{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": {
    "address": {
      "$anchor": "addressDef",
      "type": "object",
      "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
    }
  },
  "properties": {
    "name": { "type": "string" },
    "address": { "$ref": "#/$defs/address" },
    "contactMethod": { "type": "string", "enum": ["phone", "email"] },
    "phone": { "type": "string" },
    "email": { "type": "string" }
  },
  "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
  "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
  "then": { "required": ["phone"] },
  "else": { "required": ["email"] },
  "additionalProperties": false
}`) as JsonObject // parsed from the text above

const others = [
  tool({
    name: 'json_schema_2020_12_tool',
    description: 'Takes an address.',
    input: ADDRESSES,
    effect: 'pure',
    execute: () => 'taken',
  }),
  tool({
    name: 'test_logging_tool',
    description: 'Writes to the operator’s log.',
    input: NONE,
    effect: 'pure',
    execute: (_, { log }) => {
      log.info('called')
      return 'logged'
    },
  }),
  asking('test_streaming_elicitation', [{ message: 'Go on?', schema: form('confirm', { ok: { type: 'boolean' } }) }]),
  tool({
    name: 'multi_input',
    description: 'Asks two things at once.',
    input: NONE,
    timeoutMs: TASK_MS,
    execute: async (_, { ask }) => {
      const name = ask({ message: 'Your name?', schema: form('name', { name: { type: 'string' } }) })
      const age = ask({ message: 'Sure?', schema: form('confirm', { confirm: { type: 'boolean' } }) })
      return JSON.stringify(await Promise.all([name, age]))
    },
  }),
]

const agent = defineAgent({
  name: 'conformance',
  model: createScriptedModel({ steps: () => ({ text: 'I am here.' }) }),
  tools: [...plain, ...questions, ...tasks, ...others],
})
const host = createHost({ agent })
const handler = createMcpHandler(host, { agent })
const server = createServer(createNodeListener(handler))
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo // a TCP server
  process.stdout.write(`http://localhost:${port}/mcp\n`)
})
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
  void handler.close().then(() => host.stop())
})
