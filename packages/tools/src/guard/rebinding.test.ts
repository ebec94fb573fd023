// A real name server that gives another answer to the second query, and real servers at both addresses. Linux answers
// on all of 127.0.0.0/8, so one address there stands for the public network and another for a forbidden target.
import type { Server } from 'node:http'
import { createServer, get } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { RebindingDns } from './dns-server.test-kit.ts'
import { startRebindingDns } from './dns-server.test-kit.ts'
import type { GuardedFetch } from './guarded-fetch.ts'
import { createGuardedFetch } from './guarded-fetch.ts'

const OUTSIDE = '127.0.0.2'
const INSIDE = '127.0.0.1'
const NAME = 'rebind.example.com'

let ends: (() => Promise<unknown> | void)[] = []

afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  ends = []
})

interface World {
  readonly dns: RebindingDns
  readonly url: string
  readonly fetch: GuardedFetch
  /** Requests that reached the forbidden target. */
  readonly inside: string[]
}

/** Servers at both addresses on one port; with `keepAlive` false, each request needs its own connection. */
async function openWorld(answers: readonly (readonly string[])[], keepAlive = false): Promise<World> {
  const inside: string[] = []
  const listen = async (address: string, port: number, onRequest: (path: string) => string): Promise<Server> => {
    const server = createServer((request, response) => {
      if (!keepAlive) response.setHeader('connection', 'close')
      response.end(onRequest(request.url ?? ''))
    })
    server.listen(port, address)
    await once(server, 'listening')
    ends.push(() => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    })
    return server
  }
  const outside = await listen(OUTSIDE, 0, () => 'the public page')
  const { port } = outside.address() as AddressInfo // it listens on a port
  await listen(INSIDE, port, (path) => {
    inside.push(path)
    return 'the secret'
  })
  const dns = await startRebindingDns(answers)
  ends.push(() => dns.close())
  const fetch = createGuardedFetch({ schemes: ['http'], allow: [`${OUTSIDE}/32`], lookup: dns.resolve })
  ends.push(() => fetch.close())
  return { dns, url: `http://${NAME}:${port}/page`, fetch, inside }
}

// Other systems answer only at 127.0.0.1.
describe.skipIf(process.platform !== 'linux')('a name server that rebinds', () => {
  test('a check that looks the name up by itself is got past: the name server of these tests does rebind', async () => {
    const { dns, url, inside } = await openWorld([[OUTSIDE], [INSIDE]])
    expect(await dns.resolve(NAME)).toEqual([OUTSIDE])
    const answer = await new Promise<string>((resolve, reject) => {
      const lookup = (name: string, _: unknown, callback: (error: Error | null, found: never) => void): void => {
        // Node's types declare only the callback's single form.
        const done = callback as unknown as (error: Error | null, found?: object) => void
        const answer = async (): Promise<void> => {
          const found = await dns.resolve(name)
          done(
            null,
            found.map((address) => ({ address, family: 4 })),
          )
        }
        answer().catch(reject)
      }
      get(url, { lookup, agent: false }, (response) => {
        response.setEncoding('utf8').on('data', resolve)
      }).on('error', reject)
    })
    expect(answer).toBe('the secret')
    expect(inside).toEqual(['/page'])
  })

  test('the address that was checked is the one that is connected to: one look-up for one connection', async () => {
    const { dns, url, fetch, inside } = await openWorld([[OUTSIDE], [INSIDE]])
    const response = await fetch(url)
    expect(await response.text()).toBe('the public page')
    expect(dns.asked).toEqual([NAME])
    expect(inside).toEqual([])
  })

  test('a name that changes between two requests is refused at the second', async () => {
    const { url, fetch, inside } = await openWorld([[OUTSIDE], [INSIDE]])
    await (await fetch(url)).text()
    await expect(fetch(url)).rejects.toMatchObject({
      code: 'url_refused',
      message: `the request to ${NAME} was not sent: its name resolves to an address that is this machine`,
    })
    expect(inside).toEqual([])
  })

  test('a forbidden address among good ones refuses the name', async () => {
    const { url, fetch, inside } = await openWorld([[OUTSIDE, INSIDE]])
    await expect(fetch(url)).rejects.toMatchObject({ code: 'url_refused' })
    expect(inside).toEqual([])
  })

  test.each([false, true])(
    'a name that flips at every question never reaches the forbidden address in 60 requests (kept connections: %s)',
    async (keepAlive) => {
      const flips = Array.from({ length: 60 }, (_, at) => [at % 3 === 1 ? INSIDE : OUTSIDE])
      const { url, fetch, inside } = await openWorld(flips, keepAlive)
      const results = await Promise.all(
        flips.map(() =>
          fetch(url).then(
            (response) => response.text(),
            (error: { readonly code?: string }) => error.code,
          ),
        ),
      )
      expect(new Set(results)).toEqual(new Set(['the public page', 'url_refused']))
      expect(inside).toEqual([])
    },
  )
})
