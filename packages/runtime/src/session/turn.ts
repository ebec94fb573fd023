// The Turn that `send` returns: the session's events from the moment its input enters until the turn ends.
import type {
  Accepted,
  Answer,
  CallView,
  Refused,
  SessionEvent,
  SessionEventOf,
  SourcePart,
  Turn,
} from '@baton/core/internal'
import { ANSWER_SOURCES_MAX, BatonError, readPartialJson } from '@baton/core/internal'
import type { TurnOutcome } from '@baton/core/machine'
import type { OutputReader } from '../work/output.ts'
import type { EventReader } from './reader.ts'
import { EventQueue } from './reader.ts'
import { NO_ANSWER } from './submit.ts'

export interface TurnOptions {
  readonly inputId: string
  /** Opened before the input is submitted, so no event is missed. For an existing turn, it is found first. */
  readonly reading: TurnReading | Promise<TurnReading>
  /** The answer to the input, first in its batch; absent for an existing turn. */
  readonly accepted?: Promise<readonly (Accepted | Refused)[]>
}

export interface TurnReading {
  readonly events: EventReader
  /** Reads the value if the turn or its agent has an output schema. */
  readonly output: OutputReader | undefined
}

export function followTurn(init: TurnOptions): Turn {
  const events = new TurnEvents()
  const answer = follow(init, events)
  // A failure reaches readers of the events after the last event, and callers of `answer` there.
  answer.then(
    () => events.end(),
    (cause: unknown) => events.end({ cause }),
  )
  return new TurnObject(init.inputId, answer, events)
}

async function follow(init: TurnOptions, events: TurnEvents): Promise<Answer> {
  const followed = readTurn(init, events)
  followed.catch(() => {})
  try {
    const [outcome = NO_ANSWER] = (await init.accepted) ?? [ACCEPTED]
    if (outcome.type === 'refused') throw new BatonError({ code: outcome.code, message: outcome.message })
  } catch (cause) {
    const { events } = await init.reading
    events.leave() // there is no turn to wait for
    throw cause
  }
  const answer = await followed
  const { output } = await init.reading
  if (!output || answer.outcome !== 'answered' || answer.stop === 'tool') return answer
  return { ...answer, output: await output.read(answer.text) }
}

const ACCEPTED: Accepted = { type: 'accepted', pos: -1 }

/** A turn whose input was not submitted. */
export function refuseTurn(id: string, { code, message }: Pick<Refused, 'code' | 'message'>): Turn<never> {
  const cause = new BatonError({ code, message })
  const answer = Promise.reject<never>(cause)
  answer.catch(() => {}) // a program that only reads the events gets the error there
  const events = new TurnEvents()
  events.end({ cause })
  return new TurnObject(id, answer, events)
}

interface Seen {
  /** The input has entered: the running turn is this one. */
  isMine: boolean
  readonly limits: Set<Answer['limits'][number]>
  /** Sources that its steps cite, without duplicates. */
  readonly sources: Map<string, SourcePart>
  /** The newest step with calls, and its calls by id. */
  step: number
  readonly calls: Map<string, CallView>
  forgotten: boolean
  /** Why the model ended its newest step. */
  finish?: string
}

async function readTurn(init: TurnOptions, events: TurnEvents): Promise<Answer> {
  const seen: Seen = {
    isMine: false,
    limits: new Set(),
    sources: new Map(),
    step: -1,
    calls: new Map(),
    forgotten: false,
  }
  const { events: reader, output } = await init.reading
  events.readsValues = output !== undefined
  let answer: Answer | undefined
  await reader.drain((told) => {
    const own: SessionEvent[] = []
    try {
      for (const event of told) {
        const isAsked = event.type === 'message-added' && event.message.id === init.inputId
        const isEntered = event.type === 'message-entered' && event.message === init.inputId
        if (seen.isMine || isAsked || isEntered) own.push(event)
        answer = takeEvent(init.inputId, seen, event)
        if (answer) return true
      }
      return false
    } finally {
      // Also if `takeEvent` throws because the turn failed: readers must still see its end.
      if (own.length > 0) events.push(own)
    }
  })
  if (answer) return answer
  throw new BatonError({ code: 'session_closed', message: 'the session was closed before the turn ended' })
}

