// Baton in the user's process: `createHost`, and sessions that continue from turn to turn. Their window holds one
// exchange, so that every turn sends the same request to the provider. The measurement covers the published code: the
// packages' built `dist`.
import type { Session, Store } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createAnthropicModel } from '@baton/models/anthropic'
import { createUndiciTransport } from '@baton/models/transport/undici'
import type { Client, EchoInput } from './client.ts'
import { ECHO_SCHEMA, createClient } from './client.ts'

export interface BatonOptions {
  readonly base: string
  /** Defaults to the host's memory store. */
  readonly store?: Store
  /** Each turn opens its own session, and closes and removes it. */
  readonly isNewEachTurn?: boolean
}

export function openBaton({ base, store, isNewEachTurn = false }: BatonOptions): Client {
  const environment = createNodeEnvironment(createUndiciTransport({ variables: {} }))
  const model = createAnthropicModel({
    ...createProvider(base),
    transport: environment.transport,
    clock: environment.clock,
  })
  const host = createHost({ environment, ...(store && { store }) })
  return createClient((echo) => {
    const execute = (input: unknown): string => echo(input as EchoInput) // validated by the schema
    const tools = [tool({ name: 'echo', description: 'echo', input: ECHO_SCHEMA, effect: 'pure', execute })]
    const settings = { maxOutputTokens: 4096 }
    const agent = defineAgent({ name: 'bench', model, tools, settings, window: { exchanges: 1, summarise: false } })
    const free: Session[] = []
    return async (onText) => {
      const session = free.pop() ?? (await host.session(undefined, { agent }))
      const turn = session.send('hi')
      for await (const event of turn) if (event.type === 'text') onText(event.text)
      await turn.answer
      if (isNewEachTurn) await host.remove(session.id)
      else free.push(session)
    }
  }, host.stop)
}

export function createProvider(base: string) {
  return { apiKey: 'k', model: 'mock-model', baseUrl: base }
}
