// Compares the requests and answers of simulated models with the log: every request is what a full fold of the records
// says it must be, every text that the log kept of an answer is what the model said, and who closes stops what it began.
import type { AbortSignalLike, Message, ModelRequest, StoredMessage } from '@baton/core'
import type { History, SessionRecord, State } from '@baton/core/machine'
import { listClientTools } from '@baton/core/machine'
import type { SimulatedProcess } from './process.ts'

/** The session as all its records say, whatever a host believes. */
export interface FoldedLog {
  readonly state: State
  readonly history: History
}

export interface SaidSink {
  said(text: string): void
  end(): void
}

/** Milliseconds that a host waits for an aborted call. */
const ABORT_MS = 5000

export class ModelWatch {
  /** Requests that were compared. */
  compared = 0
  readonly #log: () => FoldedLog
  readonly #fail: (failure: Error) => void
  /** Messages of the newest attempt, as they were when it was begun. */
  #clientTools: readonly string[] = []
  /** By attempt: what the model said, and how much of it the log has. */
  readonly #said = new Map<number, string>()
  readonly #kept = new Map<number, number>()
  /** Calls that have begun and not ended, with the process that they run in. */
  readonly #running = new Map<AbortSignalLike, SimulatedProcess>()

  /** When the signals of calls that run were aborted, by the simulated time. */
  readonly #abortedMs = new Map<AbortSignalLike, number>()
  readonly #nowMs: () => number

  constructor(log: () => FoldedLog, fail: (failure: Error) => void, nowMs: () => number) {
    this.#log = log
    this.#fail = fail
    this.#nowMs = nowMs
  }

  /** Records that were stored together; the log has folded them. */
  noteStored(records: readonly SessionRecord[]): void {
    for (const { facts } of records)
      for (const fact of facts)
        if (fact.type === 'model-started')
          this.#clientTools = listClientTools(this.#log().state).map(({ name }) => name)
        else if (fact.type === 'attempt-progressed') this.#compareText(fact)
  }

  /** A model is asked. */
  begin(process: SimulatedProcess, model: string, request: ModelRequest, signal: AbortSignalLike): SaidSink {
    const { attempt } = this.#log().state
    // One that was given up before it began is asked about the past.
    if (attempt && !signal.aborted) this.#compareRequest(model, request)
    const number = attempt?.attempt ?? 0
    if (!signal.aborted) this.#said.set(number, '')
    this.#checkAlone(process, number)
    this.#running.set(signal, process)
    const noteAbort = (): void => void this.#abortedMs.set(signal, this.#nowMs())
    if (signal.aborted) noteAbort()
    else signal.addEventListener('abort', noteAbort, { once: true })
    return {
      said: (text) => {
        if (!signal.aborted) this.#said.set(number, (this.#said.get(number) ?? '') + text)
      },
      end: () => {
        this.#running.delete(signal)
        this.#abortedMs.delete(signal)
      },
    }
  }

  /** Model calls of living processes that nobody has given up. */
  running(): readonly SimulatedProcess[] {
    return [...this.#running].flatMap(([signal, process]) => (!signal.aborted && process.isAlive() ? [process] : []))
  }

  /** The host of this process was stopped in good order. */
  checkStopped(process: SimulatedProcess): void {
    const left = this.running().filter((one) => one === process).length
    if (left > 0) this.#fail(new Error(`the host stopped, and ${left} model calls run on`))
  }

  /** One call at a time, counted until it settles: one that was aborted is waited for, as long as an abort may take. */
  #checkAlone(process: SimulatedProcess, attempt: number): void {
    const nowMs = this.#nowMs()
    for (const [signal, other] of this.#running) {
      const abortedMs = this.#abortedMs.get(signal)
      if (other === process && process.isAlive() && (abortedMs === undefined || nowMs - abortedMs < ABORT_MS))
        this.#fail(new Error(`attempt ${attempt} is asked while another model call of the session runs`))
    }
  }

