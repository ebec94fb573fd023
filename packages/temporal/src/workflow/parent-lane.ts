// The child's side of a delegated call: reports its log to the calling workflow, and takes the caller's items. It keeps the position
// up to which it has reported; the position in the caller's log is in the state.
import { ActivityFailure, CancellationScope, getExternalWorkflowHandle, log, sleep } from '@temporalio/workflow'
import type { InputOf, State } from '@baton/core/machine'
import { restsAsChild } from '@baton/core/machine'
import type { Answers, CarriedParent, ChildIdentity, Identity, News, Reported, Told } from '../contract.ts'
import { REPORTED } from '../contract.ts'
import { callLocally } from './activities.ts'
import type { Publishing } from './publishing.ts'

export interface ParentLaneOptions {
  readonly place: ChildIdentity['place']
  readonly publishing: Publishing
  readonly identity: () => Identity
  readonly state: () => State
  /** Submits what the caller told. */
  readonly submit: (input: InputOf<'parent-told'>, onAnswer: (answers: Answers) => void) => void
  /** Follows a change of the calling session's agent. */
  readonly adopt: (caller: Identity) => void
}

/** Milliseconds that a report may wait if it has only counts. */
const HOLD_MS = 1000
/** First wait after a failure, doubled up to the longest one. */
const RETRY_MS = 500
const RETRY_MS_MAX = 60_000

export class ParentLane {
  readonly #init: ParentLaneOptions
  /** Undefined while the caller cannot be reached: it says so when it is back. */
  #reportedTo: number | undefined
  #news: News | undefined
  /** Whether the caller is to hear how far its log was read here. */
  #says = false
  #isPumping = false
  #isHolding = false
  #isHeld = false
  /** Whether an activity or a signal is under way. */
  isActing = false

  constructor(init: ParentLaneOptions, carried: CarriedParent) {
    this.#init = init
    this.#reportedTo = carried.reportedTo
    this.#news = carried.news
  }

  /** Whether the session has come to rest, and its caller has heard so or is not running. */
  get isOver(): boolean {
    const isTold = this.#news === undefined && !this.#says
    return !this.isActing && (isTold || this.#reportedTo === undefined) && restsAsChild(this.#init.state())
  }

  /** Whether all that can be reported was. */
  get isSettled(): boolean {
    return !this.isActing && (this.#reportedTo === undefined || this.#news !== 'now')
  }

  hold(): void {
    this.#isHeld = true
  }

  perform(): void {
    this.#isHeld = false
    this.#notice()
  }

  /** Called after records were decided. */
  note(news: News | undefined): void {
    if (this.#news !== 'now') this.#news = news ?? this.#news
  }

  /** Sends the caller the position in its log: they may disagree about it. */
  sayRead(): void {
    this.#says = true
    this.#news = 'now'
  }

  take({ birth, input, read, caller }: Told): void {
    if (birth !== this.#init.place.birth) return
    if (caller) this.#init.adopt(caller)
    if (input) this.#init.submit(input, (answers) => this.#noteAnswer(answers))
    if (read === undefined) return
    this.#reportedTo = read
    this.sayRead()
    this.#notice()
  }

  carry(): CarriedParent {
    const reported = this.#reportedTo !== undefined && { reportedTo: this.#reportedTo }
    return { ...reported, ...(this.#news && { news: this.#news }) }
  }

  #noteAnswer(answers: Answers): void {
    if (!answers.some(({ type }) => type === 'refused')) return
    // Something before it was lost with a run that was terminated.
    this.#says = true
    this.#notice()
  }

  #notice(): void {
    if (!this.#isPumping && this.#isDue()) void CancellationScope.nonCancellable(() => this.#pump())
    else if (this.#news === 'later' && !this.#isHolding) this.#holdOff()
  }

  #isDue(): boolean {
    if (this.#isHeld || this.#reportedTo === undefined) return false
    return this.#says || this.#news === 'now'
  }

  #holdOff(): void {
    this.#isHolding = true
    void sleep(HOLD_MS).then(() => {
      this.#isHolding = false
      if (this.#news === 'later') this.#news = 'now'
      this.#notice()
    })
  }

  async #pump(): Promise<void> {
    this.#isPumping = true
    for (let failures = 0; this.#isDue();)
      try {
        this.isActing = true
        await this.#step(this.#reportedTo ?? -1)
        failures = 0
      } catch (cause) {
        if (cause instanceof ActivityFailure && this.#init.publishing.noteConflict(cause)) break
        this.isActing = false
        log.warn('a delegated call cannot be reported, and is tried again', { cause: String(cause) })
        await sleep(Math.min(RETRY_MS * 2 ** failures, RETRY_MS_MAX))
        failures += 1
      } finally {
        this.isActing = false
      }
    this.#isPumping = false
  }

  async #step(from: number): Promise<void> {
    const { place, identity, state, publishing } = this.#init
    const { callId, birth } = place
    const says = this.#says
    const { news } = { news: this.#news }
    this.#says = false
    this.#news = undefined
    const { pos, birth: own, parent } = state()
    const taken = publishing.takeAlong()
    const records = taken.length > 0 ? taken : publishing.waiting
    try {
      const { input } = await callLocally('baton.report', { identity: identity(), pos, records, birth: own, from })
      publishing.confirm(pos)
      if (!input && !says) return
      const reported: Reported = {
        callId,
        birth,
        ...(input && { input }),
        ...(says && { read: parent?.pos ?? -1 }),
      }
      const isDelivered = await this.#signal(reported)
      // It may have said meanwhile how far it is.
      if (!isDelivered) this.#reportedTo = undefined
      else if (input && this.#reportedTo === from) this.#reportedTo = input.to
    } catch (cause) {
      if (taken.length > 0) publishing.release()
      this.#says ||= says
      this.note(news)
      throw cause
    }
  }

  /** Returns whether it was delivered: if not, the caller's workflow is not running. */
  async #signal(reported: Reported): Promise<boolean> {
    try {
      await getExternalWorkflowHandle(this.#init.place.session).signal<[Reported]>(REPORTED, reported)
      return true
    } catch {
      return false
    }
  }
}
