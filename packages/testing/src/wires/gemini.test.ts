// The validator of Gemini requests, on accepted recorded requests and rejected handwritten ones.
import { countLine, openRecordings } from '../fake-providers/recordings.ts'
import { afterAll, describe, expect, test } from 'vitest'
import { validateGeminiRequest } from './gemini.ts'

const recordings = openRecordings('Gemini’s recorded requests', (message) => console.warn(message))
const accepted = ['google']
  .flatMap((folder) => recordings?.exchangesOf(folder) ?? [])
  .filter(({ status, request }) => status === 200 && request)
afterAll(() => {
  if (recordings) console.info(countLine('recorded requests gemini', { accepted: accepted.length }))
})

describe.skipIf(!recordings)('requests that were accepted', () => {
  test('there are some', () => expect(accepted.length).toBeGreaterThan(15))
  test.each(accepted.map((exchange) => [`${exchange.file} #${exchange.index}`, exchange] as const))(
    '%s',
    (_name, { request }) => {
      expect(validateGeminiRequest(request?.body, modelIn(request?.uri))).toEqual([])
    },
  )
})

/** `…/models/gemini-2.5-flash:generateContent` */
function modelIn(uri: string | undefined): { readonly model?: string } {
  const model = /models\/([^:]+):/.exec(uri ?? '')?.[1]
  return model === undefined ? {} : { model }
}

const user = (...parts: object[]) => ({ role: 'user', parts })
const model = (...parts: object[]) => ({ role: 'model', parts })
const text = { text: 'hi' }
const call = (name: string) => ({ functionCall: { name, args: {} } })
const result = (name: string) => ({ functionResponse: { name, response: { output: 'ok' } } })
const tool = (name: string, more: object = {}) => ({ name, description: 'x', ...more })
const request = (contents: readonly object[], more: object = {}) => ({ contents, ...more })
const tools = (...functionDeclarations: object[]) => ({ tools: [{ functionDeclarations }] })
const typed = (schema: object) =>
  request([user(text)], tools(tool('a', { parameters: { type: 'OBJECT', properties: { x: schema } } })))
const calling = (functionCallingConfig: object) => ({ ...tools(tool('a')), toolConfig: { functionCallingConfig } })

const thinking = (thinkingConfig: object) => ({ generationConfig: { thinkingConfig } })

test('what older models refuse', () => {
  const listCodes = (body: object, name: string) => validateGeminiRequest(body, { model: name }).map(({ code }) => code)
  const shown = { functionResponse: { name: 'a', response: {}, parts: [] } }
  expect(listCodes(request([user(text), model(call('a')), user(shown)]), 'gemini-2.5-flash')).toEqual(['result_media'])
  expect(listCodes(request([user(text)], thinking({ thinkingLevel: 'low' })), 'gemini-2.5-flash')).toEqual(['thinking'])
  expect(listCodes(request([user(text)], thinking({ thinkingBudget: 0 })), 'gemini-2.5-pro')).toEqual(['thinking'])
})

test('a good request', () => {
  const contents = [
    user(text),
    model({ ...call('a.b'), thoughtSignature: 's' }, call('c')),
    user(result('a.b'), result('c')),
  ]
  const body = request(contents, tools(tool('a.b', { parametersJsonSchema: { type: 'object', $ref: '#' } }), tool('c')))
  expect(validateGeminiRequest(body, { model: 'gemini-3-pro-preview' })).toEqual([])
})

test('Gemini 3 asks for the signature of the open turn only, and of the first call only', () => {
  const closed = [user(text), model(call('a')), user(result('a')), model(text)]
  expect(validateGeminiRequest(request([...closed, user(text)]), { model: 'gemini-3-pro-preview' })).toEqual([])
  expect(validateGeminiRequest(request(closed.slice(0, 3)), { model: 'gemini-2.5-flash' })).toEqual([])
})

