// One session in a host: its actor with its runners, its readers, and a new actor when one dies.
import type { Agent, Environment, Logger, Model, Principal, Refused, Store, Tool, Usage } from '@baton/core'
import { BatonError, specOf } from '@baton/core'
import type { Input, Phase, Spec, State } from '@baton/core/machine'
import { outstanding } from '@baton/core/machine'
import type { Actor } from './actor.ts'
import { openActor } from './actor.ts'
import type { ArgumentValidator } from './arguments.ts'
import type { FrameReader } from './bounded-frames.ts'
import { readResultTool } from './bounded-result.ts'
import { checkCall } from './call-check.ts'
import type { FrameHub } from './frame-hub.ts'
import { createFrameHub } from './frame-hub.ts'
import { createModelRunner } from './model-runner.ts'
import { createPerformers } from './perform.ts'
import type { OutputReader } from './output.ts'
import { createOutputReader } from './output.ts'
import { requestFor } from './request.ts'
import type { SnapshotTaker } from './snapshot-taker.ts'
import { createSnapshotTaker } from './snapshot-taker.ts'
import { messageOf } from './thrown-message.ts'
import { createTimerRunner } from './timer-runner.ts'
import { createToolRunner } from './tool-runner.ts'

export interface SlotInit {
  readonly session: string
  readonly owner: string
  readonly agent: Agent
  /** Whose session it becomes, if it is new. */
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
  /** Records between two snapshots. */
  readonly snapshotRecords: number
  readonly priceOf: ((model: string, usage: Usage) => number | undefined) | undefined
  /** The secret with which this host's approval tokens are made. */
  readonly tokenHash: (callKey: string) => string
}

export interface SessionSlot {
  readonly session: string
  readonly agent: Agent
  /** Of an agent with an output schema. */
  readonly output: OutputReader | undefined
  /** The living actor; while a dead one's session is opened again, one whose inputs wait for its successor. */
  actor(): Actor
  /** Its log has another owner, or its store failed for good: ask the host for it again. */
  isClosed(): boolean
  /** Frames from `fromPos` on, or from now on. */
  read(fromPos: number | undefined): FrameReader
  /** Nothing is outstanding, and no turn waits or runs. */
  isAtRest(): boolean
  /** Ends its work here. When it was at rest, the store is told that nobody need look after it; that is done when this ends. */
  close(): Promise<void>
}

/** Openings of a session whose store fails, before it is given up until somebody asks again. */
const REOPEN_TRIES = 5
const REOPEN_MS = 200
/** Inputs that may wait for a session that is opened again. */
const WAITING_MAX = 1000

/** @throws BatonError when the log cannot be read or owned */
export async function openSlot(init: SlotInit): Promise<SessionSlot> {
  const { session, agent, log } = init
  const tools: readonly Tool[] = [...agent.tools, readResultTool(init.store.blobs, session)]
  const hub = createFrameHub(init.store, session)
  const output = createOutputReader(agent, init.validator)
  const snapshots = createSnapshotTaker({ ...init, everyRecords: init.snapshotRecords })
  const pause = pauserOf(init.environment)
  let closed: BatonError | undefined
  let reopening: { readonly done: Promise<void>; waiting: number } | undefined
  let crew = await assemble()
  crew.begin()

  function assemble(): Promise<Crew> {
    return openCrew({ ...init, output, tools, spec: specFor(init, tools), hub, snapshots, pause, onDeath })
  }

  function onDeath(cause: BatonError): void {
    const again = { done: reopen(cause).catch(() => {}), waiting: 0 } // all that can fail in it is a logger
    reopening = again
    void again.done.then(() => {
      if (reopening === again) reopening = undefined
    })
  }

  /** The log is the truth: whatever failed, a new actor begins from it, as after a restart. */
  async function reopen(cause: BatonError): Promise<void> {
    crew.close()
    for (let tries = 1; tries <= REOPEN_TRIES && !closed && cause.code !== 'store_conflict'; tries++) {
      log.warn('a session is opened again', { session, cause: cause.message })
      await pause(tries)
      if (closed) return
      try {
        crew = await assemble()
      } catch (failure) {
        log.warn('a session could not be opened', { session, cause: messageOf(failure) })
        continue
      }
      if (closed) crew.actor.kill(closed)
      else crew.begin()
      return
    }
    closed ??= cause
    hub.end()
  }

  /** While the session is opened again inputs wait: they are what users said, and what clients have done. */
  function submit(input: Input): ReturnType<Actor['submit']> {
    if (!reopening) return crew.actor.submit(input)
    if (reopening.waiting >= WAITING_MAX) return Promise.resolve(FULL)
    reopening.waiting += 1
    return reopening.done.then(() => crew.actor.submit(input))
  }

  function isAtRest(): boolean {
    return !closed && !reopening && !crew.actor.isBusy() && restsIn(crew.actor.state())
  }

  async function close(): Promise<void> {
    const rests = isAtRest()
    closed ??= new BatonError({ code: 'session_closed', message: `session ${session} was closed` })
    crew.actor.kill(closed)
    crew.close()
    hub.end()
    // Who removes the session comes after its snapshots.
    await (rests ? release(init, crew.actor, snapshots) : snapshots.settled())
  }

  const actor = (): Actor => (reopening ? { ...crew.actor, submit } : crew.actor)
  return { session, agent, output, actor, isClosed: () => closed !== undefined, read: hub.read, isAtRest, close }
}

