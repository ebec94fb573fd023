// The children of a session as workflows: started when the machine owes them, told what the log says to them, and compared with
// it when they may have lost something. It keeps how far it has told each of them; how far each was read is in the state.
import {
  ActivityFailure,
  CancellationScope,
  getExternalWorkflowHandle,
  log,
  ParentClosePolicy,
  sleep,
  startChild,
} from '@temporalio/workflow'
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common'
import type { Child, InputOf, State } from '@baton/core/machine'
import { findChild } from '@baton/core/machine'
import type {
  Answers,
  CarriedChild,
  Identity,
  LinkStart,
  Reported,
  SessionStart,
  Telling,
  TellJob,
  Told,
  Tuning,
} from '../contract.ts'
import { SESSION_WORKFLOW, TOLD } from '../contract.ts'
import { callLocally } from './activities.ts'
import type { Publishing } from './publishing.ts'

export interface LanesOptions {
  readonly publishing: Publishing
  readonly identity: () => Identity
  readonly state: () => State
  readonly tuning: Tuning | undefined
  /** Submits what a child said. `onAnswer` is called once it is decided. */
  readonly submit: (input: ChildInput, onAnswer: (answers: Answers) => void) => void
}

type ChildInput = InputOf<'child-reported'> | InputOf<'child-lost'>

/** Milliseconds between questions to each child: the service does not tell a later run that its workflow was terminated. */
const SYNC_MS = 3_600_000
/** Starts and refusals in a row without any record of the child being read, before it counts as lost. */
const TROUBLES_MAX = 4
/** First wait after a failure, doubled up to the longest one. */
const RETRY_MS = 500
const RETRY_MS_MAX = 60_000

export class ChildLanes {
  readonly #init: LanesOptions
  readonly #lanes = new Map<string, ChildLane>()
  readonly #carried: Map<string, CarriedChild>
  #isSyncing = false
  #isHeld = false

  constructor(init: LanesOptions, carried: readonly CarriedChild[]) {
    this.#init = init
    this.#carried = new Map(carried.map((child) => [child.callId, child]))
  }

