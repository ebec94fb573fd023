// This program as the client that runs the agent's client tools: claims a call, runs its handler, hands in the result.
import type { Client, ClientHandlers, Frame, Principal } from '@baton/core'
import { BatonError, parseJson } from '@baton/core'
import type { OpenCall, Outcome } from '@baton/core/machine'
import type { FrameReader } from './bounded-frames.ts'
import { contentOf, failureOf } from './bounded-result.ts'
import type { SessionSlot } from './session-slot.ts'

export interface LocalClientInit {
  readonly slot: SessionSlot
  readonly principal: Principal
  readonly handlers: ClientHandlers
  readonly connection: string
  /** The client tools that calls are taken of; absent: all. */
  readonly tools?: readonly string[]
  readonly onDetach: () => void
}

interface ClientState extends LocalClientInit {
  reader: FrameReader
  detached: boolean
}

/** @throws BatonError when the session takes no more clients */
export async function attachClient(init: LocalClientInit): Promise<Client> {
  const { slot, connection } = init
  // Read before the client is attached, so that no offer is missed.
  const state: ClientState = { ...init, reader: slot.read(undefined), detached: false }
  try {
    await register(state)
  } catch (cause) {
    state.reader.leave()
    throw cause
  }
  // A session that is closed ends the reading; a handler's failure is a result.
  serve(state).catch(() => {})
  return {
    connection,
    toolResult: (callId, outcome) => slot.actor().submit({ type: 'tool-result', callId, connection, outcome }),
    detach: async () => {
      if (state.detached) return
      state.detached = true
      init.onDetach()
      state.reader.leave()
      // Of a session that is closed nobody is a client.
      await slot
        .actor()
        .submit({ type: 'client-detached', connection })
        .catch(() => {})
    },
  }
}

/** Does nothing for a client that is attached. @throws BatonError when the session takes no more clients */
async function register({ slot, connection, principal, tools }: ClientState): Promise<void> {
  const attached = await slot.actor().submit({
    type: 'client-attached',
    connection,
    principal: principal.id,
    sequential: false,
    claims: true,
    reportsPlayback: true,
    asks: true,
    ...(tools && { tools }),
  })
  if (attached.type === 'refused') throw new BatonError({ code: attached.code, message: attached.message })
}

async function serve(state: ClientState): Promise<void> {
  for (let lagged = false; !state.detached; lagged = false) {
    for await (const frame of state.reader) {
      if (frame.type === 'lagged') {
        state.reader = state.slot.read(frame.pos)
        lagged = true
      } else await serveFrame(state, frame)
    }
    if (!lagged) return
  }
}

async function serveFrame(state: ClientState, frame: Frame): Promise<void> {
  if (frame.type !== 'fact') return
  // The session was opened again under this program, which is still there and still answers.
  if (frame.fact.type === 'host-restarted' && !state.detached) await register(state)
  if (frame.fact.type !== 'call-offered' || frame.fact.connection !== state.connection) return
  // A handler's failure is a result; only a session that is closed rejects, and it asks nothing any more.
  handle(state, frame.fact.callId, frame.fact.offer).catch(() => {})
}

async function handle(state: ClientState, callId: string, offer: number): Promise<void> {
  const { slot, connection } = state
  const call = slot.actor().history().openCall(callId)
  if (!call || call.settled || !Object.hasOwn(state.handlers, call.name)) return
  const claimed = await slot.actor().submit({ type: 'call-claimed', callId, connection, offer })
  if (claimed.type === 'refused') return
  const outcome = await runHandler(state, call)
  // Only an attached client is listened to.
  if (!state.detached) await register(state)
  await slot.actor().submit({ type: 'tool-result', callId, connection, outcome })
}

async function runHandler(state: ClientState, call: OpenCall): Promise<Outcome> {
  try {
    const parsed = parseJson(call.arguments)
    const value: unknown = await state.handlers[call.name]?.(parsed.ok ? parsed.value : {}, call)
    return { type: 'ok', content: contentOf(value) }
  } catch (thrown) {
    return failureOf(thrown)
  }
}
