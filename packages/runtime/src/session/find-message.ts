// Finds messages and turns in a session's log, including those outside the window, and takes a conversation back to a
// message.
import type { EventCursor, JsonObject, MessageId, DecodedRewind, Refused, Rewound } from '@baton/core/internal'
import { BatonError, nameAnswer } from '@baton/core/internal'
import type { IndexEntry, SessionRecord, State, InputOf } from '@baton/core/machine'
import { apply, beginRecord, initialState } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import type { Section } from './message-sections.ts'
import { submit } from './submit.ts'

type FindEngine = Pick<SessionEngine, 'stream' | 'session' | 'world' | 'state'>

export interface FoundMessage {
  readonly role: 'user' | 'assistant'
  readonly exchange: number
  /** First entry of the message; absent for an answer without text. */
  readonly entry?: number
  /** Ids of the user's inputs, from the message on. */
  readonly asked: readonly MessageId[]
  /** Entries of the message's exchange. */
  readonly own: readonly IndexEntry[]
  /**
   * The newest entries that a request may have, up to the message, and its whole exchange; absent if all of them are in
   * the window.
   */
  readonly index?: readonly IndexEntry[]
  /** The output schema set for the turn of the message's exchange. */
  readonly output?: JsonObject
}

export interface FoundTurn {
  /** Cursor where the turn begins. */
  readonly from: EventCursor
  /** The output schema set for this turn. */
  readonly output?: JsonObject
}

/** @throws BatonError `unknown_input` for a message that is not in the conversation, `store_failed`, `log_damaged` */
export async function findMessage(engine: FindEngine, message: MessageId): Promise<FoundMessage> {
  const { section } = (await engine.stream.index.locate(message)) ?? {}
  const found = section && (findInWindow(engine.state(), section, message) ?? (await findInLog(engine, message)))
  if (found) {
    const output = await findOutput(engine, section)
    return { ...found, ...(output && { output }) }
  }
  throw createUnknownError(message)
}

export function createUnknownError(message: MessageId): BatonError {
  return new BatonError({
    code: 'unknown_input',
    message: `the conversation has no message "${String(message).slice(0, 100)}"`,
    hint: 'Use the id of a message that is in the conversation now. Withdraw an input that is still queued.',
  })
}

/** Undefined if a part of the message's exchange may have left the window, or was summarised. */
function findInWindow({ index }: State, { exchange }: Section, message: MessageId): FoundMessage | undefined {
  const own = index.filter((entry) => entry.exchange === exchange)
  if (own.length === 0 || own.some(({ role }) => role === 'summary')) return undefined
  if (index.find(({ role }) => role !== 'summary') === own[0]) return undefined
  return describeMessage(own, exchange, message)
}

function describeMessage(own: readonly IndexEntry[], exchange: number, message: MessageId): FoundMessage {
  const said = own.find(({ inputs }) => inputs?.includes(message))
  const first = said ?? own.find(({ role }) => role === 'step')
  return {
    role: said ? 'user' : 'assistant',
    exchange,
    own,
    ...(first && { entry: first.entry }),
    asked: own.filter(({ entry }) => entry >= (said?.entry ?? 0)).flatMap(({ inputs = [] }) => inputs),
  }
}

async function findInLog(engine: FindEngine, message: MessageId): Promise<FoundMessage | undefined> {
  const entries = new ConversationEntries(engine.session, engine.world.spec.window.messages)
  for await (const record of engine.stream.records(0)) entries.take(record)
  return entries.find(message)
}

async function findOutput({ stream }: FindEngine, { pos, turn }: Section): Promise<JsonObject | undefined> {
  const record = await stream.recordAt(pos)
  const started = record?.facts.find((fact) => fact.type === 'turn-started' && fact.turn === turn)
  return started?.type === 'turn-started' ? started.output : undefined
}

/** The turn of an input: the newest if it was asked again. Undefined if the input was never accepted. */
export async function findTurn(engine: FindEngine, inputId: MessageId): Promise<FoundTurn | undefined> {
  const { input, section } = (await engine.stream.index.locate(inputId)) ?? {}
  if (input && section) {
    const output = await findOutput(engine, section)
    const { pos, since } = input.again ? { pos: section.pos, since: section.pos } : input
    return { from: { pos, ...(since !== undefined && { since }) }, ...(output && { output }) }
  }
  return await findTurnInLog(engine, inputId)
}

/** Also finds turns that were taken back. */
async function findTurnInLog(engine: FindEngine, inputId: MessageId): Promise<FoundTurn | undefined> {
  let since: number | undefined
  let from: EventCursor | undefined
  let output: JsonObject | undefined
  let outputOfTurn: JsonObject | undefined
  let hasEntered = false
  const note = (pos: number): EventCursor => ({ pos, ...(since !== undefined && { since }) })
  for await (const { pos, facts } of engine.stream.records(0))
    for (const fact of facts) {
      if (fact.type === 'turn-started') {
        since = pos
        outputOfTurn = fact.output
      }
      if (fact.type === 'input-accepted' && fact.inputId === inputId) {
        from = note(pos)
        output = fact.output
      }
      // The first turn starts where the input was accepted, a later one at its own beginning, so each is complete.
      if (fact.type === 'inputs-entered' && fact.entries.some(({ inputs }) => inputs.includes(inputId))) {
        if (hasEntered || !from) from = note(since ?? pos)
        hasEntered = true
        output = outputOfTurn
      }
    }
  return from && { from, ...(output && { output }) }
}

