// The list of a server's models: the formats servers use, and the errors if there is no list.
import { isBatonError } from '@baton/core'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { FetchLike, ListModelsOptions } from './list-models.ts'
import { listModels } from './list-models.ts'

function answering(body: string, status = 200, headers: Readonly<Record<string, string>> = {}): FetchLike {
  return () => Promise.resolve(new Response(body, { status, headers }))
}

const list = (fetch: FetchLike, more: Partial<ListModelsOptions> = {}) =>
  listModels({ baseUrl: 'http://127.0.0.1:11434/v1', label: 'Ollama', fetch, ...more })

async function describeFailure(listing: Promise<unknown>) {
  const thrown = await listing.catch((error: unknown) => error)
  if (!isBatonError(thrown)) throw new Error('no BatonError')
  return thrown
}

test.each<[string, unknown, unknown]>([
  ['of OpenAI', { object: 'list', data: [{ id: 'b', object: 'model' }, { id: 'a' }] }, [{ id: 'a' }, { id: 'b' }]],
  ['of vLLM', { data: [{ id: 'a', max_model_len: 32_768 }] }, [{ id: 'a', contextTokens: 32_768 }]],
  ['of OpenRouter', { data: [{ id: 'x/a', name: 'A', context_length: 8192 }] }, [{ id: 'x/a', contextTokens: 8192 }]],
  ['of Mistral', { data: [{ id: 'a', max_context_length: 1000 }] }, [{ id: 'a', contextTokens: 1000 }]],
  ['of Ollama’s own API', { models: [{ name: 'qwen3:latest', model: 'qwen3:latest' }] }, [{ id: 'qwen3:latest' }]],
  ['a bare list, with something else in it', [{ id: 'a' }, null, {}, 'b', { id: 'a' }], [{ id: 'a' }, { id: 'b' }]],
  ['none', { data: [] }, []],
])('a list %s', async (_shape, body, expected) => {
  expect(await list(answering(JSON.stringify(body)))).toEqual(expected)
})

test('what is asked', async () => {
  const asked: unknown[] = []
  const fetch: FetchLike = (url, init) => {
    asked.push([url, init.headers, init.redirect])
    return answering('[]')(url, init)
  }
  await list(fetch, { apiKey: 'k' })
  expect(asked).toEqual([
    ['http://127.0.0.1:11434/v1/models', { accept: 'application/json', authorization: 'Bearer k' }, 'manual'],
  ])
})

describe('failures', () => {
  test('nobody listens there', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    // a server that listens on a port has this kind of address
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const failure = await describeFailure(listModels({ baseUrl: `http://127.0.0.1:${port}/v1`, label: 'Ollama' }))
    expect(failure.code).toBe('model_network_failed')
    expect(failure.message).toMatch(
      /^Ollama is not reachable at http:\/\/127\.0\.0\.1:\d+\/v1\/models: connect ECONNREFUSED 127\.0\.0\.1:\d+$/,
    )
    expect(failure.hint).toBe('Start the server, or correct its base address.')
  })

  test('a server that says nothing', async () => {
    const silent: FetchLike = (_url, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason instanceof Error ? signal.reason : new Error('x')))
      })
    const failure = await describeFailure(list(silent, { timeoutMs: 5 }))
    expect([failure.code, failure.message]).toEqual([
      'model_timeout',
      'http://127.0.0.1:11434/v1/models did not answer within 5 ms',
    ])
    const aborter = new AbortController()
    const cancelled = describeFailure(list(silent, { signal: aborter.signal }))
    aborter.abort()
    expect((await cancelled).code).toBe('cancelled')
  })

  test.each<[string, FetchLike, string, string]>([
    [
      'a wrong key',
      answering('{"error":{"message":"bad secret-key"}}', 401),
      'model_auth_failed',
      'Ollama answered 401: bad [redacted]',
    ],
    [
      'a page',
      answering('<html>'),
      'model_malformed_answer',
      'Ollama (http://127.0.0.1:11434/v1/models) did not respond with a list of models',
    ],
    ['a redirect', answering('', 302), 'model_provider_failed', 'Ollama answered 302'],
    [
      'a flood',
      answering(' '.repeat(16 * 1024 * 1024 + 1)),
      'model_malformed_answer',
      'Ollama’s list of models is larger than 16777216 bytes',
    ],
  ])('%s', async (_name, fetch, code, message) => {
    const failure = await describeFailure(list(fetch, { apiKey: 'secret-key' }))
    expect([failure.code, failure.message]).toEqual([code, message])
  })
})
