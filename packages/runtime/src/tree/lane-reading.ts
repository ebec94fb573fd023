// Reads the two logs that a link joins, and makes inputs of them. Links within one process and between two workflows share it;
// it knows neither.
import type { BatonError, StoredPart } from '@baton/core/internal'
import type { Child, ChildEnd, ChildReport, InputOf, ParentItem, SessionRecord } from '@baton/core/machine'
import { findApproval, isMedia, itemsFor, lacksAnswer, NOTHING_SPENT, report } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { readWaitingAnswer } from '../session/details.ts'
import { nameMediaBlob } from '../work/media.ts'
import { shortenText } from '../work/tool-result.ts'

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

/** Why a child is lost. */
export type Lost = Omit<InputOf<'child-lost'>, 'type' | 'callId'>

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

/** The report of a failed opening; undefined to try again. */
export function describeOpeningFailure(
  { callId, pos, birth, phase }: Child,
  code: BatonError['code'],
  message: string,
): InputOf<'child-reported'> | InputOf<'child-lost'> | undefined {
  const isNew = pos < 0
  const end = (ended: ChildEnd): InputOf<'child-reported'> => ({
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

/** A session whose log is read. */
export interface ReadSession {
  readonly engine: SessionEngine
  readonly records: RecordReader
}

export interface RecordReader {
  /** Returns the records from a position up to the newest published one. */
  from(pos: number): Promise<readonly SessionRecord[]>
}

/** Reads the log each time. A link that looks at every record has a `RecordTail`. */
export function readEachTime(engine: SessionEngine): ReadSession {
  const from: RecordReader['from'] = async (pos) => {
    const records: SessionRecord[] = []
    for await (const record of engine.stream.records(pos)) records.push(record)
    return records
  }
  return { engine, records: { from } }
}

export interface ToldChild {
  readonly callId: string
  /** Position of the record that began it. */
  readonly began: number
  /** How far it has read its caller's log. */
  readonly from: number
  /** Resolves to its session; called if an item needs it. */
  readonly open: () => Promise<SessionEngine>
}

/** Reads what the caller's log says to the child; undefined if the log has no further record. */
export async function readTold(
  { engine, records: log }: ReadSession,
  { callId, began, from, open }: ToldChild,
): Promise<InputOf<'parent-told'> | undefined> {
  const records = await log.from(Math.max(from + 1, began))
  const last = records.at(-1)
  if (!last) return undefined
  const items = await Promise.all(itemsFor(records, callId).map((item) => completeItem(engine, open, item)))
  return { type: 'parent-told', birth: engine.state().birth, from, to: last.pos, mark: markOf(last), items }
}

/** Adds what the child has or needs itself: the text of an approved answer, and the bytes of a client's pictures. */
async function completeItem(
  parent: SessionEngine,
  open: () => Promise<SessionEngine>,
  item: ParentItem,
): Promise<ParentItem> {
  if (item.type === 'call-settled') {
    const { settlement } = item
    if (settlement.type === 'ok' && settlement.content.some(isStored)) await copyMedia(parent, await open(), settlement)
    return item
  }
  if (item.type !== 'approval-decided' || item.decision !== 'approve') return item
  const child = await open()
  const answer = findApproval(child.state(), item.id)?.answer
  return answer ? { ...item, answer: readWaitingAnswer(child.history(), answer) } : item
}

async function copyMedia(
  parent: SessionEngine,
  child: SessionEngine,
  { content }: { readonly content: readonly StoredPart[] },
): Promise<void> {
  for (const part of content) {
    if (!isMedia(part) || part.source.type !== 'blob') continue
    const name = nameMediaBlob(part.source.handle)
    const bytes = await parent.world.blobs.get(parent.session, name)
    if (bytes !== undefined) await child.world.blobs.put(child.session, name, bytes)
  }
}

function isStored(part: StoredPart): boolean {
  return isMedia(part) && part.source.type === 'blob'
}

export interface ReportingChild {
  readonly callId: string
  /** How far the caller has read its log. */
  readonly from: number
}

/** Reads what the child's log says to its caller; undefined if there is nothing. */
export async function readReported(
  { engine: child, records: log }: ReadSession,
  { callId, from }: ReportingChild,
): Promise<InputOf<'child-reported'> | undefined> {
  let records = await readAll(child, log, from)
  let answered: readonly SessionRecord[] | undefined
  // The answer was passed by a report of what its turn had left at work.
  if (lacksAnswer(records, child.state())) {
    answered = await readAll(child, log, 0)
    records = answered.filter(({ pos }) => pos > from)
  }
  if (records.length === 0) return undefined
  const { spec, agent } = child.world
  const said = report(records, {
    state: child.state(),
    history: child.history(),
    spec,
    hasOutput: agent.output !== undefined,
    ...(answered && { answered }),
  })
  if (!said) return undefined
  const { to } = said
  const newest = records.find(({ pos }) => pos === to)
  const { birth } = child.state()
  return {
    type: 'child-reported',
    callId,
    birth,
    from,
    to,
    ...(newest && { mark: markOf(newest) }),
    report: said.report,
  }
}

/** Keeps a long answer whole at the caller, whose model reads on by its handle. */
export async function shortenReported(
  input: InputOf<'child-reported'>,
  caller: Pick<SessionEngine, 'session' | 'world'>,
): Promise<InputOf<'child-reported'>> {
  const { callId, report: told } = input
  const { end } = told
  if (!end) return input
  const { session, world: context } = caller
  const text = await shortenText(end.text, `${callId}_0`, { context, session, callId })
  return text === end.text ? input : { ...input, report: { ...told, end: { ...end, text } } }
}

/** Why the two logs cannot belong together; undefined if they may. */
export async function findMismatch(
  child: SessionEngine,
  entry: Child,
  parent: SessionEngine,
): Promise<Lost | undefined> {
  return findContradiction(child, entry, parent) ?? (await findOtherRecord(child, entry, parent))
}

function findContradiction(child: SessionEngine, entry: Child, parent: SessionEngine): Lost | undefined {
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
async function findOtherRecord(child: SessionEngine, entry: Child, parent: SessionEngine): Promise<Lost | undefined> {
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
async function readAll(child: SessionEngine, log: RecordReader, from: number): Promise<readonly SessionRecord[]> {
  const records: SessionRecord[] = []
  // Record 0 of a child names its parent.
  for (let next = Math.max(from + 1, 1); next <= child.state().pos;) {
    const read = await log.from(next)
    if (read.length === 0) return []
    records.push(...read)
    next += read.length
  }
  return records
}