class ConversationEntries {
  #state: State
  /** Entries by number; summaries replace nothing here. */
  readonly #entries = new Map<number, IndexEntry>()
  /** Turns' exchanges. */
  readonly #turns = new Map<MessageId, number>()
  readonly #messagesMax: number

  constructor(session: string, messagesMax: number) {
    this.#messagesMax = messagesMax
    this.#state = initialState(session)
  }

  /** Folds fact by fact: a message may enter the window and leave it in one record. */
  take({ pos, nowMs, epoch, facts }: SessionRecord): void {
    this.#state = beginRecord(this.#state, pos, nowMs, epoch)
    for (const fact of facts) {
      const before = this.#state.index
      this.#state = apply(this.#state, fact)
      const { index } = this.#state
      if (fact.type === 'turn-started') this.#turns.set(nameAnswer(fact.turn), fact.exchange)
      if (fact.type === 'history-rewound') this.#takeBack(fact.exchange, fact.index)
      if (index === before) continue
      // Entries that leave the window stay in the conversation; an answer that was cut to nothing does not.
      if (fact.type === 'answer-cut')
        for (const { entry, role } of before) if (role !== 'summary') this.#entries.delete(entry)
      for (const entry of index) if (entry.role !== 'summary') this.#entries.set(entry.entry, entry)
    }
  }

  find(message: MessageId): FoundMessage | undefined {
    const entries = [...this.#entries.values()].toSorted((one, other) => one.entry - other.entry)
    const said = entries.find(({ inputs }) => inputs?.includes(message))
    const exchange = said?.exchange ?? this.#turns.get(message)
    const own = entries.filter((entry) => entry.exchange === exchange)
    if (exchange === undefined || own.length === 0) return undefined
    const found = describeMessage(own, exchange, message)
    const start = entries.findIndex((entry) => entry.exchange === exchange)
    const end = start + own.length
    const at = found.entry === undefined ? end : entries.findIndex(({ entry }) => entry === found.entry) + 1
    // The newest messages that a request may have, and the whole exchange: it may be asked again.
    return { ...found, index: entries.slice(Math.max(0, Math.min(start, at - this.#messagesMax)), end) }
  }

  #takeBack(exchange: number, index: readonly IndexEntry[]): void {
    const kept = new Set(index.map(({ entry }) => entry))
    for (const entry of this.#entries.values())
      if (entry.exchange >= exchange && !kept.has(entry.entry)) this.#entries.delete(entry.entry)
  }
}

type Rewind = DecodedRewind & { readonly inputId: string } & Pick<InputOf<'rewind'>, 'by'>

/** @throws BatonError `unknown_input`, `store_failed` */
export async function rewindSession(engine: SessionEngine, rewind: Rewind): Promise<Rewound | Refused> {
  // A repeated rewind may name a message that it removed earlier, or while the message was being looked for.
  const done = await findDone(engine, rewind)
  if (done) return done
  try {
    return await submitRewind(engine, rewind)
  } catch (cause) {
    const meanwhile = await findDone(engine, rewind)
    if (meanwhile) return meanwhile
    throw cause
  }
}

/** @throws BatonError `unknown_input`, `store_failed` */
async function submitRewind(engine: SessionEngine, rewind: Rewind): Promise<Rewound | Refused> {
  const { message, replace, again, interrupt, inputId, by } = rewind
  const found = await findMessage(engine, message)
  if (replace && found.role === 'assistant') return ONLY_USERS
  const { exchange, asked, output } = found
  const first = found.own[0]?.entry
  // Retrying an answer repeats its whole exchange.
  const isWhole = (again === true && found.role === 'assistant') || found.entry === first
  const fromEntry = found.entry ?? (found.own.at(-1)?.entry ?? 0) + 1
  // A summary has the number of the last entry that it replaced.
  const window = new Map(engine.state().index.map(({ entry, role }) => [entry, role]))
  const isInWindow = found.own.every(({ entry, role }) => window.get(entry) === role)
  const input: InputOf<'rewind'> = {
    type: 'rewind',
    inputId,
    exchange,
    again: again === true,
    ...(!isWhole && { fromEntry }),
    ...(interrupt && { interrupt }),
    ...(by !== undefined && { by }),
    ...(replace && { replace: { parts: replace } }),
    ...((again || replace) && output && { output }),
    ...(!isInWindow && found.index && { index: found.index }),
  }
  const outcome = await submit(engine, input)
  // Another rewind has removed the message since it was found.
  if (outcome.type === 'refused' && outcome.code === 'unknown_exchange') throw createUnknownError(message)
  if (outcome.type === 'refused') return outcome
  const turn = replace ? inputId : again ? asked[0] : undefined
  return { ...outcome, ...(turn !== undefined && { turn }) }
}

/** The answer to a rewind that is already in the log; `undefined` if it is not. */
async function findDone(engine: SessionEngine, { replace, again, inputId }: Rewind): Promise<Rewound | undefined> {
  const pos = engine.state().recentInputs.find((one) => one.inputId === inputId)?.pos
  if (pos === undefined) return undefined
  const accepted = { type: 'accepted', pos } as const
  if (replace) return { ...accepted, turn: inputId }
  if (!again) return accepted
  const record = await engine.stream.recordAt(pos)
  const entered = record?.facts.find((fact) => fact.type === 'inputs-entered')
  const turn = entered?.entries.flatMap(({ inputs }) => inputs)[0]
  return { ...accepted, ...(turn !== undefined && { turn }) }
}

const ONLY_USERS: Refused = {
  type: 'refused',
  code: 'invalid_event',
  message: 'only a user message can be replaced; use `again` for another answer',
}
