// A client of a session: attaches, fetches its calls, claims them and returns their results. Programs hold one without a
// lease, and fronts one with a lease for each device or page.
import type {
  Accepted,
  ClaimedCall,
  LeaseClient,
  LeaseClientOptions,
  Principal,
  Refused,
  TakenResult,
  Tool,
} from '@baton/core/internal'
import { BatonError, decodeClientReport, findDelegate, findNearName } from '@baton/core/internal'
import type { ClientReport, IgnoreReason, OpenCall, Outcome } from '@baton/core/machine'
import { findCall, offeredCalls } from '@baton/core/machine'
import type { SessionWorld } from '../catalog/catalog.ts'
import type { SessionEngine } from '../engine.ts'
import { checkResult, insist, readResult, submit } from './submit.ts'

export interface SessionClientParts {
  readonly engine: SessionEngine
  readonly principal: Principal
  readonly init: LeaseClientOptions
}

const LEASE_MS = 30_000
const TOOL_MS = 30_000

/**
 * @throws BatonError `invalid_event`, `invalid_option` for tools that no client runs, `rate_limited`, `unauthorized`
 */
export async function openLeaseClient(parts: SessionClientParts): Promise<LeaseClient> {
  if (parts.init.runs) checkClientTools(parts.engine.world, parts.init.runs)
  const client = new SessionClient({ ...parts, init: { ...parts.init, leaseMs: parts.init.leaseMs ?? LEASE_MS } })
  if (parts.init.onlyResults) return client
  const wasAttached = parts.engine.state().clients.some(({ connection }) => connection === client.connection)
  await client.renew()
  try {
    await client.bringTools()
  } catch (cause) {
    // Its app reads that it was refused, so no call may wait for it.
    if (!wasAttached) await client.detach().catch(() => {}) // its lease ends it
    throw cause
  }
  return client
}

/** Without `leaseMs` in `init` it stays attached until it detaches or its process dies. */
export class SessionClient implements LeaseClient {
  readonly connection: string
  readonly #parts: SessionClientParts
  #isDetached = false

  constructor(parts: SessionClientParts) {
    this.connection = parts.init.client
    this.#parts = parts
  }

