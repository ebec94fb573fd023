// The link between a session and the child of one of its calls, both in this process: it reads each log and tells the other one
// what concerns it. It keeps nothing: each session's own log says how far it has read the other's.
import type { Agent, BatonError, Logger, StoredPart, Timers } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import type { Child, ChildEnd, ChildReport, Input, ParentItem, SessionRecord, State } from '@baton/core/machine'
import { findApproval, findChild, findClosed, isMedia, itemsFor, NOTHING_SPENT, report } from '@baton/core/machine'
import { describeThrown, hideSecrets } from '../describe-thrown.ts'
import type { SessionEngine } from '../engine.ts'
import { readWaitingAnswer } from '../session/details.ts'
import { RecordTail } from '../session/record-tail.ts'
import { insist, NO_ANSWER } from '../session/submit.ts'
import { nameMediaBlob } from '../work/media.ts'
import { shortenText } from '../work/tool-result.ts'

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

/** Mistakes of the program, which fail a child that has not begun. Other errors may pass. */
const IS_MISTAKE: ReadonlySet<string> = new Set([
  'invalid_agent',
  'invalid_tool',
  'unknown_model',
  'model_not_configured',
  'not_permitted',
])
/** Errors of a log that no further try can read. */
const IS_LOST: ReadonlySet<string> = new Set(['log_damaged', 'log_version_unknown'])

type Lost = Omit<Extract<Input, { readonly type: 'child-lost' }>, 'type' | 'callId'>

const NOTHING: ChildReport = {
  spent: NOTHING_SPENT,
  acted: false,
  waits: false,
  untrusted: [],
  did: { calls: [] },
  requests: [],
  closed: [],
  ended: [],
}

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
      const lost = findContradiction(child, entry, parent) ?? (await findOtherRecord(child, entry, parent))
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
      const input = this.#describeFailure(entry, code, this.#describe(cause))
      if (input) await this.#submit(input)
      // Another owner of the root continues the child.
      else if (code === 'session_held') this.#isLeft = true
      // The calling agent may get the tool back.
      else if (code === 'tool_gone') await this.#orLeft(moved)
      else throw cause
    }
    return undefined
  }

  /** The report of a failed opening; undefined to try again. */
  #describeFailure({ callId, pos, birth, phase }: Child, code: BatonError['code'], message: string): Input | undefined {
    const isNew = pos < 0
    const end = (ended: ChildEnd): Input => ({
      type: 'child-reported',
      callId,
      birth,
      from: pos,
      to: pos,
      report: { ...NOTHING, end: ended },
    })
    if (code === 'unknown_session')
      return isNew && phase === 'ending'
        ? end({ stop: 'never', text: '' })
        : { type: 'child-lost', callId, code: 'child_lost', message: 'its log is gone' }
    if (IS_LOST.has(code)) return { type: 'child-lost', callId, code, message }
    return isNew && IS_MISTAKE.has(code) ? end({ stop: 'failed', text: '', error: { code, message } }) : undefined
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
    const { parent, told: tail } = this.#init
    const from = child.state().parent?.pos ?? -1
    if (told <= from) return false
    const records = await tail.from(Math.max(from + 1, began))
    const last = records.at(-1)
    if (!last) return false
    const { pos: to } = last
    const mark = markOf(last)
    const items = itemsFor(records, callId)
    const complete = await Promise.all(items.map((item) => this.#complete(child, item)))
    const birth = parent.state().birth
    const [answer = NO_ANSWER] = await child.submit([{ type: 'parent-told', birth, from, to, mark, items: complete }])
    insist(answer)
    return true
  }

  /** Adds what the child has or needs itself: the text of an approved answer, and the bytes of a client's pictures. */
  async #complete(child: LinkedChild, item: ParentItem): Promise<ParentItem> {
    if (item.type === 'call-settled') {
      if (item.settlement.type === 'ok') await this.#copyMedia(child, item.settlement.content)
      return item
    }
    const answer = item.type === 'approval-decided' ? findApproval(child.state(), item.id)?.answer : undefined
    if (item.type !== 'approval-decided' || !answer || item.decision !== 'approve') return item
    return { ...item, answer: readWaitingAnswer(child.history(), answer) }
  }

  async #copyMedia(child: LinkedChild, content: readonly StoredPart[]): Promise<void> {
    const { session, world } = this.#init.parent
    for (const part of content) {
      if (!isMedia(part) || part.source.type !== 'blob') continue
      const name = nameMediaBlob(part.source.handle)
      const bytes = await world.blobs.get(session, name)
      if (bytes !== undefined) await child.world.blobs.put(child.session, name, bytes)
    }
  }

  /** Tells the parent what the child's log says. Returns whether there was anything; counts alone wait for more. */
  async #report(child: LinkedChild, tail: RecordTail): Promise<boolean> {
    const { callId } = this.#init
    const isDue = this.#hold?.isOver === true
    // Used up by this look, whether or not it reports.
    if (isDue) this.#endHold()
    const from = this.#entry?.pos ?? -1
    const records = await readAll(child, tail, from)
    const entry = this.#entry
    if (records.length === 0 || entry?.pos !== from) return false
    const { spec, agent } = child.world
    const said = report(records, {
      state: child.state(),
      history: child.history(),
      spec,
      hasOutput: agent.output !== undefined,
    })
    if (!said) return false
    if (!isDue && !isUrgent(said.report, entry, this.#init.parent.state())) {
      this.#hold ??= this.#startHold()
      return false
    }
    this.#endHold()
    const told = said.report.end ? await this.#shorten(said.report, said.report.end) : said.report
    const birth = child.state().birth
    const { to } = said
    const newest = records.find(({ pos }) => pos === to)
    const marked = newest && { mark: markOf(newest) }
    await this.#submit({ type: 'child-reported', callId, birth, from, to, ...marked, report: told })
    return true
  }

  /** A long answer is kept whole by the parent, whose model reads on by its handle. */
  async #shorten(told: ChildReport, end: ChildEnd): Promise<ChildReport> {
    const { parent, callId } = this.#init
    const text = await shortenText(end.text, `${callId}_0`, { context: parent.world, session: parent.session, callId })
    return text === end.text ? told : { ...told, end: { ...end, text } }
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

  /** A parent that is being reopened waits for this link to end, so the link does not wait for it then. */
  async #submit(input: Input): Promise<void> {
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

