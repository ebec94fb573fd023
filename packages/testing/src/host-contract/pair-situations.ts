// Calls in situations from a table: who runs them, what they do, who is asked, what fails and when, and what happens
// concurrently. One judge knows the effects that happened, what the model was asked, and what a reader of the session
// saw.
import type { Client, EventCursor, LeaseClient, FrontSession, Tool } from '@baton/core/internal'
import { tool } from '@baton/core/internal'
import { validateHistory } from '@baton/core/testing'
import { expect } from 'vitest'
import { chooseRotating } from '../components/depth.ts'
import type { ContractWorld, ContractWorldOptions } from './host-kind.ts'
import type { RowOf } from './pairs.ts'
import { coverPairs } from './pairs.ts'
import type { Situations } from './situation.ts'

/** The host, a handler of the program, or a client with a lease, which claims calls itself. */
const RUNS = ['host', 'handler', 'client'] as const
const EFFECTS = ['pure', 'idempotent', 'once'] as const
const MOMENTS = ['before', 'during', 'after'] as const
const RESTARTS = 'the host'
/** Faults that can happen at each moment. */
const BREAKS = ['its client', 'an interrupt', RESTARTS] as const

const TABLE = {
  kind: RUNS.flatMap((runs) => EFFECTS.map((effect) => `${runs}, ${effect}` as const)),
  fault: [
    ...(['nothing', 'the tool', 'its time'] as const).map((breaks) => `${breaks}, during` as const),
    ...BREAKS.flatMap((breaks) => MOMENTS.map((moment) => `${breaks}, ${moment}` as const)),
  ],
  calls: ['one', 'two at once', 'two in turn'],
  approval: ['none', 'approve', 'edit', 'deny'],
  second: ['nobody', 'another client', 'the same input', 'another input', 'an input that interrupts'],
} as const

interface Row extends Pick<RowOf<typeof TABLE>, 'calls' | 'approval' | 'second'> {
  readonly runs: (typeof RUNS)[number]
  readonly effect: (typeof EFFECTS)[number]
  readonly breaks: (typeof BREAKS)[number] | 'nothing' | 'the tool' | 'its time'
  readonly moment: (typeof MOMENTS)[number]
}

function readRow({ kind, fault, ...others }: RowOf<typeof TABLE>): Row {
  const [runs, effect] = kind.split(', ') as [Row['runs'], Row['effect']] // as combined in the table
  const [breaks, moment] = fault.split(', ') as [Row['breaks'], Row['moment']]
  return { runs, effect, breaks, moment, ...others }
}

/** A host tool has no client that could leave, and no other client can take its call. */
function isPossible({ kind, fault, second }: RowOf<typeof TABLE>): boolean {
  return !kind.startsWith('host') || !(fault.startsWith('its client') || second === 'another client')
}

/** A different selection each day; all of them in the nightly. */
const ROWS = chooseRotating(coverPairs(TABLE, isPossible).map(readRow), 3)

/**
 * Milliseconds: when decisions are made and clients connect, how long a tool runs, and when the row's fault happens.
 */
const BEGINS_MS = 100
const RUNS_MS = 1000
const FAULT_MS = { before: 50, during: 600, after: 1600 } as const
const SECOND_MS = 300
const STEP_MS = 50
const TIMEOUT_MS = 5000
/** By then every wait has ended. */
const LONG_MS = 3_600_000

interface Effect {
  readonly callId: string
  readonly input: unknown
}

export const PAIR_SITUATIONS = describeRows(ROWS.filter(({ breaks }) => breaks !== RESTARTS))
export const PAIR_RESTART_SITUATIONS = describeRows(ROWS.filter(({ breaks }) => breaks === RESTARTS))

function describeRows(rows: readonly Row[]): Situations {
  return Object.fromEntries(
    rows.map((row) => [
      `pairs: ${Object.values(row).join(', ')}`,
      async ({ createWorld }) => await play(row, createWorld),
    ]),
  )
}

async function play(row: Row, createWorld: (init: ContractWorldOptions) => Promise<ContractWorld>): Promise<void> {
  const effects: Effect[] = []
  const pass: { world?: ContractWorld } = {}
  const run = async (callId: string, input: unknown): Promise<string> => {
    effects.push({ callId, input })
    await pass.world?.time.wait(row.breaks === 'its time' ? LONG_MS : RUNS_MS)
    if (row.breaks === 'the tool') throw new Error('it broke')
    return 'done'
  }
  const init = describeWorld(row, run)
  pass.world = await createWorld(init)
  const seen: Seen = { events: [], asked: [] }
  const life = await begin(pass.world, run, seen)
  const said = life.session.send('go', { inputId: 'first' })
  said.answer.catch(() => {})
  for (let ms = 0; ms < 3000; ms += STEP_MS) {
    if (ms === FAULT_MS[row.moment] && row.breaks === RESTARTS) {
      seen.asked.push(...pass.world.model.requests)
      pass.world = (await pass.world.restart?.({ ...init, steps: answer })) ?? pass.world
      Object.assign(life, await begin(pass.world, run, seen))
    }
    await act(life, row, ms)
    await pass.world.time.pass(STEP_MS)
  }
  await pass.world.time.pass(LONG_MS)
  const last = await pass.world.time.until(life.session.send('last').answer)
  expect(last.text).toBe('fine')
  seen.asked.push(...pass.world.model.requests)
  await judge(pass.world, life.session, { row, effects, seen })
}

