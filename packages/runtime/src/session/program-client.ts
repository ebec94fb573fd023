// This program as the client that runs the agent's client tools: claims a call, runs its handler, submits the result.
import type { Client, ClientHandlers, Principal } from '@baton/core/internal'
import { parseJson } from '@baton/core/internal'
import type { OpenCall, Outcome } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { insist, submitAlone } from '../engine.ts'
import { storeMediaOrSay } from '../work/media.ts'
import { describeToolFailure, toClientOutcome } from '../work/tool-result.ts'
import type { EventReader } from './reader.ts'
import { openEvents } from './reading.ts'
import { checkResult, readResult, submitResult } from './submit-media.ts'

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
  reader: EventReader
  detached: boolean
}

/** @throws BatonError if the session has too many clients */
export async function attachProgramClient(init: ProgramClientOptions): Promise<Client> {
  const { engine, connection } = init
  // Opened before attaching, so that no offer is missed.
  const state: ClientState = { ...init, reader: openEvents(engine, READING), detached: false }
  try {
    await register(state)
  } catch (cause) {
    state.reader.leave()
    throw cause
  }
  // Closing the session ends the reading; a handler's failure is a result.
  serve(state).catch(() => state.reader.leave())
  return {
    connection,
    toolResult: async (callId, outcome) => insist(await submitResult(engine, readResult(callId, connection, outcome))),
    detach: async () => {
      if (state.detached) return
      state.detached = true
      init.onDetach()
      state.reader.leave()
      // A closed session has no clients.
      await submitAlone(engine, { type: 'client-detached', connection }).catch(() => {})
    },
  }
}

/** Does nothing if the client is already attached. @throws BatonError if the session has too many clients */
async function register({ engine, connection, principal, tools }: ClientState): Promise<void> {
  const attached = await submitAlone(engine, {
    type: 'client-attached',
    connection,
    principal: principal.id,
    sequential: false,
    claims: true,
    reportsPlayback: true,
    asks: true,
    ...(tools && { tools }),
  })
  insist(attached)
}

async function serve(state: ClientState): Promise<void> {
  for (let isBehind = false; !state.detached; isBehind = false) {
    const { reader, engine, connection } = state
    for (let batch = await reader.nextBatch(); batch; batch = await reader.nextBatch())
      for (const event of batch.events) {
        isBehind ||= event.type === 'behind'
        // The session was reopened under this program, which is still running and still answers.
        if (event.type === 'clients-gone' && !state.detached) await register(state)
        if (event.type === 'call-offered' && event.client === connection) answer(state, event.callId, event.offer)
      }
    if (!isBehind || state.detached) return
    state.reader = openEvents(engine, READING)
    // It may have missed that the session was reopened.
    await register(state)
    for (const { callId, state: phase, offer } of engine.state().step?.calls ?? [])
      if (phase === 'offered' && offer?.connection === connection) answer(state, callId, offer.number)
  }
}

const READING = { delivery: true } as const

/** A handler's failure is a result. Only a closed session rejects, and it no longer needs the answer. */
function answer(state: ClientState, callId: string, offer: number): void {
  handle(state, callId, offer).catch(() => {})
}

async function handle(state: ClientState, callId: string, offer: number): Promise<void> {
  const { engine, connection } = state
  const call = engine.history().openCall(callId)
  if (!call || call.settled || !Object.hasOwn(state.handlers, call.name)) return
  const claimed = await submitAlone(engine, { type: 'call-claimed', callId, connection, offer })
  if (claimed.type === 'refused' || claimed.again) return
  const outcome = await runHandler(state, call)
  const result = await checkResult(engine, { type: 'tool-result', callId, connection, outcome })
  // The session accepts results only from attached clients.
  if (!state.detached) await register(state)
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
