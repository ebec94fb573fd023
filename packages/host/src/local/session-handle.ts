// A session as programs and fronts hold it: the Session API over a slot of the host.
import type {
  Accepted,
  ApprovalDecision,
  Client,
  ClientHandlers,
  ContentPart,
  Cursor,
  Frame,
  Principal,
  Refused,
  SendOptions,
  Session,
  Turn,
  UserInput,
} from '@baton/core'
import { BatonError } from '@baton/core'
import type { Input, OpenCall, Outcome } from '@baton/core/machine'
import type { FrameReader } from './bounded-frames.ts'
import { SessionClients } from './session-clients.ts'
import type { SessionSlot } from './session-slot.ts'
import { followTurn } from './turn.ts'

export interface HandleInit {
  readonly slot: SessionSlot
  readonly principal: Principal
  readonly newId: () => string
  readonly onClose: () => void
}

export function createSessionHandle(init: HandleInit): Session {
  return new SessionHandle(init)
}

class SessionHandle implements Session {
  readonly id: string
  readonly #init: HandleInit
  readonly #clients: SessionClients
  /** Those that have not ended. */
  readonly #readers = new Set<FrameReader>()
  #closed = false

  constructor(init: HandleInit) {
    this.id = init.slot.session
    this.#init = init
    this.#clients = new SessionClients(init)
  }

  get phase(): Session['phase'] {
    return this.#init.slot.actor().state().phase
  }

  send(input: UserInput, options: SendOptions = {}): Turn {
    const { slot, newId } = this.#init
    const inputId = options.inputId ?? newId()
    const said = saidBy(input, inputId, options)
    // An input that was sent before: its turn may be over already, so it is read from where it was accepted.
    const frames = slot.read(options.inputId === undefined ? undefined : seenAt(slot, inputId))
    const accepted = this.#closed ? Promise.resolve(CLOSED) : slot.actor().submit(said)
    return followTurn({
      inputId,
      frames,
      readAgain: (pos) => slot.read(pos),
      accepted,
      openCall: (callId) => this.openCall(callId),
      output: slot.output,
    })
  }

  submit(input: Input): Promise<Accepted | Refused> {
    return this.#closed ? Promise.resolve(CLOSED) : this.#init.slot.actor().submit(input)
  }

  async interrupt({ reason = 'interrupt', heard }: Parameters<Session['interrupt']>[0] = {}): Promise<void> {
    const outcome = await this.submit({ type: 'interrupt', reason, heard: heard ?? { type: 'all' } })
    if (outcome.type === 'refused') throw new BatonError({ code: outcome.code, message: outcome.message })
  }

  attach(handlers?: ClientHandlers): Promise<Client> {
    return this.#clients.attach(handlers)
  }

  toolResult(callId: string, outcome: Outcome): Promise<Accepted | Refused> {
    return this.#clients.toolResult(callId, outcome)
  }

  approve(callId: string, decision: ApprovalDecision): Promise<Accepted | Refused> {
    return this.submit(approvalOf(this.#init, callId, decision))
  }

  frames(cursor?: Cursor): AsyncIterable<Frame> {
    const reader = this.#init.slot.read(cursor?.pos, (ended) => this.#readers.delete(ended))
    if (this.#closed) reader.leave()
    else this.#readers.add(reader)
    return reader
  }

  openCall(callId: string): OpenCall | undefined {
    return this.#init.slot.actor().history().openCall(callId)
  }

  lastTurn(): ReturnType<Session['lastTurn']> {
    return this.#init.slot.actor().history().lastTurn()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    for (const reader of this.#readers) reader.leave()
    await this.#clients.detachAll()
    this.#init.onClose()
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
    approvalId: call?.approval?.id ?? '',
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
