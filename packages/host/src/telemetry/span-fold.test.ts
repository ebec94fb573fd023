// Spans of a log, whatever its host's clock did.
import { defineAgent, tool } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createHost } from '../local/create-host.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import { SpanFold } from './span-fold.ts'

test('no span ends before it began, though the clock is set back with each record', async () => {
  const store = createMemoryStore()
  const look = tool({
    name: 'look',
    description: 'Looks',
    input: { type: 'object' },
    effect: 'pure',
    execute: () => 'ok',
  })
  const steps = [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'done' }]
  const host = createHost({
    agent: defineAgent({ name: 'a', model: createScriptedModel({ steps }), tools: [look] }),
    store,
  })
  await (await host.session('s')).send('go').answer
  await host.stop()
  const records: SessionRecord[] = []
  for await (const record of store.read('s', 0)) records.push(record)
  const fold = new SpanFold({ session: 's', agent: 'a', content: false })
  const changes = records.flatMap((record, index) => fold.fold({ ...record, wallMs: 10 ** 12 - index * 1000 }))
  const begun = new Map(
    changes.flatMap((one) => (one.type === 'start' ? [[one.span.key, one.span.startMs] as const] : [])),
  )
  const ends = changes.flatMap((one) => (one.type === 'end' ? [one.span] : []))
  expect(ends.length).toBeGreaterThan(2)
  expect(ends.filter(({ key, endMs }) => endMs < (begun.get(key) ?? Infinity))).toEqual([])
})
