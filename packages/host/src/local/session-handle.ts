// A session as programs and fronts hold it: the Session API over a slot of the host.
import type {
  ApprovalDecision,
  Client,
  ClientHandlers,
  ContentPart,
  Cursor,
  Frame,
  Principal,
  SendOptions,
  Session,
  UserInput,
} from '@baton/core'
import { BatonError } from '@baton/core'
import type { Input, OpenCall, Outcome } from '@baton/core/machine'
import type { FrameReader } from './bounded-frames.ts'
import { attachClient } from './local-client.ts'
import type { SessionSlot } from './session-slot.ts'
import { followTurn } from './turn.ts'

export interface HandleInit {
  readonly slot: SessionSlot
  readonly principal: Principal
  readonly newId: () => string
  readonly onClose: () => void
}

export function createSessionHandle(init: HandleInit): Session {
  const { slot, principal, newId } = init
  const clients = new Set<Client>()
  const readers = new Set<FrameReader>()
  let closed = false
  const lastTurn = (): ReturnType<Session['lastTurn']> => slot.actor().history().lastTurn()
  const openCall = (callId: string): OpenCall | undefined => slot.actor().history().openCall(callId)

  const submit = (input: Input) => (closed ? Promise.resolve(CLOSED) : slot.actor().submit(input))

  const send = (input: UserInput, options: SendOptions = {}) => {
    const inputId = options.inputId ?? newId()
    const said = saidBy(input, inputId, options)
    // An input that was sent before: its turn may be over already, so it is read from where it was accepted.
    const { recentInputs } = slot.actor().state()
    const frames = slot.read(recentInputs.findLast((recent) => recent.inputId === inputId)?.pos)
    const accepted = closed ? Promise.resolve(CLOSED) : slot.actor().submit(said)
    return followTurn({ inputId, frames, readAgain: slot.read, accepted, openCall })
  }

  const attachFor = async (handlers: ClientHandlers, tools?: readonly string[]): Promise<Client> => {
    if (closed) throw new BatonError(CLOSED)
    const connection = `local-${newId()}`
    const client = await attachClient({ slot, principal, handlers, connection, ...(tools && { tools }) })
    clients.add(client)
    return client
  }
  const attach = (handlers?: ClientHandlers): Promise<Client> =>
    handlers ? attachFor(handlers, Object.keys(handlers)) : attachFor({})

  const toolResult = async (callId: string, outcome: Outcome) => {
    const asked = slot
      .actor()
      .state()
      .step?.calls.find((open) => open.callId === callId)?.offer?.connection
    const holder = [...clients].find(({ connection }) => connection === asked)
    if (holder) return await holder.toolResult(callId, outcome)
    const call = openCall(callId)
    if (!call || call.settled) return NO_CALL
    // Only for this tool: a program that answers one call by hand takes no others away from their clients.
    const client = await attachFor({}, [call.name])
    return await client.toolResult(callId, outcome)
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
    for (const client of clients) await client.detach()
    readers.clear()
    clients.clear()
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
    attach,
    toolResult,
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

const NO_CALL = { type: 'refused', code: 'illegal_input', message: 'there is no such open call' } as const
const CLOSED = { type: 'refused', code: 'session_closed', message: 'this session was closed here' } as const

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