/** Why the two logs cannot belong together; undefined if they may. */
function findContradiction(child: LinkedChild, entry: Child, parent: SessionEngine): Lost | undefined {
  const { parent: place, birth, pos } = child.state()
  const { session } = parent
  const own = parent.state()
  const say = (message: string): Lost => ({ code: 'child_lost', message })
  if (place?.session !== session || place.birth !== own.birth || place.callId !== entry.callId)
    return say('the session of its name does not belong to this call')
  if (entry.birth !== '' && entry.birth !== birth) return say('its log was replaced by another one')
  if (pos < entry.pos) return say(`its log ends at record ${pos}, and record ${entry.pos} was read before`)
  if (place.pos > own.pos)
    return say(`it was told of record ${place.pos}, and the log of session ${session} ends at ${own.pos}`)
  return undefined
}

/** Distinguishes a record from another one that a restored log has at the same position. */
function markOf({ epoch, nowMs, facts }: SessionRecord): string {
  return `${epoch}.${nowMs}.${facts.length}`
}

/**
 * Why the two logs cannot belong together although their lengths may: one was restored from a backup, and has other records
 * since. Undefined if they may.
 */
async function findOtherRecord(child: LinkedChild, entry: Child, parent: SessionEngine): Promise<Lost | undefined> {
  const { pos = -1, mark = '' } = child.state().parent ?? {}
  const isOther = async ({ stream }: SessionEngine, read: { readonly pos: number; readonly mark: string }) => {
    const record = read.mark === '' ? undefined : await stream.recordAt(read.pos)
    return record !== undefined && markOf(record) !== read.mark
  }
  const say = (message: string): Lost => ({ code: 'child_lost', message })
  if (await isOther(child, entry)) return say(`its log has another record ${entry.pos} than the one that was read`)
  if (await isOther(parent, { pos, mark }))
    return say(`it was told of another record ${pos} than the log of session ${parent.session} has`)
  return undefined
}

/** Records after a position, up to the newest folded one; none if the log cannot be read yet. */
async function readAll(child: LinkedChild, tail: RecordTail, from: number): Promise<readonly SessionRecord[]> {
  const records: SessionRecord[] = []
  // Record 0 of a child names its parent.
  for (let next = Math.max(from + 1, 1); next <= child.state().pos;) {
    const read = await tail.from(next)
    if (read.length === 0) return []
    records.push(...read)
    next += read.length
  }
  return records
}

/** Whether a report says more than counts. */
function isUrgent(told: ChildReport, entry: Child, parent: State): boolean {
  const { requests, closed, ended, end, acted, waits, untrusted } = told
  return (
    entry.phase === 'opening' ||
    end !== undefined ||
    requests.length + ended.length + findClosed(parent, entry.callId, closed).length > 0 ||
    acted !== entry.acted ||
    waits !== entry.waits ||
    untrusted.length > entry.untrusted.length
  )
}
