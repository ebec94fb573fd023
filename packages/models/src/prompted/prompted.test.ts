// Prompted tools: every format, every way of splitting a stream, and the same log as with native calls.
import type { Message, Model, ModelAnswer, ModelEvent, ModelRequest } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { canonicalLog } from '@baton/core/machine'
import type { SessionRecord } from '@baton/core/machine'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AnswerParser } from './answer-parser.ts'
import type { PromptedFormatName } from './formats.ts'
import { PROMPTED_FORMATS } from './formats.ts'
import { offeredTools } from './json-calls.ts'
import { withPromptedTools } from './index.ts'

const NAMES = Object.keys(PROMPTED_FORMATS) as readonly PromptedFormatName[] // the keys of that record
const CALLS = [
  { name: 'agent.spawn', arguments: '{"prompt":"say \\"hi\\"","deep":true,"n":-1.5,"list":["a",null]}' },
  { name: 'look', arguments: '{}' },
]
const ODD_CALLS = [
  { name: 'server/tool:2', arguments: '{"per-page":10,"$filter":"a"}' },
  { name: '9 lives', arguments: '{"a b":1}' },
  { name: 'look', arguments: '{"a=1, b":2}' },
]
const REQUEST: ModelRequest = {
  instructions: 'Be brief.',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'go' }] }],
  tools: ['look', 'agent.spawn', 'server/tool:2', '9 lives'].map((name) => ({
    name,
    description: 'Does it.',
    inputSchema: { type: 'object' },
  })),
  toolChoice: { type: 'auto' },
  settings: { maxOutputTokens: 512 },
  session: 's',
}

async function run(format: PromptedFormatName, step: ScriptedStep, request = REQUEST) {
  const inner = createScriptedModel({ steps: [step] })
  const events: ModelEvent[] = []
  const model = withPromptedTools(inner, { format })
  const answer = await model.run(request, (event) => events.push(event), new AbortController().signal)
  const streamed = events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
  const calls = answer.parts.flatMap((part) =>
    part.type === 'call' ? [{ name: part.name, arguments: part.arguments }] : [],
  )
  const text = answer.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  return { answer, events, streamed, calls, text, asked: inner.requests[0] }
}

function cut(text: string, places: readonly number[]): readonly string[] {
  const sorted = [...new Set(places.map((place) => place % (text.length + 1)))].toSorted((one, other) => one - other)
  return [0, ...sorted].map((from, index) => text.slice(from, sorted[index] ?? text.length))
}

describe.each(NAMES)('the format %s', (format) => {
  const { writeCall, whole } = PROMPTED_FORMATS[format]

  test('reads what it writes', async () => {
    for (const call of [...CALLS, ...ODD_CALLS]) {
      const { calls, text, answer } = await run(format, { text: writeCall(call) })
      expect(calls.map(({ name, arguments: given }) => [name, JSON.parse(given)])).toEqual([
        [call.name, JSON.parse(call.arguments)],
      ])
      expect([text, answer.finish]).toEqual(['', 'tool-calls'])
    }
  })

  test('gives the same text and calls however the stream is cut, and no mark reaches the text', async () => {
    const before = whole ? '' : 'Let me < look ` up.'
    const said = `${before}\n${CALLS.map(writeCall).join('\n')}`.trimStart()
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat()), async (places) => {
        const { calls, streamed, text, events } = await run(format, { pieces: cut(said, places) })
        expect([streamed, text]).toEqual([before, before])
        expect(calls).toHaveLength(CALLS.length)
        expect(events.filter((event) => event.type === 'call-end')).toHaveLength(calls.length)
      }),
      { numRuns: 200 },
    )
  })

  test('text without calls passes unchanged, whatever it holds', async () => {
    const words = fc.constantFrom(
      'hello ',
      '<',
      '<tool',
      '```',
      '```js\nx\n```',
      '[',
      '{"a":',
      ' \n',
      '|>',
      '**',
      'ä😀',
      '}',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(words, { maxLength: 12 }), fc.array(fc.nat()), async (parts, places) => {
        const said = parts.join('')
        const { streamed, text, calls } = await run(format, { pieces: cut(said, places) })
        expect([streamed, text, calls]).toEqual([said, said, []])
      }),
      { numRuns: 300 },
    )
  })

  test('an answer that ends anywhere inside of a call never gives half a call', async () => {
    const said = writeCall(CALLS[0]!)
    for (let length = 1; length < said.length; length++) {
      const { calls, answer } = await run(format, { text: said.slice(0, length), finish: 'max-tokens' })
      // A call that the machine sees as cut off; the bracket around a list is not part of the call.
      for (const call of calls) expect(['{', CALLS[0]!.arguments]).toContain(call.arguments)
      expect(answer.finish).toBe('max-tokens')
    }
  })
})

