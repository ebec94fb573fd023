// Neutral requests on Gemini's wire, as literals.
import type { AssistantPart, JsonObject, Message, ModelRequest, ResultPart } from '@baton/core/internal'
import { describe, expect, test } from 'vitest'
import { encodeGeminiRequest } from './encode-request.ts'

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  instructions: '',
  messages: [user('hi')],
  tools: [],
  toolChoice: { type: 'auto' },
  settings: {},
  session: 's',
  ...more,
})
const encode = (more: Partial<ModelRequest> = {}, model = 'gemini-2.5-flash') =>
  encodeGeminiRequest(request(more), { model })
const state = (data: object, model = 'gemini-3-pro', provider = 'gemini') => ({ provider, model, data: data as never })
const call = (callId: string, more: object = {}): AssistantPart => ({
  type: 'call',
  callId,
  name: 'f.g',
  arguments: '{"a":1}',
  ...more,
})
const result = (callId: string, more: Partial<ResultPart> = {}): ResultPart => ({
  type: 'result',
  callId,
  name: 'f.g',
  isError: false,
  content: [{ type: 'text', text: 'ok' }],
  ...more,
})
const image = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'AA==' } } as const
const history = (parts: readonly AssistantPart[], results: readonly ResultPart[]): readonly Message[] => [
  user('go'),
  { role: 'assistant', parts },
  ...(results.length > 0 ? [{ role: 'tool' as const, parts: results }] : []),
]
const listContents = (messages: readonly Message[], model = 'gemini-3-pro') => encode({ messages }, model).contents

test('instructions, tools, settings', () => {
  const schema = {
    type: 'object',
    properties: { city: { const: 'Berlin' } },
    required: ['city'],
    additionalProperties: false,
  }
  const tools = [
    { name: 'a.b', description: 'x', inputSchema: schema },
    { name: 'none', description: '', inputSchema: { type: 'object', properties: {} } },
  ]
  expect(encode({ instructions: 'Be brief.', tools, settings: { temperature: 3, maxOutputTokens: 100 } })).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    tools: [
      {
        functionDeclarations: [
          {
            name: 'a_-dot-b',
            description: 'x',
            parameters: {
              type: 'object',
              properties: { city: { type: 'string', enum: ['Berlin'] } },
              required: ['city'],
            },
          },
          { name: 'none' },
        ],
      },
    ],
    generationConfig: { maxOutputTokens: 100, temperature: 2, thinkingConfig: { thinkingBudget: 0 } },
  })
})

test.each([
  [{ type: 'auto' }, undefined],
  [{ type: 'any' }, { mode: 'ANY' }],
  [{ type: 'none' }, { mode: 'NONE' }],
  [
    { type: 'tool', name: 'a.b' },
    { mode: 'ANY', allowedFunctionNames: ['a_-dot-b'] },
  ],
] as const)('tool choice %j', (toolChoice, config) => {
  const tools = [{ name: 'a.b', description: 'x', inputSchema: { type: 'object' } }]
  expect(encode({ tools, toolChoice }).toolConfig?.functionCallingConfig).toEqual(config)
  expect(() => encode({ tools, toolChoice: { type: 'tool', name: 'other' } })).toThrow('which is not among')
})

test.each([
  ['gemini-2.5-flash', 0, { thinkingBudget: 0 }, 512],
  ['gemini-2.5-flash', 5000, { includeThoughts: true, thinkingBudget: 5000 }, 5512],
  ['gemini-2.5-flash-lite', 1, { includeThoughts: true, thinkingBudget: 512 }, 1024],
  ['gemini-2.5-pro', 0, { thinkingBudget: 128 }, 2560],
  ['gemini-2.5-pro', 99_999, { includeThoughts: true, thinkingBudget: 32_768 }, 33_280],
  ['gemini-3-pro-preview', 0, { thinkingLevel: 'low' }, 8704],
  ['gemini-3-pro-preview', 5000, { includeThoughts: true, thinkingLevel: 'high' }, 33_280],
  ['gemini-3.5-flash', 0, { thinkingLevel: 'minimal' }, 2560],
  ['gemini-3.5-flash', 5000, { includeThoughts: true, thinkingLevel: 'medium' }, 16_896],
  ['gemini-flash-latest', 1, { includeThoughts: true, thinkingLevel: 'low' }, 8704],
  ['gemini-2.0-flash', 5000, undefined, 512],
  ['gemma-3-27b-it', 5000, undefined, 512],
])('%s with %i tokens of reasoning', (model, reasoningTokens, config, most) => {
  const { generationConfig } = encode({ settings: { reasoningTokens, maxOutputTokens: 512 } }, model)
  expect([generationConfig.thinkingConfig, generationConfig.maxOutputTokens]).toEqual([config, most])
})

test('a typed answer whose keys have no names, or names that Gemini does not read, is asked for in words', () => {
  const of = (properties: JsonObject) => encode({ output: { name: 'o', schema: { type: 'object', properties } } })
  const texts = { type: 'string' }
  for (const one of [{ map: { type: 'object', additionalProperties: texts } }, { 'first name': texts }]) {
    const { generationConfig, systemInstruction } = of(one)
    expect(generationConfig).not.toHaveProperty('responseSchema')
    expect(JSON.stringify(systemInstruction)).toContain('It must match this JSON Schema')
  }
  expect(of({ name: texts }).generationConfig).toHaveProperty('responseSchema')
})

