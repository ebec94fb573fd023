// One session in a host: its actor with its runners, its readers, and a new actor when one dies.
import type { Agent, Environment, Frame, Logger, Model, Principal, Store, Tool } from '@baton/core'
import { BatonError, specOf } from '@baton/core'
import type { CallCheck, SessionRecord, Spec, State } from '@baton/core/machine'
import type { Actor } from './actor.ts'
import { openActor } from './actor.ts'
import type { ArgumentValidator } from './arguments.ts'
import { hashArguments } from './arguments.ts'
import type { FrameReader } from './bounded-frames.ts'
import { createFrameReader } from './bounded-frames.ts'
import { readResultTool } from './bounded-result.ts'
import { createModelRunner } from './model-runner.ts'
import { createPerformer } from './perform.ts'
import { requestFor } from './request.ts'
import { createTimerRunner } from './timer-runner.ts'
import { createToolRunner } from './tool-runner.ts'

export interface SlotInit {
  readonly session: string
  readonly owner: string
  readonly agent: Agent
  readonly principal: Principal
  readonly services: unknown
  readonly store: Store
  readonly environment: Environment
  readonly validator: ArgumentValidator
  readonly log: Logger
  /** Ids of the agent's models in the order of fallback. */
  readonly models: readonly string[]
  /** @throws BatonError `unknown_model`, `model_not_configured` */
  readonly modelOf: (id: string) => Model
  /** The secret with which this host's approval tokens are made. */
  readonly tokenHash: (callKey: string) => string
}

export interface SessionSlot {
  readonly session: string
  readonly agent: Agent
  /** The living actor; a dead one, while the session is opened again, refuses everything. */
  actor(): Actor
  /** Its log has another owner, or its store failed for good: ask the host for it again. */
  isClosed(): boolean
  /** Frames from `fromPos` on, or from now on. */
  read(fromPos: number | undefined): AsyncIterable<Frame>
  close(): void
}

/** Openings of a session whose store fails, before it is given up until somebody asks again. */
const REOPEN_TRIES = 5
const REOPEN_MS = 200

/** @throws BatonError when the log cannot be read or owned */
export async function openSlot(init: SlotInit): Promise<SessionSlot> {
  const tools: readonly Tool[] = [...init.agent.tools, readResultTool(init.store.blobs, init.session)]
  const spec = specFor(init, tools)
  const readers = new Set<FrameReader>()
  let closed: BatonError | undefined
  let crew = await assemble()

  function publish(frame: Frame): void {
    for (const reader of readers) reader.push(frame)
  }

  function pause(tries: number): Promise<void> {
    return new Promise((resolve) => void init.environment.timers.start(REOPEN_MS * 2 ** (tries - 1), resolve))
  }

  async function assemble(): Promise<Crew> {
    const crewInit = { ...init, tools, spec, publish, pause, onDeath: (cause: BatonError) => void reopen(cause) }
    return await openCrew(crewInit)
  }

  /** The log is the truth: whatever failed, a new actor begins from it, as after a restart. */
  async function reopen(cause: BatonError): Promise<void> {
    crew.close()
    for (let tries = 1; tries <= REOPEN_TRIES && !closed && cause.code !== 'store_conflict'; tries++) {
      init.log.warn('a session is opened again', { session: init.session, cause: cause.message })
      await pause(tries)
      try {
        if (closed) return
        crew = await assemble()
        return
      } catch (failure) {
        init.log.warn('a session could not be opened', { session: init.session, cause: String(failure) })
      }
    }
    closed ??= cause
    for (const reader of readers) reader.end()
  }

  return {
    session: init.session,
    agent: init.agent,
    actor: () => crew.actor,
    isClosed: () => closed !== undefined,
    read,
    close: () => {
      closed ??= new BatonError({ code: 'session_closed', message: `session ${init.session} was closed` })
      crew.actor.kill(closed)
      crew.close()
      for (const reader of readers) reader.end()
    },
  }

  /** Old facts come from the store, new ones live; the reader is registered first, so that none falls between. */
  function read(fromPos: number | undefined): AsyncIterable<Frame> {
    const nextPos = crew.actor.state().pos + 1
    const reader = createFrameReader(nextPos, () => readers.delete(reader))
    readers.add(reader)
    if (closed) reader.end()
    return fromPos === undefined || fromPos >= nextPos ? reader : readFrom(init, { fromPos, nextPos, reader })
  }
}