test.each<[string, PromptedFormatName, string, string]>([
  ['a tag around words', 'hermes', '<tool_call>look at this</tool_call>', 'end'],
  ['a call that is no JSON', 'hermes', '<tool_call>{"name": look at this}</tool_call>', 'tool-calls'],
  ['a call without its end', 'hermes', '<tool_call>{"name":"look"', 'tool-calls'],
  ['a call whose closing mark was forgotten', 'hermes', '<tool_call>{"name":"look","arguments":{}}', 'tool-calls'],
  [
    'arguments as a text of JSON',
    'hermes',
    '<tool_call>{"name":"look","arguments":"{\\"a\\":1}"}</tool_call>',
    'tool-calls',
  ],
  ['arguments that are a list', 'hermes', '<tool_call>{"name":"look","arguments":[1]}</tool_call>', 'tool-calls'],
  ['a code block of ordinary JSON', 'json-fence', 'See:\n```json\n{"a":1}\n```', 'end'],
  ['a call in a code block of JSON', 'json-fence', '```json\n{"name":"look","arguments":{}}\n```', 'tool-calls'],
  ['a call after a tag', 'llama', '<|python_tag|>{"name":"look","parameters":{}}', 'tool-calls'],
  [
    'two calls with a semicolon',
    'llama',
    '{"name":"look","parameters":{}}; {"name":"look","parameters":{}}',
    'tool-calls',
  ],
  ['an answer that is JSON and no call', 'llama', '{"a":1}', 'end'],
  ['the list of Mistral', 'brackets', '[TOOL_CALLS] [{"name":"look","arguments":{"a":1}}]', 'tool-calls'],
  ['a list in Python', 'brackets', "[look(a='x', b=[1, 2], c={'d': None}), look()]", 'tool-calls'],
  ['a list that is none of calls', 'brackets', '[1, 2, 3]', 'end'],
  ['Python that is more than literals', 'brackets', '[look(a=open("x"))]', 'end'],
])('%s', async (_, format, text, finish) => {
  expect((await run(format, { text })).answer.finish).toBe(finish)
})

test('a list in Python of names that Python does not have', async () => {
  const { calls } = await run('brackets', { text: '[server/tool(per-page=10), 9x()]' })
  expect(calls).toEqual([
    { name: 'server/tool', arguments: '{"per-page":10}' },
    { name: '9x', arguments: '{}' },
  ])
})

test.each(NAMES)('arguments of before that could not be read are left out, in the format %s', async (format) => {
  const call = { type: 'call', callId: 'c', name: 'look', arguments: '{"a":' } as const
  const { asked } = await run(format, {}, { ...REQUEST, messages: [{ role: 'assistant', parts: [call] }] })
  const { parts: told = [] } = asked?.messages[0] ?? {}
  const { parts: empty = [] } =
    (await run(format, {}, { ...REQUEST, messages: [{ role: 'assistant', parts: [{ ...call, arguments: '{}' }] }] }))
      .asked?.messages[0] ?? {}
  expect(told).toEqual(empty)
})

