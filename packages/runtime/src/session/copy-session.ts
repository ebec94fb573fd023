// Copies a session's log under another name, up to where it last rested: work running at that moment would run twice.
import type { LogStore } from '@baton/core/internal'
import { BatonError, DERIVED_BLOBS } from '@baton/core/internal'
import type { SessionRecord, State } from '@baton/core/machine'
import {
  applyRecord,
  findTask,
  followRecord,
  FORMAT_VERSION,
  initialState,
  leaveTask,
  leaveToOriginal,
} from '@baton/core/machine'

export interface Copying {
  readonly from: string
  readonly to: string
  /** The birth of the session to copy: a later session of its name is another one. */
  readonly birth: string
}

/** Owner of no session: what somebody holds meanwhile is not removed. */
const COPYING = 'copying'

/** @throws BatonError `session_exists`, `session_closed` (it was removed), `store_failed`, `log_damaged` */
export async function copySession(
  store: Pick<LogStore, 'read' | 'restore' | 'remove' | 'blobs'>,
  { from, to, birth }: Copying,
): Promise<void> {
  const records: SessionRecord[] = []
  let rested = 0
  let state = initialState(from)
  let atRest = state
  for await (const record of store.read(from, 0)) {
    followRecord(state, record)
    state = applyRecord(state, record)
    if (state.birth !== birth) throw createRemovedError(from)
    records.push(rename(record, to))
    if (!rests(state)) continue
    rested = records.length
    atRest = state
  }
  const left = leaveTasks(atRest)
  await store.restore(to, [...records.slice(0, rested), ...left, ...leaveReminders(left.reduce(applyRecord, atRest))])
  try {
    for (const name of await store.blobs.names(from)) {
      if (name.startsWith(DERIVED_BLOBS)) continue
      const text = await store.blobs.get(from, name)
      if (text !== undefined) await store.blobs.put(to, name, text)
    }
  } catch (cause) {
    await store.remove(to, COPYING).catch(() => {}) // half a copy; the failure above is reported
    throw cause
  }
}

function createRemovedError(session: string): BatonError {
  return new BatonError({
    code: 'session_closed',
    message: `session ${session} was removed, and its name belongs to a later session`,
    hint: 'Open the session again to copy the later one.',
  })
}

/** A child that is owed belongs to the original: the copy would begin, or lose, another one. That of a task is left there. */
function rests({ turn, step, attempt, queue, children, tasks }: State): boolean {
  const isQuiet = turn === null && step === null && attempt === null && queue.length === 0
  return isQuiet && children.every(({ callId }) => findTask(tasks, callId))
}

/** Tasks continue in the original session only. */
function leaveTasks(state: State): readonly SessionRecord[] {
  const records: SessionRecord[] = []
  let left = state
  for (const call of state.tasks) {
    const { pos, nowMs, epoch } = left
    const { callId, attempt } = call
    const input = { type: 'work-lost', callId, attempt } as const
    const facts = call.task.origin === 'call' ? leaveTask(left, call) : leaveToOriginal(left, call)
    const record = { version: FORMAT_VERSION, pos: pos + 1, nowMs, epoch, input, facts }
    records.push(record)
    left = applyRecord(left, record)
  }
  return records
}

/** Reminders stay in the original session: otherwise both would come. */
function leaveReminders({ reminders, pos, nowMs, epoch }: State): readonly SessionRecord[] {
  if (reminders.length === 0) return []
  const input = { type: 'cancel-reminder' } as const
  const facts = reminders.map(({ reminder }) => ({ type: 'reminder-cancelled', reminder }) as const)
  return [{ version: FORMAT_VERSION, pos: pos + 1, nowMs, dueMs: null, epoch, input, facts }]
}

function rename(record: SessionRecord, session: string): SessionRecord {
  if (record.pos > 0) return record
  return {
    ...record,
    facts: record.facts.map((fact) => (fact.type === 'session-opened' ? { ...fact, session } : fact)),
  }
}