// Handwritten, each from the verbatim error or type quoted by the rule.
describe('requests that are refused (hand-written)', () => {
  test.each<[string, unknown]>([
    ['body', []],
    ['body', request([])],
    ['role', request([user(text), { role: 'assistant', parts: [text] }, user(text)])],
    ['first_role', request([model(text), user(text)])],
    ['last_role', request([user(text), model(text)])],
    ['empty_content', request([user(text), model(), user(text)])],
    ['part', request([user({})])],
    ['part', request([user({ text: 'x', inlineData: {} })])],
    ['function_name', request([user(text)], tools(tool('a/b')))],
    ['function_name', request([user(text)], tools(tool('1a')))],
    ['function_name_repeated', request([user(text)], tools(tool('a'), tool('a')))],
    ['call_args', request([user(text), model({ functionCall: { name: 'a', args: '{}' } }), user(result('a'))])],
    ['call_order', request([user(text), model(text), model(call('a')), user(result('a'))])],
    ['result_count', request([user(text), model(call('a'), call('b')), user(result('a'))])],
    ['result_count', request([user(text), model(call('a')), user(text)])],
    ['result_order', request([user(text), model(text), user(result('a'))])],
    ['result_name', request([user(text), model(call('a')), user(result('b'))])],
    ['result_name', request([user(text), model(call('a')), user(result(''))])],
    [
      'result_response',
      request([user(text), model(call('a')), user({ functionResponse: { name: 'a', response: 'ok' } })]),
    ],
    ['signature', request([user(text), model(call('a')), user(result('a'))])],
    ['schema_both', request([user(text)], tools(tool('a', { parameters: {}, parametersJsonSchema: {} })))],
    ['schema_keyword', typed({ $ref: '#' })],
    ['schema_keyword', typed({ const: 1 })],
    ['schema_keyword', typed({ type: 'OBJECT', additionalProperties: false })],
    ['schema_keyword', typed({ exclusiveMinimum: 1 })],
    ['schema_type', typed({ type: ['string', 'null'] })],
    ['schema_items', typed({ type: 'array' })],
    ['schema_untyped', typed({ description: 'anything' })],
    ['schema_choice', typed({ type: 'string', anyOf: [{ type: 'string' }] })],
    ['schema_object', typed({ type: 'string', required: ['a'] })],
    ['schema_object', typed({ properties: { a: { type: 'string' } } })],
    ['schema_empty', typed({ type: 'object' })],
    ['schema_empty', typed({ type: 'OBJECT', properties: {} })],
    ['schema_required', typed({ type: 'OBJECT', properties: { a: { type: 'STRING' } }, required: ['b'] })],
    ['parameter_name', typed({ type: 'OBJECT', properties: { 'a-b': {} } })],
    ['unknown_field', request([user(text)], { max_tokens: 5 })],
    ['unknown_field', request([user({ text: 'x', signature: 's' })])],
    ['media', request([user({ inlineData: { mimeType: 'image/png' } })])],
    ['media', request([user({ fileData: { fileUri: 'https://a.example/x' } })])],
    ['thinking', request([user(text)], thinking({ thinkingBudget: 5, thinkingLevel: 'low' }))],
    ['thinking', request([user(text)], thinking({ thinkingLevel: 'minimal' }))],
    ['max_tokens', request([user(text)], { generationConfig: { maxOutputTokens: 0 } })],
    ['schema_keyword', request([user(text)], { generationConfig: { responseSchema: { $ref: '#' } } })],
    ['id_pair', request([user(text), model({ functionCall: { name: 'a', id: 'x' } }), user(result('a'))])],
    ['mode', request([user(text)], calling({ mode: 'REQUIRED' }))],
    ['mode', request([user(text)], calling({ mode: 'AUTO', allowedFunctionNames: ['a'] }))],
    ['mode', request([user(text)], calling({ mode: 'ANY', allowedFunctionNames: ['b'] }))],
  ])('%s', (code, body) => {
    const issues = validateGeminiRequest(body, { model: 'gemini-3-pro-preview' })
    expect(issues.map((issue) => issue.code)).toContain(code)
    expect(issues.every((issue) => issue.source !== '' && issue.message !== '')).toBe(true)
  })
})

test('JSON beside functions is refused of models before Gemini 3', () => {
  const body = request([user(text)], {
    ...tools(tool('a')),
    generationConfig: { responseMimeType: 'application/json' },
  })
  const listCodes = (model: string) => validateGeminiRequest(body, { model }).map(({ code }) => code)
  expect([listCodes('gemini-2.5-flash'), listCodes('gemini-3-pro-preview')]).toEqual([['json_mode'], []])
})