test('what was said before a thought stays before it', async () => {
  const thought = { type: 'reasoning', text: 'hm' } as const
  const parts = [{ type: 'text', text: 'First.' }, thought, { type: 'text', text: 'Second.' }] as const
  const inner: Model = {
    ...createScriptedModel({ steps: [] }),
    run: () => Promise.resolve({ parts, finish: 'end', usage: {}, model: 'm' }),
  }
  const answer = await withPromptedTools(inner).run(REQUEST, () => {}, new AbortController().signal)
  expect(answer.parts).toEqual(parts)
})

test('a typed answer is asked for in words while calls may be written, else by the provider', async () => {
  const output = { name: 'answer', schema: { type: 'object', properties: { a: { type: 'string' } } } } as const
  const offered = await run('hermes', {}, { ...REQUEST, output })
  expect(offered.asked).not.toHaveProperty('output')
  expect(offered.asked?.instructions).toContain(JSON.stringify(output.schema))
  const last = await run('hermes', {}, { ...REQUEST, output, toolChoice: { type: 'none' } })
  expect(last.asked).toMatchObject({ output, instructions: REQUEST.instructions })
})

test('the model is told the tools, the calls and their results in words, and gets no tools', async () => {
  const messages: ModelRequest['messages'] = [
    ...REQUEST.messages,
    {
      role: 'assistant',
      parts: [
        { type: 'text', text: 'I look.' },
        { type: 'call', callId: 'c', name: 'look', arguments: '{"a":1}' },
      ],
    },
    {
      role: 'tool',
      parts: [{ type: 'result', callId: 'c', name: 'look', isError: true, content: [{ type: 'text', text: 'no' }] }],
    },
  ]
  const { asked } = await run('hermes', { text: 'ok' }, { ...REQUEST, messages })
  expect(asked?.tools).toEqual([])
  // As long as a native call may be.
  expect(asked?.settings.maxOutputTokens).toBe(512)
  expect(asked?.instructions).toMatch(/^Be brief\.\n\nYou may call tools[^]*"name":"look"[^]*<tool_call>/)
  expect(asked?.messages.slice(1)).toEqual([
    {
      role: 'assistant',
      parts: [
        { type: 'text', text: 'I look.' },
        { type: 'text', text: '\n<tool_call>\n{"name": "look", "arguments": {"a":1}}\n</tool_call>' },
      ],
    },
    {
      role: 'user',
      parts: [{ type: 'text', text: '<tool_response>\n{"name":"look","error":true,"content":"no"}\n</tool_response>' }],
    },
  ])
  const none = await run('hermes', { text: 'ok' }, { ...REQUEST, messages, toolChoice: { type: 'none' } })
  expect(none.asked?.instructions).toBe('Be brief.')
  expect(none.asked?.settings.maxOutputTokens).toBe(512)
})

test('a conversation with calls in words has the log of one with native calls', async () => {
  const look = tool({
    name: 'look',
    description: 'Looks.',
    input: { type: 'object' },
    effect: 'pure',
    execute: () => 'seen',
  })
  const createLog = async (steps: readonly ScriptedStep[], format?: PromptedFormatName): Promise<unknown> => {
    const scripted = createScriptedModel({ id: 'm', steps })
    const store = createMemoryStore()
    const agent = defineAgent({
      name: 'a',
      model: format ? withPromptedTools(scripted, { format }) : scripted,
      tools: [look],
    })
    const host = createHost({ agent, store })
    const session = await host.session('s')
    for (const said of ['one', 'two']) await session.send(said, { inputId: said }).answer
    await host.stop()
    const records: SessionRecord[] = []
    for await (const record of store.read('s', 0)) records.push(record)
    // Sizes of requests differ, because the tools are in a different place.
    return JSON.parse(JSON.stringify(canonicalLog(records)))
  }
  const call = { name: 'look', arguments: { at: 'sky' } }
  const native = await createLog([{ calls: [call, call] }, { text: 'Blue.' }, { text: 'Bye.' }])
  for (const format of ['hermes', 'json-fence'] as const) {
    const written = PROMPTED_FORMATS[format].writeCall({ name: 'look', arguments: '{"at":"sky"}' })
    expect(await createLog([{ text: `${written}\n${written}` }, { text: 'Blue.' }, { text: 'Bye.' }], format)).toEqual(
      native,
    )
  }
})

