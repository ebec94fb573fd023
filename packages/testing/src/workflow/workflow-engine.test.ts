// The same conversations on the local host and on workflows whose workers and activities die: equal canonical logs.
import type { Agent, Host, UserInput } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { canonicalLog } from '@baton/core/machine'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { createCatalog, createHostOver } from '@baton/runtime'
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createVirtualTime } from '../simulator/virtual-time.ts'
import { createWorkflowEngine } from './workflow-engine.ts'

const STEPS: readonly ScriptedStep[] = [
  {
    text: 'Let me look.',
    calls: [
      { name: 'look', arguments: {} },
      { name: 'pay', arguments: { n: 1 } },
    ],
  },
  { calls: [{ name: 'no.such', arguments: {} }] },
  { text: 'Here it is.' },
  { text: 'And again.' },
]

function createAgent(effects: string[]): Agent {
  const act = (name: string, effect: 'pure' | 'once') =>
    tool({
      name,
      description: name,
      input: { type: 'object' },
      effect,
      execute: () => {
        effects.push(name)
        return { did: name }
      },
    })
  const model = createScriptedModel({ steps: STEPS })
  return defineAgent({ name: 'flow', model, tools: [act('look', 'pure'), act('pay', 'once')] })
}

type Until = <Value>(work: Promise<Value>) => Promise<Value>

async function converse(host: Host, until: Until, first: UserInput = 'first'): Promise<void> {
  const session = await until(host.session('s'))
  await until(session.send(first, { inputId: 'i1' }).answer)
  await until(session.send('second', { inputId: 'i2' }).answer)
  await until(session.close())
}

function createWorld() {
  const time = createVirtualTime(1_000_000)
  let serial = 0
  const environment = {
    clock: time.clock,
    timers: time.timers,
    newId: () => `id-${(serial += 1)}`,
    transport: { post: () => Promise.reject(new Error('no network')) },
  }
  const until = async <Value>(work: Promise<Value>): Promise<Value> => {
    let ended = false
    work.finally(() => (ended = true)).catch(() => {})
    for (let turns = 0; !ended && turns < 10_000; turns++) await time.runUntil(time.clock.nowMs() + 10)
    return await work
  }
  return { environment, until }
}

async function runLocally(agent: Agent, first?: UserInput): Promise<readonly SessionRecord[]> {
  const { environment, until } = createWorld()
  const store = createMemoryStore()
  const host = createHost({ environment, store, agent })
  await converse(host, until, first)
  const records: SessionRecord[] = []
  for await (const record of store.read('s', 0)) records.push(record)
  await until(host.stop())
  return records
}

async function runAsWorkflow(
  agent: Agent,
  faults: { readonly losesFirst?: string; readonly kills?: boolean } = {},
  first?: UserInput,
) {
  const { environment, until } = createWorld()
  const { blobs } = createMemoryStore()
  const log = { info: () => {}, warn: () => {} }
  const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')
  const digestMedia = (base64: string): string => createHash('sha256').update(base64, 'base64').digest('hex')
  const catalog = createCatalog({ agent, environment, blobs, log, digest, digestMedia })
  let lost = false
  let kills = 0
  const engine = createWorkflowEngine({
    environment,
    catalog,
    blobs,
    loses: (effect) => !lost && effect.type === faults.losesFirst && (lost = true),
    killsWorker: () => faults.kills === true && (kills += 1) > 0,
  })
  await converse(createHostOver({ engine, newId: environment.newId }), until, first)
  await until(engine.stop({ drainMs: 0 }))
  return { records: engine.records('s'), kills }
}

test('a conversation has the same canonical log locally and as a workflow, however often its worker dies', async () => {
  const local = canonicalLog(await runLocally(createAgent([])))
  expect(local.length).toBeGreaterThan(15)
  expect(canonicalLog((await runAsWorkflow(createAgent([]))).records)).toEqual(local)
  const killed = await runAsWorkflow(createAgent([]), { kills: true })
  expect(killed.kills).toBeGreaterThan(5)
  expect(canonicalLog(killed.records)).toEqual(local)
})

test('a model call whose worker died is asked again, and nothing else is disturbed', async () => {
  const local = canonicalLog(await runLocally(createAgent([])))
  const { records } = await runAsWorkflow(createAgent([]), { losesFirst: 'call-model' })
  const reasons = records.flatMap(({ facts }) =>
    facts.flatMap((fact) => (fact.type === 'attempt-superseded' ? [fact.reason] : [])),
  )
  expect(reasons).toEqual(['restart'])
  // The script goes on where it was, so only the shape is the same.
  expect(canonicalLog(records)[0]).toEqual(local[0])
})

test('a tool whose worker died runs again when it is pure, and is unknown when it is once', async () => {
  const effects: string[] = []
  const { records } = await runAsWorkflow(createAgent(effects), { losesFirst: 'run-tool' })
  expect(effects.toSorted()).toEqual(['look', 'look', 'pay'])
  const settled = records.flatMap(({ facts }) =>
    facts.flatMap((fact) => (fact.type === 'call-settled' ? [fact.settlement.type] : [])),
  )
  expect(settled).toEqual(['ok', 'ok', 'error'])
})

const PICTURE = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'AAAA' } } as const

test('pictures go to a workflow as handles, and to its model as they were handed in', async () => {
  const create = () => {
    const steps: readonly ScriptedStep[] = [
      { calls: [{ name: 'show', arguments: {} }] },
      { text: 'So.' },
      { text: 'Yes.' },
    ]
    const model = createScriptedModel({ steps })
    const execute = () => ({ content: [PICTURE] })
    const show = tool({ name: 'show', description: 'Shows', input: { type: 'object' }, effect: 'pure', execute })
    return { model, agent: defineAgent({ name: 'flow', model, tools: [show] }) }
  }
  const local = canonicalLog(await runLocally(create().agent, [PICTURE]))
  const { model, agent } = create()
  const { records } = await runAsWorkflow(agent, { kills: true }, [PICTURE])
  expect(canonicalLog(records)).toEqual(local)
  expect(JSON.stringify(records)).not.toContain('base64')
  const [asked, , shown] = model.requests.at(-1)?.messages ?? []
  expect(asked?.parts).toEqual([PICTURE])
  expect(shown?.parts).toMatchObject([{ content: [PICTURE] }])
})
