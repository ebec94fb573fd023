// The agent whose workers are killed while its tasks run: an order that acts once, an export that may run again, and a payer, whose
// payment needs an approval. Their models depend only on what they are shown, as after a restart.
import type { Agent, ModelRequest } from '@baton/core/internal'
import { defineAgent, delegate, tool } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { appendFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds that a tool takes after it has acted. */
const TOOL_MS = 1500

/** `effects` gets a line for each act, with its key. */
export function createTaskAgent(effects: string): Agent {
  const acting = (name: string, effect: 'once' | 'idempotent', more: object) =>
    tool({
      name,
      description: name,
      input: { type: 'object', properties: {} } as const,
      effect,
      timeoutMs: 600_000,
      execute: async (_, { idempotencyKey }) => {
        appendFileSync(effects, `${name} ${idempotencyKey}\n`)
        await wait(TOOL_MS)
        return `${name} is done`
      },
      ...more,
    })
  const payer = defineAgent({
    name: 'payer',
    model: createScriptedModel({
      steps: ({ messages }) => (messages.at(-1)?.role === 'tool' ? { text: 'It is paid.' } : callStep('pay')),
    }),
    tools: [acting('pay', 'once', { approval: true })],
  }) as Agent
  return defineAgent({
    name: 'clerk',
    model: createScriptedModel({ steps: beginAll }),
    tools: [
      acting('order', 'once', { background: true }),
      acting('export', 'idempotent', { background: true }),
      delegate({ agent: payer, description: 'Pays', background: true }),
    ],
  }) as Agent
}

interface Calls {
  readonly calls: readonly { readonly name: string; readonly arguments: object }[]
}

function callStep(name: string): Calls {
  return { calls: [{ name, arguments: {} }] }
}

function beginAll({ messages }: ModelRequest): Calls | { readonly text: string } {
  if (messages.some(({ role }) => role === 'tool')) return { text: 'Fine.' }
  return {
    calls: [
      ...callStep('order').calls,
      ...callStep('export').calls,
      { name: 'payer', arguments: { task: 'Pay for it.' } },
    ],
  }
}
