// The Turn that `send` returns: it follows the session's frames until the turn that took its input has ended.
import type { Answer, Frame, Refused, Turn, TurnEvent, Usage } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Fact, OpenCall } from '@baton/core/machine'
import type { OutputReader } from '../work/output.ts'
import type { FrameReader } from './frame-reader.ts'
import { createTurnEvents } from './turn-events.ts'

export interface TurnInit {
  readonly inputId: string
  /** Registered before the input is submitted, so that no frame is missed. */
  readonly frames: FrameReader
  /** For a turn that said too much at once: the frames from `pos` on. */
  readonly readAgain: (pos: number) => FrameReader
  readonly accepted: Promise<{ readonly type: 'accepted' } | Refused>
  readonly openCall: (callId: string) => OpenCall | undefined
  /** Of an agent with an output schema. */
  readonly output: OutputReader | undefined
}

export function followTurn(init: TurnInit): Turn {
  const events = createTurnEvents()
  const answer = follow(init, (event) => events.push(event)).finally(() => events.end())
  // Who only reads the events must not be punished for a turn that fails.
  answer.catch(() => {})
  return { id: init.inputId, events, answer }
}

async function follow(init: TurnInit, push: (event: TurnEvent) => void): Promise<Answer> {
  const followed = readTurn(init, push)
  followed.catch(() => {})
  try {
    const outcome = await init.accepted
    if (outcome.type === 'refused') throw new BatonError({ code: outcome.code, message: outcome.message })
  } catch (cause) {
    init.frames.leave() // there is no turn to wait for
    throw cause
  }
  const answer = await followed
  if (!init.output || answer.outcome !== 'answered') return answer
  return { ...answer, output: await init.output.read(answer.text) }
}

async function readTurn(init: TurnInit, push: (event: TurnEvent) => void): Promise<Answer> {
  const seen: Seen = { turn: 0, mine: false, attempt: 0, textChars: 0, reasoningChars: 0, usage: undefined }
  for (let reader: FrameReader | undefined = init.frames; reader;) {
    const read: ReaderEnd = await readOne(init, seen, reader, push)
    if (read.answer) return read.answer
    reader = read.lagged
  }
  throw new BatonError({ code: 'session_closed', message: 'the session was closed before the turn ended' })
}

interface ReaderEnd {
  readonly answer?: Answer
  /** Frames were lost: this one goes on. */
  readonly lagged?: FrameReader
}

async function readOne(
  init: TurnInit,
  seen: Seen,
  reader: FrameReader,
  push: (event: TurnEvent) => void,
): Promise<ReaderEnd> {
  try {
    for (let batch = await reader.nextBatch(); batch; batch = await reader.nextBatch())
      for (const frame of batch) {
        if (frame.type === 'lagged') return { lagged: init.readAgain(frame.pos) }
        const answer = readFrame(init, seen, frame, push)
        if (answer) return { answer }
      }
    return {}
  } finally {
    reader.leave()
  }
}

function readFrame(init: TurnInit, seen: Seen, frame: Frame, push: (event: TurnEvent) => void): Answer | undefined {
  if (frame.type === 'fact') return readFact(init, seen, frame.fact, push)
  if (!seen.mine) return undefined
  if (frame.type === 'text-delta' || frame.type === 'reasoning-delta') {
    const text = takeNewText(seen, frame)
    if (text !== '') push({ type: frame.type, text })
  } else if (frame.type === 'tool-progress') push(frame)
  return undefined
}

/** A reader that reads again is told once more what the running attempt has said. */
function takeNewText(seen: Seen, frame: Extract<Frame, { readonly type: 'text-delta' | 'reasoning-delta' }>): string {
  if (seen.attempt !== frame.attempt) {
    seen.attempt = frame.attempt
    seen.textChars = 0
    seen.reasoningChars = 0
  }
  const field = frame.type === 'text-delta' ? 'textChars' : 'reasoningChars'
  const text = frame.text.slice(Math.max(0, seen[field] - frame.offset))
  seen[field] = Math.max(seen[field], frame.offset + frame.text.length)
  return text
}

interface Seen {
  turn: number
  /** The newest attempt of which something was told, and how many UTF-16 units of it. */
  attempt: number
  textChars: number
  reasoningChars: number
  /** The input entered: from here on the running turn is this one. */
  mine: boolean
  /** Of the steps so far. */
  usage: Usage | undefined
}

function readFact(init: TurnInit, seen: Seen, fact: Fact, push: (event: TurnEvent) => void): Answer | undefined {
  if (fact.type === 'turn-started') seen.turn = fact.turn
  if (fact.type === 'inputs-entered') seen.mine ||= fact.entries.some((entry) => entry.inputs.includes(init.inputId))
  if (!seen.mine) return undefined
  switch (fact.type) {
    case 'attempt-superseded':
      push({ type: 'attempt-superseded', reason: fact.reason })
      break
    case 'step-finished':
      seen.usage = addUsage(seen.usage, fact.usage)
      for (const { callId } of fact.calls) {
        const call = init.openCall(callId) ?? describeClosedCall(fact, callId)
        if (call) push({ type: 'call-proposed', call })
      }
      break
    case 'approval-requested':
      push({
        type: 'approval-requested',
        approvalId: fact.approvalId,
        callId: fact.callId,
        expiresAtMs: fact.expiresAtMs,
      })
      break
    case 'question-asked': {
      const { questionId, callId, message, schema, expiresAtMs } = fact
      push({ type: 'question-asked', question: { questionId, callId, message, schema, expiresAtMs } })
      break
    }
    case 'call-settled':
      push({ type: 'call-settled', callId: fact.callId, settlement: fact.settlement })
      break
    case 'turn-finished': {
      const { outcome, text, error } = fact
      push({ type: 'turn-finished', outcome, text })
      if (outcome === 'failed')
        throw new BatonError({ code: error?.code ?? 'internal', message: error?.message ?? 'the turn failed' })
      return { outcome, text, usage: seen.usage ?? {} }
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
