// Error messages in the formats of gateways, with an error status and inside an answer with status 200.
import { expect, test } from 'vitest'
import { errorFromHttp, errorIn } from '../openai-chat/errors.ts'
import { errorFromResponse } from './http-errors.ts'

test.each<[string, unknown, string]>([
  ['OpenAI', { error: { message: 'bad key', type: 'x' } }, 'bad key'],
  ['code and msg', { code: 'Unauthorized', msg: 'token wrong' }, 'token wrong'],
  [
    'a list (Cloudflare)',
    { success: false, errors: [{ code: 7003, message: 'No route' }, { message: 'no' }] },
    'No route; no',
  ],
  ['problem details', { type: 'about:blank', title: 'Bad', detail: 'too hot' }, 'too hot'],
  ['a title alone', { type: 'about:blank', title: 'Bad request' }, 'Bad request'],
  ['a fault (Apigee)', { fault: { faultstring: 'Invalid ApiKey', detail: { errorcode: 'x' } } }, 'Invalid ApiKey'],
  ['error_msg (Baidu)', { error_code: 336003, error_msg: 'must be odd' }, 'must be odd'],
  ['OAuth', { error: 'invalid_request', error_description: 'it is gone' }, 'invalid_request: it is gone'],
  ['a text twice', { error: 'too hot', message: 'too hot' }, 'too hot'],
  ['texts', { error: ['tools are odd', 'and more'] }, 'tools are odd; and more'],
  ['an error in an error', { error: { error: { message: 'inner', code: 'x' } } }, 'inner'],
  ['capitals (AWS)', { Message: 'not authorized' }, 'not authorized'],
  ['nothing that is known', { oops: { why: 'tired' } }, '{"oops":{"why":"tired"}}'],
])('behind a status: %s', (_shape, body, words) => {
  const failure = {
    provider: 'Theirs',
    head: { status: 400, headers: {} },
    body: JSON.stringify(body),
    nowMs: 0,
    secrets: [],
  }
  for (const read of [errorFromResponse, errorFromHttp])
    expect(read(failure).message).toBe(`Theirs answered 400: ${words}`)
})

test.each<[string, object, string | undefined]>([
  ['code and msg', { code: 1113, msg: 'balance too low', success: false }, 'balance too low'],
  ['a list', { errors: [{ message: 'No route' }] }, 'No route'],
  ['texts', { error: ['a', 'b'] }, 'a; b'],
  ['a failure without words', { success: false, id: 1 }, '{"success":false,"id":1}'],
  ['a success', { code: 0, msg: 'ok' }, undefined],
  ['no errors', { errors: [], usage: { prompt_tokens: 1 } }, undefined],
  ['counts alone', { usage: { prompt_tokens: 1 } }, undefined],
  ['an answer', { choices: [], msg: 'x' }, undefined],
])('inside of an answer: %s', (_shape, value, words) => {
  const error = errorIn(JSON.parse(JSON.stringify(value)))
  expect(error?.['message']).toBe(words)
})
