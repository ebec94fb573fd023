// Compares the requests and answers of simulated models with the log: every request matches a full fold of the records,
// every text that the log kept is what the model said, and stopping a host stops its model calls.
import type { AbortSignalLike, Message, ModelRequest, StoredMessage } from '@baton/core/internal'
import type { History, SessionRecord, State } from '@baton/core/machine'
import { listClientTools } from '@baton/core/machine'
import type { SimulatedProcess } from './process.ts'

/** The session according to all its records, whatever a host believes. */
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

/** The watches of all sessions. Each session asks its models on its own. */
export class ModelWatches {
  readonly #create: (session: string) => ModelWatch
  readonly #watches = new Map<string, ModelWatch>()

  constructor(find: (session: string) => FoldedLog | undefined, fail: (failure: Error) => void, nowMs: () => number) {
    this.#create = (session) => new ModelWatch(() => find(session), fail, nowMs)
  }

  of(session: string): ModelWatch {
    const known = this.#watches.get(session) ?? this.#create(session)
    this.#watches.set(session, known)
    return known
  }

  /** Called when a model is asked. */
  begin(process: SimulatedProcess, model: string, request: ModelRequest, signal: AbortSignalLike): SaidSink {
    return this.of(request.session).begin(process, model, request, signal)
  }

  /** Number of requests compared. */
  get compared(): number {
    return [...this.#watches.values()].reduce((sum, { compared }) => sum + compared, 0)
  }

  /** Called when this process's host was stopped in an orderly way. */
  checkStopped(process: SimulatedProcess): void {
    for (const watch of this.#watches.values()) watch.checkStopped(process)
  }
}

export class ModelWatch {
  /** Number of requests compared. */
  compared = 0
  readonly #log: () => FoldedLog | undefined
  readonly #fail: (failure: Error) => void
  /** Client tools of the latest attempt, as of its start. */
  #clientTools: readonly string[] = []
  /** By attempt: what the model said, and how much of it is in the log. */
  readonly #said = new Map<number, string>()
  readonly #kept = new Map<number, number>()
  /** Calls that have started and not ended, with their process. */
  readonly #running = new Map<AbortSignalLike, SimulatedProcess>()

  /** When the signals of running calls were aborted, in simulated time. */
  readonly #abortedMs = new Map<AbortSignalLike, number>()
  readonly #nowMs: () => number

  constructor(log: () => FoldedLog | undefined, fail: (failure: Error) => void, nowMs: () => number) {
    this.#log = log
    this.#fail = fail
    this.#nowMs = nowMs
  }

  /** Notes records that were stored together; the log has folded them. */
  noteStored(records: readonly SessionRecord[]): void {
    for (const { facts } of records)
      for (const fact of facts)
        if (fact.type === 'model-started') this.#clientTools = this.#listClientTools()
        else if (fact.type === 'attempt-progressed') this.#compareText(fact)
  }

  #listClientTools(): readonly string[] {
    const log = this.#log()
    return log ? listClientTools(log.state).map(({ name }) => name) : []
  }

  begin(process: SimulatedProcess, model: string, request: ModelRequest, signal: AbortSignalLike): SaidSink {
    const attempt = this.#log()?.state.attempt
    // A call given up before it began asks about the past.
    const issue = attempt && !signal.aborted ? this.#compareRequest(model, request) : undefined
    const number = attempt?.attempt ?? 0
    const beganMs = this.#nowMs()
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
        // The log was ahead: the process gives such a call up as soon as it learns of the record, if it runs that long.
        if (issue !== undefined && this.#nowMs() > beganMs && this.#abortedMs.get(signal) !== beganMs)
          this.#fail(new Error(issue))
        this.#running.delete(signal)
        this.#abortedMs.delete(signal)
      },
    }
  }

  /** Model calls of living processes that were not given up. */
  running(): readonly SimulatedProcess[] {
    return [...this.#running].flatMap(([signal, process]) => (!signal.aborted && process.isAlive() ? [process] : []))
  }

  /** Called when this process's host was stopped in an orderly way. */
  checkStopped(process: SimulatedProcess): void {
    const left = this.running().filter((one) => one === process).length
    if (left > 0) this.#fail(new Error(`the host stopped, but ${left} model calls are still running`))
  }

  /**
   * One call at a time, counted until it settles: the wait for an aborted call is limited to the time an abort may
   * take.
   */
  #checkAlone(process: SimulatedProcess, attempt: number): void {
    const nowMs = this.#nowMs()
    for (const [signal, other] of this.#running) {
      const abortedMs = this.#abortedMs.get(signal)
      if (other === process && process.isAlive() && (abortedMs === undefined || nowMs - abortedMs < ABORT_MS))
        this.#fail(new Error(`attempt ${attempt} is asked while another model call of the session runs`))
    }
  }

  /** Returns how a request differs from the log. */
  #compareRequest(model: string, { messages, tools, toolChoice }: ModelRequest): string | undefined {
    const log = this.#log()
    if (!log) return undefined
    const { state, history } = log
    const { attempt } = state
    if (!attempt || state.phase !== 'modelling') return undefined
    this.compared += 1
    const stored = history.messages(attempt.fromEntry, attempt.toEntry)
    const isNoted =
      attempt.choice === 'none' || state.turn?.askedAgain === true || tellsRepeats(messages.at(-1), stored)
    const notes = isNoted ? 1 : 0
    const expected = describe(stored)
    const asked = describe(
      messages.slice(0, messages.length - notes).map((message, at) => restore(message, stored[at])),
    )
    if (model !== attempt.model) return `${model} is asked instead of ${attempt.model}`
    if (toolChoice.type !== attempt.choice) return `tools are ${toolChoice.type}, not ${attempt.choice}`
    if (asked !== expected) return `attempt ${attempt.attempt} differs from the log:\n${asked}\n${expected}`
    const names = new Set(tools.map(({ name }) => name))
    const missing = this.#clientTools.filter((name) => !names.has(name))
    return missing.length > 0 ? `attempt ${attempt.attempt} lacks tools: ${missing.join(', ')}` : undefined
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
    // Half of a surrogate pair waits for its other half, or is replaced if that does not arrive.
    const said = (this.#said.get(attempt) ?? '').toWellFormed()
    if (offset !== kept || said.slice(offset, offset + text.length) !== text)
      this.#fail(new Error(`attempt ${attempt} said "${said}"; the log has "${text}" at ${offset}, after ${kept}`))
    this.#kept.set(attempt, offset + text.length)
  }
}

/** Whether the request ends with the note about repeated calls, and there were some. */
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

/** Restores a result that the request shortened to its beginning and a note on how to read the rest. */
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

/** Describes pictures by type only: a request holds their bytes, the log their handles. */
function describe(messages: readonly (Message | StoredMessage)[]): string {
  return JSON.stringify(messages, (key, value: unknown) => (key === 'source' ? undefined : value))
}
