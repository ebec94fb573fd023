// The Turn that `send` returns: it follows the session's frames until the turn that took its input has ended.
import type { Accepted, Answer, Frame, Refused, SourcePart, Turn, TurnEvent, Usage } from '@baton/core'
import { ANSWER_SOURCES_MAX, BatonError } from '@baton/core'
import type { Fact, OpenCall } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { NO_ANSWER } from '../engine.ts'
import type { FrameReader } from './frame-reader.ts'

export interface TurnInit {
  readonly inputId: string
  readonly engine: Pick<SessionEngine, 'follow' | 'history' | 'world'>
  /** Registered before the input is submitted, so that no frame is missed. */
  readonly frames: FrameReader
  /** The answer to the input, the first of its batch. */
  readonly accepted: Promise<readonly (Accepted | Refused)[]>
}

export function followTurn(init: TurnInit): Turn {
  const events = new TurnEvents()
  const answer = follow(init, events).finally(() => events.end())
  // Who only reads the events must not be punished for a turn that fails.
  answer.catch(() => {})
  return { id: init.inputId, events, answer }
}

async function follow(init: TurnInit, events: TurnEvents): Promise<Answer> {
  const { output } = init.engine.world
  const followed = readTurn(init, events)
  followed.catch(() => {})
  try {
    const [outcome = NO_ANSWER] = await init.accepted
    if (outcome.type === 'refused') throw new BatonError({ code: outcome.code, message: outcome.message })
  } catch (cause) {
    init.frames.leave() // there is no turn to wait for
    throw cause
  }
  const answer = await followed
  if (!output || answer.outcome !== 'answered') return answer
  return { ...answer, output: await output.read(answer.text) }
}

async function readTurn(init: TurnInit, events: TurnEvents): Promise<Answer> {
  const seen: Seen = {
    mine: false,
    attempt: 0,
    textChars: 0,
    reasoningChars: 0,
    usage: undefined,
    sources: new Map(),
  }
  let reader = init.frames
  try {
    for (let batch = await reader.nextBatch(); batch; batch = await reader.nextBatch())
      for (const frame of batch) {
        // Frames were lost, and this was the last one of its reader.
        if (frame.type === 'lagged') reader = init.engine.follow(frame.pos)
        const answer = readFrame(init, seen, frame, events)
        if (answer) return answer
      }
  } finally {
    reader.leave()
  }
  throw new BatonError({ code: 'session_closed', message: 'the session was closed before the turn ended' })
}

function readFrame(init: TurnInit, seen: Seen, frame: Frame, events: TurnEvents): Answer | undefined {
  if (frame.type === 'fact') return readFact(init, seen, frame.fact, events)
  if (!seen.mine) return undefined
  if (frame.type === 'tool-progress') events.push(frame)
  if (frame.type === 'server-tool') events.push({ type: frame.type, name: frame.name, status: frame.status })
  if (frame.type !== 'text-delta' && frame.type !== 'reasoning-delta') return undefined
  if (seen.attempt !== frame.attempt) {
    seen.attempt = frame.attempt
    seen.textChars = 0
    seen.reasoningChars = 0
  }
  // A reader that reads again is told once more what the running attempt has said.
  const field = frame.type === 'text-delta' ? 'textChars' : 'reasoningChars'
  const known = seen[field] - frame.offset
  const text = known > 0 ? frame.text.slice(known) : frame.text
  seen[field] = Math.max(seen[field], frame.offset + frame.text.length)
  if (text !== '') events.push({ type: frame.type, text })
  return undefined
}

interface Seen {
  /** The newest attempt of which something was told, and how many UTF-16 units of it. */
  attempt: number
  textChars: number
  reasoningChars: number
  /** The input entered: from here on the running turn is this one. */
  mine: boolean
  /** Of the steps so far. */
  usage: Usage | undefined
  /** What they cite, each once, by its words. */
  readonly sources: Map<string, SourcePart>
}