const answer = () => ({ pieces: ['fi', 'ne'], pieceMs: 500 }) as const

type Run = (callId: string, input: unknown) => Promise<string>

function describeWorld(row: Row, run: Run): ContractWorldOptions {
  const shared = {
    name: 'act',
    description: 'Acts',
    input: { type: 'object' },
    effect: row.effect,
    parallel: row.calls !== 'two in turn',
    approval: row.approval !== 'none',
    timeoutMs: TIMEOUT_MS,
  } as const
  const acts: Tool =
    row.runs === 'host' ? tool({ ...shared, execute: (input, { callId }) => run(callId, input) }) : tool(shared)
  const calls = [
    { name: 'act', arguments: { n: 1 } },
    ...(row.calls === 'one' ? [] : [{ name: 'act', arguments: { n: 2 } }]),
  ]
  return { tools: [acts], steps: (_, asked) => (asked === 0 ? { calls } : answer()) }
}

interface Seen {
  /** The position read so far, from which a reader of the next host resumes. */
  cursor?: EventCursor
  readonly events: { readonly callId: string; readonly status: string }[]
  readonly asked: ContractWorld['model']['requests'][number][]
}

interface Life {
  readonly session: FrontSession
  readonly run: Run
  handler: Client | undefined
  readonly clients: LeaseClient[]
  readonly running: Set<string>
}

async function begin(world: ContractWorld, run: Run, seen: Seen): Promise<Life> {
  const session = await world.open()
  const read = async (): Promise<void> => {
    for await (const event of session.events({ from: seen.cursor ?? 'now' })) {
      seen.cursor = event.cursor
      if (event.type === 'call') seen.events.push({ callId: event.call.callId, status: event.call.status })
    }
  }
  read().catch(() => {})
  return { session, run, handler: undefined, clients: [], running: new Set() }
}

/** Plays everything due at this moment. */
async function act(life: Life, row: Row, ms: number): Promise<void> {
  const { session } = life
  const isLeft = row.breaks === 'its client' && ms >= FAULT_MS[row.moment]
  if (ms === FAULT_MS[row.moment] && row.breaks === 'an interrupt') await session.interrupt()
  if (ms === FAULT_MS[row.moment] && row.breaks === 'its client') await leave(life)
  if (ms === SECOND_MS) sayMore(session, row)
  if (ms < BEGINS_MS) return
  if (row.runs === 'handler' && !life.handler && !isLeft)
    life.handler = await session.attach({
      act: (input: unknown, context: { readonly callId: string }) => life.run(context.callId, input),
    } as never)
  if (row.runs === 'client' && life.clients.length === 0 && !isLeft)
    life.clients.push(await session.client({ client: 'one', leaseMs: LONG_MS }))
  if (row.second === 'another client' && life.clients.every(({ connection }) => connection !== 'two'))
    life.clients.push(await session.client({ client: 'two', leaseMs: LONG_MS }))
  for (const { approvalId } of await session.approvals())
    if (row.approval === 'edit') await session.decide({ approvalId, decision: 'edit', input: { n: 9 } })
    else await session.decide({ approvalId, decision: row.approval === 'deny' ? 'deny' : 'approve' })
  for (const client of life.clients) for (const { callId } of client.calls()) serve(life, client, callId)
}

async function leave(life: Life): Promise<void> {
  await life.handler?.detach()
  await life.clients.shift()?.detach()
}

function sayMore(session: FrontSession, { second }: Row): void {
  const said =
    second === 'the same input'
      ? session.send('go', { inputId: 'first' })
      : second === 'another input'
        ? session.send('two')
        : second === 'an input that interrupts'
          ? session.send('two', { delivery: 'interrupt' })
          : undefined
  said?.answer.catch(() => {})
}

/** Acts like a device: claims the call, runs it once, and delivers the result. */
function serve(life: Life, client: LeaseClient, callId: string): void {
  const key = `${client.connection} ${callId}`
  if (life.running.has(key)) return
  life.running.add(key)
  const work = async (): Promise<void> => {
    const claim = await client.claim(callId)
    if (claim.again) return
    const outcome = await life.run(callId, JSON.parse(claim.arguments)).then(
      (text) => ({ type: 'ok', content: [{ type: 'text', text }] }) as const,
      () => ({ type: 'error', code: 'tool_failed', message: 'it broke' }) as const,
    )
    // A client that has left delivers nothing.
    if (life.clients.includes(client)) await client.result(callId, outcome)
  }
  work().catch(() => life.running.delete(key)) // it no longer had the call
}