test('output to a schema, which is refused beside tools', () => {
  const output = { name: 'o', schema: { type: 'object', properties: { a: { type: ['string', 'null'] } } } }
  expect(encode({ output }).generationConfig).toMatchObject({
    responseMimeType: 'application/json',
    responseSchema: { type: 'object', properties: { a: { type: 'string', nullable: true } } },
  })
  const tools = [{ name: 'a', description: 'x', inputSchema: { type: 'object' } }]
  expect(encode({ output, tools }).generationConfig).not.toHaveProperty('responseMimeType')
})

describe('signatures', () => {
  const signatures = (messages: readonly Message[], model?: string) =>
    listContents(messages, model).flatMap(({ parts }) => parts.flatMap((part) => part['thoughtSignature'] ?? []))
  const signed = state({ thoughtSignature: 's' })

  test('stay on the first of parallel calls and on each sequential one', () => {
    const messages = [
      ...history([call('1', { state: signed }), call('2')], [result('1'), result('2')]),
      {
        role: 'assistant' as const,
        parts: [call('3', { state: state({ thoughtSignature: 't' }) })],
        rebased: true as const,
      },
      { role: 'tool' as const, parts: [result('3')] },
    ]
    expect(listContents(messages).map(({ parts }) => parts.map((part) => part['thoughtSignature'] ?? null))).toEqual([
      [null],
      ['s', null],
      [null, null],
      ['t'],
      [null],
    ])
  })

  test.each([
    ['another provider', state({ thoughtSignature: 's', id: 'x' }, 'gemini-3-pro', 'anthropic')],
    ['another model', state({ thoughtSignature: 's', id: 'x' }, 'gemini-2.5-flash')],
    ['nobody', undefined],
  ])('of %s: Gemini 3 gets the documented filler, older models nothing, no id is borrowed', (_who, owned) => {
    const messages = history([call('1', owned ? { state: owned } : {}), call('2')], [result('1'), result('2')])
    expect(signatures(messages)).toEqual(['skip_thought_signature_validator'])
    expect(signatures(messages, 'gemini-2.0-flash')).toEqual([])
    expect(JSON.stringify(listContents(messages))).not.toContain('"id"')
  })

  test('on text, on thoughts, and without words; thoughts without one stay at home', () => {
    const parts: readonly AssistantPart[] = [
      { type: 'reasoning', text: 'hm' },
      { type: 'reasoning', text: 'hm', state: signed },
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', state: signed },
      { type: 'reasoning', text: '', state: state({ thoughtSignature: 't', isText: true }) },
      { type: 'provider', state: state({ part: { executableCode: { code: 'x' } } }) },
      { type: 'provider', state: state({ part: { brandNew: {} } }) },
    ]
    expect(listContents([...history(parts, []), user('on')])[1]?.parts).toEqual([
      { text: 'hm', thought: true, thoughtSignature: 's' },
      { text: 'a' },
      { text: 'b', thoughtSignature: 's' },
      { text: '', thoughtSignature: 't' },
      { executableCode: { code: 'x' } },
    ])
  })
})

describe('results', () => {
  test('all in one content, with the ids that the model gave, before what the user says', () => {
    const own = state({ id: 'c1', thoughtSignature: 's' })
    const messages = [
      ...history(
        [call('1', { state: own }), call('2', { arguments: '{"a":' })],
        [result('1'), result('2', { isError: true, content: [{ type: 'text', text: 'no' }] })],
      ),
      user('and?'),
    ]
    expect(listContents(messages).slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'c1', name: 'f_-dot-g', args: { a: 1 } }, thoughtSignature: 's' },
          { functionCall: { name: 'f_-dot-g', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'f_-dot-g', response: { output: 'ok' } } },
          { functionResponse: { name: 'f_-dot-g', response: { error: 'no' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'and?' }] },
    ])
  })

  test('images: inside of the result from Gemini 3 on, beside it before', () => {
    const messages = history([call('1')], [result('1', { content: [image] })])
    const inlineData = { mimeType: 'image/png', data: 'AA==' }
    expect(listContents(messages, 'gemini-3-pro').at(-1)?.parts).toEqual([
      { functionResponse: { name: 'f_-dot-g', response: { output: '' }, parts: [{ inlineData }] } },
    ])
    expect(listContents(messages, 'gemini-2.5-flash').at(-1)?.parts).toEqual([
      { functionResponse: { name: 'f_-dot-g', response: { output: '' } } },
      { inlineData },
    ])
  })
})

test('what a user says: media as bytes or address, text files as text, the rest as a word about it', () => {
  const file = (mediaType: string, data: string) =>
    ({ type: 'file', name: 'n', mediaType, source: { type: 'base64', data } }) as const
  const parts = [
    image,
    { ...image, source: { type: 'url', url: 'https://a.example/x.png' } } as const,
    { ...image, mediaType: 'image/gif' },
    file('application/pdf', 'AA=='),
    file('text/csv', btoa('a,b')),
    file('font/woff', 'AA=='),
  ]
  expect(listContents([{ role: 'user', parts }])[0]?.parts).toEqual([
    { inlineData: { mimeType: 'image/png', data: 'AA==' } },
    { fileData: { mimeType: 'image/png', fileUri: 'https://a.example/x.png' } },
    { text: '[Not shown, because this model cannot read it: image of type image/gif]' },
    { inlineData: { mimeType: 'application/pdf', data: 'AA==' } },
    { text: 'n:\na,b' },
    { text: '[Not shown, because this model cannot read it: file n of type font/woff]' },
  ])
})

test('a history that neither begins nor ends with a user', () => {
  const assistant: Message = { role: 'assistant', parts: [{ type: 'text', text: 'x' }] }
  expect(listContents([assistant, assistant]).map(({ role, parts }) => [role, parts.length])).toEqual([
    ['user', 1],
    ['model', 2],
    ['user', 1],
  ])
  expect(listContents([])).toHaveLength(1)
})
