// The clients of one handle: those that it made of its program, and those that a front carries, whose reports pass here.
import type { Accepted, Client, ClientHandlers, Decoded, Principal, Refused } from '@baton/core/internal'
import { BatonError, decodeClientReport, parseJson } from '@baton/core/internal'
import type { ClientReport, OpenCall, Outcome } from '@baton/core/machine'
import { findCall, offeredCalls } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { checkClientTools, SessionClient } from './session-client.ts'
import { describeThrown } from '../describe-thrown.ts'
import { storeMediaOrSay } from '../work/media.ts'
import { describeToolFailure, toClientOutcome } from '../work/tool-result.ts'
import type { EventReader } from './reader.ts'
import { openEvents } from './reader.ts'
import { submit, bringsBytes, checkResult } from './submit.ts'

export interface SessionClientsOptions {
  readonly engine: SessionEngine
  readonly principal: Principal
  readonly newId: () => string
}

export class SessionClients {
  readonly #init: SessionClientsOptions
  /** Clients of the program by connection. */
  readonly #clients = new Map<string, Client>()
  /** Connections of a front's clients that were attached through this handle. */
  readonly #connections = new Set<string>()
  #closed = false
  /** Never rejects. Set while a result is validated by an asynchronous schema, or its media are stored. */
  #checking: Promise<void> | undefined

  constructor(init: SessionClientsOptions) {
    this.#init = init
  }

