// Exports of @baton/models/offline. @internal: programs import it from @baton/host.
import type { AbortSignalLike, Model, ModelAnswer, ModelEvent, ModelPart, ModelRequest } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { plan } from './plan.ts'

const ID = 'offline'

/**
 * A planner that matches words instead of a language model. It needs no key and no network, and runs in the same loop
 * as any model. For first steps with Baton, demos, and tests that want real calls.
 * Calls only `pure` tools, in at most one round per request.
 */
export function createOfflineModel(): Model {
  return { id: ID, provider: ID, capabilities: { tools: 'native', images: false, network: false }, run: runOffline }
}

async function runOffline(
  request: ModelRequest,
  sink: (event: ModelEvent) => void,
  signal: AbortSignalLike,
): Promise<ModelAnswer> {
  throwIfAborted(signal)
  const next = plan(request)
  if (next.type === 'say') {
    for (const word of next.text.split(/(?<=\s)(?=\S)/)) {
      // Yields between words so that an abort can arrive, as in a network stream.
      await Promise.resolve()
      throwIfAborted(signal)
      sink({ type: 'text-delta', text: word })
    }
    return answer([{ type: 'text', text: next.text }], 'end')
  }
  const parts = next.calls.map((call, index): ModelPart => {
    const text = JSON.stringify(call.arguments)
    sink({ type: 'call-start', index, name: call.name })
    sink({ type: 'call-delta', index, text })
    sink({ type: 'call-end', index })
    return { type: 'call', name: call.name, arguments: text }
  })
  return answer(parts, 'tool-calls')
}

function answer(parts: readonly ModelPart[], finish: ModelAnswer['finish']): ModelAnswer {
  // Empty usage means that no tokens were used.
  return { parts, finish, usage: {}, model: ID }
}

function throwIfAborted(signal: AbortSignalLike): void {
  if (signal.aborted)
    throw new BatonError({ code: 'cancelled', message: 'the model call was cancelled', cause: signal.reason })
}