/** Returns the answer at the turn's end. */
function takeEvent(inputId: string, seen: Seen, event: SessionEvent): Answer | undefined {
  switch (event.type) {
    case 'message-withdrawn':
      if (event.message !== inputId) return undefined
      throw new BatonError({ code: 'cancelled', message: `the input "${inputId}" was withdrawn before it was read` })
    case 'message-entered':
      seen.isMine ||= event.message === inputId
      return undefined
    case 'sources':
      if (seen.isMine) noteSources(seen.sources, event.sources)
      return undefined
    case 'limit':
      if (seen.isMine && event.reached) seen.limits.add(event.limit)
      return undefined
    case 'step-finished':
      if (seen.isMine) seen.finish = event.finish
      return undefined
    case 'call':
      if (!seen.isMine || event.call.step < seen.step) return undefined
      // The newest step's calls replace those of older ones, which bounds the memory of a long turn.
      if (event.call.step > seen.step) seen.calls.clear()
      seen.step = event.call.step
      seen.calls.set(event.call.callId, event.call)
      return undefined
    case 'compacted':
      seen.forgotten ||= seen.isMine
      return undefined
    case 'turn-finished':
      return seen.isMine ? readAnswer(seen, event) : undefined
    default:
      return undefined
  }
}

/** Renumbers sources, since each step numbers its own. */
function noteSources(known: Map<string, SourcePart>, cited: readonly SourcePart[]): void {
  for (const { id: _, ...source } of cited) {
    const words = JSON.stringify([source.url, source.title, source.mediaType, source.quote])
    if (known.size < ANSWER_SOURCES_MAX && !known.has(words))
      known.set(words, { ...source, id: `source-${known.size + 1}` })
  }
}

/** The error for an input that the session does not know. */
export function createUnknownInputError(inputId: string): BatonError {
  return new BatonError({
    code: 'unknown_input',
    message: `the session has no input "${inputId.slice(0, 100)}"`,
    hint: 'Use the id of an input of this session, or send the input again.',
  })
}

const OUTCOMES: Readonly<Record<Answer['stop'], Exclude<TurnOutcome, 'failed'>>> = {
  end: 'answered',
  tool: 'tool',
  'max-tokens': 'answered',
  limit: 'answered',
  refused: 'refused',
  cancelled: 'interrupted',
  stopped: 'stopped',
  silent: 'silent',
}

/** @throws BatonError with the code of a failed turn */
function readAnswer(
  { limits, sources, calls, forgotten, finish }: Seen,
  { stop, text, usage, error }: SessionEventOf<'turn-finished'>,
): Answer {
  if (stop === 'failed')
    throw new BatonError({
      code: error?.code ?? 'internal',
      message: error?.message ?? 'the turn failed',
      ...(error?.issues !== undefined && {
        data: { text, issues: error.issues, usage: { ...usage }, ...(finish !== undefined && { finish }) },
      }),
    })
  const answer = { stop, text, usage, sources: [...sources.values()], limits: [...limits], forgotten }
  if (stop === 'tool') return { outcome: 'tool', ...answer, stop, calls: [...calls.values()] }
  return { outcome: OUTCOMES[stop], ...answer } as Answer // the caller adds the output if there is one
}

const WAITING_MAX = 1000

/** The events of one turn, for all who iterate it. An unread turn is no larger than its answer. */
class TurnEvents implements AsyncIterable<SessionEvent> {
  readonly #queue = new EventQueue()
  /** Events that were taken but not yet returned. */
  #batch: readonly SessionEvent[] = []
  #handedOut = 0
  #failure: { readonly cause: unknown } | undefined
  /** Number of waiting events that triggers the next removal of outdated ones. */
  #boundAt = WAITING_MAX
  /** Whether there is an output schema, so that partial texts are parsed as values. */
  readsValues = false
  /** Text of the current step, and the length last parsed as a value. */
  readonly #written = { text: '', readChars: 0 }

