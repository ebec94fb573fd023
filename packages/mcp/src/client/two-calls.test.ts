// Two concurrent calls of one session at one HTTP server: the server forgets the session of one of them while the other
// runs as a task of 2025-11-25.
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
  const { url, read, stop } = await startShop(shop)
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
  return { finish, read }
}

test('a session forgotten during one call is replaced for it, and a task running there does not start twice', async () => {
  const { finish, read } = await start(['print', 'pay'], {
    forgets: async (tool, asked, printed) => tool === 'pay' && asked === 1 && (await printed.then(() => true)),
  })
  expect(await finish()).toEqual([expect.stringMatching(/^pay ok: .*paid/), expect.stringMatching(/^print unknown/)])
  expect(read).toEqual({ pay: 1, print: 1 })
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
