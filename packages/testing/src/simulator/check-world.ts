// Checks of the simulator: every record as soon as it is stored, and finally what happened against what the log says.
import type { createSpec } from '@baton/core/internal'
import type { SessionRecord, Snapshot, State } from '@baton/core/machine'
import { applyRecord, createHistory, initialState, openTasks, TASK_INPUT, takeSnapshot } from '@baton/core/machine'
import { checkReaders } from './check-readers.ts'
import { noteFact, noteFault } from './coverage.ts'
import type { ObservedSession } from './observed-session.ts'
import { observeSession } from './observed-session.ts'
import { HELPERS } from './simulated-agent.ts'
import type { SimulatedWorld } from './simulated-world.ts'
import { fail, findObserved, FORGED, SESSION, tell, validateWires } from './simulated-world.ts'

/** By the agents' names. */
export type Specs = ReadonlyMap<string, ReturnType<typeof createSpec>>

/** Observes records of a session that were stored together. */
export function observeAll(
  world: SimulatedWorld,
  specs: Specs,
  records: readonly SessionRecord[],
  session: string,
): void {
  const { below, coverage } = world
  const known = findObserved(world, session)
  const observed = known ?? observeSession(session, { validate: validateWires, storingMs: world.storingMs })
  if (!known) {
    below.set(session, observed)
    noteFault(coverage, 'child', world.observed.state)
  }
  for (const record of records) observe(world, observed, { record, specs })
  world.watch.of(session).noteStored(records)
}

export function observeSnapshot(world: SimulatedWorld, snapshot: Snapshot): void {
  const { session } = snapshot.state
  const observed = findObserved(world, session)
  if (!observed) return
  observed.snapshots += 1
  try {
    checkSnapshot(session, snapshot, observed.records)
  } catch (failure) {
    fail(world, failure)
  }
}

interface Stored {
  readonly record: SessionRecord
  readonly specs: Specs
}

/** Checks a record as soon as it was stored. */
function observe(world: SimulatedWorld, observed: ObservedSession, { record, specs }: Stored): void {
  const { coverage } = world
  coverage.records += 1
  for (const fact of record.facts) noteFact(coverage, fact)
  const { session } = observed.state
  const name = session === SESSION ? '' : `${session.slice(-5)}: `
  tell(world, `${name}${record.input.type} → ${record.facts.map((fact) => fact.type).join(', ')}`)
  const before = { ...observed.state, epoch: record.epoch }
  const after = applyRecord(before, record)
  if (session === SESSION) checkForged(world, before, record)
  observed.records.push(record)
  observed.history.fold(record)
  observed.state = after
  if (JSON.stringify(record).includes('"base64"')) fail(world, new Error('a record holds a picture'))
  const spec = specs.get(after.agent)
  if (!spec) return fail(world, new Error(`record ${record.pos} is of agent "${after.agent}"`))
  try {
    observed.checker.observe({ spec, before, after, record, history: observed.history, input: null, isDecided: true })
    observed.timeChecker.observe({ before, after, record, nowMs: world.time.nowMs() })
    world.tree.noteStored(session, before, record)
    const { time, office } = world
    if (session === SESSION) office?.noteStored(record, { clockMs: time.clock.nowMs(), nowMs: time.nowMs() })
  } catch (failure) {
    fail(world, failure)
  }
}

/**
 * A forged result settles a call only if its connection was offered that call before the record: a device that connects
 * while the store is slow may report on a call that is then assigned to it.
 */
function checkForged({ observed, effects }: SimulatedWorld, before: State, { input, facts }: SessionRecord): void {
  for (const fact of facts) {
    if (
      (fact.type !== 'call-settled' && fact.type !== 'task-settled') ||
      !JSON.stringify(fact.settlement).includes(FORGED)
    )
      continue
    const calls = [
      ...openTasks(before),
      ...(before.step?.calls ?? []),
      ...before.relayed.flatMap(({ call }) => call ?? []),
    ]
    const call = calls.find(({ callId }) => callId === fact.callId)
    const connection = input.type === 'tool-result' ? input.connection : undefined
    if (!call?.offer || call.offer.connection !== connection)
      observed.failure ??= new Error(`${fact.callId} is settled by a forged result`)
    else if (!effects.has(fact.callId)) effects.set(fact.callId, { tool: call.name, starts: 0 })
  }
}

/** On reconnecting, an app is only shown its last turn, but the server has everything it sent. */
function checkSaid({ app, observed }: SimulatedWorld): void {
  const accepted = new Set(observed.state.recentInputs.map((input) => input.inputId))
  const lost = [...app.said].filter(([id]) => !accepted.has(id)).map(([, text]) => text)
  if (lost.length > 0) throw new Error(`the server never received: ${lost.join(', ')}`)
}