  push(events: readonly SessionEvent[]): void {
    const waiting = this.#queue.push(events)
    // Only the newest progress of a call matters; a tool may report as long as it likes.
    for (const { type } of events) if (type === 'call-progress') this.#queue.keepNewest(nameProgress)
    if (waiting > this.#boundAt) this.#boundAt = Math.max(WAITING_MAX, 2 * this.#queue.keepNewest(nameRepeated))
  }

  /** With `failure`, a reader that has read all events throws its cause. */
  end(failure?: { readonly cause: unknown }): void {
    this.#failure = failure
    this.#queue.end()
  }

  /** Not a generator: that would create three promises per event. */
  [Symbol.asyncIterator](): AsyncIterator<SessionEvent, undefined> {
    let left = false
    return {
      next: () => (left ? Promise.resolve(END) : (this.#takeNext() ?? this.#next())),
      return: () => {
        left = true
        return Promise.resolve(END)
      },
    }
  }

  /** Returns events already taken, without an async call for each. */
  #takeNext(): Promise<IteratorResult<SessionEvent, undefined>> | undefined {
    const event = this.#batch[this.#handedOut]
    if (!event) return undefined
    this.#handedOut += 1
    return Promise.resolve({ done: false, value: this.readsValues ? addPartial(this.#written, event) : event })
  }

  async #next(): Promise<IteratorResult<SessionEvent, undefined>> {
    for (;;) {
      // Another iterator may have taken some meanwhile.
      const taken = this.#takeNext()
      if (taken) return await taken
      this.#batch = this.#queue.takeAll()
      this.#handedOut = 0
      if (this.#batch.length > 0) continue
      if (this.#failure) throw this.#failure.cause
      if (this.#queue.isEnded) return END
      await this.#queue.changed()
    }
  }
}

/** Key of an event that replaces older ones, such as those of a call whose clients come and go. */
function nameRepeated(event: SessionEvent): string | undefined {
  if (event.type === 'call') return event.call.callId
  return event.type === 'session' ? Object.keys(event).join() : undefined
}

/**
 * New text that triggers parsing again: at least this many characters, and this share of the whole, so the cost stays
 * linear.
 */
const PARTIAL_CHARS = 16
const PARTIAL_SHARE = 1 / 16

function addPartial(written: { text: string; readChars: number }, event: SessionEvent): SessionEvent {
  if (event.type !== 'text') return event
  if (event.offset === 0) written.readChars = 0
  written.text = written.text.slice(0, event.offset) + event.text
  const { length } = written.text
  if (length - written.readChars < Math.max(PARTIAL_CHARS, length * PARTIAL_SHARE)) return event
  written.readChars = length
  const partial = readPartialJson(written.text)
  return partial ? { ...event, partial } : event
}

const END = { done: true, value: undefined } as const

function nameProgress(event: SessionEvent): string | undefined {
  return event.type === 'call-progress' ? event.callId : undefined
}

/**
 * The Turn as programs hold it. Names of other libraries' results are refused with Baton's: read silently they would be
 * undefined. They are getters of the prototype, which cost a turn nothing, and not part of its type.
 */
class TurnObject<Answer> {
  readonly id: string
  readonly answer: Promise<Answer>
  readonly [Symbol.asyncIterator]!: () => AsyncIterator<SessionEvent>

  constructor(id: string, answer: Promise<Answer>, events: AsyncIterable<SessionEvent>) {
    this.id = id
    this.answer = answer
    this[Symbol.asyncIterator] = () => events[Symbol.asyncIterator]()
  }
}

/** Names of other libraries' results, and what to write instead. */
const MISNAMED: Readonly<Record<string, string>> = {
  text: '(await session.send(…).answer).text',
  output: '(await session.send(…).answer).output',
  object: '(await session.send(…, { output: schema }).answer).output',
  usage: '(await session.send(…).answer).usage',
  sources: '(await session.send(…).answer).sources',
  finishReason: '(await session.send(…).answer).stop',
  toolCalls: 'for await (const event of session.send(…)), with events of type "call"',
  toolResults: 'for await (const event of session.send(…)), with the result of each "call"',
  steps: 'for await (const event of session.send(…)), with events of type "step-finished"',
  textStream: 'for await (const event of session.send(…)), with events of type "text"',
  fullStream: 'for await (const event of session.send(…))',
}
for (const [name, written] of Object.entries(MISNAMED))
  Object.defineProperty(TurnObject.prototype, name, {
    get: () => {
      throw createMisnamed(name, written)
    },
  })

function createMisnamed(name: string, written: string): BatonError {
  return new BatonError({
    code: 'invalid_option',
    message: `a turn has no "${name}": await its answer, or read its events`,
    hint: `Write ${written}.`,
  })
}