  async renew(): Promise<void> {
    const { init, principal, engine } = this.#parts
    this.#isDetached = false
    const runs = init.onlyResults ? [] : (init.runs ?? (init.below ? listBelow(engine.world.tools) : undefined))
    await this.#report({
      type: 'client-attached',
      connection: this.connection,
      principal: principal.id,
      sequential: false,
      claims: true,
      reportsPlayback: true,
      asks: init.asks ?? true,
      ...(init.leaseMs !== undefined && { leaseMs: init.leaseMs }),
      ...(runs && { tools: runs }),
    })
  }

  async bringTools(): Promise<void> {
    const { init, engine } = this.#parts
    const brings = engine.state().clientTools.some(({ connection }) => connection === this.connection)
    // Tools of an earlier copy of the client are removed with it.
    const tools = init.tools ?? (brings ? [] : undefined)
    if (!tools) return
    const brought = tools.map(({ name, description, inputSchema, effect = 'once', timeoutMs = TOOL_MS }) => {
      const runs = { runs: 'client', parallel: true, onInterrupt: effect === 'pure' ? 'cancel' : 'finish' } as const
      return { name, description, inputSchema, effect, timeoutMs, ...runs }
    })
    await this.#report({ type: 'client-tools', connection: this.connection, tools: brought })
  }

  calls(): readonly OpenCall[] {
    const { engine } = this.#parts
    const asked = offeredCalls(engine.state()).filter(({ state, offer }) => state === 'offered' && this.#isOwn(offer))
    return asked.flatMap(({ callId }) => engine.history().openCall(callId) ?? [])
  }

  /** `offer`: the number of the offer that was seen; the current one by default. */
  async claim(callId: string, offer?: number): Promise<ClaimedCall> {
    const { engine } = this.#parts
    // The machine refuses a claim on another client's offer.
    const current = findCall(engine.state(), callId)?.offer?.number ?? 0
    const claim = { type: 'call-claimed', callId, connection: this.connection, offer: offer ?? current } as const
    const { again } = await this.#report(claim)
    const call = insist(engine.history().openCall(callId) ?? NO_CALL)
    return again ? { ...call, again } : call
  }

  async result(callId: string, outcome: Outcome): Promise<TakenResult> {
    const given = readResult(callId, this.connection, outcome)
    await this.#comeBack(callId)
    const taken = await this.#submitResult(given)
    if (taken.ignored !== 'foreign' || this.#isDetached || !this.#hasCall(callId)) return taken
    // The session was opened again meanwhile, which detaches its clients.
    await this.#comeBack(callId)
    return await this.#submitResult(given)
  }

  async detach(): Promise<void> {
    this.#isDetached = true
    // Detaching removes its tools. A lease that only expires leaves them for a client that reconnects.
    if (this.#parts.init.tools) await this.#report({ type: 'client-tools', connection: this.connection, tools: [] })
    await this.#report({ type: 'client-detached', connection: this.connection })
  }

  async #submitResult(given: ReturnType<typeof readResult>): Promise<TakenResult> {
    const { engine } = this.#parts
    const accepted = insist(await submit(engine, await checkResult(engine, given)))
    const ignored = await findIgnored(engine, accepted.pos, given.callId)
    return ignored === undefined ? accepted : { ...accepted, ignored }
  }

  /** A session accepts results only from attached clients, so a client with an expired lease attaches again first. */
  async #comeBack(callId: string): Promise<void> {
    const { clients } = this.#parts.engine.state()
    if (this.#isDetached || clients.some(({ connection }) => connection === this.connection)) return
    if (this.#hasCall(callId) || this.#parts.init.onlyResults) await this.renew()
  }

  #hasCall(callId: string): boolean {
    const state = this.#parts.engine.state()
    const call = [...state.recentCalls, ...offeredCalls(state)].findLast((one) => one.callId === callId)
    return call !== undefined && this.#isOwn(call.offer)
  }

  #isOwn(offer: { readonly connection: string } | null): boolean {
    return offer?.connection === this.connection
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

/** Levels of agents whose client tools a client may name. */
const TREE_LEVELS = 5

/** Names of the tools that clients run, of the agents that tools delegate to included. */
function listClientTools(tools: readonly Tool[], levels: number): readonly string[] {
  const names = tools.flatMap((tool): readonly string[] => {
    if (!tool.delegation) return tool.execute ? [] : [tool.name]
    return levels === 0 ? [] : listClientTools(findDelegate(tool.delegation).tools, levels - 1)
  })
  return [...new Set(names)]
}

/** All client tools of an agent that delegates; undefined for others, of which a client without a list runs all. */
function listBelow(tools: readonly Tool[]): readonly string[] | undefined {
  return tools.some(({ delegation }) => delegation) ? listClientTools(tools, TREE_LEVELS) : undefined
}

/**
 * Catches a misspelt name, whose calls would wait silently. With changing tools, an unknown name may appear later.
 * @throws BatonError `invalid_option` for a name that no client tool has
 */
export function checkClientTools({ tools, changes, agent }: SessionWorld, names: readonly string[]): void {
  const known = listClientTools(tools, TREE_LEVELS)
  const wrong = names.find((name) => !known.includes(name))
  if (wrong === undefined) return
  const shown = `"${wrong.slice(0, 100)}"`
  const isServers = tools.some(({ name }) => name === wrong)
  if (changes && !isServers) return
  const near = findNearName(known, wrong)
  throw new BatonError({
    code: 'invalid_option',
    message: isServers
      ? `the tool ${shown} of agent "${agent.name}" has its own execute: no client runs it`
      : `agent "${agent.name}" has no client tool ${shown}${near === undefined ? '' : `; did you mean "${near}"?`}`,
    hint:
      known.length > 0 ? `Its client tools are ${known.join(', ')}.` : 'It has no client tools: tools without execute.',
  })
}
