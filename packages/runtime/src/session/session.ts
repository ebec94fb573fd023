// A session as programs and fronts hold it: the Session API over an engine, whatever the host is.
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
import type { SessionEngine } from '../engine.ts'
import { SessionClients } from './clients.ts'
import type { FrameReader } from './frame-reader.ts'
import { firstAnswer } from './first-answer.ts'
import { followTurn } from './turn.ts'

export interface SessionHandleInit {
  readonly engine: SessionEngine
  readonly principal: Principal
  readonly newId: () => string
}

export function createSession(init: SessionHandleInit): Session {
  return new SessionHandle(init)
}

class SessionHandle implements Session {
  readonly id: string
  readonly #init: SessionHandleInit
  readonly #clients: SessionClients
  /** Those that have not ended. */
  readonly #readers = new Set<FrameReader>()
  #closed = false

  constructor(init: SessionHandleInit) {
    this.id = init.engine.session
    this.#init = init
    this.#clients = new SessionClients(init)
  }

  get phase(): Session['phase'] {
    return this.#init.engine.state().phase
  }

  send(input: UserInput, options: SendOptions = {}): Turn {
    const { engine, newId } = this.#init
    const inputId = options.inputId ?? newId()
    const said = toUserInput(input, inputId, options)
    // An input that was sent before: its turn may be over already, so it is read from where it was accepted.
    const frames = engine.follow(options.inputId === undefined ? undefined : findAccepted(engine, inputId))
    const accepted = this.#closed ? Promise.resolve(CLOSED) : engine.submit([said]).then(firstAnswer)
    return followTurn({
      inputId,
      frames,
      readAgain: (pos) => engine.follow(pos),
      accepted,
      openCall: (callId) => this.openCall(callId),
      output: engine.world().output,
    })
  }

  submit(input: Input): Promise<Accepted | Refused> {
    return this.#closed ? Promise.resolve(CLOSED) : this.#init.engine.submit([input]).then(firstAnswer)
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
    return this.submit(createApproval(this.#init, callId, decision))
  }

  frames(cursor?: Cursor): AsyncIterable<Frame> {
    const reader = this.#init.engine.follow(cursor?.pos, (ended) => this.#readers.delete(ended))
    if (this.#closed) reader.leave()
    else this.#readers.add(reader)
    return reader
  }

  openCall(callId: string): OpenCall | undefined {
    return this.#init.engine.history().openCall(callId)
  }

  lastTurn(): ReturnType<Session['lastTurn']> {
    return this.#init.engine.history().lastTurn()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    for (const reader of this.#readers) reader.leave()
    await this.#clients.detachAll()
    await this.#init.engine.close()
  }
}

const CLOSED = { type: 'refused', code: 'session_closed', message: 'this session was closed here' } as const

function findAccepted(engine: SessionEngine, inputId: string): number | undefined {
  return engine.state().recentInputs.find((recent) => recent.inputId === inputId)?.pos
}

function createApproval({ engine, principal }: SessionHandleInit, callId: string, decision: ApprovalDecision): Input {
  const calls = engine.state().step?.calls
  const call = calls?.find((candidate) => candidate.callId === callId)
  return {
    type: 'approval',
    approvalId: call?.approval?.id ?? '',
    principal: decision.principal ?? principal.id,
    decision: decision.decision,
    ...(decision.reason !== undefined && { reason: decision.reason }),
  }
}

function toUserInput(input: UserInput, inputId: string, { delivery, model, settings }: SendOptions): Input {
  return {
    type: 'user-input',
    inputId,
    parts: toParts(input),
    ...(delivery && { delivery }),
    ...(model !== undefined && { model }),
    ...(settings && { settings }),
  }
}

function toParts(input: UserInput): readonly ContentPart[] {
  return typeof input === 'string' ? [{ type: 'text', text: input }] : input
}
