// Reads the sessions of delegated calls: the open ones, and the logs that others have left.
import type { Agent, DelegateRules, Refusal, Refused } from '@baton/core/internal'
import { BatonError, createSpec, findDelegate } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { findChild } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { FoldedReplica } from './replicated-session.ts'
import { SessionStream } from './stream.ts'
import { findDelegation, nameChild } from '../catalog/child-agent.ts'

/**
 * Opens the session of a delegated call for reading. `path` has the ids of the calls that lead to it, the root's own first. A
 * session whose call has ended is read as its log has it.
 * @throws BatonError `unknown_session` if the call has none, `illegal_input` if this kind of host cannot read it, `store_failed`,
 * `log_damaged`
 */
export async function readChild(root: SessionEngine, path: readonly string[]): Promise<SessionEngine> {
  let engine = root
  for (const callId of path) engine = await openSoon(engine, callId)
  return refuseInputs(engine, describeOwner(engine.session))
}

/** Milliseconds to wait for a session that its owner is opening. After that its log is read. */
const OPENING_MS = 5000

async function openSoon(caller: SessionEngine, callId: string): Promise<SessionEngine> {
  const late = Promise.withResolvers<void>()
  let isLate = false
  const stop = caller.world.timers.start(OPENING_MS, () => {
    isLate = true
    late.resolve()
  })
  try {
    const opened = await Promise.race([openBelow(caller, callId, () => isLate), late.promise])
    return opened ? opened.engine : await openLog(caller, callId)
  } finally {
    isLate = true
    stop()
  }
}

/**
 * Opens the session of a call, or the log that it left if the call has ended. Waits while it is being opened; returns undefined
 * if the reader leaves.
 * @throws BatonError as `readChild`
 */
export async function openBelow(
  caller: SessionEngine,
  callId: string,
  isLeft: () => boolean,
): Promise<{ readonly engine: SessionEngine; readonly hasEnded: boolean } | undefined> {
  while (!isLeft()) {
    const changed = caller.stream.changed()
    const opened = caller.childOpened?.()
    const open = await caller.child?.(callId)
    if (open) return { engine: open, hasEnded: false }
    if (!findChild(caller.state(), callId)) return { engine: await openLog(caller, callId), hasEnded: true }
    await (opened ? Promise.race([changed, opened]) : changed)
  }
  return undefined
}

async function openLog(caller: SessionEngine, callId: string): Promise<SessionEngine> {
  const readLog = caller.readBelow?.bind(caller)
  if (!readLog)
    throw new BatonError({ code: 'illegal_input', message: 'this kind of host cannot read the sessions of calls' })
  const session = nameChild(caller.world.digest, caller.session, callId)
  const replica = new FoldedReplica(session)
  for await (const record of readLog(session, 0)) replica.fold(record)
  const { pos, parent } = replica.state()
  if (parent?.callId !== callId)
    throw new BatonError({
      code: 'unknown_session',
      message: `call "${callId}" of session ${caller.session} has no session of another agent`,
      hint: 'Pass the ids of the delegated calls that lead to it: the event of a delegated call has child.',
    })
  const world = describeWorld(caller.world, parent.tools.at(-1) ?? '')
  const state = () => replica.state()
  const history = () => replica.history()
  const own = (fromPos: number): AsyncIterable<SessionRecord> => readLog(session, fromPos)
  const stream = new SessionStream({ session, world: () => world, readLog: own, state, history })
  stream.startAfter(pos)
  stream.end()
  return refuseInputs({ session, world, stream, state, history, readBelow: readLog }, describeOwner(session))
}

/** The world of the agent of this tool; the caller's if it has the tool no longer. */
function describeWorld(world: SessionEngine['world'], tool: string): SessionEngine['world'] {
  const rules: DelegateRules | undefined = findDelegation(world.tools, tool)
  if (!rules) return world
  const agent: Agent = findDelegate(rules)
  const named = agent.models.map((model) => (typeof model === 'string' ? model : model.id))
  const models = named.length > 0 ? named : world.models
  return {
    ...world,
    agent,
    tools: agent.tools,
    models,
    spec: createSpec(agent, models, world.spec.window.contextTokens),
  }
}

/** A child's caller is its only client. */
function describeOwner(session: string): Refusal {
  return {
    code: 'illegal_input',
    message: `session ${session} belongs to a call of another session, which alone writes to it`,
  }
}

/** An engine that can be read, and refuses every input with this reason. */
export function refuseInputs(engine: Omit<SessionEngine, 'submit'>, why: Refusal): SessionEngine {
  const { session, world, stream } = engine
  const refused: Refused = { type: 'refused', ...why }
  return {
    session,
    world,
    stream,
    state: () => engine.state(),
    history: () => engine.history(),
    submit: (inputs) => Promise.resolve(inputs.map(() => refused)),
    child: (callId) => engine.child?.(callId),
    ...(engine.childOpened && { childOpened: () => engine.childOpened?.() ?? Promise.resolve() }),
    ...(engine.readBelow && { readBelow: engine.readBelow.bind(engine) }),
  }
}
