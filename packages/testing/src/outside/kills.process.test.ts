// Signed webhooks and reminders, while the server is killed and its clock is set forward and back: each is one input.
import { createRandom } from '@baton/core/testing'
import { openSqliteStore } from '@baton/host'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterEach, expect, test } from 'vitest'
import { chooseCount } from '../components/depth.ts'
import type { KilledProcess } from './killed-process.test-kit.ts'
import { startProcess } from './killed-process.test-kit.ts'
import type { Command } from './killed-server.test-kit.ts'

const SESSIONS = 20
const WEBHOOKS = chooseCount({ quick: 150, landing: 1000, deep: 1000 })
const REMINDERS = chooseCount({ quick: 75, landing: 500, deep: 500 })
/** Acknowledged requests between two kills, and between two steps of the clock. */
const KILL_EVERY = chooseCount({ quick: 70, landing: 110, deep: 110 })
const STEP_EVERY = 60
const AT_ONCE = 12
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const MINUTE_MS = 60_000

const folder = mkdtempSync(join(tmpdir(), 'baton-outside-'))
const path = join(folder, 'store.sqlite')
let server: KilledProcess<Command> | undefined
afterEach(() => {
  server?.kill()
  rmSync(folder, { recursive: true, force: true })
})

const start = (aheadMs: number) => startProcess<Command>('killed-server.test-kit.ts', [path, SECRET, String(aheadMs)])

/** Repeats the request until it is acknowledged, as a sender does. */
async function insist(act: () => Promise<boolean>): Promise<void> {
  while (!(await act().catch(() => false))) await new Promise((resolve) => void setTimeout(resolve, 20))
}

async function post(serial: number): Promise<boolean> {
  const running = server
  if (!running) return false
  const body = JSON.stringify({ type: 'order.paid', data: { order: serial } })
  const id = `msg_${serial}`
  const at = new Date()
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign(id, at, body),
  }
  const address = `http://127.0.0.1:${running.port}/api/sessions/s-${serial % SESSIONS}/events`
  const { status } = await fetch(address, { method: 'POST', headers, body })
  if (status !== 202 && status !== 503 && status !== 429 && status !== 409) throw new Error(`a webhook got ${status}`)
  return status === 202
}

test('webhooks and reminders through kills and clock steps are each one input', async () => {
  const random = createRandom(7)
  const beginMs = Date.now()
  let aheadMs = 0
  let acknowledged = 0
  let kills = 0
  let restarting: Promise<void> | undefined
  const restart = async (): Promise<void> => {
    const dying = server
    server = undefined
    dying?.kill()
    await dying?.ended
    server = await start(aheadMs)
  }
  server = await start(aheadMs)
  for (let session = 0; session < SESSIONS; session++) await server.ask({ act: 'open', session: `s-${session}` })
  const note = async (): Promise<void> => {
    acknowledged += 1
    const count = acknowledged
    if (count > REMINDERS && count % STEP_EVERY === 0) {
      // Forward more than back, so that all reminders pass, some of them several times.
      aheadMs += random.pick([-2, -1, 1, 2, 4]) * MINUTE_MS
      await server?.ask({ act: 'step', aheadMs })
    }
    if (count % KILL_EVERY !== 0) return
    kills += 1
    restarting ??= restart().finally(() => (restarting = undefined))
    await restarting
  }
  const work = Array.from({ length: REMINDERS + WEBHOOKS }, (_, index) => index)[Symbol.iterator]()
  const worker = async (): Promise<void> => {
    for (const index of { [Symbol.iterator]: () => work }) {
      await insist(async () => {
        await restarting
        if (index >= REMINDERS) return await post(index - REMINDERS)
        const about = {
          session: `s-${index % SESSIONS}`,
          id: `r-${index}`,
          dueMs: beginMs + 3 * MINUTE_MS + index * 1000,
        }
        return (await server?.ask({ act: 'remind', ...about })) === true
      })
      await note()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  await restarting
  aheadMs += 120 * MINUTE_MS
  await server?.ask({ act: 'step', aheadMs })
  await restart()
  await expect.poll(async () => await server?.ask({ act: 'left' }), { interval: 200 }).toBe(0)
  await server?.ask({ act: 'stop' })
  await server?.ended
  const counts = await countInputs()
  const webhooks = [...counts].filter(([id]) => id.startsWith('shop:'))
  const reminders = [...counts].filter(([id]) => id.startsWith('baton.reminder.'))
  console.log(`${webhooks.length} webhooks and ${reminders.length} reminders through ${kills} kills`)
  expect([webhooks.length, reminders.length]).toEqual([WEBHOOKS, REMINDERS])
  expect([...counts].filter(([, count]) => count !== 1)).toEqual([])
  expect(kills).toBe(Math.floor((WEBHOOKS + REMINDERS) / KILL_EVERY))
})

/** Accepted inputs of all sessions, by their ids. */
async function countInputs(): Promise<ReadonlyMap<string, number>> {
  const store = await openSqliteStore(path, { readOnly: true })
  const counts = new Map<string, number>()
  for await (const { session } of store.list())
    for await (const { facts } of store.read(session, 0))
      for (const fact of facts)
        if (fact.type === 'input-accepted') counts.set(fact.inputId, (counts.get(fact.inputId) ?? 0) + 1)
  await store.close()
  return counts
}
