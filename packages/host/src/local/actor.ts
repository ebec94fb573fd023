// The actor of one session: it takes inputs one after another, commits what the machine decides, then performs the effects.
import type { Accepted, Clock, Refused, Store } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Effect, History, Input, SessionRecord, Spec, State } from '@baton/core/machine'
import { applyRecord, decide, openSession, outstanding, recordOf } from '@baton/core/machine'
import { appendSurely, readLog } from './session-log.ts'

export interface ActorInit {
  readonly session: string
  readonly owner: string
  readonly spec: Spec
  readonly store: Store
  readonly clock: Clock
  /** Waits before an append is tried again. */
  readonly pause: (tries: number) => Promise<void>
  /** After a commit: records first, then what they ask for. */
  readonly onCommit: (record: SessionRecord) => void
  /** The store failed or another owner took over: the actor is dead and its work must stop. */
  readonly onDeath: (cause: BatonError) => void
}

export interface Actor {
  submit(input: Input): Promise<Accepted | Refused>
  /** Begins to perform effects, first everything that is outstanding. Called once. */
  begin(perform: (effect: Effect) => void): void
  state(): State
  history(): History
  /** Refuses everything from now on. */
  kill(cause: BatonError): void
}

interface Letter {
  readonly input: Input
  readonly resolve: (answer: Accepted | Refused) => void
  readonly reject: (cause: BatonError) => void
}

/**
 * Opens a session's log as its only owner, and recovers what a dead process left undone.
 * @throws BatonError `store_failed`, `store_conflict`, `log_damaged`, `log_version_unknown`
 */
export async function openActor(init: ActorInit): Promise<Actor> {
  const { session, store, spec, clock } = init
  const { epoch } = await store.acquire(session, init.owner)
  const log = await readLog(store, session)
  let state: State = { ...log.state, epoch }
  const isNew = state.pos < 0
  if (isNew) {
    const opening = openSession({ session, spec, nowMs: clock.nowMs(), epoch })
    await appendSurely(store, { session, epoch, afterPos: state.pos, records: [opening] }, init.pause)
    state = applyRecord(state, opening)
    log.history.fold(opening)
  }
  const actor = runActor(init, state, log.history)
  if (!isNew) {
    await actor.submit({ type: 'agent-changed' })
    await actor.submit({ type: 'host-restarted', downMs: Math.max(0, clock.nowMs() - log.lastMs) })
  }
  return actor
}

function runActor(init: ActorInit, opened: State, history: History): Actor {
  const { session, store, spec, clock } = init
  let state = opened
  let mailbox: Letter[] = []
  let busy = false
  let dead: BatonError | undefined
  /** Until recovery is through, nothing is performed. */
  let perform: (effect: Effect) => void = () => {}

  const die = (cause: BatonError, letters: readonly Letter[]): void => {
    if (dead) return
    dead = cause
    for (const letter of [...letters, ...mailbox]) letter.reject(cause)
    mailbox = []
    init.onDeath(cause)
  }

  /** Decides all that waits on top of each other and commits it in one append: the group commit. */
  const commit = async (): Promise<void> => {
    while (mailbox.length > 0 && !dead) {
      const letters = mailbox
      mailbox = []
      const batch = decideAll(letters, { spec, state, nowMs: clock.nowMs() })
      const { epoch, pos } = state
      try {
        const records = batch.records
        if (records.length > 0) await appendSurely(store, { session, epoch, afterPos: pos, records }, init.pause)
      } catch (cause) {
        die(cause as BatonError, letters) // appendSurely throws nothing else
        return
      }
      if (dead) {
        for (const letter of letters) letter.reject(dead)
        return
      }
      state = batch.state
      for (const record of batch.records) {
        history.fold(record)
        init.onCommit(record)
      }
      letters.forEach((letter, index) => letter.resolve(batch.answers[index] ?? LOST))
      for (const effect of batch.effects) perform(effect)
    }
    busy = false
  }

  const submit = (input: Input): Promise<Accepted | Refused> => {
    if (dead) return Promise.reject(dead)
    const letter = { input, ...Promise.withResolvers<Accepted | Refused>() }
    mailbox.push(letter)
    if (!busy) {
      busy = true
      commit().catch((cause: unknown) => die(internal(cause), []))
    }
    return letter.promise
  }

  return {
    submit,
    state: () => state,
    history: () => history,
    kill: (cause) => die(cause, []),
    begin: (performer) => {
      perform = performer
      for (const effect of outstanding(state)) perform(effect)
    },
  }
}

const LOST: Refused = { type: 'refused', code: 'internal', message: 'the input was lost' }

interface Batch {
  readonly state: State
  readonly records: SessionRecord[]
  readonly effects: Effect[]
  readonly answers: (Accepted | Refused)[]
}

function decideAll(
  letters: readonly Letter[],
  start: { readonly spec: Spec; readonly state: State; readonly nowMs: number },
): Batch {
  const batch = {
    state: start.state,
    records: [] as SessionRecord[],
    effects: [] as Effect[],
    answers: [] as Batch['answers'],
  }
  for (const { input } of letters) {
    const decision = decide(start.spec, batch.state, input, start.nowMs)
    if (decision.type === 'refused') {
      batch.answers.push({ type: 'refused', ...decision.refusal })
      continue
    }
    if (decision.facts.length > 0) {
      batch.records.push(recordOf(input, decision))
      batch.effects.push(...decision.effects)
      batch.state = decision.state
    }
    batch.answers.push({ type: 'accepted', pos: decision.seenAt ?? batch.state.pos })
  }
  return { ...batch, effects: settledEffects(batch.effects, outstanding(batch.state)) }
}

/** Several inputs in one commit: an effect that a later one withdrew again is not begun at all. */
function settledEffects(effects: readonly Effect[], owed: readonly Effect[]): Effect[] {
  const keys = new Set(owed.map((effect) => JSON.stringify(effect)))
  return effects.filter((effect) => isWithdrawing(effect) || keys.has(JSON.stringify(effect)))
}

function isWithdrawing(effect: Effect): boolean {
  return effect.type.startsWith('abort-') || effect.type.startsWith('withdraw-') || effect.type === 'clear-timer'
}

function internal(cause: unknown): BatonError {
  const why = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
  return new BatonError({ code: 'internal', message: `a session failed: ${why}`, cause })
}
