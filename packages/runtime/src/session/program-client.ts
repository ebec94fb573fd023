// This program as the client that runs the agent's client tools: a client that serves its calls with handlers.
import type { Client, ClientHandlers, Principal } from '@baton/core/internal'
import { parseJson } from '@baton/core/internal'
import type { Fact, OpenCall, Outcome } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { submitAlone } from '../engine.ts'
import { storeMediaOrSay } from '../work/media.ts'
import { describeToolFailure, toClientOutcome } from '../work/tool-result.ts'
import type { FrameReader } from './frame-reader.ts'
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
  reader: FrameReader
  detached: boolean
}

/** @throws BatonError if the session has too many clients */
export async function attachProgramClient(init: ProgramClientOptions): Promise<Client> {
  const { engine, principal, connection, tools } = init
  const client = new SessionClient({ engine, principal, init: { client: connection, ...(tools && { runs: tools }) } })
  // Opened before attaching, so that no offer is missed.
  const state: ClientState = { ...init, client, reader: engine.follow(), detached: false }
  try {
    await client.renew()
  } catch (cause) {
    state.reader.leave()
    throw cause
  }
  // Closing the session ends the reading; a handler's failure is a result.
  serve(state).catch(() => {})
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
  for (let lagged = false; !state.detached; lagged = false) {
    const { reader } = state
    for (let batch = await reader.nextBatch(); batch; batch = await reader.nextBatch())
      for (const frame of batch) {
        if (frame.type === 'lagged') {
          state.reader = state.engine.follow(frame.pos)
          lagged = true
        } else if (frame.type === 'fact') await serveFact(state, frame.fact)
      }
    if (!lagged) return
  }
}

async function serveFact(state: ClientState, fact: Fact): Promise<void> {
  // The session was reopened under this program, which is still running and still answers.
  if (fact.type === 'host-restarted' && !state.detached) await state.client.renew()
  if (fact.type !== 'call-offered' || fact.connection !== state.connection) return
  // A handler's failure is a result. Only a closed session rejects, and it no longer needs the answer.
  handle(state, fact.callId, fact.offer).catch(() => {})
}

async function handle(state: ClientState, callId: string, offer: number): Promise<void> {
  const { client, engine, connection } = state
  const call = engine.history().openCall(callId)
  if (!call || call.settled || !Object.hasOwn(state.handlers, call.name)) return
  const claimed = await client.claim(callId, offer).catch(() => undefined) // another client was asked meanwhile
  if (!claimed) return
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
