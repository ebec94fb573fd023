// Identity over HTTP: explained refusals, keys that cannot be fetched, and streams that end with the token that opened
// them.
import { BatonError, defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { startChats } from './chat.test-kit.ts'
import type { HandlerOptions } from './handler-parts.ts'

const running: { stop(): unknown }[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop()
})

function start(handler: HandlerOptions) {
  const model = createScriptedModel({ steps: () => ({ text: 'At nine.' }) })
  const chats = startChats({ agent: defineAgent({ name: 'shop', model }), handler })
  running.push(chats)
  return chats
}

test.each<[string, BatonError, number, string]>([
  [
    'a refusal',
    new BatonError({ code: 'unauthorized', message: 'the token has expired' }),
    401,
    'the token has expired',
  ],
  [
    'missing keys',
    new BatonError({ code: 'keys_unavailable', message: 'https://login.internal does not answer' }),
    503,
    'The keys for verifying tokens could not be fetched from their issuer, so no new client is accepted.',
  ],
])('%s of authenticate is told as such', async (_what, error, status, message) => {
  const { fetch } = start({ authenticate: () => Promise.reject(error) })
  const response = await fetch('/api/sessions')
  expect(response.status).toBe(status)
  expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
  expect(await response.json()).toMatchObject({ error: { code: error.code, message } })
  const chat = await fetch('/api/chat', { method: 'POST', body: '{}' })
  expect([chat.status, await chat.text()]).toEqual([status, message])
})

test('a program that never says who asks has 10 seconds', async () => {
  const deadlines: (() => void)[] = []
  const { fetch } = start({
    authenticate: () => new Promise(() => {}),
    timers: {
      start: (ms, callback) => {
        if (ms === 10_000) deadlines.push(callback)
        return () => {}
      },
    },
  })
  const asked = fetch('/api/sessions')
  await expect.poll(() => deadlines.length).toBe(1)
  deadlines[0]?.()
  expect((await asked).status).toBe(503)
})

test('a stream of events ends when the token does', async () => {
  let nowMs = 0
  const looks: (() => void)[] = []
  const { fetch, host, environment } = start({
    authenticate: () => ({ principal: { id: 'ann' }, expiresAtMs: 1 }),
    clock: { nowMs: () => nowMs },
    timers: {
      start: (ms, callback, options) => {
        if (ms !== 1) return environment.timers.start(ms, callback, options)
        looks.push(callback)
        return () => {}
      },
    },
  })
  const session = await host.session('s', { principal: { id: 'ann' } })
  await session.send('when?').answer
  const response = await fetch('/api/sessions/s/events?from=start')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let told = ''; !told.includes('turn-finished');) told += (await reader?.read())?.value ?? ''
  nowMs = 1
  looks[0]?.()
  expect(await reader?.read()).toEqual({ done: true, value: undefined })
})

test('a role in place of roles is an error of the server that its log explains, and the caller is let in nowhere', async () => {
  const { fetch, warnings } = startWith({ id: 'ann', roles: 'manager' })
  const response = await fetch('/api/approvals')
  expect(response.status).toBe(401)
  expect(warnings).toEqual(['authenticate: principal.roles must be an array of names, not "manager"'])
})

test.each([
  [{ id: 'ann', role: 'manager' }, 'authenticate: principal has no field "role"; it is called "roles" here'],
  [{ id: 'ann', rolles: ['manager'] }, 'authenticate: principal has no field "rolles"; it is called "roles" here'],
  [{ id: 'ann', expiresAtMs: 5 }, 'authenticate: principal has no field "expiresAtMs"'],
  [
    { principal: { id: 'ann' }, expiresAt: 5 },
    'the result of authenticate has no field "expiresAt"; it is called "expiresAtMs" here',
  ],
  [{ principal: { id: 'ann' }, roles: ['manager'] }, 'the result of authenticate has no field "roles"'],
  [
    { principal: { id: 'ann' }, expiresAtMs: 'soon' },
    'the result of authenticate: expiresAtMs must be a number of milliseconds since 1970 from 0 on, not "soon"',
  ],
])('%j of authenticate is an error that the log explains, and the caller does not read', async (found, told) => {
  const { fetch, warnings } = startWith(found)
  const response = await fetch('/api/approvals')
  expect(response.status).toBe(401)
  expect(await response.json()).toEqual({ error: { code: 'unauthorized', message: 'authentication failed' } })
  expect(warnings).toEqual([told])
})

function startWith(principal: unknown) {
  const warnings: unknown[] = []
  const note = (_message: string, data?: { readonly cause?: unknown }) => void warnings.push(data?.cause)
  const log = { info: () => {}, warn: note }
  return { ...start({ authenticate: () => principal as never, log }), warnings }
}