async function* readFrom(
  init: Pick<SlotInit, 'store' | 'session'>,
  range: { readonly fromPos: number; readonly nextPos: number; readonly reader: FrameReader },
): AsyncGenerator<Frame> {
  try {
    for await (const record of init.store.read(init.session, range.fromPos)) {
      if (record.pos >= range.nextPos) break
      yield* framesOf(record)
    }
    yield* range.reader
  } finally {
    range.reader.end()
  }
}

/** The frames of a record: a projection without memory, so that reading again from a position needs nothing else. */
export function framesOf(record: SessionRecord): readonly Frame[] {
  const { pos, nowMs } = record
  return record.facts.map((fact) => ({ type: 'fact', pos, nowMs, fact }))
}

function specFor(init: SlotInit, tools: readonly Tool[]): Spec {
  return specOf({ ...init.agent, tools }, init.models, contextOf(init))
}

function contextOf(init: SlotInit): number | undefined {
  const sizes = init.models.flatMap((id) => {
    try {
      return init.modelOf(id).capabilities.contextTokens ?? []
    } catch {
      return [] // a fallback that is not configured fails when it is asked, not before
    }
  })
  return sizes.length === 0 ? undefined : Math.min(...sizes)
}

interface CrewInit extends SlotInit {
  readonly tools: readonly Tool[]
  readonly spec: Spec
  readonly publish: (frame: Frame) => void
  readonly pause: (tries: number) => Promise<void>
  readonly onDeath: (cause: BatonError) => void
}

/** An actor and the runners that work for it; they die together. */
interface Crew {
  readonly actor: Actor
  close(): void
}

async function openCrew(init: CrewInit): Promise<Crew> {
  const { session, owner, environment, publish, store, spec, pause, onDeath } = init
  const onCommit = (record: SessionRecord): void => framesOf(record).forEach(publish)
  const actor = await openActor({ session, owner, spec, store, clock: environment.clock, pause, onCommit, onDeath })
  const timers = createTimerRunner(environment, actor.submit)
  const tools = createToolRunner({ ...init, actor })
  const models = createModelRunner({
    environment,
    actor,
    publish,
    modelOf: init.modelOf,
    request: (effect) =>
      requestFor({ agent: init.agent, tools: init.tools, state: actor.state(), history: actor.history() }, effect),
    check: (name, argumentsText) => checkCall(init, actor.state(), name, argumentsText),
  })
  actor.begin(createPerformer({ timers, tools, models }))
  const close = (): void => {
    timers.close()
    tools.close()
    models.close()
  }
  return { actor, close }
}

async function checkCall(init: CrewInit, state: State, name: string, argumentsText: string): Promise<CallCheck> {
  const argumentsHash = hashArguments(argumentsText)
  const tool = init.tools.find((candidate) => candidate.name === name)
  const input = tool?.input ?? clientSchema(state, name)
  if (!input) return { argumentsHash }
  const checked = await init.validator.validate({ input }, argumentsText)
  if (!checked.ok) return { argumentsHash, invalid: checked.issues }
  const asks = typeof tool?.approval === 'function' ? await tool.approval(checked.value) : (tool?.approval ?? false)
  if (!asks) return { argumentsHash }
  return { argumentsHash, approval: { tokenHash: init.tokenHash(`${init.session}/${name}/${argumentsHash}`) } }
}

function clientSchema(state: State, name: string): Tool['inputSchema'] | undefined {
  // Checked by the front that brought it: the root is an object.
  return state.clientTools.find((tool) => tool.name === name)?.inputSchema as Tool['inputSchema'] | undefined
}
