// One session in a host: its crew, its readers, its snapshots, and a new crew when one dies.
import type { Agent, Environment, Logger, Model, Principal, Refused, Store, Tool, Usage } from '@baton/core'
import { BatonError, specOf } from '@baton/core'
import type { History, Input, Phase, SessionRecord, Spec, State } from '@baton/core/machine'
import { outstanding } from '@baton/core/machine'
import type { Actor, ActorListener } from './actor.ts'
import type { ArgumentValidator } from './arguments.ts'
import type { FrameReader } from './bounded-frames.ts'
import { readResultTool } from './bounded-result.ts'
import type { Crew } from './crew.ts'
import { openCrew } from './crew.ts'
import { FrameHub } from './frame-hub.ts'
import type { OutputReader } from './output.ts'
import { createOutputReader } from './output.ts'
import type { SessionLeases } from './session-leases.ts'
import { SnapshotTaker } from './snapshot-taker.ts'
import { messageOf } from './thrown-message.ts'

export interface SlotInit {
  readonly session: string
  readonly leases: SessionLeases
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

export type SlotActor = Pick<Actor, 'submit' | 'state' | 'history'>

export interface SessionSlot {
  readonly session: string
  readonly agent: Agent
  /** Of an agent with an output schema. */
  readonly output: OutputReader | undefined
  /** The living actor; while a dead one's session is opened again, one whose inputs wait for its successor. */
  actor(): SlotActor
  /** Its log has another owner, or its store failed for good: ask the host for it again. */
  isClosed(): boolean
  /** Frames from `fromPos` on, or from now on; `onEnd` is told when the reading has ended. */
  read(fromPos: number | undefined, onEnd?: (reader: FrameReader) => void): FrameReader
  /** Nothing is outstanding, and no turn waits or runs. */
  isAtRest(): boolean
  /** Ends its work here, and tells the store whether somebody need look after it; that is done when this ends. */
  close(): Promise<void>
}

/** Openings of a session whose store fails, before it is given up until somebody asks again. */
const REOPEN_TRIES = 5
const REOPEN_MS = 200
/** Inputs that may wait for a session that is opened again. */
const WAITING_MAX = 1000

/** @throws BatonError when the log cannot be read or owned */
export async function openSlot(init: SlotInit): Promise<SessionSlot> {
  const slot = new Slot(init)
  await slot.open()
  return slot
}

class Slot implements SessionSlot, ActorListener {
  readonly session: string
  readonly agent: Agent
  readonly output: OutputReader | undefined
  readonly #init: SlotInit
  readonly #tools: readonly Tool[]
  readonly #hub: FrameHub
  readonly #snapshots: SnapshotTaker
  readonly #pause: (tries: number) => Promise<void>
  /** From `open` on. */
  #crew!: Crew
  #closed: BatonError | undefined
  #reopening: Reopening | undefined

  constructor(init: SlotInit) {
    const { session, agent, store, validator } = init
    this.session = session
    this.agent = agent
    this.output = createOutputReader(agent, validator)
    this.#init = init
    this.#tools = [...agent.tools, readResultTool(store.blobs, session)]
    this.#hub = new FrameHub(store, session)
    this.#snapshots = new SnapshotTaker(init)
    this.#pause = pauserOf(init.environment)
  }

  /** Called once, before anything else. */
  async open(): Promise<void> {
    this.#crew = await this.#assemble()
    try {
      this.#crew.begin()
    } catch (cause) {
      await this.#crew.actor.release('work')
      throw cause
    }
  }

  actor(): SlotActor {
    const { actor } = this.#crew
    if (!this.#reopening) return actor
    return { state: () => actor.state(), history: () => actor.history(), submit: (input) => this.#submitLater(input) }
  }

  isClosed(): boolean {
    return this.#closed !== undefined
  }

  read(fromPos: number | undefined, onEnd?: (reader: FrameReader) => void): FrameReader {
    return this.#hub.read(fromPos, onEnd)
  }

  isAtRest(): boolean {
    const { actor } = this.#crew
    return !this.#closed && !this.#reopening && !actor.isBusy() && restsIn(actor.state())
  }

  async close(): Promise<void> {
    const { actor } = this.#crew
    const rests = this.isAtRest()
    this.#closed ??= new BatonError({ code: 'session_closed', message: `session ${this.session} was closed` })
    actor.kill(this.#closed)
    this.#crew.close()
    this.#hub.end()
    // Who removes the session comes after its snapshots.
    await (rests ? this.#snapshots.finish(actor.state(), actor.history()) : this.#snapshots.settled())
    await actor.release(rests ? 'nothing' : 'work')
  }

  onRecord(record: SessionRecord): void {
    this.#hub.publishRecord(record)
  }

  onSnapshot(pos: number): void {
    this.#hub.startAfter(pos)
    this.#snapshots.startAfter(pos)
  }

  onCommit(state: State, history: History): void {
    this.#snapshots.onCommit(state, history)
  }

  onDeath(cause: BatonError): void {
    const again = { done: this.#reopen(cause).catch(() => {}), waiting: 0 } // all that can fail in it is a logger
    this.#reopening = again
    void again.done.then(() => {
      if (this.#reopening === again) this.#reopening = undefined
    })
  }

  /** While the session is opened again inputs wait: they are what users said, and what clients have done. */
  async #submitLater(input: Input): ReturnType<Actor['submit']> {
    const reopening = this.#reopening
    if (reopening && reopening.waiting >= WAITING_MAX) return FULL
    if (reopening) reopening.waiting += 1
    await reopening?.done
    return await this.#crew.actor.submit(input)
  }

  #assemble(): Promise<Crew> {
    const tools = this.#tools
    return openCrew({
      slot: this.#init,
      output: this.output,
      tools,
      spec: specFor(this.#init, tools),
      hub: this.#hub,
      pause: this.#pause,
      listener: this,
    })
  }

  /** The log is the truth: whatever failed, a new actor begins from it, as after a restart. */
  async #reopen(cause: BatonError): Promise<void> {
    const { log } = this.#init
    const { session } = this
    this.#crew.close()
    for (let tries = 1; tries <= REOPEN_TRIES && !this.isClosed() && cause.code !== 'store_conflict'; tries++) {
      log.warn('a session is opened again', { session, cause: cause.message })
      await this.#pause(tries)
      if (this.isClosed()) return
      try {
        this.#crew = await this.#assemble()
        if (!this.#closed) return this.#crew.begin()
        this.#crew.actor.kill(this.#closed)
        return await this.#crew.actor.release('work')
      } catch (failure) {
        log.warn('a session could not be opened', { session, cause: messageOf(failure) })
      }
    }
    this.#closed ??= cause
    this.#hub.end()
    await this.#crew.actor.release('work')
  }
}

interface Reopening {
  /** Never rejects. */
  readonly done: Promise<void>
  /** Inputs that wait for it. */
  waiting: number
}

/** Each wait is twice as long as the one before. */
function pauserOf({ timers }: Environment): (tries: number) => Promise<void> {
  return (tries) => new Promise((resolve) => void timers.start(REOPEN_MS * 2 ** (tries - 1), resolve))
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