describe('what looks like a call', () => {
  test.each([
    ['llama', '{"name":"Alice","age":3}'],
    ['brackets', '[{"name":"Alice","age":3}]'],
    ['json-fence', 'Here:\n```json\n{"name":"Bob","age":3}\n```\nthat is it'],
  ] as const)('is text in the format %s when it is data with a name', async (format, said) => {
    const { text, streamed, calls, answer } = await run(format, { text: said })
    expect([text, streamed]).toEqual([said, said])
    expect([calls, answer.finish]).toEqual([[], 'end'])
  })

  test('is a call without arguments when a tool has the name', async () => {
    const { calls } = await run('llama', { text: '{"name":"look"}' })
    expect(calls).toEqual([{ name: 'look', arguments: '{}' }])
  })

  test.each([
    ['hermes', '</tool_call>'],
    ['json-fence', '```js\nx\n```\n'],
  ] as const)('may have the closing mark of %s inside of its arguments', async (format, inside) => {
    const call = { name: 'look', arguments: JSON.stringify({ text: `a ${inside} b "quoted" \\` }) }
    const text = PROMPTED_FORMATS[format].writeCall(call)
    for (const pieces of [[text], text.split('')]) {
      const { calls, text: rest } = await run(format, { pieces })
      expect([calls, rest]).toEqual([[call], ''])
    }
  })
})

test('a long call in small pieces is read in one pass', () => {
  const text = `<tool_call>${'{"name":"look","arguments":{"x":"'}${'abc '.repeat(150_000)}"}}</tool_call> end`
  const heard: string[] = []
  const parser = new AnswerParser({
    format: PROMPTED_FORMATS.hermes,
    tools: offeredTools([]),
    mayRepair: true,
    onParsed: ({ type }) => heard.push(type),
  })
  for (let at = 0; at < text.length; at += 4) parser.push(text.slice(at, at + 4))
  parser.end(true)
  expect(heard).toEqual(['call', 'text'])
})

test('what was written of a message is the same object in the next request', async () => {
  const seen: (readonly Message[])[] = []
  const answer: ModelAnswer = {
    model: 'y',
    parts: [{ type: 'text', text: 'ok' }],
    finish: 'end',
    usage: { inputTokens: 1, outputTokens: 1 },
  }
  const base: Model = {
    id: 'x/y',
    provider: 'x',
    capabilities: { tools: 'none', images: false },
    run: ({ messages }) => {
      seen.push(messages)
      return Promise.resolve(answer)
    },
  }
  const call = { callId: 'c1', name: 'look' }
  const history: readonly Message[] = [
    { role: 'user', parts: [{ type: 'text', text: 'Look' }] },
    { role: 'assistant', parts: [{ type: 'call', ...call, arguments: '{}' }] },
    { role: 'tool', parts: [{ type: 'result', ...call, isError: false, content: [{ type: 'text', text: 'seen' }] }] },
  ]
  const model = withPromptedTools(base)
  const request = { instructions: '', tools: [], toolChoice: { type: 'auto' }, settings: {}, session: 's' } as const
  const { signal } = new AbortController()
  await model.run({ ...request, messages: history }, () => {}, signal)
  await model.run({ ...request, messages: [...history, ...history] }, () => {}, signal)
  const [first, second] = seen
  expect(first?.map((message, index) => message === second?.[index])).toEqual([true, true, true])
})

test('a misspelt option of prompted tools is refused', () => {
  expect(() => withPromptedTools({ id: 'm' } as never, { formats: 'hermes' } as never)).toThrow(
    'withPromptedTools has no field "formats"; it is called "format" here',
  )
})
