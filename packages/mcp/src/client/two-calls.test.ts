// Two concurrent calls at one HTTP server that forgets its sessions: of one session, where the other may run as a task
// of 2025-11-25, and of two sessions, where one waits for the connection of the other.
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { afterEach, expect, test } from 'vitest'
import { createWaitingServers, play } from './mcp-session.test-kit.ts'
import type { Shop } from './shop-server.test-kit.ts'
import { startShop } from './shop-server.test-kit.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Starts a session whose model calls these tools at once. */
async function start(tools: readonly string[], shop: Shop) {
  const { url, read, counts, stop } = await startShop(shop)
  const { servers, pass } = createWaitingServers({ shop: { url } })
  const calls = tools.map((name) => ({ name, arguments: {} }))
  const model = createScriptedModel({ steps: [{ calls }, { text: 'Done.' }] })
  const host = createHost({ agent: defineAgent({ name: 'clerk', model, sources: servers.sources }) })
  ends.push(
    stop,
    () => servers.close(),
    () => host.stop(),
  )
  const played = host.session('one').then((session) => play(session))
  /** Returns the calls' outcomes, sorted; lets time pass for polling calls. */
  const finish = async (): Promise<readonly string[]> => {
    let isOver = false
    const over = played.finally(() => {
      isOver = true
    })
    await expect.poll(() => (pass(1000), isOver), { interval: 5 }).toBe(true)
    return (await over).calls.toSorted()
  }
  return { finish, read, counts }
}

test('a session forgotten during one call is replaced for it, and a task running there does not start twice', async () => {
  const { finish, read } = await start(['print', 'pay'], {
    forgets: async (tool, asked, printed) => tool === 'pay' && asked === 1 && (await printed.then(() => true)),
  })
  expect(await finish()).toEqual([expect.stringMatching(/^pay ok: .*paid/), expect.stringMatching(/^print unknown/)])
  expect(read).toEqual({ pay: 1, print: 1 })
})

test('two calls of one session that a restarted server refused both run once, also the one that is refused later', async () => {
  const both = Promise.withResolvers<void>()
  const { finish, read, counts } = await start(['pay', 'pay'], {
    forgets: async (_tool, asked) => {
      if (asked === 2) both.resolve()
      if (asked === 1) return await both.promise.then(() => true)
      // The second call is refused after the first one, whose client has begun a new session by then.
      await expect.poll(() => counts.begun).toBe(2)
      return false
    },
  })
  expect(await finish()).toEqual(Array(2).fill(expect.stringMatching(/^pay ok: .*paid/)))
  expect([read, counts.begun]).toEqual([{ pay: 2, print: 0 }, 2])
})

test('a call that waits for a connection which a restarted server has forgotten runs once, over a new one', async () => {
  let sent = 0
  const { url, read, counts, stop } = await startShop({ forgets: (_tool, asked) => (sent = asked) === 1 })
  const { servers } = createWaitingServers({ shop: { url } }, { limits: { connections: 1 } })
  ends.push(stop, () => servers.close())
  const [pay] = (await servers.sources[0]?.list()) ?? []
  // All fields that a call reads.
  const about = { idempotencyKey: 'k', attempt: 1, signal: new AbortController().signal, progress: () => {} }
  const calls = ['one', 'two'].map((session) => pay?.execute?.({}, { ...about, session } as never))
  expect(await Promise.all(calls)).toEqual(['paid', 'paid'])
  expect([read, counts.begun, sent]).toEqual([{ pay: 2, print: 0 }, 2, 3])
})

test('a call that is to run as a task runs once, over a new session, where the server has forgotten the old one', async () => {
  const { finish, read } = await start(['print'], { forgets: (_tool, asked) => asked === 1 })
  expect(await finish()).toEqual([expect.stringMatching(/^print ok: .*printed/)])
  expect(read).toEqual({ pay: 0, print: 1 })
})

test.each<[string, NonNullable<Shop['poll']>]>([
  ['does not know it', { error: { code: -32_602, message: 'no such task' } }],
  ['cannot say', { status: 503 }],
  ['has forgotten the session', { status: 404 }],
  ['asks for a login', { status: 401 }],
])(
  'a task whose server is asked for its state and %s may have had its effect, and is not begun again',
  async (_what, poll) => {
    const { finish, read } = await start(['print'], { poll })
    expect(await finish()).toEqual([expect.stringMatching(/^print unknown/)])
    expect(read).toEqual({ pay: 0, print: 1 })
  },
)
