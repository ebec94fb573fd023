// GitHub's client while the package that writes its requests cannot be loaded.
import { afterEach, expect, test, vi } from 'vitest'
import * as z from 'zod'
import type { ServiceClient } from '../shared/service-client.ts'
import { GithubApi } from './github-api.ts'

const PACKAGE = '@octokit/endpoint'

afterEach(() => {
  vi.doUnmock(PACKAGE)
})

test('a request that fails because octokit cannot be loaded does not fail the next one', async () => {
  const service = {
    server: 'https://api.github.com',
    ask: () => Promise.resolve({ value: { login: 'ann' }, headers: new Headers() }),
    check: (schema: z.ZodType, value: unknown) => schema.parse(value),
  }
  const api = new GithubApi(service as unknown as ServiceClient) // all that the API uses
  const ask = () =>
    api.ask('GET /user', {}, z.object({ login: z.string() }), { token: 't', signal: new AbortController().signal })
  vi.doMock(PACKAGE, () => {
    throw new Error('too many open files')
  })
  await expect(ask()).rejects.toMatchObject({ message: expect.any(String) as string })
  vi.doUnmock(PACKAGE)
  expect(await ask()).toEqual({ login: 'ann' })
})
