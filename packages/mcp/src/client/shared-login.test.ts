// Concurrent calls to one server whose login has expired: they share one refresh, or one login page.
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { McpTokenStore } from './index.ts'
import { createMcpServers, createMemoryTokenStore } from './index.ts'
import type { LoginServerOptions } from './login-server.test-kit.ts'
import { createLoginServer, logInAt, SHOP } from './login-server.test-kit.ts'

// The SDK warns of refused tokens.
beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}))

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
  vi.restoreAllMocks()
})

type Shop = ReturnType<typeof createLoginServer>
type Authorize = (page: URL, pages: number) => URLSearchParams | Promise<URLSearchParams>

/** Connects and logs in; returns a function that pays in a session of this name. */
async function logIn({ fetch }: Shop, store: McpTokenStore, authorize: Authorize = logInAt) {
  const pages: URL[] = []
  const auth = {
    store,
    redirectUrl: 'http://127.0.0.1:1/callback',
    authorize: async (page: URL) => authorize(page, pages.push(page)),
  }
  const servers = createMcpServers({ shop: { url: SHOP, type: 'http', auth } }, { fetch })
  ends.push(() => servers.close())
  const [pay] = (await servers.sources[0]?.list()) ?? []
  // All fields that a call reads.
  const about = { idempotencyKey: 'k', attempt: 1, signal: new AbortController().signal, progress: () => {} }
  const payIn = async (session: string): Promise<unknown> => pay?.execute?.({}, { ...about, session } as never)
  // Each session gets its own connection.
  await Promise.all([payIn('one'), payIn('two')])
  return { pages, pay: payIn }
}

/** Holds the first refusals back until this many calls were refused. */
function refuseTogether(calls: number): LoginServerOptions {
  const all = Promise.withResolvers<void>()
  return {
    onRefused: (refused) => {
      if (refused === calls) all.resolve()
      return all.promise
    },
  }
}

/** Lets everything happen that waits for nothing from outside. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await setImmediate()
}

test.each([
  ['one session', ['one', 'one']],
  ['two sessions', ['one', 'two']],
])('two calls of %s after the token has expired: one refresh, and the rotated token is kept', async (_, sessions) => {
  const shop = createLoginServer(refuseTogether(2))
  const { pay, pages } = await logIn(shop, createMemoryTokenStore())
  shop.expire()
  expect(await Promise.all(sessions.map(pay))).toEqual(['paid', 'paid'])
  expect(shop.counts).toEqual({ refused: 2, refreshes: 1, paid: 4 })
  shop.expire()
  expect(await pay('one')).toBe('paid')
  expect([shop.counts.refreshes, pages.length]).toEqual([2, 1])
})

test('two calls that need a new login, the second refused while the user is at the page: one page, and both are sent', async () => {
  const atPage = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const shop = createLoginServer({
    onRefused: async (refused) => {
      if (refused !== 2) return
      await atPage.promise
      second.resolve()
    },
  })
  const { pay, pages } = await logIn(shop, createMemoryTokenStore(), async (page, opened) => {
    if (opened === 2) {
      atPage.resolve()
      await second.promise
      await settle()
    }
    return logInAt(page)
  })
  shop.revoke()
  expect(await Promise.all([pay('one'), pay('two')])).toEqual(['paid', 'paid'])
  expect([shop.counts.paid, pages.length]).toEqual([4, 2])
})

test('two calls that need a wider scope: one page asks for it, and both are sent', async () => {
  const shop = createLoginServer(refuseTogether(2))
  const { pay, pages } = await logIn(shop, createMemoryTokenStore())
  shop.need('shop pay')
  expect(await Promise.all([pay('one'), pay('one')])).toEqual(['paid', 'paid'])
  expect(pages.map(({ searchParams }) => searchParams.get('scope'))).toEqual(['shop', 'shop pay'])
})

test('a login that the user declines fails all calls that wait for it, and the next call asks again', async () => {
  const shop = createLoginServer(refuseTogether(2))
  const { pay, pages } = await logIn(shop, createMemoryTokenStore(), (page, opened) => {
    if (opened === 2) throw new Error('the user closed the page')
    return logInAt(page)
  })
  shop.revoke()
  const refused = expect.objectContaining({ message: expect.stringContaining('closed the page') as string }) as Error
  expect(await Promise.allSettled([pay('one'), pay('one')])).toEqual([
    { status: 'rejected', reason: refused },
    { status: 'rejected', reason: refused },
  ])
  expect(await pay('one')).toBe('paid')
  expect(pages).toHaveLength(3)
})

test('a refresh that another process was faster with: its token is kept and used', async () => {
  const both = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  const shop = createLoginServer({
    onRefresh: async (asked) => {
      if (asked === 2) both.resolve()
      await (asked === 2 ? first.promise : both.promise)
    },
  })
  const store = createMemoryTokenStore()
  const one = await logIn(shop, store)
  const other = await logIn(shop, store)
  shop.expire()
  const paid = [one, other].map(({ pay }) => pay('one'))
  void Promise.race(paid).then(() => first.resolve())
  expect(await Promise.all(paid)).toEqual(['paid', 'paid'])
  expect([one.pages.length, other.pages.length]).toEqual([1, 0])
})
