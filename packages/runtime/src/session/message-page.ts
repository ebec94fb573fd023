// Reads a page of messages from the records that the index names, and the end of the conversation with the text of the
// running step.
import type {
  ChatMessage,
  EventBody,
  EventCursor,
  MessageId,
  MessagesPage,
  MessagesQuery,
  SessionProjection,
} from '@baton/core/internal'
import { BatonError, Conversation, nameAnswer } from '@baton/core/internal'
import type { Fact, SessionRecord } from '@baton/core/machine'
import type { FoundSections } from './message-index.ts'
import type { IndexedInput, Section } from './message-sections.ts'
import type { ReadEngine } from './details.ts'
import { openEvents } from './reader.ts'

/** Messages per page if no limit is given. */
const PAGE = 50
/** A page is read again if its messages were taken back meanwhile; the last reading counts. */
const READINGS = 3

/** Messages with partial text, up to the current end of the log. @throws BatonError `invalid_option`, `store_failed` */
export async function readMessages(engine: ReadEngine, { before, limit = PAGE }: MessagesQuery): Promise<MessagesPage> {
  let wanted = limit
  for (let readings = 1; ; readings++) {
    const found = await engine.stream.index.select(wanted, before)
    const read = found && (await readSections(engine, found))
    if (read?.isTakenBack === true && readings < READINGS) continue
    const { messages = [], next = { pos: 0 } } = read ?? {}
    const end = before === undefined ? messages.length : messages.findIndex(({ id }) => id === before)
    if (!found || end < 0)
      throw new BatonError({
        code: 'invalid_option',
        message: `before is not the id of a message: "${String(before).slice(0, 100)}"`,
        hint: 'Use the id of a message that is in the conversation now, or leave `before` out and begin at its end.',
      })
    // A rewind may have left an answer without visible steps; the index still counts it.
    if (end < limit && found.hasOlder) {
      wanted *= 2
      continue
    }
    const from = Math.max(0, end - limit)
    return { messages: messages.slice(from, end), more: from > 0 || found.hasOlder, next }
  }
}

interface ReadSections {
  readonly messages: readonly ChatMessage[]
  /** Cursor behind them, or of the newest event. */
  readonly next: EventCursor
  /** A rewind that the index does not know yet took back some of them. */
  readonly isTakenBack: boolean
}

/** Sections whose records follow each other in the log. */
interface Run {
  readonly from: number
  readonly sections: readonly Section[]
}

async function readSections(engine: ReadEngine, found: FoundSections): Promise<ReadSections> {
  const runs = joinSections(found)
  const last = found.reachesEnd ? runs.pop() : undefined
  const older: ChatMessage[] = []
  for (const run of runs) older.push(...(await readRun(engine, run)))
  if (!last) return { messages: older, next: engine.stream.projectNow().cursor, isTakenBack: false }
  const end = await readEnd(engine, last, found)
  return { ...end, messages: [...older, ...end.messages] }
}

function joinSections({ sections, reachesEnd, lastStart = 0 }: FoundSections): Run[] {
  const runs: { from: number; sections: Section[] }[] = []
  for (const section of sections) {
    const run = runs.at(-1)
    if (run?.sections.at(-1)?.end === section.pos) run.sections.push(section)
    else runs.push({ from: section.pos, sections: [section] })
  }
  // There is no turn, or the newest ones of the log were taken back.
  const { end = lastStart } = sections.at(-1) ?? { end: -1 }
  if (reachesEnd && end !== lastStart) runs.push({ from: lastStart, sections: [] })
  return runs
}

async function readRun(engine: ReadEngine, { from, sections }: Run): Promise<readonly ChatMessage[]> {
  const { stream } = engine
  const to = sections.at(-1)?.end ?? from
  const inputs = sections.flatMap((section) => section.inputs)
  const conversation = new Conversation()
  for (const event of await readBefore(engine, inputs, from)) conversation.take(event)
  const projection = stream.projectFrom({ pos: from, since: from })
  for await (const record of stream.records(from)) {
    takeAll(conversation, projection, record)
    if (record.pos >= to) break
  }
  for (const pos of listLater(sections, to)) {
    const record = await stream.recordAt(pos)
    if (record) takeAll(conversation, projection, only(record, changesMessages))
  }
  const ids = new Set(sections.flatMap(listMessages))
  const list = (): readonly ChatMessage[] => conversation.messages().filter(({ id }) => ids.has(id))
  const tasks = new Set(list().flatMap(listTasks))
  // Calls in the background may end in later turns.
  if (tasks.size > 0)
    for await (const record of stream.records(to + 1)) {
      const own = only(record, (fact) => 'callId' in fact && tasks.has(fact.callId))
      if (own.facts.length > 0) takeAll(conversation, projection, own)
      for (const fact of own.facts) if (fact.type === 'task-settled') tasks.delete(fact.callId)
      if (tasks.size === 0) break
    }
  return list()
}

