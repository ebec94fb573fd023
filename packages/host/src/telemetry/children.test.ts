// Metrics and spans of an agent that asks others: each call counts once, children are no open sessions, and
// requests below are waits of the delegated call.
import type { Agent } from '@baton/core'
import { defineAgent, delegate, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createHost } from '../local/create-host.ts'
import { createManualTime } from '../local/test-world.test-kit.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import { createMetrics } from './metrics.ts'
import { SpanFold } from './span-fold.ts'

const EMPTY = { type: 'object', properties: {} } as const
const calls = (name: string, args: object = {}) => ({ calls: [{ name, arguments: args }] })

async function play() {
  const time = createManualTime()
  const { timers } = time.environment
  const place = tool({ name: 'place', description: 'place', input: EMPTY, effect: 'once' })
  const pay = tool({
    name: 'pay',
    description: 'pay',
    input: EMPTY,
    effect: 'once',
    approval: true,
    execute: () => 'paid',
  })
  const helper = defineAgent({
    name: 'helper',
    model: createScriptedModel({ steps: [calls('place'), calls('pay'), { text: 'Paid.' }], timers }),
    tools: [place, pay],
  }) as Agent
  const boss = defineAgent({
    name: 'boss',
    model: createScriptedModel({ steps: [calls('helper', { task: 'Pay.' }), { text: 'Done.' }], timers }),
    tools: [delegate({ agent: helper, description: 'Helps' })],
  }) as Agent
  const metrics = createMetrics({ nowMs: time.nowMs })
  const store = createMemoryStore()
  const host = createHost({ environment: time.environment, store, agent: boss, observers: [metrics] })
  const session = await host.session('s')
  await session.attach({ place: () => 'Rome' })
  const { answer } = session.send('Go.')
  for (let left = 40; left > 0; left -= 1) await time.settle()
  const [approval] = await session.approvals()
  const open = metrics.prometheus()
  await session.decide({ approvalId: approval?.approvalId ?? '', decision: 'approve' })
  await time.until(answer)
  const records = []
  for await (const record of store.read('s', 0)) records.push(record)
  return { open, text: metrics.prometheus(), records }
}

test('calls below are counted once, and a delegated session is no open session', async () => {
  const { open, text } = await play()
  expect(open).toContain('\nbaton_open_sessions 1\n')
  for (const name of ['helper', 'place', 'pay'])
    expect(text).toContain(`baton_tool_calls_total{tool="${name}",outcome="ok"} 1\n`)
  expect(text).not.toContain('tool="unknown"')
})

test('a person that an agent below waits for is a wait in the span of the delegated call', async () => {
  const { records } = await play()
  const fold = new SpanFold({ session: 's', agent: 'boss', content: false })
  const changes = records.flatMap((record) => fold.fold(record))
  const started = changes.flatMap((change) => (change.type === 'start' ? [change.span] : []))
  const wait = started.find(({ name }) => name === 'approval pay')
  expect(wait?.attributes).toMatchObject({ 'baton.wait': 'person', 'baton.agent': 'helper' })
  expect(started.find(({ key }) => key === wait?.parentKey)?.name).toBe('execute_tool helper')
  expect(changes).toContainEqual(
    expect.objectContaining({
      type: 'end',
      span: expect.objectContaining({
        key: wait?.key,
        attributes: expect.objectContaining({ 'baton.outcome': 'approve' }),
      }),
    }),
  )
  expect(fold.open.size).toBe(0)
})
