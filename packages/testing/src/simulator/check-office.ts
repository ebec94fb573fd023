// Checks of reminders, by the wall clock, and of calls that several people decide: the log against the requests of the
// simulated world.
import type { Fact, FactOf, SessionRecord } from '@baton/core/machine'
import { REMINDER_INPUT } from '@baton/core/machine'
import type { ObservedSession } from './observed-session.ts'
import { SIGNERS } from './simulated-agent.ts'

/** A person's attempt to decide a call. */
interface Attempt {
  readonly approvalId: string
  readonly principal: string
  readonly decision: 'approve' | 'deny' | 'edit'
}

/** Maximum milliseconds between a look at the clock and the record that it led to. */
const STORING_MS = 60_000

export class OfficeWatch {
  /** Whether all reminders are cancelled. */
  isClosed = false
  readonly attempts: Attempt[] = []
  readonly acknowledged: Attempt[] = []
  /** Reminders that the session acknowledged. */
  readonly set = new Set<string>()
  readonly cancelled = new Set<string>()
  #clockSetMs = -Infinity

  /** Called when a host's wall clock is set. `nowMs`: the true time. */
  noteClockSet(nowMs: number): void {
    this.#clockSetMs = nowMs
  }

  /**
   * No reminder is early by the clock of its host, unless that clock is set back while the record is being stored.
   * `clockMs`: that clock, when the record was stored. `nowMs`: the true time. @throws Error
   */
  noteStored(
    { pos, facts }: SessionRecord,
    { clockMs, nowMs }: { readonly clockMs: number; readonly nowMs: number },
  ): void {
    const isSetMeanwhile = nowMs - this.#clockSetMs < STORING_MS
    for (const fact of facts)
      if (fact.type === 'reminder-passed' && clockMs < fact.dueMs && !isSetMeanwhile)
        throw new Error(`record ${pos}: a reminder came ${fact.dueMs - clockMs} ms before its time`)
  }

  /** Finds why a signed call may not run now: its log names two people who may sign, and both really did. */
  findUnsigned(callId: string, records: readonly SessionRecord[]): string | undefined {
    const given = listFacts(records).flatMap((fact) =>
      (fact.type === 'approval-given' || (fact.type === 'approval-decided' && fact.decision === 'approve')) &&
      fact.callId === callId
        ? [fact]
        : [],
    )
    const named = new Set(given.map(({ principal }) => principal))
    const isTrue = given.every(({ approvalId, principal }) =>
      this.attempts.some(
        (one) => one.approvalId === approvalId && one.principal === principal && one.decision === 'approve',
      ),
    )
    const isAllowed = [...named].every((name) => SIGNERS.some((signer) => signer === name))
    return named.size >= 2 && isTrue && isAllowed ? undefined : `${callId} runs, signed by ${[...named].join(', ')}`
  }

  /** Each time of a reminder is one input that reaches the model once, and no acknowledged reminder is lost. @throws Error */
  finish({ records, state }: Pick<ObservedSession, 'records' | 'state'>): void {
    const facts = listFacts(records)
    for (const { approvalId, principal, decision } of this.acknowledged)
      if (!facts.some((fact) => hasDecided(fact, approvalId) && fact.principal === principal))
        throw new Error(
          `${principal} was told that ${approvalId} is decided (${decision}), and the log has nothing of it`,
        )
    const passed = facts.flatMap((fact) => (fact.type === 'reminder-passed' ? [fact] : []))
    const times = passed.map(({ reminder, dueMs }) => `${reminder} at ${dueMs}`)
    const due = passed.flatMap(({ reminder, dueMs, skipped }) =>
      skipped ? [] : [`${REMINDER_INPUT}${reminder}.${dueMs}`],
    )
    const accepted = facts.flatMap((fact) =>
      fact.type === 'input-accepted' && fact.inputId.startsWith(REMINDER_INPUT) ? [fact.inputId] : [],
    )
    if (new Set(times).size < times.length) throw new Error(`a reminder passed twice: ${times.join(', ')}`)
    if (due.join(' ') !== accepted.join(' ')) throw new Error(`reminders ${due.join(' ')} became ${accepted.join(' ')}`)
    for (const id of accepted) {
      const isGone = facts.some((fact) => fact.type === 'input-withdrawn' && fact.inputId === id)
      if (!isGone && !hasEntered(records, id)) throw new Error(`${id} never reached the model`)
    }
    for (const id of this.set) {
      const isKnown =
        state.reminders.some(({ reminder }) => reminder === id) || passed.some(({ reminder }) => reminder === id)
      if (!isKnown && !this.cancelled.has(id)) throw new Error(`the reminder ${id} was lost`)
    }
  }
}

function hasDecided(fact: Fact, approvalId: string): fact is FactOf<'approval-given' | 'approval-decided'> {
  return (fact.type === 'approval-given' || fact.type === 'approval-decided') && fact.approvalId === approvalId
}

function listFacts(records: readonly SessionRecord[]): readonly Fact[] {
  return records.flatMap(({ facts }) => facts)
}

function hasEntered(records: readonly SessionRecord[], id: string): boolean {
  return listFacts(records).some(
    (fact) => fact.type === 'inputs-entered' && fact.entries.some(({ inputs }) => inputs.includes(id)),
  )
}
