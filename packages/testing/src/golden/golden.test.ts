// Logs of format version 1, with every provider's state, as written when the format was frozen. Every later Baton can
// read them, shows the same history, and continues from there.
import { defineAgent } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { applyRecord, createHistory, followRecord, initialState } from '@baton/core/machine'
import { createScriptedModel, inlineBlobs, validateHistory } from '@baton/core/testing'
import { createHost, createMemoryStore, importSession } from '@baton/host'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { validateWires } from '../simulator/simulated-world.ts'

const FOLDER = new URL('.', import.meta.url)
const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith('.jsonl'))

function listLines(name: string): readonly string[] {
  return readFileSync(new URL(name, FOLDER), 'utf8').trim().split('\n')
}

function listRecords(name: string): readonly SessionRecord[] {
  return listLines(name).flatMap((line) => {
    const parsed = JSON.parse(line) as { readonly type: string; readonly record: SessionRecord } // as exported
    return parsed.type === 'record' ? [parsed.record] : []
  })
}

test('there is one of each provider', () => {
  expect(NAMES).toHaveLength(7)
})

test.each(NAMES)('%s tells the history that it told when it was written', (name) => {
  const history = createHistory()
  let state = initialState('')
  for (const record of listRecords(name)) {
    followRecord(state, record)
    state = applyRecord(state, record)
    history.fold(record)
  }
  const messages = history.messages(0, Number.MAX_SAFE_INTEGER)
  expect(validateHistory(messages)).toEqual([])
  expect(validateWires(inlineBlobs(messages))).toEqual([])
  expect(createHash('sha256').update(JSON.stringify(messages)).digest('hex').slice(0, 16)).toMatchSnapshot('messages')
  expect([state.phase, state.counters]).toMatchSnapshot('state')
})

test.each(NAMES)('%s is imported, opened, and goes on', async (name) => {
  const store = createMemoryStore()
  const session = await importSession(store, listLines(name))
  const model = createScriptedModel({ steps: () => ({ text: 'still here' }) })
  const host = createHost({ store, agent: defineAgent({ name: 'golden', model }) })
  const opened = await host.session(session)
  expect((await opened.send('And today?').answer).text).toBe('still here')
  expect(model.requests[0]?.messages.length).toBeGreaterThan(20)
  await host.stop()
})
