// The link between a session and the child of one of its calls, both in this process: it reads each log and tells the other one
// what concerns it. It keeps nothing: each session's own log says how far it has read the other's.
import type { Agent, Logger, Timers } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import type { Child, ChildReport, Input, State } from '@baton/core/machine'
import { findChild, findClosed } from '@baton/core/machine'
import { describeThrown, hideSecrets } from '../describe-thrown.ts'
import type { SessionEngine } from '../engine.ts'
import { RecordTail } from '../session/record-tail.ts'
import { insist, NO_ANSWER } from '../session/submit.ts'
import { describeOpeningFailure, findMismatch, readReported, readTold, shortenReported } from './lane-reading.ts'

/** The open session of a delegated call. */
export interface LinkedChild extends SessionEngine {
  isClosed(): boolean
  /** @throws BatonError `invalid_agent`, `unknown_model` */
  adopt(agent: Agent): Promise<void>
  close(): Promise<void>
}

export interface ChildLinkOptions {
  readonly callId: string
  readonly parent: SessionEngine
  /** Records of the calling session. */
  readonly told: RecordTail
  /**
   * Opens the child's session, or makes it if its parent has read nothing of it and it need not end.
   * @throws BatonError `unknown_session` if there is none and it may not be made, `tool_gone` while the calling agent lacks
   * the tool, `session_held` if another owner has the root, or what an opening throws
   */
  readonly open: (child: Child) => Promise<LinkedChild>
  readonly timers: Timers
  readonly log: Logger
  /** Called whenever the child is open. */
  readonly onOpen: () => void
}

/** Milliseconds that a report may wait if it has only counts. */
const HOLD_MS = 1000
/** First wait after a failure, doubled up to the longest one. */
const RETRY_MS = 200
const RETRY_MS_MAX = 30_000

/** A report of counts alone that waits for more. */
interface Hold {
  isOver: boolean
  readonly over: Promise<void>
  readonly stop: () => void
}