/** Ids of the calls of a message that run in the background. */
function listTasks(message: ChatMessage): readonly string[] {
  if (message.role !== 'assistant') return []
  return message.steps.flatMap(({ calls }) => calls.flatMap(({ task, callId }) => (task === 'running' ? [callId] : [])))
}

function takeAll(conversation: Conversation, projection: SessionProjection, record: SessionRecord): void {
  for (const event of projection.takeRecord(record).read()) conversation.take(event)
}

/** Reads the content of messages that were accepted before the run, and whether a provider refused it. */
async function readBefore(
  { stream }: ReadEngine,
  inputs: readonly IndexedInput[],
  from: number,
): Promise<readonly EventBody[]> {
  const ids = new Map<number, MessageId[]>()
  for (const { id, pos, left = [] } of inputs)
    for (const at of [pos, ...left]) if (at < from) ids.set(at, [...(ids.get(at) ?? []), id])
  const events: EventBody[] = []
  for (const pos of [...ids.keys()].toSorted((one, other) => one - other)) {
    const record = await stream.recordAt(pos)
    const isOfThem = (fact: Fact): boolean =>
      fact.type === 'input-accepted' ? (ids.get(pos) ?? []).includes(fact.inputId) : fact.type === 'inputs-left-out'
    if (record) events.push(...stream.projectFrom({ pos, since: pos }).takeRecord(only(record, isOfThem)).read())
  }
  return events
}

/** Positions behind a run of the records that change its messages. */
function listLater(sections: readonly Section[], to: number): readonly number[] {
  const places = sections.flatMap(({ inputs, rewinds = [] }) => [
    ...rewinds,
    ...inputs.flatMap(({ left = [] }) => left),
  ])
  return [...new Set(places)].filter((pos) => pos > to).toSorted((one, other) => one - other)
}

function changesMessages({ type }: Fact): boolean {
  return type === 'history-rewound' || type === 'inputs-left-out'
}

function only(record: SessionRecord, isWanted: (fact: Fact) => boolean): SessionRecord {
  return { ...record, facts: record.facts.filter(isWanted) }
}

function listMessages({ inputs, answers, turn }: Section): readonly MessageId[] {
  return [...inputs.map(({ id }) => id), ...(answers ? [nameAnswer(turn)] : [])]
}

async function readEnd(engine: ReadEngine, { from, sections }: Run, found: FoundSections): Promise<ReadSections> {
  const inputs = [...sections.flatMap((section) => section.inputs), ...found.queue]
  const conversation = new Conversation()
  for (const event of await readBefore(engine, inputs, from)) conversation.take(event)
  let next: EventCursor = { pos: 0 }
  const first = found.lastStart === undefined ? undefined : await engine.stream.recordAt(from)
  if (first) {
    // A reader that begins with a turn skips what its record says of earlier ones.
    const projection = engine.stream.projectFrom({ pos: from, since: from })
    takeAll(conversation, projection, first)
    next = projection.cursor
  }
  const reader = openEvents(engine, { from: next, tellsLive: true })
  let isTakenBack = false
  try {
    for (let isPast = true; isPast;) {
      const batch = await reader.nextBatch()
      if (!batch) break
      for (const event of batch.events) {
        isPast &&= event.type !== 'live'
        isTakenBack ||= event.type === 'messages-removed' && recordOf(event.cursor) > found.pos
        conversation.take(event)
      }
      next = batch.next
    }
  } finally {
    reader.leave()
  }
  return { messages: conversation.messages(), next, isTakenBack }
}

/** The last event of a record has the cursor behind it. */
function recordOf({ pos, read }: EventCursor): number {
  return read === undefined ? pos - 1 : pos
}
