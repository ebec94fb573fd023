// This program as the client that runs the agent's client tools: a client that serves its calls with handlers.
import type { Client, ClientHandlers, Principal } from '@baton/core/internal'
import { parseJson } from '@baton/core/internal'
import type { OpenCall, Outcome } from '@baton/core/machine'
import { offeredCalls } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { describeThrown } from '../describe-thrown.ts'
import { submitAlone } from '../engine.ts'
import { storeMediaOrSay } from '../work/media.ts'
import { describeToolFailure, toClientOutcome } from '../work/tool-result.ts'
import type { EventReader } from './reader.ts'
import { openEvents } from './reader.ts'
import { SessionClient } from './session-client.ts'
import { checkResult } from './submit-media.ts'

export interface ProgramClientOptions {
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
  await submitAlone(engine, result)
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