export class ChildLink {
  readonly #init: ChildLinkOptions
  #isLeft = false
  /** End the waits that are under way. */
  readonly #wakes = new Set<() => void>()
  #child: LinkedChild | undefined
  #hold: Hold | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(init: ChildLinkOptions) {
    this.#init = init
  }

  /** The child, while it is open. */
  get child(): LinkedChild | undefined {
    return this.#child
  }

  /** Called once. */
  start(): void {
    this.#running = this.#run().catch((cause: unknown) => this.#warn('a delegated call cannot be followed', cause))
  }

  /** Closes the child; the next opening continues its work. Never rejects. */
  async leave(): Promise<void> {
    this.#isLeft = true
    this.#hold?.stop()
    for (const wake of this.#wakes) wake()
    await this.#child?.close()
    await this.#running
  }

  async #run(): Promise<void> {
    for (let tries = 0; !this.#isLeft && this.#entry; tries += 1) {
      const before = this.#entry.pos
      try {
        await this.#follow(this.#entry)
      } catch (cause) {
        this.#warn('the session of a delegated call is being opened again', cause)
        await this.#pause(waitMs(tries))
      }
      if (this.#entry?.pos !== before) tries = 0
    }
  }

  /** Opens the child and follows it until it is closed here, or nothing is owed to it. */
  async #follow(entry: Child): Promise<void> {
    const child = await this.#open(entry)
    if (!child) return
    this.#child = child
    this.#init.onOpen()
    const tail = new RecordTail(child.stream)
    try {
      const { parent } = this.#init
      const lost = await findMismatch(child, entry, parent)
      if (lost) await this.#submit({ type: 'child-lost', callId: entry.callId, ...lost })
      else await this.#pump(child, tail)
    } finally {
      tail.stop()
      await child.close()
      this.#child = undefined
    }
  }

  get #entry(): Child | undefined {
    return findChild(this.#init.parent.state(), this.#init.callId)
  }

  /** Returns undefined if there is no child to follow. @throws what the opening throws, to try again */
  async #open(entry: Child): Promise<LinkedChild | undefined> {
    const { open, parent } = this.#init
    const moved = parent.stream.changed()
    try {
      const child = await open(entry)
      if (!this.#isLeft) return child
      await child.close()
    } catch (cause) {
      const code = isBatonError(cause) ? cause.code : 'internal'
      const input = describeOpeningFailure(entry, code, this.#describe(cause))
      if (input) await this.#submit(input)
      // Another owner of the root continues the child.
      else if (code === 'session_held') this.#isLeft = true
      // The calling agent may get the tool back.
      else if (code === 'tool_gone') await this.#orLeft(moved)
      else throw cause
    }
    return undefined
  }

  /** Passes both logs on until the child is closed here, or nothing is owed to it. */
  async #pump(child: LinkedChild, tail: RecordTail): Promise<void> {
    const { parent } = this.#init
    for (let failures = 0; !this.#isLeft && !child.isClosed();) {
      // Created ahead of the look: they resolve with whatever follows.
      const moved = [child.stream.changed(), parent.stream.changed()]
      const entry = this.#entry
      if (!entry) return
      try {
        const isBusy = (await this.#tell(child, entry)) || (await this.#report(child, tail))
        failures = 0
        if (!isBusy) await this.#orLeft(Promise.race(this.#hold ? [...moved, this.#hold.over] : moved))
      } catch (cause) {
        // One of the two has died: it is opened again, or this link ends with it.
        this.#warn('a delegated call is being followed again', cause)
        await this.#pause(waitMs((failures += 1)))
      }
    }
  }

  /** Tells the child what its parent's log says. Returns whether there was anything. */
  async #tell(child: LinkedChild, { callId, told, began }: Child): Promise<boolean> {
    const from = child.state().parent?.pos ?? -1
    if (told <= from) return false
    const { parent, told: records } = this.#init
    const open = (): Promise<SessionEngine> => Promise.resolve(child)
    const input = await readTold({ engine: parent, records }, { callId, began, from, open })
    if (!input) return false
    const [answer = NO_ANSWER] = await child.submit([input])
    insist(answer)
    return true
  }

  /** Tells the parent what the child's log says. Returns whether there was anything; counts alone wait for more. */
  async #report(child: LinkedChild, records: RecordTail): Promise<boolean> {
    const { callId, parent } = this.#init
    const isDue = this.#hold?.isOver === true
    // Used up by this look, whether or not it reports.
    if (isDue) this.#endHold()
    const from = this.#entry?.pos ?? -1
    const said = await readReported({ engine: child, records }, { callId, from })
    const entry = this.#entry
    if (!said || entry?.pos !== from) return false
    if (!isDue && !isUrgent(said.report, entry, parent.state())) {
      this.#hold ??= this.#startHold()
      return false
    }
    this.#endHold()
    await this.#submit(await shortenReported(said, parent))
    return true
  }

  #startHold(): Hold {
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const stop = this.#init.timers.start(HOLD_MS, () => {
      hold.isOver = true
      resolve()
    })
    const hold: Hold = { isOver: false, over, stop }
    return hold
  }

  #endHold(): void {
    this.#hold?.stop()
    this.#hold = undefined
  }

  /**
   * A parent that is being reopened waits for this link to end, so the link does not wait for it then. What a link that has
   * been left found is no longer true: another owner may have continued the child.
   */
  async #submit(input: Input): Promise<void> {
    if (this.#isLeft) return
    const answers = await this.#orLeft(this.#init.parent.submit([input]))
    if (answers) insist(answers[0] ?? NO_ANSWER)
  }

  /** Resolves to undefined if the link ends first. */
  async #orLeft<Value>(work: Promise<Value>): Promise<Value | undefined> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const wake = (): void => resolve(undefined)
    this.#wakes.add(wake)
    if (this.#isLeft) wake()
    try {
      return await Promise.race([work, promise])
    } finally {
      this.#wakes.delete(wake)
    }
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = this.#init.timers.start(ms, resolve)
    await this.#orLeft(promise)
    stop()
  }

  #warn(message: string, cause: unknown): void {
    const { log, parent, callId } = this.#init
    log.warn(message, { session: parent.session, callId, cause: this.#describe(cause) })
  }

  /** Describes an error without the program's keys, for a log and a model. */
  #describe(cause: unknown): string {
    return hideSecrets(describeThrown(cause), this.#init.parent.world.secrets)
  }
}

function waitMs(tries: number): number {
  return Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** Math.min(tries, 16))
}

/** Whether a report says more than counts, and that the child has begun. */
function isUrgent(told: ChildReport, entry: Child, parent: State): boolean {
  const { requests, closed, ended, end, acted, waits, untrusted } = told
  return (
    end !== undefined ||
    requests.length + ended.length + findClosed(parent, entry.callId, closed).length > 0 ||
    acted !== entry.acted ||
    waits !== entry.waits ||
    untrusted.length > entry.untrusted.length
  )
}
