// A session as programs and fronts hold it: the Session API over a slot of the host.
import type {
  ApprovalDecision,
  ContentPart,
  Cursor,
  Frame,
  Principal,
  SendOptions,
  Session,
  UserInput,
} from '@baton/core'
import { BatonError } from '@baton/core'
import type { Input, OpenCall } from '@baton/core/machine'
import type { FrameReader } from './bounded-frames.ts'
import { createSessionClients } from './session-clients.ts'
import type { SessionSlot } from './session-slot.ts'
import { followTurn } from './turn.ts'

export interface HandleInit {
  readonly slot: SessionSlot
  readonly principal: Principal
  readonly newId: () => string
  readonly onClose: () => void
}

export function createSessionHandle(init: HandleInit): Session {
  const { slot, newId } = init
  const clients = createSessionClients(init)
  const readers = new Set<FrameReader>()
  let closed = false
  const lastTurn = (): ReturnType<Session['lastTurn']> => slot.actor().history().lastTurn()
  const openCall = (callId: string): OpenCall | undefined => slot.actor().history().openCall(callId)

  const submit = (input: Input) => (closed ? Promise.resolve(CLOSED) : slot.actor().submit(input))

  const send = (input: UserInput, options: SendOptions = {}) => {
    const inputId = options.inputId ?? newId()
    const said = saidBy(input, inputId, options)
    // An input that was sent before: its turn may be over already, so it is read from where it was accepted.
    const frames = slot.read(options.inputId === undefined ? undefined : seenAt(slot, inputId))
    const accepted = closed ? Promise.resolve(CLOSED) : slot.actor().submit(said)
    return followTurn({ inputId, frames, readAgain: slot.read, accepted, openCall, output: slot.output })
  }

  const frames = (cursor?: Cursor): AsyncIterable<Frame> => {
    const reader = slot.read(cursor?.pos)
    if (closed) reader.leave()
    else readers.add(reader)
    return reader
  }

  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    for (const reader of readers) reader.leave()
    readers.clear()
    await clients.detachAll()
    init.onClose()
  }

  return {
    id: slot.session,
    send,
    submit,
    interrupt: async ({ reason = 'interrupt', heard } = {}) => {
      const outcome = await submit({ type: 'interrupt', reason, heard: heard ?? { type: 'all' } })
      if (outcome.type === 'refused') throw new BatonError({ code: outcome.code, message: outcome.message })
    },
    attach: clients.attach,
    toolResult: clients.toolResult,
    approve: (callId, decision) => submit(approvalOf(init, callId, decision)),
    frames,
    openCall,
    lastTurn,
    get phase() {
      return slot.actor().state().phase
    },
    close,
  }
}

const CLOSED = { type: 'refused', code: 'session_closed', message: 'this session was closed here' } as const

function seenAt(slot: SessionSlot, inputId: string): number | undefined {
  return slot
    .actor()
    .state()
    .recentInputs.find((recent) => recent.inputId === inputId)?.pos
}

function approvalOf({ slot, principal }: HandleInit, callId: string, decision: ApprovalDecision): Input {
  const calls = slot.actor().state().step?.calls
  const call = calls?.find((candidate) => candidate.callId === callId)
  return {
    type: 'approval',
    callId,
    approvalId: call?.approval?.id ?? '',
    // A program in the same process is trusted: it needs no token of its own.
    tokenHash: call?.tokenHash ?? '',
    argumentsHash: call?.argumentsHash ?? '',
    principal: decision.principal ?? principal.id,
    decision: decision.decision,
    ...(decision.reason !== undefined && { reason: decision.reason }),
  }
}

function saidBy(input: UserInput, inputId: string, { delivery, model, settings }: SendOptions): Input {
  return {
    type: 'user-input',
    inputId,
    parts: partsOf(input),
    ...(delivery && { delivery }),
    ...(model !== undefined && { model }),
    ...(settings && { settings }),
  }
}

function partsOf(input: UserInput): readonly ContentPart[] {
  return typeof input === 'string' ? [{ type: 'text', text: input }] : input
}