  /**
   * @throws BatonError `session_closed` after `detachAll`, `rate_limited`, `invalid_event` for a handler that is not a function,
   * `invalid_option` for a handler of a tool that no client runs
   */
  async attach(handlers?: ClientHandlers): Promise<Client> {
    if (handlers === undefined) return await this.#attachFor({})
    checkHandlers(handlers)
    const tools = Object.keys(handlers)
    checkClientTools(this.#init.engine.world, tools)
    return await this.#attachFor(handlers, tools)
  }

  /** Decodes the report of a front's client, and refuses it if that client was attached through another handle. */
  decode(input: unknown): Decoded<ClientReport> {
    const decoded = decodeClientReport(input)
    if (!decoded.ok) return decoded
    const report = decoded.value
    const state = this.#init.engine.state()
    const { clients } = state
    if (report.type === 'client-attached') {
      const refused = refuseStranger(this.#init.principal, report.principal)
      if (refused) return refused
      const isTaken = clients.some(({ connection }) => connection === report.connection)
      if (isTaken && !this.#connections.has(report.connection)) return refuseClient(report.connection)
      this.#connections.add(report.connection)
      return decoded
    }
    // A report that does not name its connection comes from the client that holds the call.
    const callId = 'callId' in report ? report.callId : undefined
    const holder = callId === undefined ? undefined : findCall(state, callId)?.offer?.connection
    const connection = 'connection' in report ? report.connection : holder
    return connection === undefined || this.#connections.has(connection) ? decoded : refuseClient(connection)
  }

  /** Keeps reports in order, even behind a result that is still being validated or stored. */
  report(report: ClientReport): Promise<Accepted | Refused> {
    const { engine } = this.#init
    const before = this.#checking
    const checked = report.type === 'tool-result' ? checkResult(engine, report) : report
    if (!before && !('then' in checked) && !bringsBytes(checked)) return submit(engine, checked)
    const answer = Promise.all([checked, before]).then(([ready]) => submit(engine, ready))
    const done = answer.then(ignore, ignore).then(() => {
      if (this.#checking === done) this.#checking = undefined
    })
    this.#checking = done
    return answer
  }

  /** Detaches all clients permanently. */
  async detachAll(): Promise<void> {
    this.#closed = true
    for (const client of this.#clients.values()) await client.detach()
  }

  async #attachFor(handlers: ClientHandlers, tools?: readonly string[]): Promise<Client> {
    const { engine, principal, newId } = this.#init
    if (this.#closed) throw createClosedError()
    const connection = `program-${newId()}`
    const onDetach = (): void => void this.#clients.delete(connection)
    const client = await attachProgramClient({
      engine,
      principal,
      handlers,
      connection,
      onDetach,
      ...(tools && { tools }),
    })
    if (this.#closed) {
      await client.detach() // attached after `detachAll`, which no longer sees it
      throw createClosedError()
    }
    this.#clients.set(connection, client)
    return client
  }
}

function ignore(): void {}

/** A handle speaks for its own principal. */
export function refuseStranger({ id }: Principal, principal: string): Decoded<never> | undefined {
  return principal === id ? undefined : refuse(`this handle speaks for "${id}", not for "${principal}"`)
}

function refuseClient(connection: string): Decoded<never> {
  return refuse(`the client "${connection}" was not attached through this handle`)
}

function refuse(message: string): Decoded<never> {
  return { ok: false, refusal: { code: 'unauthorized', message } }
}

/** @throws BatonError `invalid_event` */
function checkHandlers(handlers: unknown): void {
  const isObject = typeof handlers === 'object' && handlers !== null
  const wrong = isObject ? Object.entries(handlers).find(([, handler]) => typeof handler !== 'function') : undefined
  if (isObject && !wrong) return
  const message = wrong
    ? `the handler of "${wrong[0].slice(0, 100)}" must be a function, not ${typeof wrong[1]}`
    : `handlers must be an object of functions by tool name, not ${typeof handlers}`
  const hint = "Write attach({ 'app.place': () => ({ city: 'Oslo' }) }), with the names of your client tools."
  throw new BatonError({ code: 'invalid_event', message, hint })
}

export function createClosedError(): BatonError {
  return new BatonError({ code: 'session_closed', message: 'this session was closed here' })
}

interface ProgramClientOptions {
  readonly engine: SessionEngine
  readonly principal: Principal
  readonly handlers: ClientHandlers
  readonly connection: string
  /** Client tools whose calls it takes; all if absent. */
  readonly tools?: readonly string[]
  readonly onDetach: () => void
}

interface ClientState extends ProgramClientOptions {
  readonly client: SessionClient
  reader: EventReader
  detached: boolean
}

/** @throws BatonError if the session has too many clients */
export async function attachProgramClient(init: ProgramClientOptions): Promise<Client> {
  const { engine, principal, connection, tools } = init
  const client = new SessionClient({ engine, principal, init: { client: connection, ...(tools && { runs: tools }) } })
  // Opened before attaching, so that no offer is missed.
  const state: ClientState = { ...init, client, reader: openEvents(engine, READING), detached: false }
  try {
    await client.renew()
  } catch (cause) {
    state.reader.leave()
    throw cause
  }
  // Closing the session ends the reading; a handler's failure is a result.
  serve(state).catch(() => state.reader.leave())
  return {
    connection,
    calls: () => client.calls(),
    claim: (callId) => client.claim(callId),
    result: (callId, outcome) => client.result(callId, outcome),
    detach: async () => {
      if (state.detached) return
      state.detached = true
      init.onDetach()
      state.reader.leave()
      // A closed session has no clients.
      await client.detach().catch(() => {})
    },
  }
}

async function serve(state: ClientState): Promise<void> {
  for (let isBehind = false; !state.detached; isBehind = false) {
    const { reader, engine, connection } = state
    for (let batch = await reader.nextBatch(); batch; batch = await reader.nextBatch())
      for (const event of batch.events) {
        isBehind ||= event.type === 'behind'
        // The session was reopened under this program, which is still running and still answers.
        if (event.type === 'clients-gone' && !state.detached) await comeBack(state)
        if (event.type === 'call-offered' && event.client === connection) answer(state, event.callId, event.offer)
      }
    if (!isBehind || state.detached) return
    state.reader = openEvents(engine, READING)
    // It may have missed that the session was reopened.
    await comeBack(state)
    for (const { callId, state: phase, offer } of offeredCalls(engine.state()))
      if (phase === 'offered' && offer?.connection === connection) answer(state, callId, offer.number)
  }
}

/** A store that fails again restarts the session once more, and this program reads of it. Never rejects. */
async function comeBack({ client, engine, connection }: ClientState): Promise<void> {
  try {
    await client.renew()
  } catch (cause) {
    const about = { session: engine.session, client: connection, cause: describeThrown(cause) }
    engine.world.log.warn('the client of a program could not be attached again', about)
  }
}

const READING = { delivery: true } as const

/** A handler's failure is a result. Only a closed session rejects, and it no longer needs the answer. */
function answer(state: ClientState, callId: string, offer: number): void {
  handle(state, callId, offer).catch(() => {})
}

async function handle(state: ClientState, callId: string, offer: number): Promise<void> {
  const { client, engine, connection } = state
  const call = engine.history().openCall(callId)
  if (!call || call.settled || !Object.hasOwn(state.handlers, call.name)) return
  const claimed = await client.claim(callId, offer).catch(() => undefined) // another client was asked meanwhile
  if (!claimed || claimed.again) return
  const outcome = await runHandler(state, call)
  const result = await checkResult(engine, { type: 'tool-result', callId, connection, outcome })
  // The session accepts results only from attached clients.
  if (!state.detached) await client.renew()
  await submit(engine, result)
}

async function runHandler(state: ClientState, call: OpenCall): Promise<Outcome> {
  try {
    const parsed = parseJson(call.arguments)
    const value: unknown = await state.handlers[call.name]?.(parsed.ok ? parsed.value : {}, call)
    const world = state.engine.world
    const outcome = toClientOutcome(value, world.spec.limits)
    return { ...outcome, content: await storeMediaOrSay(state.engine.session, outcome.content, world) }
  } catch (thrown) {
    return describeToolFailure(thrown)
  }
}
