// Imports that are refused before anything is stored: an invalid session must not harm others.
import type { Store } from '@baton/core'
import { defineAgent, isBatonError } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { createScriptedModel } from '@baton/core/testing'
import { BatonError } from '@baton/core'
import { expect, test } from 'vitest'
import { createHost } from '../local/create-host.ts'
import { createMemoryStore } from './memory-store.ts'
import { exportSession, importSession } from './transfer.ts'

const exported = await (async () => {
  const store = createMemoryStore()
  const host = createHost({
    store,
    agent: defineAgent({ name: 'talker', model: createScriptedModel({ steps: () => ({ text: 'hello' }) }) }),
  })
  await (await host.session('s')).send('hi').answer
  await host.stop()
  const lines: string[] = []
  for await (const line of exportSession(store, 's')) lines.push(line)
  return lines
})()

/** The first line is the header. */
const LAST = exported.length - 2

/** The exported session with a changed record at this position. */
function change(pos: number, edit: (record: SessionRecord) => object): readonly string[] {
  return exported.map((line) => {
    const parsed = JSON.parse(line) as { readonly type: string; readonly record: SessionRecord } // as it was exported
    if (parsed.type !== 'record' || parsed.record.pos !== pos) return line
    return JSON.stringify({ ...parsed, record: edit(parsed.record) })
  })
}

function changeHeading(edit: object): readonly string[] {
  const [heading = '', ...rest] = exported
  return [JSON.stringify({ ...(JSON.parse(heading) as object), ...edit }), ...rest] // as it was exported
}

async function countSessions(store: Store): Promise<number> {
  let sessions = 0
  for await (const { records } of store.list()) sessions += Math.sign(records)
  return sessions
}

test.each<[string, readonly string[], string]>([
  ['an epoch of 2^53', change(LAST, (record) => ({ ...record, epoch: 2 ** 53 })), 'log_damaged'],
  ['an epoch of 2^53 − 1', change(LAST, (record) => ({ ...record, epoch: 2 ** 53 - 1 })), 'log_damaged'],
  ['an epoch of 2^40 + 1', change(LAST, (record) => ({ ...record, epoch: 2 ** 40 + 1 })), 'log_damaged'],
  ['an epoch of 1e300', change(LAST, (record) => ({ ...record, epoch: 1e300 })), 'log_damaged'],
  ['a time beyond dates', change(LAST, (record) => ({ ...record, nowMs: 1e16 })), 'log_damaged'],
  [
    'a fact without its fields',
    change(LAST, (record) => ({ ...record, facts: record.facts.map(({ type }) => ({ type })) })),
    'log_damaged',
  ],
  [
    'a fact of a newer version',
    change(LAST, (record) => ({ ...record, facts: [{ type: 'session-cloned' }] })),
    'log_version_unknown',
  ],
  ['a newer format', changeHeading({ version: 2 }), 'log_version_unknown'],
  ['an older format', changeHeading({ version: 0 }), 'log_version_unknown'],
  ['a format that is no number', changeHeading({ version: '1' }), 'log_damaged'],
  ['no format', changeHeading({ version: undefined }), 'log_damaged'],
  [
    'two sessions in one file',
    [...exported, ...exported.map((line) => line.replace('"session":"s"', '"session":"t"'))],
    'log_damaged',
  ],
  [
    'an id with a line break',
    exported.map((line) => line.replaceAll('"session":"s"', '"session":"s\\n"')),
    'invalid_option',
  ],
  [
    'half of a pair as its id',
    exported.map((line) => line.replaceAll('"session":"s"', '"session":"\\ud800"')),
    'invalid_option',
  ],
])('%s', async (_, lines, code) => {
  const store = createMemoryStore()
  const refusal: unknown = await importSession(store, lines).catch((cause: unknown) => cause)
  expect(isBatonError(refusal) && refusal.code).toBe(code)
  expect(await countSessions(store)).toBe(0)
  expect(await importSession(store, exported)).toBe('s')
})

test('a session of the largest epoch continues, and so do the others', async () => {
  const store = createMemoryStore()
  await importSession(
    store,
    change(LAST, (record) => ({ ...record, epoch: 2 ** 40 })),
  )
  const model = createScriptedModel({ steps: () => ({ text: 'hello again' }) })
  for (let start = 0; start < 2; start++) {
    const host = createHost({ store, agent: defineAgent({ name: 'talker', model }) })
    for (const name of ['s', 'another'])
      expect(await (await host.session(name)).send('hi').answer).toMatchObject({ text: 'hello again' })
    await host.stop()
  }
})

test('the refusal of a format says which one it is', async () => {
  await expect(importSession(createMemoryStore(), changeHeading({ version: 7 }))).rejects.toThrow(
    'line 1: the session was exported in format 7; this Baton reads format 1',
  )
})

test('the refusal of an epoch names the record, and the allowed values', async () => {
  const lines = change(LAST, (record) => ({ ...record, epoch: 2 ** 53 - 1 }))
  await expect(importSession(createMemoryStore(), lines)).rejects.toThrow(
    `record ${LAST} has epoch 9007199254740991; a record from elsewhere may have at most 1099511627776`,
  )
})

test('an existing session keeps its texts when another one of its name is imported', async () => {
  const store = createMemoryStore()
  await importSession(store, exported)
  await store.blobs.put('s', 'kept', 'as it was')
  const lines = [...exported, JSON.stringify({ type: 'blob', name: 'kept', text: 'of another' })]
  await expect(importSession(store, lines)).rejects.toMatchObject({ code: 'session_exists' })
  expect(await store.blobs.get('s', 'kept')).toBe('as it was')
})

test('an import that fails at a text leaves nothing, and the next one works', async () => {
  const disk = createMemoryStore()
  let failures = 1
  const put: typeof disk.blobs.put = async (...given) => {
    if (failures-- > 0) throw new BatonError({ code: 'store_failed', message: 'the disk is full' })
    await disk.blobs.put(...given)
  }
  const store = { ...disk, blobs: { ...disk.blobs, put } }
  const lines = [...exported, JSON.stringify({ type: 'blob', name: 'long', text: 'a long result' })]
  await expect(importSession(store, lines)).rejects.toMatchObject({ code: 'store_failed' })
  const left: string[] = []
  for await (const { session } of disk.list()) left.push(session)
  expect(left).toEqual([])
  await importSession(store, lines)
  expect(await disk.blobs.get('s', 'long')).toBe('a long result')
})
