// A list of sessions against the real front, over a connection that breaks.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import type { Directory, DirectoryOptions } from '../index.ts'
import type { DirectorySnapshot } from './directory.ts'
import { openDirectory, openSession } from '../index.ts'
import { createCuttableWorld, serveAgent } from './session.test-kit.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function serve(): Promise<string> {
  const model = createScriptedModel({ steps: () => ({ text: 'Yes.' }) })
  const server = await serveAgent({ agent: defineAgent({ name: 'a', model }) })
  closers.push(() => server.stop())
  return server.url
}

function open(options: DirectoryOptions): Directory {
  const directory = openDirectory({ reconnect: { baseMs: 1, mostMs: 10 }, ...options })
  closers.push(() => directory.close())
  return directory
}

function until(directory: Directory, fits: (snapshot: DirectorySnapshot) => boolean): Promise<DirectorySnapshot> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!fits(directory.getSnapshot())) return
      off()
      resolve(directory.getSnapshot())
    }
    const off = directory.subscribe(look)
    look()
  })
}

test('sessions are made, listed, renamed and deleted', async () => {
  const url = await serve()
  const directory = open({ url })
  expect((await until(directory, ({ isLoaded }) => isLoaded)).sessions).toEqual([])
  const first = await directory.create({ title: 'First', meta: { kind: 'note' } })
  await directory.create({ title: 'Second' })
  const notes = open({ url, meta: { kind: 'note' } })
  await until(directory, ({ sessions }) => sessions.length === 2)
  expect((await until(notes, ({ isLoaded }) => isLoaded)).sessions.map(({ title }) => title)).toEqual(['First'])
  await directory.rename(first, 'Other')
  await until(notes, ({ sessions }) => sessions[0]?.title === 'Other')
  await directory.delete(first)
  await until(notes, ({ sessions }) => sessions.length === 0)
  notes.close()
  await expect(notes.create({ title: 'Third' })).rejects.toMatchObject({ code: 'session_closed' })
  expect(directory.getSnapshot().sessions.map(({ title }) => title)).toEqual(['Second'])
})

test('a request of another session is found in the inbox and decided there, without that session', async () => {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: { type: 'object' },
    approval: true,
    execute: () => 'paid',
  })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'It is paid.' }] })
  const server = await serveAgent({ agent: defineAgent({ name: 'a', model, tools: [pay] }) })
  closers.push(() => server.stop())
  const client = openSession({ url: server.url, session: 'chat' })
  closers.push(() => client.close())
  const { answer } = client.send('Pay the invoice.')
  const inbox = open({ url: server.url })
  await expect.poll(async () => (await inbox.approvals({ tool: 'pay' })).approvals).toHaveLength(1)
  const [asked] = (await inbox.approvals()).approvals
  expect(asked).toMatchObject({ session: 'chat', name: 'pay' })
  await inbox.decide('chat', { approvalId: asked?.approvalId ?? '', decision: 'approve' })
  expect((await answer).text).toBe('It is paid.')
  expect((await inbox.approvals({ asked: true })).approvals).toEqual([])
})

test('the list is right again after a connection that broke, also of what happened meanwhile', async () => {
  const url = await serve()
  const wires = createCuttableWorld()
  const directory = open({ url, world: wires.world })
  await until(directory, ({ isLoaded }) => isLoaded)
  wires.setOffline(true)
  wires.cut()
  await until(directory, ({ status }) => status === 'waiting')
  const client = openSession({ url, session: 'chat', title: 'Chat' })
  closers.push(() => client.close())
  await client.send('hello').answer
  const renamed = directory.rename('chat', 'New name')
  expect(directory.getSnapshot().sessions).toEqual([])
  wires.setOffline(false)
  await renamed
  await until(directory, ({ sessions }) => sessions[0]?.title === 'New name')
  expect(directory.getSnapshot()).toMatchObject({ status: 'open', more: false, sessions: [{ id: 'chat' }] })
})