interface Played {
  readonly row: Row
  readonly effects: readonly Effect[]
  readonly seen: Seen
}

async function judge(world: ContractWorld, session: FrontSession, { row, effects, seen }: Played): Promise<void> {
  const proposed = (await world.facts('step-finished')).flatMap(({ calls }) => calls.map(({ callId }) => callId))
  const settled = await world.facts('call-settled')
  const wanted = row.calls === 'one' ? 1 : 2
  // Every wait has ended, and each call has one settlement.
  expect([session.phase, await session.approvals(), await session.questions()]).toEqual(['idle', [], []])
  expect(settled.map(({ callId }) => callId).toSorted()).toEqual(proposed.toSorted())
  expect(proposed).toHaveLength(wanted)
  expect((await world.facts('turn-finished')).length).toBe((await world.facts('turn-started')).length)
  // A denied call never happens, an edited one happens as edited, and `once` is once.
  const times = Map.groupBy(effects, ({ callId }) => callId)
  if (row.approval === 'deny') expect(effects).toEqual([])
  if (row.approval === 'edit') expect(effects.every(({ input }) => (input as { n: number }).n === 9)).toBe(true)
  if (row.effect === 'once') expect([...times.values()].every((one) => one.length === 1)).toBe(true)
  for (const { callId, settlement } of settled) if (settlement.type === 'ok') expect(times.has(callId)).toBe(true)
  const ends = new Set(listEnds(row))
  expect(settled.map(({ settlement }) => settlement.type).filter((end) => !ends.has(end))).toEqual([])
  const isCalm = ['nothing', 'the tool'].includes(row.breaks) && row.second !== 'an input that interrupts'
  if (isCalm && row.approval !== 'deny')
    expect(settled.map(({ settlement }) => settlement.type)).toEqual(
      proposed.map(() => (row.breaks === 'nothing' ? 'ok' : 'error')),
    )
  if (isCalm && row.approval !== 'deny') expect(effects).toHaveLength(wanted)
  // A provider would accept every request, and the last one has each input once.
  for (const { messages } of seen.asked) expect(validateHistory(messages)).toEqual([])
  const users = seen.asked.at(-1)?.messages.filter(({ role }) => role === 'user') ?? []
  const texts = JSON.stringify(users.map(({ parts }) => parts))
  const inputs = [
    'go',
    'last',
    ...(row.second.includes('another input') || row.second.includes('interrupts') ? ['two'] : []),
  ]
  expect(inputs.map((text) => [text, texts.split(`"${text}"`).length - 1])).toEqual(inputs.map((text) => [text, 1]))
  // A reader saw each call end once, and nothing of it afterwards.
  for (const [callId, events] of Map.groupBy(seen.events, (event) => event.callId)) {
    const ends = events.flatMap(({ status }, index) => (status === 'settled' ? [index] : []))
    expect([callId, ends]).toEqual([callId, [events.length - 1]])
  }
  expect(new Set(seen.events.map(({ callId }) => callId))).toEqual(new Set(proposed))
}

/** Ends of a call that the docs allow: docs/client-tools.md and docs/approvals.md. */
function listEnds(row: Row): readonly string[] {
  const { approval, breaks, moment, effect, calls } = row
  // A second call in sequence runs when the first one has ended.
  const isLater = calls === 'two in turn' && moment === 'after'
  const atMoment = isLater ? 'during' : moment
  const begun = row.runs === 'host' && approval === 'none'
  const isCut = row.second === 'an input that interrupts' || breaks === 'an interrupt'
  const ends = approval === 'deny' ? ['denied'] : listEndsOf({ ...row, moment: atMoment }, begun)
  const first = approval !== 'deny' && isLater ? ['ok'] : []
  const isUnknown = effect === 'once' && isCut && approval !== 'deny'
  return [...ends, ...first, ...(isCut ? ['cancelled', 'ok'] : []), ...(isUnknown ? ['unknown'] : [])]
}

function listEndsOf({ breaks, moment, effect, second }: Row, begun: boolean): readonly string[] {
  const isOnce = effect === 'once'
  switch (breaks) {
    case 'nothing':
    case 'an interrupt':
      return ['ok']
    case 'the tool':
      return ['error']
    case 'its time':
      return [isOnce ? 'unknown' : 'timed-out']
    case 'its client': {
      // Another client takes a call that has not begun or may be repeated; otherwise it stays untaken.
      const alone = second === 'another client' ? 'ok' : 'timed-out'
      if (moment === 'after') return ['ok']
      return [moment === 'during' && isOnce ? 'unknown' : alone]
    }
    case 'the host':
      return [isOnce && (moment === 'during' || (moment === 'before' && begun)) ? 'unknown' : 'ok']
    default:
      return breaks satisfies never
  }
}
