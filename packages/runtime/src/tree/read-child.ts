// Reads the session of a delegated call: the open one, or the log that it has left.
import type { Agent, DelegateRules, Refused } from '@baton/core/internal'
import { BatonError, createSpec, findDelegate } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { FoldedReplica } from '../session/replicated-session.ts'
import { SessionStream } from '../session/stream.ts'
import { findDelegation, nameChild } from './child-agent.ts'

/**
 * Opens the session of a delegated call for reading. `path` has the ids of the calls that lead to it, the root's own first. A
 * session whose call has ended is read as its log has it.
 * @throws BatonError `unknown_session` if the call has none, `illegal_input` if this kind of host cannot read it, `store_failed`,
 * `log_damaged`
 */
export async function readChild(root: SessionEngine, path: readonly string[]): Promise<SessionEngine> {
  let open: SessionEngine | undefined = root
  for (const callId of path) open = await open?.child?.(callId)
  if (open) return refuseInputs(open, open.world)
  const { session, world } = root
  const readLog = root.readBelow?.bind(root)
  if (!readLog)
    throw new BatonError({ code: 'illegal_input', message: 'this kind of host cannot read the sessions of calls' })
  const name = path.reduce((caller, callId) => nameChild(world.digest, caller, callId), session)
  return await openLog(root, name, (fromPos) => readLog(name, fromPos))
}

async function openLog(
  root: SessionEngine,
  session: string,
  readLog: (fromPos: number) => AsyncIterable<SessionRecord>,
): Promise<SessionEngine> {
  const replica = new FoldedReplica(session)
  for await (const record of readLog(0)) replica.fold(record)
  const { pos, parent } = replica.state()
  if (!parent)
    throw new BatonError({
      code: 'unknown_session',
      message: `session ${root.session} has no session of another agent for this call`,
      hint: 'Pass the ids of the delegated calls that lead to it: events of a delegated call have child.',
    })
  const world = describeWorld(root, parent.tools)
  const state = () => replica.state()
  const history = () => replica.history()
  const stream = new SessionStream({ session, world: () => world, readLog, state, history })
  stream.startAfter(pos)
  stream.end()
  return refuseInputs({ session, stream, state, history }, world)
}

/** The world of the agent that these tools lead to; the root's if an agent has its tool no longer. */
function describeWorld({ world }: SessionEngine, tools: readonly string[]): SessionEngine['world'] {
  let agent: Agent | undefined = world.agent
  for (const [depth, name] of tools.entries()) {
    const rules: DelegateRules | undefined = agent && findDelegation(depth === 0 ? world.tools : agent.tools, name)
    agent = rules && findDelegate(rules)
  }
  if (!agent) return world
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
function refuseInputs(
  engine: Pick<SessionEngine, 'session' | 'stream' | 'state' | 'history'>,
  world: SessionEngine['world'],
): SessionEngine {
  const { session } = engine
  const refused: Refused = {
    type: 'refused',
    code: 'illegal_input',
    message: `session ${session} belongs to a call of another session, which alone writes to it`,
  }
  return {
    session,
    world,
    stream: engine.stream,
    state: () => engine.state(),
    history: () => engine.history(),
    submit: (inputs) => Promise.resolve(inputs.map(() => refused)),
  }
}
