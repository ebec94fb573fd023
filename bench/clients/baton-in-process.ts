// Baton in the process of its user: `createHost`, a session of its own for every turn, closed and (with the memory store)
// removed after it. What is measured is what the packages ship: their built `dist`.
import type { Store } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createAnthropicModel } from '@baton/models/anthropic'
import { createUndiciTransport } from '@baton/models/transport/undici'
import type { Client, EchoInput } from './client.ts'
import { ECHO_SCHEMA, clientOf } from './client.ts'

export interface BatonInit {
  readonly base: string
  /** The host's own memory store without one. */
  readonly store?: Store
}

export function openBaton({ base, store }: BatonInit): Client {
  const environment = createNodeEnvironment(createUndiciTransport({ variables: {} }))
  const model = createAnthropicModel({
    ...providerOf(base),
    transport: environment.transport,
    clock: environment.clock,
  })
  const host = createHost({ environment, ...(store && { store }) })
  return clientOf((echo) => {
    const execute = (input: unknown): string => echo(input as EchoInput) // validated by the schema
    const tools = [tool({ name: 'echo', description: 'echo', input: ECHO_SCHEMA, effect: 'pure', execute })]
    const agent = defineAgent({ name: 'bench', model, tools, settings: { maxOutputTokens: 4096 } })
    return async (onText) => {
      const session = await host.session(undefined, { agent })
      const turn = session.send('hi')
      for await (const event of turn.events) if (event.type === 'text-delta') onText(event.text)
      await turn.answer
      await session.close()
      if (!store) await host.remove(session.id)
    }
  }, host.stop)
}

export function providerOf(base: string) {
  return { apiKey: 'k', model: 'mock-model', baseUrl: base }
}