  /** Whether nothing that was begun waits for the service. */
  get isQuiet(): boolean {
    return [...this.#lanes.values()].every(({ isActing }) => !isActing)
  }

  /** Begins nothing more until `perform`, because the run may end. */
  hold(): void {
    this.#isHeld = true
  }

  perform(): void {
    this.#isHeld = false
    const { children } = this.#init.state()
    if (children.length === 0 && this.#lanes.size === 0) return
    for (const [callId, lane] of this.#lanes)
      if (!children.some((child) => child.callId === callId)) {
        this.#lanes.delete(callId)
        lane.leave()
      }
    for (const { callId } of children) {
      const carried = this.#carried.get(callId)
      this.#carried.delete(callId)
      const lane = this.#lanes.get(callId) ?? new ChildLane(this.#init, { callId, carried, isHeld: () => this.#isHeld })
      this.#lanes.set(callId, lane)
      lane.notice()
    }
    this.#syncLater()
  }

  take(reported: Reported): void {
    const lane = this.#lanes.get(reported.callId)
    if (lane) lane.take(reported)
    // The entry may be new to this run, whose lanes are made after its first decision.
    else if (reported.input) this.#init.submit(reported.input, () => {})
  }

  carry(): readonly CarriedChild[] {
    const known = [...this.#carried.values(), ...[...this.#lanes.values()].flatMap((lane) => lane.carry() ?? [])]
    return known.filter(({ callId }) => findChild(this.#init.state(), callId))
  }

  /** One timer for all: it stops when there is no child left. */
  #syncLater(): void {
    if (this.#isSyncing || this.#lanes.size === 0) return
    this.#isSyncing = true
    void sleep(SYNC_MS).then(() => {
      this.#isSyncing = false
      for (const lane of this.#lanes.values()) lane.sync()
      this.#syncLater()
    })
  }
}

interface LaneOptions {
  readonly callId: string
  readonly carried: CarriedChild | undefined
  readonly isHeld: () => boolean
}

class ChildLane {
  readonly #init: LanesOptions
  readonly #lane: LaneOptions
  /** The workflow's id; undefined until it is known. */
  #workflow: string | undefined
  /** Whether the workflow is believed to be running. */
  #isOpen = false
  #toldTo: number | undefined
  /** The agent that the child knows its caller by. */
  #agent: string
  /** Whether the child is to say how far it has read. */
  #asks = false
  /** Whether the two logs are to be compared. */
  #compares = false
  /** Inputs being decided that end it. */
  #ends = 0
  /** Whether its end has arrived: it completes by itself. */
  #hasEnded = false
  #isPumping = false
  #isLeft = false
  #troubles = 0
  #readTo = -1
  /** Whether an activity, a start or a signal is under way. */
  isActing = false

  constructor(init: LanesOptions, lane: LaneOptions) {
    this.#init = init
    this.#lane = lane
    const { carried } = lane
    this.#workflow = carried?.workflow
    this.#isOpen = carried !== undefined
    this.#toldTo = carried?.toldTo
    // The service tells the end of a child only to the run that has started it.
    this.#asks = carried !== undefined
    this.#agent = carried?.agent ?? init.identity().agent
  }

  notice(): void {
    // Also called by a signal's handler, which the cancellation of the workflow would cancel.
    if (!this.#isPumping && this.#isDue()) void CancellationScope.nonCancellable(() => this.#pump())
  }

  sync(): void {
    this.#asks = true
    this.notice()
  }

  take({ input, read }: Reported): void {
    if (input) {
      const isEnd = input.report.end !== undefined
      if (isEnd) this.#hasEnded = true
      if (isEnd) this.#ends += 1
      this.#init.submit(input, (answers) => {
        if (isEnd) this.#ends -= 1
        this.#noteAnswer(input, answers)
      })
    }
    if (read === undefined) return
    this.#isOpen = true
    this.#toldTo = read
    this.#compares = true
    this.notice()
  }

  /** Its entry is closed. Cancels a child that has not reported its end, because its caller no longer reads its log. */
  leave(): void {
    this.#isLeft = true
    const workflow = this.#workflow
    if (workflow === undefined || !this.#isOpen || this.#hasEnded) return
    getExternalWorkflowHandle(workflow)
      .cancel()
      .catch(() => {}) // it has ended
  }

  carry(): CarriedChild | undefined {
    const workflow = this.#workflow
    if (workflow === undefined || !this.#isOpen) return undefined
    const told = this.#toldTo !== undefined && { toldTo: this.#toldTo }
    return { callId: this.#lane.callId, workflow, ...told, agent: this.#agent }
  }

  get #entry(): Child | undefined {
    return this.#isLeft ? undefined : findChild(this.#init.state(), this.#lane.callId)
  }

  #isDue(): boolean {
    const entry = this.#entry
    if (!entry || this.#ends > 0 || this.#lane.isHeld()) return false
    if (!this.#isOpen || this.#asks || this.#compares) return true
    return this.#toldTo !== undefined && (entry.told > this.#toldTo || this.#agent !== this.#init.identity().agent)
  }

  async #pump(): Promise<void> {
    this.#isPumping = true
    for (let failures = 0; this.#isDue();)
      try {
        this.isActing = true
        await this.#step()
        failures = 0
      } catch (cause) {
        if (cause instanceof ActivityFailure && this.#init.publishing.noteConflict(cause)) break
        this.isActing = false
        log.warn('the session of a delegated call cannot be reached, and is tried again', {
          callId: this.#lane.callId,
          cause: String(cause),
        })
        await sleep(Math.min(RETRY_MS * 2 ** failures, RETRY_MS_MAX))
        failures += 1
      } finally {
        this.isActing = false
      }
    this.#isPumping = false
  }

  async #step(): Promise<void> {
    const entry = this.#entry
    if (!entry) return
    if (entry.pos > this.#readTo) this.#troubles = 0
    this.#readTo = entry.pos
    if (!this.#isOpen) await this.#open(entry)
    else if (this.#asks) await this.#ask(entry)
    else await this.#tell(entry, this.#toldTo ?? -1)
  }

  /** Starts its workflow, or finds it running. */
  async #open(entry: Child): Promise<void> {
    const { child, told, toldTo = -1 } = await this.#read({ opens: true, compares: true, from: -1 })
    if (!child) return
    this.#workflow = child.session
    const link: LinkStart = { read: entry.pos, toldTo, ...(told && { told }) }
    const { tuning } = this.#init
    const start: SessionStart = { identity: child, ...(tuning && { tuning }), link }
    this.#agent = child.child?.caller.agent ?? this.#agent
    try {
      const handle = await startChild(SESSION_WORKFLOW, {
        workflowId: child.session,
        args: [start],
        // It outlives this run: after a termination, the session continues from its log, and its child with it.
        parentClosePolicy: ParentClosePolicy.ABANDON,
        memo: { agent: child.agent, principal: child.principal },
      })
      this.#isOpen = true
      this.#toldTo = told?.to ?? toldTo
      if (this.#isTooMuch('its workflow has ended again and again before it reported anything')) return
      const ended = (): void => this.#noteEnd()
      handle.result().then(ended, ended)
    } catch (cause) {
      if (!(cause instanceof WorkflowExecutionAlreadyStartedError)) throw cause
      this.#isOpen = true
      this.#toldTo = undefined
      this.#asks = true
    }
  }

  /** Asks how far it has read this log, and says how far its own was read. */
  async #ask({ pos }: Child): Promise<void> {
    this.#asks = false
    await this.#signal({ birth: this.#init.state().birth, read: pos, caller: this.#init.identity() })
  }

  async #tell(entry: Child, from: number): Promise<void> {
    const compares = this.#compares
    this.#compares = false
    const caller = this.#init.identity()
    const changes = caller.agent !== this.#agent && { caller }
    const telling =
      compares || entry.told > from ? await this.#read({ opens: false, compares, from }) : ({} satisfies Telling)
    if (telling.input || this.#toldTo !== from) return
    const { told } = telling
    if (!told && !changes) return
    const birth = this.#init.state().birth
    if (!(await this.#signal({ birth, ...(told && { input: told }), ...changes }))) return
    this.#agent = caller.agent
    // It may have said meanwhile that it is not that far.
    if (told && this.#toldTo === from) this.#toldTo = told.to
  }

  /** Publishes the waiting records and reads the log, so that a signal carries nothing that could be lost. */
  async #read(how: Pick<TellJob, 'opens' | 'compares' | 'from'>): Promise<Telling> {
    const { publishing, identity, state } = this.#init
    const { pos, birth } = state()
    const taken = publishing.takeAlong()
    const records = taken.length > 0 ? taken : publishing.waiting
    try {
      const telling = await callLocally('baton.tell', {
        identity: identity(),
        pos,
        records,
        birth,
        callId: this.#lane.callId,
        ...how,
      })
      publishing.confirm(pos)
      if (telling.input) this.#settle(telling.input)
      return telling
    } catch (cause) {
      if (taken.length > 0) publishing.release()
      throw cause
    }
  }

  /** Returns whether it was delivered: if not, its workflow has ended. */
  async #signal(told: Told): Promise<boolean> {
    try {
      await getExternalWorkflowHandle(this.#workflow ?? '').signal<[Told]>(TOLD, told)
      return true
    } catch {
      this.#noteEnd()
      return false
    }
  }

  #noteEnd(): void {
    this.#isOpen = false
    this.#toldTo = undefined
    this.notice()
  }

  #noteAnswer({ from }: InputOf<'child-reported'>, answers: Answers): void {
    const isRefused = answers.some(({ type }) => type === 'refused')
    if (!isRefused) return this.notice()
    this.#hasEnded = false
    // Else something before it was lost with a run that was terminated.
    const isNext = from === this.#entry?.pos
    if (isNext && this.#isTooMuch('what it reports is refused again and again')) return
    this.sync()
  }

  /** Counts a trouble. A child with too many of them is lost. */
  #isTooMuch(message: string): boolean {
    this.#troubles += 1
    if (this.#troubles <= TROUBLES_MAX) return false
    this.#settle({ type: 'child-lost', callId: this.#lane.callId, code: 'child_lost', message })
    return true
  }

  #settle(input: ChildInput): void {
    this.#ends += 1
    this.#init.submit(input, () => {
      this.#ends -= 1
      this.notice()
    })
  }
}