/** Each wait is twice as long as the one before. */
function pauserOf({ timers }: Environment): (tries: number) => Promise<void> {
  return (tries) => new Promise((resolve) => void timers.start(REOPEN_MS * 2 ** (tries - 1), resolve))
}

/** Tells the store that nobody need look after the session; when that fails, somebody looks once more than needed. */
async function release({ store, session }: SlotInit, actor: Actor, snapshots: SnapshotTaker): Promise<void> {
  const state = actor.state()
  await snapshots.finish(state, actor.history())
  await store.release(session, state.epoch).catch(() => {})
}

/** In these phases it only goes on when somebody says so. */
const RESTING: ReadonlySet<Phase> = new Set<Phase>(['idle', 'paused', 'stopped'])

function restsIn(state: State): boolean {
  return RESTING.has(state.phase) && outstanding(state).length === 0
}

const FULL: Refused = {
  type: 'refused',
  code: 'queue_full',
  message: `${WAITING_MAX} inputs wait for the session to be opened again`,
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
  readonly output: OutputReader | undefined
  readonly tools: readonly Tool[]
  readonly spec: Spec
  readonly hub: FrameHub
  readonly snapshots: SnapshotTaker
  readonly pause: (tries: number) => Promise<void>
  readonly onDeath: (cause: BatonError) => void
}

/** An actor and the runners that work for it; they die together. */
interface Crew {
  readonly actor: Actor
  /** Performs what is outstanding, and from then on what is decided. Called once, if at all. */
  begin(): void
  close(): void
}

/** @throws BatonError when its log cannot be opened; only a crew that was opened dies with `onDeath` */
async function openCrew(init: CrewInit): Promise<Crew> {
  const { environment } = init
  const { publish, publishRecord: onRecord } = init.hub
  let opened = false
  const onDeath = (cause: BatonError): void => {
    if (opened) init.onDeath(cause)
  }
  const actor = await openActor({
    ...init,
    clock: environment.clock,
    timers: environment.timers,
    newId: () => environment.newId(),
    onRecord,
    onSnapshot: (pos) => {
      init.hub.startAfter(pos)
      init.snapshots.startAfter(pos)
    },
    onCommit: init.snapshots.onCommit,
    onDeath,
  })
  opened = true
  const timers = createTimerRunner(environment, actor.submit)
  // Whoever opens it first: tools run for the one whose session it is.
  const tools = createToolRunner({ ...init, principal: { id: actor.state().principal }, publish, actor })
  const models = createModelRunner({
    environment,
    actor,
    publish,
    modelOf: init.modelOf,
    request: (effect, model) =>
      requestFor(
        { agent: init.agent, model, tools: init.tools, state: actor.state(), history: actor.history() },
        effect,
      ),
    output: init.output,
    priceOf: init.priceOf,
    check: (name, argumentsText) => checkCall(init, actor.state(), { name, arguments: argumentsText }),
  })
  const begin = (): void => actor.begin(createPerformers({ timers, tools, models }))
  const close = (): void => {
    timers.close()
    tools.close()
    models.close()
  }
  return { actor, begin, close }
}