/** Compares the events of the world with the log: `once` means at most once, and ok means that it happened. */
function checkEffects(world: SimulatedWorld): void {
  const once = new Set([
    'pay',
    'pay.asked',
    'pay.signed',
    'ask.pay',
    'phone.spawn',
    'phone.pay',
    'phone.own',
    'phone.below',
  ])
  for (const [callId, effect] of world.effects)
    if (once.has(effect.tool) && effect.starts > 1)
      throw new Error(`${callId} (${effect.tool}) took effect ${effect.starts} times`)
  const spoken = world.app.spoken
  if (new Set(spoken).size < spoken.length) throw new Error('a text was spoken twice')
  const sessions = [world.observed, ...world.below.values()]
  const receipts = new Set(sessions.flatMap(({ records }) => listTasks(records).receipts))
  const settled = sessions.flatMap(({ state }) => state.recentCalls).filter(({ callId }) => !receipts.has(callId))
  const ended = sessions.flatMap(({ state }) => state.endedTasks)
  const calls = [...settled, ...ended].filter(({ name }) => !name.startsWith('tasks.'))
  for (const { callId, settlement, name } of calls)
    if (settlement === 'ok' && name !== 'result.read' && !HELPERS.has(name) && !world.effects.has(callId))
      throw new Error(`${callId} (${name}) is settled as ok, but nothing happened`)
}

function listTasks(records: readonly SessionRecord[]) {
  const facts = records.flatMap((record) => record.facts)
  const receipts = facts.flatMap((fact) => (fact.type === 'call-settled' && fact.task ? [fact.callId] : []))
  const ends = facts.flatMap((fact) => (fact.type === 'task-settled' ? [fact.callId] : []))
  const accepted = facts.flatMap((fact) => (fact.type === 'input-accepted' ? [fact.inputId] : []))
  const entered: string[] = []
  for (const { input, facts: made } of records)
    for (const fact of made)
      if (fact.type === 'inputs-entered')
        for (const id of fact.entries.flatMap(({ inputs }) => inputs))
          // A rewind that asks again repeats its inputs, and takes those that wait too.
          if (input.type !== 'rewind' || !entered.includes(id)) entered.push(id)
  const withdrawn = facts.flatMap((fact) => (fact.type === 'input-withdrawn' ? [fact.inputId] : []))
  return { receipts, ends, wakes: accepted.filter((id) => id.startsWith(TASK_INPUT)), entered, withdrawn }
}

/** Each receipt has one end, and each wake reached the model once, unless a wait or a rewind took it back. */
function checkTasks(records: readonly SessionRecord[]): void {
  const { receipts, ends, wakes, entered, withdrawn } = listTasks(records)
  if (receipts.toSorted().join(' ') !== ends.toSorted().join(' '))
    throw new Error(`tasks began as ${receipts.join(' ')}, and ended as ${ends.join(' ')}`)
  if (new Set(wakes).size < wakes.length) throw new Error(`a task woke its session twice: ${wakes.join(' ')}`)
  for (const id of wakes) {
    const isGone = withdrawn.includes(id)
    const reached = entered.filter((one) => one === id).length
    if (isGone ? reached > 0 : reached !== 1) throw new Error(`${id} entered ${reached} times`)
  }
}

/** Checks what a session at rest must have kept. @throws Error describing what is wrong */
export function checkEnd(world: SimulatedWorld): void {
  if (world.observed.failure) throw world.observed.failure
  for (const { checker, state } of [world.observed, ...world.below.values()]) checker.finish(state)
  world.tree.finish([...world.below.keys()])
  for (const { records } of [world.observed, ...world.below.values()]) checkTasks(records)
  checkEffects(world)
  world.office?.finish(world.observed)
  checkSaid(world)
  checkReaders([world.observed, ...world.below.values()])
  if (world.app.screen === 'thinking') throw new Error('the app is left thinking')
}

/**
 * Compares a snapshot with a full fold of the log up to its position: a snapshot only saves time.
 * @throws Error describing where they differ
 */
function checkSnapshot(session: string, snapshot: Snapshot, records: readonly SessionRecord[]): void {
  let state = initialState(session)
  const history = createHistory()
  for (const record of records.slice(0, snapshot.state.pos + 1)) {
    state = applyRecord(state, record)
    history.fold(record)
  }
  const folded = takeSnapshot(state, history)
  for (const part of ['version', 'state', 'history'] as const) {
    const [had, has] = [JSON.stringify(snapshot[part]), JSON.stringify(folded[part])]
    if (had !== has) throw new Error(`the snapshot at ${snapshot.state.pos} differs in its ${part}:\n${had}\n${has}`)
  }
}
