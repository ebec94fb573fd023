// Trees as files: an export has the sessions of delegated calls, an import restores them, and a copy leaves them out.
import type { Store } from '@baton/core'
import { defineAgent, delegate, tool } from '@baton/core'
import { frontOf } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createHost } from '../local/create-host.ts'
import { createManualTime } from '../local/test-world.test-kit.ts'
import { createMemoryStore } from './memory-store.ts'
import { exportSession, importSession } from './transfer.ts'

const NOTHING = { type: 'object', properties: {} } as const

/** A boss with a clerk with a payer, whose tool waits for the gate. */
function createTree(store: Store, gate: Promise<void> = Promise.resolve()) {
  const paid: string[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: NOTHING,
    execute: async (_, { callId }) => {
      paid.push(callId)
      await gate
      return 'paid'
    },
  })
  const answer = (name: string, args: object, text: string) =>
    createScriptedModel({
      steps: ({ messages }) => (messages.at(-1)?.role === 'tool' ? { text } : { calls: [{ name, arguments: args }] }),
    })
  const payer = defineAgent({ name: 'payer', model: answer('pay', {}, 'It is paid.'), tools: [pay] })
  const clerk = defineAgent({
    name: 'clerk',
    model: answer('payer', { task: 'Pay.' }, 'The clerk is done.'),
    tools: [delegate({ agent: payer, description: 'Pays' })],
  })
  const boss = defineAgent({
    name: 'boss',
    model: answer('clerk', { task: 'See to it.' }, 'Done.'),
    tools: [delegate({ agent: clerk, description: 'Sees to it' })],
  })
  const time = createManualTime()
  return { time, paid, host: createHost({ environment: time.environment, store, agent: boss }) }
}

async function exportAll(store: Store, options = {}): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of exportSession(store, 's', options)) lines.push(line)
  return lines
}

async function listChildren(store: Store): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { session } of store.children('s')) names.push(session)
  return names
}

async function playWhole(): Promise<Store> {
  const store = createMemoryStore()
  const { host, time } = createTree(store)
  const session = await host.session('s')
  await time.until(session.send('Go.').answer)
  await host.stop()
  return store
}

test('an imported tree has the records of all its sessions, and its root alone is listed', async () => {
  const store = await playWhole()
  const lines = await exportAll(store)
  const other = createMemoryStore()
  expect(await importSession(other, lines)).toBe('s')
  expect(await listChildren(other)).toEqual(await listChildren(store))
  expect(await listChildren(other)).toHaveLength(2)
  expect(await exportAll(other)).toEqual(lines)
  const listed: string[] = []
  for await (const { session } of other.list()) listed.push(session)
  expect(listed).toEqual(['s'])
  await other.remove('s')
  expect(await listChildren(other)).toEqual([])
})

test('a tree that was exported at work goes on where it is imported, with the children that it had', async () => {
  const store = createMemoryStore()
  const first = createTree(store, new Promise(() => {}))
  const session = await first.host.session('s')
  session.send('Go.', { inputId: 'm1' }).answer.catch(() => {})
  while (first.paid.length === 0) await first.time.pass(10)
  const lines = await exportAll(store)
  const other = createMemoryStore()
  await importSession(other, lines)
  const second = createTree(other)
  const again = await second.host.session('s')
  const { text } = await second.time.until(again.send('Go.', { inputId: 'm1' }).answer)
  expect(text).toBe('Done.')
  expect(second.paid).toEqual([]) // once: it had begun
  expect(await listChildren(other)).toEqual(await listChildren(store))
  await second.host.stop()
})

test('an export alone has the root without its children, and can be imported', async () => {
  const store = await playWhole()
  const lines = await exportAll(store, { alone: true })
  expect(lines.join('\n')).not.toContain('baton-child')
  const other = createMemoryStore()
  await importSession(other, lines)
  expect(await listChildren(other)).toEqual([])
})

test('an import that fails at its root leaves nothing of the tree', async () => {
  const lines = await exportAll(await playWhole())
  const disk = createMemoryStore()
  const restore: Store['restore'] = async (session, ...given) => {
    if (session === 's') throw new Error('the disk is full')
    await disk.restore(session, ...given)
  }
  await expect(importSession({ ...disk, restore }, lines)).rejects.toThrow('the disk is full')
  expect(await listChildren(disk)).toEqual([])
  expect(await importSession(disk, lines)).toBe('s')
})

test('an import over a session that exists is refused, and changes nothing of it', async () => {
  const store = await playWhole()
  const lines = await exportAll(store)
  await expect(importSession(store, lines)).rejects.toMatchObject({ code: 'session_exists' })
  expect(await exportAll(store)).toEqual(lines)
})

test('a child is not imported without its root, nor under another one', async () => {
  const store = await playWhole()
  const [child = ''] = await listChildren(store)
  const alone: string[] = []
  for await (const line of exportSession(store, child)) alone.push(line)
  await expect(importSession(createMemoryStore(), alone)).rejects.toMatchObject({ code: 'illegal_input' })
  const [header = '', ...rest] = await exportAll(store)
  const moved = [header, ...rest].map((line) => line.replaceAll('"session":"s"', '"session":"t"'))
  await expect(importSession(createMemoryStore(), moved)).rejects.toMatchObject({ code: 'log_damaged' })
})

test('a copy of a session whose ended call still owes a child ends before that call', async () => {
  const store = createMemoryStore()
  const gate = Promise.withResolvers<void>()
  const { host, time, paid } = createTree(store, gate.promise)
  const session = await host.session('s')
  session.send('Go.', { inputId: 'm1' }).answer.catch(() => {})
  while (paid.length === 0) await time.pass(10)
  const hasOwed = async (name: string): Promise<number> => {
    let owed = 0
    for await (const { facts } of store.read(name, 0))
      for (const { type } of facts) owed += type === 'child-begun' ? 1 : type === 'child-closed' ? -1 : 0
    return owed
  }
  await frontOf(session).submit({ type: 'stop' })
  await time.settle()
  expect(await hasOwed('s')).toBe(1)
  const copy = await session.fork()
  expect(await hasOwed(copy)).toBe(0)
  gate.resolve()
  await host.stop()
})