function readFact(init: TurnInit, seen: Seen, fact: Fact, events: TurnEvents): Answer | undefined {
  if (fact.type === 'inputs-entered') seen.mine ||= fact.entries.some((entry) => entry.inputs.includes(init.inputId))
  if (!seen.mine) return undefined
  switch (fact.type) {
    case 'attempt-superseded':
      events.push({ type: 'attempt-superseded', reason: fact.reason })
      break
    case 'step-finished':
      seen.usage = addUsage(seen.usage, fact.usage)
      for (const part of fact.parts) {
        if (part.type !== 'source' || seen.sources.size >= ANSWER_SOURCES_MAX) continue
        const { id: _, ...said } = part
        const cited = JSON.stringify([said.url, said.title, said.mediaType, said.quote])
        // Each step numbers its own.
        if (!seen.sources.has(cited)) seen.sources.set(cited, { ...said, id: `source-${seen.sources.size + 1}` })
      }
      for (const { callId } of fact.calls) {
        const call = init.engine.history().openCall(callId) ?? describeClosedCall(fact, callId)
        if (call) events.push({ type: 'call-proposed', call })
      }
      break
    case 'approval-requested':
      events.push({
        type: 'approval-requested',
        approvalId: fact.approvalId,
        callId: fact.callId,
        expiresAtMs: fact.expiresAtMs,
      })
      break
    case 'question-asked': {
      const { questionId, callId, message, schema, expiresAtMs } = fact
      events.push({ type: 'question-asked', question: { questionId, callId, message, schema, expiresAtMs } })
      break
    }
    case 'call-settled':
      events.push({ type: 'call-settled', callId: fact.callId, settlement: fact.settlement })
      break
    case 'turn-finished': {
      const { outcome, text, error } = fact
      events.push({ type: 'turn-finished', outcome, text })
      if (outcome === 'failed')
        throw new BatonError({ code: error?.code ?? 'internal', message: error?.message ?? 'the turn failed' })
      const sources = [...seen.sources.values()]
      return { outcome, text, usage: seen.usage ?? {}, ...(sources.length > 0 && { sources }) }
    }
    default:
      break
  }
  return undefined
}

function describeClosedCall(
  fact: Extract<Fact, { readonly type: 'step-finished' }>,
  callId: string,
): OpenCall | undefined {
  const part = fact.parts.find((candidate) => candidate.type === 'call' && candidate.callId === callId)
  return part?.type === 'call' ? { callId, name: part.name, arguments: part.arguments, settled: true } : undefined
}

/** A sum of costs of which one is not known is not known either. */
function addUsage(one: Usage | undefined, other: Usage): Usage {
  if (!one) return other
  const { costMicros: _, ...sum }: Record<string, number> = { ...one }
  for (const [key, value] of Object.entries(other))
    if (typeof value === 'number' && key !== 'costMicros') sum[key] = (sum[key] ?? 0) + value
  if (one.costMicros === undefined || other.costMicros === undefined) return sum
  return { ...sum, costMicros: one.costMicros + other.costMicros }
}

/** The events of one turn. Text that nobody reads is joined, so an unread turn holds no more than its answer. */
class TurnEvents implements AsyncIterable<TurnEvent> {
  #waiting: TurnEvent[] = []
  /** What was taken and is being handed out. */
  #batch: readonly TurnEvent[] = []
  #handedOut = 0
  #ended = false
  /** Shared by all who wait: several iterators share the events, and none of them hangs at the end. */
  #wake: PromiseWithResolvers<void> | undefined

  push(event: TurnEvent): void {
    const last = this.#waiting.at(-1)
    if (last?.type === 'text-delta' && event.type === 'text-delta')
      this.#waiting[this.#waiting.length - 1] = { type: 'text-delta', text: last.text + event.text }
    else if (last?.type === 'reasoning-delta' && event.type === 'reasoning-delta')
      this.#waiting[this.#waiting.length - 1] = { type: 'reasoning-delta', text: last.text + event.text }
    else {
      // Of a call's progress only the newest counts; a tool may report for as long as it likes.
      if (event.type === 'tool-progress')
        this.#waiting = this.#waiting.filter((other) => !isProgress(other, event.callId))
      this.#waiting.push(event)
    }
    this.#wake?.resolve()
    this.#wake = undefined
  }

  end(): void {
    this.#ended = true
    this.#wake?.resolve()
    this.#wake = undefined
  }

  /** Not a generator: that would make three promises for each event. */
  [Symbol.asyncIterator](): AsyncIterator<TurnEvent, undefined> {
    let left = false
    return {
      next: () => (left ? Promise.resolve(END) : this.#next()),
      return: () => {
        left = true
        return Promise.resolve(END)
      },
    }
  }

  async #next(): Promise<IteratorResult<TurnEvent, undefined>> {
    for (;;) {
      const event = this.#batch[this.#handedOut]
      this.#handedOut += 1
      if (event) return { done: false, value: event }
      this.#batch = this.#waiting
      this.#waiting = []
      this.#handedOut = 0
      if (this.#batch.length > 0) continue
      if (this.#ended) return END
      this.#wake ??= Promise.withResolvers()
      await this.#wake.promise
    }
  }
}

const END = { done: true, value: undefined } as const

function isProgress(event: TurnEvent, callId: string): boolean {
  return event.type === 'tool-progress' && event.callId === callId
}
