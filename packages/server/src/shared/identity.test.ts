// Identities returned by `authenticate`: a principal without an id is refused, and sees nothing.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createHandler } from '../http/index.ts'
import { createWebSocketFront } from '../websocket/index.ts'
import { readIdentity } from './peer-identity.ts'

const WRONG = [{ userId: 'ann' }, { principal: undefined }, { principal: { name: 'ann' } }, { id: 7 }, 'ann'] as const

test.each(WRONG)('%j is not a valid principal, and the error says what to return', (found) => {
  expect(() => readIdentity(found as never)).toThrow(
    expect.objectContaining({ code: 'invalid_option', hint: expect.stringContaining('{ id: userId }') }),
  )
})

test('a principal, or an identity with one, is read', () => {
  expect(readIdentity({ id: 'ann' })).toEqual({ principal: { id: 'ann' } })
  expect(readIdentity({ principal: { id: 'ann' }, expiresAtMs: 5 })).toEqual({
    principal: { id: 'ann' },
    expiresAtMs: 5,
  })
})

test.each(WRONG)('both fronts answer 401 where authenticate returns %j', async (found) => {
  const model = createScriptedModel({ steps: () => ({ text: 'a secret' }) })
  const host = createHost({ agent: defineAgent({ name: 'a', model }) })
  const session = await host.session('of-bob', { principal: { id: 'bob' } })
  await session.send('mine').answer
  const authenticate = (): never => found as never
  const response = await createHandler(host, { authenticate })(new Request('http://localhost/api/sessions'))
  expect(response.status).toBe(401)
  expect(await response.text()).not.toContain('of-bob')
  const front = createWebSocketFront(host, { port: 0, authenticate })
  const { url } = await front.listen()
  const app = new WebSocket(url, 'baton.v2')
  const [refused] = (await once(app, 'error')) as [Error] // what `ws` gives for an answer that is not an upgrade
  expect(refused.message).toContain('401')
  await front.close()
  await host.stop()
})
