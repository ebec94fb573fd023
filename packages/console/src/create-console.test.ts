// The console as one function: its page with strict headers, its front for people with a role, and options that are refused.
import type { Principal } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { ConsoleOptions } from './create-console.ts'
import { createConsole } from './create-console.ts'
import { readStaticPage } from './static-page.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-page-'))
mkdirSync(join(folder, 'assets'))
writeFileSync(join(folder, 'index.html'), '<!doctype html><script src="assets/main-1a2b.js"></script>')
writeFileSync(join(folder, 'assets/main-1a2b.js'), 'export {}')
writeFileSync(join(folder, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
writeFileSync(join(folder, 'notes.secret'), 'not a file of a page')
afterAll(() => rmSync(folder, { recursive: true }))

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

const authenticate = ({ headers }: Request): Principal | undefined => {
  const [id, ...roles] = headers.get('authorization')?.split(' ').slice(1) ?? []
  return id === undefined ? undefined : { id, roles }
}

const ROLES: NonNullable<ConsoleOptions['roles']> = {
  support: ['see'],
  manager: ['see', 'decide'],
  admin: ['see', 'decide', 'act', 'export', 'remove'],
}

async function start(options: ConsoleOptions = { authenticate, roles: ROLES }) {
  const model = createScriptedModel({ steps: () => ({ text: 'Good morning.' }) })
  const host = createHost({ agent: defineAgent({ name: 'a', model }) })
  running.push(host)
  const session = await host.session('trip', { principal: { id: 'ann' } })
  await session.send('Hello.').answer
  await session.close()
  const handle = createConsole(host, options)
  const ask = (path: string, as?: string, init: RequestInit = {}): Promise<Response> =>
    handle(
      new Request(`http://localhost:8080${path}`, {
        ...init,
        headers: { ...(as !== undefined && { authorization: `Bearer ${as}` }), ...(init.headers as object) },
      }),
    )
  return { ask, host }
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

test('the page comes with its type, a strict policy, and a name that browsers keep', async () => {
  const page = readStaticPage(folder)
  const get = (path: string, headers: Record<string, string> = {}): Response | undefined =>
    page(new Request(`http://localhost/console/${path}`, { headers }), path)
  const html = get('')
  expect(await html?.text()).toContain('<!doctype html>')
  expect(Object.fromEntries(html?.headers ?? [])).toEqual({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-cache',
    etag: expect.stringMatching(/^"[\w-]{22}"$/) as string,
  })
  const script = get('assets/main-1a2b.js')
  expect(script?.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(script?.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  const again = get('', { 'if-none-match': html?.headers.get('etag') ?? '' })
  expect([again?.status, await again?.text()]).toEqual([304, ''])
  expect(get('icon.svg')?.headers.get('content-type')).toBe('image/svg+xml')
})

test('no path leads out of the page’s folder, and files of other kinds are not served', () => {
  const page = readStaticPage(folder)
  for (const path of [
    'notes.secret',
    '../package.json',
    '..%2fpackage.json',
    'assets',
    'assets/',
    'assets/../notes.secret',
  ])
    expect([path, page(new Request('http://localhost/'), path)]).toEqual([path, undefined])
})

test('a checkout without the built page says how to build it', async () => {
  const answer = readStaticPage(join(folder, 'none'))(new Request('http://localhost/'), '')
  expect([answer?.status, await answer?.text()]).toEqual([503, expect.stringContaining('npm run build')])
})

test('the page needs no login, and its front does', async () => {
  const { ask } = await start()
  expect((await ask('/console')).headers.get('location')).toBe('/console/')
  expect([200, 503]).toContain((await ask('/console/')).status)
  expect((await ask('/elsewhere')).status).toBe(404)
  expect((await ask('/console/api/chat', 'root admin', { method: 'POST', body: '{}' })).status).toBe(404)
  expect((await ask('/console/api/me')).status).toBe(401)
})

test('a role has its powers, several have those of all, and a person without a role gets nothing at all', async () => {
  const { ask } = await start()
  const powers = async (as: string): Promise<unknown> => await (await ask('/console/api/me', as)).json()
  expect(await powers('sue support')).toMatchObject({ powers: ['see'], principal: { id: 'sue' } })
  expect(await powers('mia manager support')).toMatchObject({ powers: ['see', 'decide'] })
  expect((await ask('/console/api/sessions/trip/log', 'sue support')).status).toBe(200)
  for (const path of ['me', 'sessions', 'sessions/trip', 'approvals']) {
    const refused = await ask(`/console/api/${path}`, 'ann')
    expect([path, refused.status, await refused.json()]).toMatchObject([path, 403, { error: { code: 'unauthorized' } }])
  }
})

test('pages of other origins, and forms, change nothing', async () => {
  const { ask } = await start()
  const post = { method: 'POST', body: '{}' }
  const json = { 'content-type': 'application/json' }
  const retry = '/console/api/sessions/trip/retry'
  const foreign = { ...post, headers: { ...json, origin: 'https://evil.example' } }
  expect((await ask(retry, 'root admin', foreign)).status).toBe(403)
  const form = { ...post, headers: { 'content-type': 'text/plain', origin: 'http://localhost:8080' } }
  expect((await ask(retry, 'root admin', form)).status).toBe(400)
  const own = { ...post, headers: { ...json, origin: 'http://localhost:8080' } }
  expect((await ask(retry, 'root admin', own)).status).toBe(200)
})

test('without a login, it is open only by an explicit word, and only as localhost', async () => {
  const { host } = await start()
  expect(() => createConsole(host, {})).toThrow('the console shows all conversations, so it needs authenticate')
  const handle = createConsole(host, { loopbackOnly: ['see'] })
  expect((await handle(new Request('http://127.0.0.1:9/console/api/sessions?all=true'))).status).toBe(200)
  expect((await handle(new Request('http://rebound.example/console/api/sessions?all=true'))).status).toBe(403)
  const named = createConsole(host, { loopbackOnly: ['see'], hosts: ['office.example'] })
  expect((await named(new Request('http://office.example/console/api/sessions?all=true'))).status).toBe(403)
})

test('loopbackOnly gives its powers and no more, also where clients have no names', async () => {
  const { host } = await start()
  const session = await host.session('mine', { principal: { id: 'anonymous' } })
  await session.send('Hello.').answer
  await session.close()
  const handle = createConsole(host, { loopbackOnly: ['see'] })
  const ask = async (method: string): Promise<number> => {
    const headers = { 'content-type': 'application/json' }
    const body = method === 'GET' ? {} : { body: '{"title":"x"}' }
    return (await handle(new Request('http://localhost/console/api/sessions/mine', { method, headers, ...body })))
      .status
  }
  expect([await ask('GET'), await ask('PATCH'), await ask('DELETE')]).toEqual([200, 403, 403])
})

test.each([
  ['no roles', { authenticate }, 'roles is empty'],
  [
    'a power that does not exist',
    { authenticate, roles: { a: ['look'] } },
    'roles.a must be an array of the powers see,',
  ],
  ['both ways', { authenticate, roles: ROLES, loopbackOnly: ['see'] }, 'loopbackOnly lets everyone in'],
  ['another power that does not exist', { loopbackOnly: ['see', 'look'] }, 'without "look"'],
  ['a misspelt option', { authenticat: authenticate }, 'authenticate'],
  ['no options', undefined, 'the console shows all conversations, so it needs authenticate'],
  ['a list of roles', { authenticate, roles: ['support'] }, 'roles must be an object with the powers of each role'],
  ['a function of roles', { authenticate, roles: () => ['see'] }, 'with the powers of each role, not a function'],
  ['a path without a slash', { loopbackOnly: ['see'], basePath: 'console' }, 'basePath must be like "/console"'],
  ['a path that ends with one', { loopbackOnly: ['see'], basePath: '/console/' }, 'not "/console/"'],
])('options are refused that would let in the wrong people: %s', async (_what, options, message) => {
  const { host } = await start()
  expect(() => createConsole(host, options as ConsoleOptions)).toThrow(message)
})

test('an agent or a promise in place of the host, and the names of other options, are told what to write', async () => {
  const { host } = await start()
  const options = { loopbackOnly: ['see'] } as const
  expect(() => createConsole(Promise.resolve(host) as never, options)).toThrow('createConsole needs a host')
  const hint = (given: object): unknown => {
    try {
      return createConsole(host, { ...options, ...given })
    } catch (error) {
      return (error as { readonly hint: string }).hint // a BatonError
    }
  }
  expect(hint({ operators: () => ['see'] })).toBe('Write "roles" instead.')
  expect(hint({ readOnly: true })).toContain("With only the power 'see' it is read-only")
})
