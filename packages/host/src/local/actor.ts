// The actor of one session: it takes inputs one after another, commits what the machine decides, then performs the effects.
import type { Accepted, Clock, Principal, Refused, Store, Timers } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import type { Effect, History, Input, InputType, SessionRecord, Spec, State } from '@baton/core/machine'
import { applyRecord, decide, openSession, outstanding, recordOf } from '@baton/core/machine'
import type { Performers } from './perform.ts'
import { acquireLog, appendSurely, readLog } from './session-log.ts'
import { messageOf } from './thrown-message.ts'

export interface ActorInit {
  readonly session: string
  readonly owner: string
  readonly newId: () => string
  /** Whose session it becomes, if it is new. */
  readonly principal: Principal
  readonly spec: Spec
  readonly store: Store
  readonly clock: Clock
  readonly timers: Timers
  /** Waits before an append is tried again. */
  readonly pause: (tries: number) => Promise<void>
  /** Every record of the log in order: those that were read when it was opened, then each that is committed. */
  readonly onRecord: (record: SessionRecord) => void
  /** The records up to this position were not read when it was opened: a snapshot has what they did. */
  readonly onSnapshot: (pos: number) => void
  /** After each commit. */
  readonly onCommit: (state: State, history: History) => void
  /** The store failed or another owner took over: the actor is dead and its work must stop. */
  readonly onDeath: (cause: BatonError) => void
}

export interface Actor {
  submit(input: Input): Promise<Accepted | Refused>
  /** Begins to perform effects, first everything that is outstanding. Called once. */
  begin(performers: Performers): void
  state(): State
  history(): History
  /** Inputs wait to be decided or stored. */
  isBusy(): boolean
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
  const { session, spec, clock } = init
  const owned = await acquireLog(init)
  const { epoch } = owned
  const log = await readLog(init, owned)
  let state: State = { ...log.state, epoch }
  const isNew = state.pos < 0
  if (isNew) {
    const opening = openSession({
      session,
      birth: birthFrom(init.newId()),
      principal: init.principal.id,
      spec,
      nowMs: clock.nowMs(),
      epoch,
    })
    await appendSurely(init, { session, epoch, afterPos: state.pos, records: [opening] })
    state = applyRecord(state, opening)
    log.history.fold(opening)
    init.onRecord(opening)
  }
  const actor = runActor(init, state, log.history)
  if (!isNew) {
    await actor.submit({ type: 'agent-changed' })
    await actor.submit({ type: 'host-restarted', downMs: Math.max(0, clock.nowMs() - log.lastMs) })
  }
  return actor
}

/** Short, since it stands in every call's id, and of letters and digits only, as providers want ids. */
function birthFrom(id: string): string {
  return id.replace(/[^a-zA-Z0-9]/g, '').slice(0, 8)
}

function runActor(init: ActorInit, opened: State, history: History): Actor {
  const { session, spec, clock } = init
  let state = opened
  const mailbox = createMailbox()
  let busy = false
  let dead: BatonError | undefined
  /** None until recovery is through. Each takes the effects of its own type. */
  let performers: Performers | undefined

  const isDead = (): boolean => dead !== undefined // an effect that is performed may kill the session itself
  const die = (cause: BatonError, letters: readonly Letter[]): void => {
    for (const letter of [...letters, ...mailbox.takeAll()]) letter.reject(dead ?? cause)
    if (dead) return
    dead = cause
    init.onDeath(cause)
  }

  /** Decides all that waits on top of each other and commits it in one append: the group commit. */
  const commit = async (): Promise<void> => {
    while (mailbox.size() > 0 && !dead) {
      const letters = mailbox.takeAll()
      try {
        const batch = decideAll(letters, { spec, state, nowMs: clock.nowMs() })
        const append = { session, epoch: state.epoch, afterPos: state.pos, records: batch.records }
        if (batch.records.length > 0) await appendSurely(init, append)
        // Killed in the meantime: whether the records are there, the next owner reads from the log.
        if (dead) return die(dead, letters)
        acknowledge(batch, letters)
        for (const effect of batch.effects) if (!isDead()) performers?.[effect.type](effect as never)
      } catch (cause) {
        return die(isBatonError(cause) ? cause : internal(cause), letters)
      }
    }
    busy = false
  }

  const acknowledge = (batch: Batch, letters: readonly Letter[]): void => {
    state = batch.state
    for (const record of batch.records) {
      history.fold(record)
      init.onRecord(record)
    }
    letters.forEach((letter, index) => letter.resolve(batch.answers[index] ?? LOST))
    init.onCommit(state, history)
  }

  const submit = (input: Input): Promise<Accepted | Refused> => {
    if (dead) return Promise.reject(dead)
    const answer = mailbox.put(input)
    if (!busy) {
      busy = true
      commit().catch((cause: unknown) => die(internal(cause), []))
    }
    return answer
  }

  return {
    submit,
    state: () => state,
    history: () => history,
    isBusy: () => busy,
    kill: (cause) => die(cause, []),
    begin: (given) => {
      performers = given
      for (const effect of outstanding(state)) if (!isDead()) given[effect.type](effect as never)
    },
  }
}

function createMailbox() {
  let letters: Letter[] = []
  return {
    size: () => letters.length,
    put: (input: Input): Promise<Accepted | Refused> => {
      if (letters.length >= MAILBOX_MAX && !IS_AWAITED.has(input.type)) return Promise.resolve(FULL)
      const letter = { input, ...Promise.withResolvers<Accepted | Refused>() }
      letters.push(letter)
      return letter.promise
    },
    takeAll: () => {
      const taken = letters
      letters = []
      return taken
    },
  }
}

/** Inputs from outside that may wait while the store hangs; it fails by its own deadline. */
const MAILBOX_MAX = 10_000
const FULL: Refused = {
  type: 'refused',
  code: 'queue_full',
  message: `${MAILBOX_MAX} inputs wait for the store already`,
}
/** Answers to what the machine asked for: no more come than were asked, and a refused one would leave a wait without an end. */
const IS_AWAITED: ReadonlySet<InputType> = new Set<InputType>([
  'model-finished',
  'model-failed',
  'model-stopped',
  'summary-finished',
  'summary-failed',
  'tool-finished',
  'tool-result',
  'timer-fired',
])
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
  if (letters.length === 1) return batch
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
  const why = cause instanceof Error ? (cause.stack ?? cause.message) : messageOf(cause)
  return new BatonError({ code: 'internal', message: `a session failed: ${why}`, cause })
}