  #compareRequest(model: string, { messages, tools, toolChoice }: ModelRequest): void {
    const { state, history } = this.#log()
    const { attempt } = state
    if (!attempt || state.phase !== 'modelling') return
    this.compared += 1
    const stored = history.messages(attempt.fromEntry, attempt.toEntry)
    const isNoted =
      attempt.choice === 'none' || state.turn?.askedAgain === true || tellsRepeats(messages.at(-1), stored)
    const notes = isNoted ? 1 : 0
    const expected = describe(stored)
    const asked = describe(
      messages.slice(0, messages.length - notes).map((message, at) => restore(message, stored[at])),
    )
    if (model !== attempt.model) this.#fail(new Error(`${model} is asked in place of ${attempt.model}`))
    if (toolChoice.type !== attempt.choice) this.#fail(new Error(`tools are ${toolChoice.type}, not ${attempt.choice}`))
    if (asked !== expected)
      this.#fail(new Error(`attempt ${attempt.attempt} is asked otherwise than the log says:\n${asked}\n${expected}`))
    const names = new Set(tools.map(({ name }) => name))
    const missing = this.#clientTools.filter((name) => !names.has(name))
    if (missing.length > 0) this.#fail(new Error(`attempt ${attempt.attempt} lacks tools: ${missing.join(', ')}`))
  }

  #compareText({
    attempt,
    offset,
    text,
  }: {
    readonly attempt: number
    readonly offset: number
    readonly text: string
  }): void {
    const kept = this.#kept.get(attempt) ?? 0
    // Half of a surrogate pair waits for its other half, or is replaced when that does not come.
    const said = (this.#said.get(attempt) ?? '').toWellFormed()
    if (offset !== kept || said.slice(offset, offset + text.length) !== text)
      this.#fail(new Error(`attempt ${attempt} said "${said}"; the log has "${text}" at ${offset}, after ${kept}`))
    this.#kept.set(attempt, offset + text.length)
  }
}

/** Whether the request ends with the note about calls that were repeated, and they were. */
function tellsRepeats(last: Message | undefined, stored: readonly StoredMessage[]): boolean {
  const [part] = last?.role === 'user' ? last.parts : []
  const said = part?.type === 'text' && part.text.startsWith('You have called ') ? part.text : ''
  const told = [...said.matchAll(/"([^"]+)" (\d+) times/g)]
  const turn = stored.slice(stored.findLastIndex(({ role }) => role === 'user') + 1)
  const results = turn.flatMap(({ role, parts }) => (role === 'tool' ? parts : []))
  return (
    told.length > 0 &&
    told.every(([, name, times]) => results.filter((result) => result.name === name).length >= Number(times))
  )
}

/** The request has the beginning of a result that is behind a handle, and says how the rest is read: here the result is whole again. */
function restore(message: Message, stored: StoredMessage | undefined): Message | StoredMessage {
  if (message.role !== 'tool' || stored?.role !== 'tool') return message
  const parts = message.parts.map((part, at) => {
    const whole = stored.parts[at]
    const asked = part.content.at(-1)
    const kept = whole?.content.at(-1)
    if (!whole?.moved || asked?.type !== 'text' || kept?.type !== 'text') return part
    if (JSON.stringify(part.content.slice(0, -1)) !== JSON.stringify(whole.content.slice(0, -1))) return part
    const beginning = /^([\s\S]*)\n\[characters \d+ to \d+ of \d+\. [^\n]*\]$/.exec(asked.text)?.[1]
    const isBeginning = beginning !== undefined && beginning.length > 0 && kept.text.startsWith(beginning)
    return isBeginning && asked.text.length < kept.text.length ? whole : part
  })
  return { ...message, parts }
}

/** Pictures by their type: a request holds their bytes, the log their handles. */
function describe(messages: readonly (Message | StoredMessage)[]): string {
  return JSON.stringify(messages, (key, value: unknown) => (key === 'source' ? undefined : value))
}
