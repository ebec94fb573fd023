// This program as the client that runs the agent's client tools: claims a call, runs its handler, hands in the result.
import type { Client, ClientHandlers, Frame, Principal } from '@baton/core'
import { BatonError, parseJson } from '@baton/core'
import type { Outcome } from '@baton/core/machine'
import { failureOf } from './bounded-result.ts'
import type { SessionSlot } from './session-slot.ts'

export interface LocalClientInit {
  readonly slot: SessionSlot
  readonly principal: Principal
  readonly handlers: ClientHandlers
  readonly connection: string
}

/** @throws BatonError when the session takes no more clients */
export async function attachClient(init: LocalClientInit): Promise<Client> {
  const { slot, connection } = init
  const frames = slot.read(undefined)
  const attached = await slot.actor().submit({
    type: 'client-attached',
    connection,
    protocol: 2,
    principal: init.principal.id,
    sequential: false,
  })
  if (attached.type === 'refused') throw new BatonError({ code: attached.code, message: attached.message })
  const stop = { stopped: false }
  // A session that is closed ends the reading; a handler's failure is a result.
  serve(init, frames, stop).catch(() => {})
  return {
    connection,
    toolResult: (callId, outcome) => slot.actor().submit({ type: 'tool-result', callId, connection, outcome }),
    detach: async () => {
      stop.stopped = true
      await slot
        .actor()
        .submit({ type: 'client-detached', connection })
        .catch(() => {})
    },
  }
}

async function serve(init: LocalClientInit, frames: AsyncIterable<Frame>, stop: { stopped: boolean }): Promise<void> {
  for await (const frame of frames) {
    if (stop.stopped) return
    if (frame.type !== 'fact' || frame.fact.type !== 'call-offered' || frame.fact.connection !== init.connection)
      continue
    handle(init, frame.fact.callId, frame.fact.offer).catch(() => {})
  }
}

async function handle(init: LocalClientInit, callId: string, offer: number): Promise<void> {
  const { slot, connection } = init
  const call = slot.actor().history().openCall(callId)
  const handler = call && init.handlers[call.name]
  if (!call || !handler) return
  const claimed = await slot.actor().submit({ type: 'call-claimed', callId, connection, offer })
  if (claimed.type === 'refused') return
  await slot.actor().submit({ type: 'tool-result', callId, connection, outcome: await run() })

  async function run(): Promise<Outcome> {
    try {
      const parsed = parseJson(call?.arguments ?? '{}')
      const value: unknown = await handler?.(parsed.ok ? parsed.value : {}, {
        callId,
        name: call?.name ?? '',
        arguments: call?.arguments ?? '{}',
      })
      return {
        type: 'ok',
        content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value ?? null) }],
      }
    } catch (thrown) {
      return failureOf(thrown)
    }
  }
}
