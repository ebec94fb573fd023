// The worst moments of a client call for a server to be killed, each with a real server and an app of version 1.
import type { SettlementType } from '@baton/core/machine'
import { openSqliteStore } from '@baton/host'
import { findFreePort } from '@baton/testing/free-port'
import type { KillPlan } from '@baton/testing/kill-plan'
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import type { V1App } from '@baton/testing/v1-app'
import { connectV1App } from '@baton/testing/v1-app'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const SERVER = fileURLToPath(new URL('../../testing/src/kill-loop/server.ts', import.meta.url))

let folder: string
let port: number
let server: StartedCommand
let app: V1App | undefined
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-moment-'))
  port = await findFreePort()
})
afterEach(async () => {
  app?.close()
  server.kill('SIGKILL')
  await server.ended
  rmSync(folder, { recursive: true })
})

async function start(plan?: KillPlan): Promise<void> {
  const words = ['--conditions=@baton/source', '--no-warnings', SERVER, folder, String(port), 'plain']
  server = startCommand(process.execPath, { words: [...words, ...(plan ? [JSON.stringify(plan)] : [])] })
  await server.untilLine((line) => line.includes('listening'))
}

type Run = (name: string) => string | Promise<string>

/** An app that sends a message to a server that dies, reconnects to the next one, and waits for the answer. */
async function survive(runCall: Run, plan?: KillPlan, forgets = false): Promise<V1App> {
  await start(plan)
  const opened = await connectV1App({ url: `ws://127.0.0.1:${port}/ws`, session: 's', runCall, forgets })
  app = opened
  opened.say('go').catch(() => {}) // the connection breaks on purpose
  expect((await server.ended).signal).toBe('SIGKILL')
  await start()
  await opened.reconnect()
  await until(() => opened.frames.some(({ type }) => type === 'assistant.speech.final'))
  return opened
}

async function until(isSo: () => boolean): Promise<void> {
  for (let waitedMs = 0; !isSo(); waitedMs += 20) {
    if (waitedMs > 40_000) throw new Error(`it did not come to that: ${server.errors()}`)
    await setTimeout(20)
  }
}

/** How the calls of a tool ended, once the server has stopped. */
async function settlements(name: string): Promise<readonly SettlementType[]> {
  server.kill('SIGTERM')
  await server.ended
  const store = await openSqliteStore(join(folder, 'sessions.db'), { readOnly: true })
  const ids = new Set<string>()
  const settled: SettlementType[] = []
  for await (const { facts } of store.read('s', 0))
    for (const fact of facts) {
      if (fact.type === 'step-finished') for (const call of fact.calls) if (call.name === name) ids.add(call.callId)
      if (fact.type === 'call-settled' && ids.has(fact.callId)) settled.push(fact.settlement.type)
    }
  await store.close()
  return settled
}

function listFrames({ frames }: V1App, name: string) {
  return frames.filter(({ type, payload }) => type === 'tool.call' && payload['name'] === name)
}

/** Kills the server at the first call of this tool; later calls are answered. */
function killingAt(name: string, afterwards: () => string | Promise<string>): { readonly run: Run; runs: number } {
  const made = {
    runs: 0,
    run: (called: string): string | Promise<string> => {
      if (called !== name) return 'done'
      made.runs += 1
      if (made.runs > 1) return 'done again'
      server.kill('SIGKILL')
      return afterwards()
    },
  }
  return made
}

test('a pure call that is pending at the death comes again, under a new id and its old call id', async () => {
  // The app's work is lost with its connection: it never answers the first delivery.
  const { run } = killingAt('client.pure', () => 'lost')
  const opened = await survive(run, undefined, true)
  const [first, second, ...more] = listFrames(opened, 'client.pure')
  expect(second?.payload['callId']).toBe(first?.payload['callId'])
  expect(second?.id).not.toBe(first?.id)
  expect(more).toEqual([])
  expect(await settlements('client.pure')).toEqual(['ok'])
})

test('a once call that was not decided before the death is delivered after it, and happens once', async () => {
  let runs = 0
  const count: Run = (name) => (name === 'client.once' ? `ran ${(runs += 1)}` : 'done')
  const opened = await survive(count, { at: 'model-finished', moment: 'before', laterMs: 0 })
  expect(listFrames(opened, 'client.once')).toHaveLength(1)
  expect(runs).toBe(1)
  expect(await settlements('client.once')).toEqual(['ok'])
})

test('a once call that was decided and perhaps written before the death is told as unknown, and not delivered', async () => {
  let runs = 0
  const count: Run = (name) => (name === 'client.once' ? `ran ${(runs += 1)}` : 'done')
  const opened = await survive(count, { at: 'model-finished', moment: 'after', laterMs: 0 })
  expect(listFrames(opened, 'client.once')).toEqual([])
  expect(runs).toBe(0)
  expect(await settlements('client.once')).toEqual(['unknown'])
})

test('a once call that ran while the server died is told as ok when the app still knows its result', async () => {
  const once = killingAt('client.once', () => server.ended.then(() => 'ran'))
  const opened = await survive(once.run)
  expect(listFrames(opened, 'client.once')).toHaveLength(1)
  expect(once.runs).toBe(1)
  expect(await settlements('client.once')).toEqual(['ok'])
})

test('a once call whose result nobody knows any more is told as unknown, and never delivered again', async () => {
  const once = killingAt('client.once', () => new Promise<string>(() => {}))
  await start()
  const opened = await connectV1App({ url: `ws://127.0.0.1:${port}/ws`, session: 's', runCall: once.run })
  opened.say('go').catch(() => {}) // the connection breaks on purpose
  expect((await server.ended).signal).toBe('SIGKILL')
  await start()
  // The app was restarted as well: it knows nothing of the call.
  const next = await connectV1App({ url: `ws://127.0.0.1:${port}/ws`, session: 's', runCall: once.run })
  app = next
  await until(() => next.frames.some(({ type }) => type === 'assistant.speech.final'))
  expect(listFrames(next, 'client.once')).toEqual([])
  expect(once.runs).toBe(1)
  expect(await settlements('client.once')).toEqual(['unknown'])
})

test('a result that was sent, and not stored before the death, counts when the app sends it again', async () => {
  let runs = 0
  const count: Run = (name) => (name === 'client.once' ? `ran ${(runs += 1)}` : 'done')
  await survive(count, { at: 'tool-result', moment: 'before', laterMs: 0 })
  expect(runs).toBe(1)
  expect((await settlements('client.once')).join()).toMatch(/^(?:ok|unknown)$/)
})
