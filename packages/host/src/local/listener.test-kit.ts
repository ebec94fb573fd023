// Shared by the tests of listeners: a listener over a host in a world whose time the test controls.
import type { AgentOptions, Host, Tool } from '@baton/core'
import { defineAgent } from '@baton/core'
import type { ScriptedModelOptions } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import type { ListenerOptions } from '@baton/runtime'
import { createListener } from '@baton/runtime'
import { createHost } from './create-host.ts'
import { createManualTime, ownStore } from './test-world.test-kit.ts'

export interface ListenedOptions extends Partial<Omit<AgentOptions<undefined, readonly Tool[]>, 'model'>> {
  readonly steps: ScriptedModelOptions['steps']
  readonly options?: ListenerOptions
}

export function createListened({ steps, options = {}, ...agent }: ListenedOptions) {
  const time = createManualTime()
  const { environment } = time
  const store = ownStore()
  const model = createScriptedModel({ steps, timers: environment.timers })
  const told: (readonly unknown[])[] = []
  const listenOn = (host: Host, more: ListenerOptions) => {
    const listening = defineAgent({ name: 'listening', ...agent, model })
    const listener = createListener(host, listening, { session: 'call-1', ...options, ...more })
    listener.on('agent:response', ({ text, interrupted }) =>
      told.push(interrupted ? ['response', text, 'interrupted'] : ['response', text]),
    )
    listener.on('agent:tool_call', ({ name, input, result }) => told.push(['tool_call', name, input, result?.type]))
    listener.on('error', ({ code }) => told.push(['error', code]))
    return listener
  }
  /** Starts another process over the same store. */
  const listen = (more: ListenerOptions = {}) => {
    const host = createHost({ environment, store })
    return { host, listener: listenOn(host, more) }
  }
  return { time, store, model, told, listen, listenOn, ...listen() }
}
