// A client without a connection: it holds a lease, fetches its calls, claims them and submits their results.
import type {
  Accepted,
  ClientClaim,
  LeaseClient,
  LeaseClientOptions,
  Principal,
  Refused,
  TakenResult,
} from '@baton/core/internal'
import { BatonError, decodeClientReport } from '@baton/core/internal'
import type { ClientReport, IgnoreReason, OpenCall, Outcome } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { insist } from '../engine.ts'
import { checkClientTools } from './clients.ts'
import { readResult, submitResult } from './submit-media.ts'

export interface LeaseClientParts {
  readonly engine: SessionEngine
  readonly principal: Principal
  readonly init: LeaseClientOptions
}

const LEASE_MS = 30_000
const TOOL_MS = 30_000

/**
 * @throws BatonError `invalid_event`, `invalid_option` for tools that no client runs, `rate_limited`, `unauthorized`
 */
export async function openLeaseClient(parts: LeaseClientParts): Promise<LeaseClient> {
  if (parts.init.runs) checkClientTools(parts.engine.world, parts.init.runs)
  const client = new Lease(parts)
  if (parts.init.onlyResults) return client
  await client.renew()
  await client.bringTools()
  return client
}

class Lease implements LeaseClient {
  readonly client: string
  readonly #parts: LeaseClientParts

  constructor(parts: LeaseClientParts) {
    this.client = parts.init.client
    this.#parts = parts
  }

  async renew(): Promise<void> {
    const { init, principal } = this.#parts
    const runs = init.onlyResults ? [] : init.runs
    await this.#report({
      type: 'client-attached',
      connection: this.client,
      principal: principal.id,
      sequential: false,
      claims: true,
      reportsPlayback: true,
      asks: init.asks ?? true,
      leaseMs: init.leaseMs ?? LEASE_MS,
      ...(runs && { tools: runs }),
    })
  }

  async bringTools(): Promise<void> {
    const { init, engine } = this.#parts
    const brings = engine.state().clientTools.some(({ connection }) => connection === this.client)
    // Tools of an earlier copy of the client are removed with it.
    const tools = init.tools ?? (brings ? [] : undefined)
    if (!tools) return
    const brought = tools.map(({ name, description, inputSchema, effect = 'once', timeoutMs = TOOL_MS }) => {
      const runs = { runs: 'client', parallel: true, onInterrupt: effect === 'pure' ? 'cancel' : 'finish' } as const
      return { name, description, inputSchema, effect, timeoutMs, ...runs }
    })
    await this.#report({ type: 'client-tools', connection: this.client, tools: brought })
  }

  calls(): readonly OpenCall[] {
    const { engine } = this.#parts
    const asked = engine.state().step?.calls.filter(({ state, offer }) => state === 'offered' && this.#isOwn(offer))
    return (asked ?? []).flatMap(({ callId }) => engine.history().openCall(callId) ?? [])
  }

  async claim(callId: string): Promise<ClientClaim> {
    const { engine } = this.#parts
    const offer = engine.state().step?.calls.find((call) => call.callId === callId)?.offer
    // The machine refuses a claim on another client's offer.
    const number = offer?.number ?? 0
    const { again } = await this.#report({ type: 'call-claimed', callId, connection: this.client, offer: number })
    const call = insist(engine.history().openCall(callId) ?? NO_CALL)
    return again ? { ...call, again } : call
  }

  async result(callId: string, outcome: Outcome): Promise<TakenResult> {
    const given = readResult(callId, this.client, outcome)
    const { engine } = this.#parts
    await this.#comeBack(callId)
    const accepted = insist(await submitResult(engine, given))
    const ignored = await findIgnored(engine, accepted.pos, callId)
    return ignored === undefined ? accepted : { ...accepted, ignored }
  }

  async release(): Promise<void> {
    // Detaching removes its tools. A lease that only expires leaves them for a client that reconnects.
    if (this.#parts.init.tools) await this.#report({ type: 'client-tools', connection: this.client, tools: [] })
    await this.#report({ type: 'client-detached', connection: this.client })
  }

  /** A session accepts results only from attached clients, so a client with an expired lease attaches again first. */
  async #comeBack(callId: string): Promise<void> {
    const { clients, step, recentCalls } = this.#parts.engine.state()
    const call = [...recentCalls, ...(step?.calls ?? [])].findLast((one) => one.callId === callId)
    const isForeign = !call || !this.#isOwn(call.offer)
    if (clients.some(({ connection }) => connection === this.client)) return
    if (!isForeign || this.#parts.init.onlyResults) await this.renew()
  }

  #isOwn(offer: { readonly connection: string } | null): boolean {
    return offer?.connection === this.client
  }

  /** Decodes the report: names and schemas come from the caller. @throws BatonError when it is refused */
  async #report(report: ClientReport): Promise<Accepted> {
    const decoded = decodeClientReport(report)
    if (!decoded.ok) throw new BatonError(decoded.refusal)
    const [answer = NO_CALL] = await this.#parts.engine.submit([decoded.value])
    return insist(answer)
  }
}

/** Why the record at a position ignores a result; undefined if it accepts it. */
async function findIgnored(engine: SessionEngine, pos: number, callId: string): Promise<IgnoreReason | undefined> {
  const record = await engine.stream.recordAt(pos)
  const fact = record?.facts.find((one) => one.type === 'result-ignored' && one.callId === callId)
  return fact?.type === 'result-ignored' ? fact.reason : undefined
}

const NO_CALL: Refused = { type: 'refused', code: 'call_over', message: 'there is no such open call' }
