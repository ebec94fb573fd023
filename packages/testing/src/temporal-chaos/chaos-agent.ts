// The agent of conversations whose workers are killed. Its model depends only on what it is shown, so it answers the
// same after every restart; its tools write their effects to a file.
import type { Agent, Message, Model, ModelAnswer, ModelPart } from '@baton/core/internal'
import { defineAgent, tool } from '@baton/core/internal'
import { appendFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

/** Prompt for something long. */
export const TALK = 'talk'
/** Prompt for an answer without tools. */
export const PLAIN = 'plainly'
/** Words of the long answer. */
export const TALK_WORDS = 40

/** `effects` gets a line per effect: tool, session and call ID, such as `server.once s1/call_0`. */
export function createChaosAgent(effects: string): Agent {
  const serverTools = (['pure', 'idempotent', 'once'] as const).map((effect) =>
    tool({
      name: `server.${effect}`,
      description: effect,
      input: { type: 'object' },
      effect,
      execute: async (_, { session, callId }) => {
        await setTimeout(PAUSES_MS[effect])
        appendFileSync(effects, `server.${effect} ${session}/${callId}\n`)
        return effect
      },
    }),
  )
  const asked = tool({
    name: 'server.asked',
    description: 'a person must approve it',
    input: { type: 'object' },
    effect: 'once',
    approval: true,
    execute: (_, { session, callId }) => {
      appendFileSync(effects, `server.asked ${session}/${callId}\n`)
      return 'approved'
    },
  })
  const client = tool({
    name: 'client.look',
    description: 'looks',
    input: { type: 'object' },
    effect: 'once',
    timeoutMs: 60_000,
  })
  return defineAgent({
    name: 'chaos',
    model: createChaosModel(),
    tools: [...serverTools, asked, client],
    limits: { queueInputs: 200 },
    window: {
      exchanges: 3,
      summarise: true,
      keepExchanges: 1,
      contextTokens: 4000,
      reserveTokens: 500,
      actAtTokens: 300,
    },
  })
}

const PAUSES_MS = { pure: 5, idempotent: 15, once: 30 } as const

function createChaosModel(): Model {
  return {
    id: 'chaos',
    provider: 'chaos',
    capabilities: { tools: 'native', images: false },
    run: async ({ messages, tools }, sink, signal): Promise<ModelAnswer> => {
      const told = messages.at(-1)
      const asked =
        told?.role === 'user' ? told.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') : ''
      if (tools.length === 0) return answer([{ type: 'text', text: 'a summary' }])
      if (asked.includes(TALK)) {
        let said = ''
        for (let word = 1; word <= TALK_WORDS && !signal.aborted; word++) {
          const text = `word${word} `
          said += text
          sink({ type: 'text-delta', text })
          await setTimeout(25)
        }
        return answer([{ type: 'text', text: said }])
      }
      if (asked.includes(PLAIN)) return answer([{ type: 'text', text: 'plain' }])
      if (told?.role === 'tool') {
        const text = `done: ${listOutcomes(told)}`
        sink({ type: 'text-delta', text })
        return answer([{ type: 'text', text }])
      }
      const own = tools.filter(({ name }) => name !== 'result.read')
      return answer(own.map(({ name }): ModelPart => ({ type: 'call', name, arguments: '{}' })))
    },
  }
}

function answer(parts: readonly ModelPart[]): ModelAnswer {
  const finish = parts.some(({ type }) => type === 'call') ? 'tool-calls' : 'end'
  return { parts, finish, usage: { inputTokens: 100, outputTokens: 20 }, model: 'chaos' }
}

function listOutcomes(message: Message): string {
  const results = message.parts.flatMap((part) => (part.type === 'result' ? [part] : []))
  return results.map(({ name, isError }) => `${name} ${isError ? 'failed' : 'ok'}`).join(', ')
}
