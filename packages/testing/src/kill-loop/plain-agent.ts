// The agent of the servers that are killed. Its model depends only on what it is shown, so it answers the same after
// every restart; its tools write their effects to a file.
import type { Agent, Message, Model, ModelAnswer, Tool } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { appendFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

/** `effectsFile` gets a line per effect: tool, session and call ID, such as `server.once s1/call_0`. */
export function createPlainAgent(effectsFile: string): Agent {
  return defineAgent({ name: 'killed', model: createPlainModel(), tools: createTools(effectsFile) })
}

/** The first answer calls every tool at once, the second reports their outcomes. */
function createPlainModel(): Model {
  return {
    id: 'plain',
    provider: 'plain',
    capabilities: { tools: 'native', images: false },
    run: async ({ messages, tools }, sink): Promise<ModelAnswer> => {
      const told = messages.at(-1)
      const said = told?.role === 'tool' ? `done: ${listOutcomes(told)}` : 'Let me see.'
      sink({ type: 'text-delta', text: said })
      const calls = told?.role === 'tool' ? [] : tools.filter(({ name }) => name !== 'result.read')
      return {
        parts: [
          { type: 'text', text: said },
          ...calls.map(({ name }) => ({ type: 'call' as const, name, arguments: '{}' })),
        ],
        finish: calls.length > 0 ? 'tool-calls' : 'end',
        usage: {},
        model: 'plain',
      }
    },
  }
}

function listOutcomes(message: Message): string {
  const results = message.parts.flatMap((part) => (part.type === 'result' ? [part] : []))
  return results.map(({ name, isError }) => `${name} ${isError ? 'failed' : 'ok'}`).join(', ')
}

const PAUSES_MS = { pure: 10, idempotent: 25, once: 40 } as const

function createTools(effects: string): readonly Tool[] {
  const server = (['pure', 'idempotent', 'once'] as const).map((effect) =>
    tool({
      name: `server.${effect}`,
      description: effect,
      input: { type: 'object' },
      effect,
      execute: async (_, { session, callId }) => {
        // Results that arrive separately become separate records.
        await setTimeout(PAUSES_MS[effect])
        appendFileSync(effects, `server.${effect} ${session}/${callId}\n`)
        return effect
      },
    }),
  )
  const client = (['pure', 'once'] as const).map((effect) =>
    tool({ name: `client.${effect}`, description: effect, input: { type: 'object' }, effect, timeoutMs: 5000 }),
  )
  return [...server, ...client]
}
