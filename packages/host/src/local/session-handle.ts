// A session as programs and fronts hold it: the Session API over a slot of the host.
import type {
  ApprovalDecision,
  Client,
  ClientHandlers,
  ContentPart,
  Principal,
  SendOptions,
  Session,
  UserInput,
} from '@baton/core'
import { BatonError } from '@baton/core'
import { attachClient } from './local-client.ts'
import type { OpenCall } from '@baton/core/machine'
import type { SessionSlot } from './session-slot.ts'
import { followTurn } from './turn.ts'

export interface HandleInit {
  readonly slot: SessionSlot
  readonly principal: Principal
  readonly newId: () => string
}

export function createSessionHandle(init: HandleInit): Session {
  const { slot, principal, newId } = init
  const clients = new Set<Client>()
  const openCall = (callId: string): OpenCall | undefined => slot.actor().history().openCall(callId)

  const send = (input: UserInput, options: SendOptions = {}) => {
    const inputId = options.inputId ?? newId()
    const { model, settings, delivery } = options
    // An input that was sent before: its turn may be over already, so it is read from where it was accepted.
    const seen = slot
      .actor()
      .state()
      .recentInputs.findLast((recent) => recent.inputId === inputId)
    const frames = slot.read(seen?.pos)
    const accepted = slot.actor().submit({
      type: 'user-input',
      inputId,
      parts: partsOf(input),
      ...(delivery && { delivery }),
      ...(model !== undefined && { model }),
      ...(settings && { settings }),
    })
    return followTurn({ inputId, frames, accepted, openCall })
  }

  const attach = async (handlers: ClientHandlers = {}): Promise<Client> => {
    const client = await attachClient({ slot, principal, handlers, connection: `local-${newId()}` })
    clients.add(client)
    return client
  }

  const approve = async (callId: string, decision: ApprovalDecision) => {
    const call = slot
      .actor()
      .state()
      .step?.calls.find((candidate) => candidate.callId === callId)
    return await slot.actor().submit({
      type: 'approval',
      callId,
      approvalId: call?.approval?.id ?? '',
      // A program in the same process is trusted: it needs no token of its own.
      tokenHash: call?.tokenHash ?? '',
      argumentsHash: call?.argumentsHash ?? '',
      principal: decision.principal ?? principal.id,
      decision: decision.decision,
      ...(decision.reason !== undefined && { reason: decision.reason }),
    })
  }

  return {
    id: slot.session,
    send,
    submit: (input) => slot.actor().submit(input),
    interrupt: async ({ reason = 'interrupt', heard } = {}) => {
      const outcome = await slot.actor().submit({ type: 'interrupt', reason, heard: heard ?? { type: 'all' } })
      if (outcome.type === 'refused') throw new BatonError({ code: outcome.code, message: outcome.message })
    },
    attach,
    approve,
    frames: (cursor) => slot.read(cursor?.pos),
    openCall: (callId) => openCall(callId),
    get phase() {
      return slot.actor().state().phase
    },
    close: async () => {
      for (const client of clients) await client.detach()
      clients.clear()
    },
  }
}

function partsOf(input: UserInput): readonly ContentPart[] {
  return typeof input === 'string' ? [{ type: 'text', text: input }] : input
}
