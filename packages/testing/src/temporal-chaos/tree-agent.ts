// The agents of a tree whose workers are killed: a boss asks a clerk and a reader at once, and the clerk asks a payer, whose tool
// needs an approval and acts once. Their models depend only on what they are shown, as after a restart.
import type { Agent } from '@baton/core/internal'
import { defineAgent, delegate, tool } from '@baton/core/internal'
import type { ScriptedModelOptions } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { appendFileSync } from 'node:fs'

type Steps = ScriptedModelOptions['steps']

/** `effects` gets a line for each payment, with its key. */
export function createTreeAgent(effects: string): Agent {
  const pay = tool({
    name: 'pay',
    description: 'pays',
    input: { type: 'object', properties: {} } as const,
    effect: 'once',
    approval: true,
    execute: (_, { idempotencyKey }) => {
      appendFileSync(effects, `pay ${idempotencyKey}\n`)
      return 'paid'
    },
  })
  const payer = agentOf('payer', afterwards([{ name: 'pay', arguments: {} }], 'It is paid.'), [pay])
  const clerk = agentOf('clerk', afterwards([ask('payer')], 'The clerk is done.'), [
    delegate({ agent: payer, description: 'Pays' }),
  ])
  const reader = agentOf('reader', () => ({ text: 'It is read.' }), [])
  return agentOf('boss', afterwards([ask('clerk'), ask('reader')], 'Done.'), [
    delegate({ agent: clerk, description: 'Orders' }),
    delegate({ agent: reader, description: 'Reads' }),
  ])
}

type Tools = NonNullable<Parameters<typeof defineAgent>[0]['tools']>

function agentOf(name: string, steps: Steps, tools: Tools): Agent {
  return defineAgent({ name, model: createScriptedModel({ steps }), tools }) as Agent
}

function ask(name: string): { readonly name: string; readonly arguments: object } {
  return { name, arguments: { task: `${name}: do it.` } }
}

/** Makes these calls, and answers when it has their results. */
function afterwards(calls: readonly { readonly name: string; readonly arguments: object }[], text: string): Steps {
  return ({ messages }) => (messages.at(-1)?.role === 'tool' ? { text } : { calls })
}
