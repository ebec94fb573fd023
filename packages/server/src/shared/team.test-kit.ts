// A boss that asks a helper, whose tools ask people and clients: for tests of fronts.
import type { Agent, AgentOptions } from '@baton/core'
import { defineAgent, delegate, tool } from '@baton/core'
import type { ScriptedModel, ScriptedModelOptions } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'

type Steps = ScriptedModelOptions['steps']
type Tools = NonNullable<AgentOptions['tools']>

export const EMPTY = { type: 'object', properties: {} } as const

export interface TeamOptions {
  /** The helper's steps and tools. */
  readonly steps: Steps
  readonly tools?: Tools
  /** By default the boss asks the helper once, and answers "Done.". */
  readonly boss?: { readonly steps?: Steps; readonly tools?: Tools }
}

export function createTeam({ steps, tools = [], boss = {} }: TeamOptions): {
  readonly agent: Agent
  readonly boss: ScriptedModel
  readonly helper: ScriptedModel
} {
  const helper = createScriptedModel({ steps })
  const below = defineAgent({ name: 'helper', model: helper, tools }) as Agent
  const model = createScriptedModel({ steps: boss.steps ?? [{ calls: [ASKS] }, { text: 'Done.' }] })
  const all = [delegate({ agent: below, description: 'Helps' }), ...(boss.tools ?? [])]
  return { agent: defineAgent({ name: 'boss', model, tools: all }) as Agent, boss: model, helper }
}

export const ASKS = { name: 'helper', arguments: { task: 'Help.' } }

/** A step that calls tools without arguments. */
export const callsOf = (...names: readonly string[]) => ({ calls: names.map((name) => ({ name, arguments: {} })) })

/** A tool that notes when it ran, after an approval. */
export function createApproved(ran: string[], name: string) {
  const rules = { name, description: name, input: EMPTY, effect: 'once', approval: true } as const
  return tool({ ...rules, execute: (input) => `${name} ${ran.push(`${name} ${JSON.stringify(input)}`)}` })
}

/** A tool that asks a question, and returns its answer. */
export const choose = tool({
  name: 'choose',
  description: 'choose',
  input: EMPTY,
  effect: 'once',
  execute: async (_, { ask }) => {
    const schema = { type: 'object', properties: { wine: { type: 'string' } } } as const
    return JSON.stringify(await ask({ message: 'Which?', schema }))
  },
})

/** A client tool. */
export const place = tool({ name: 'place', description: 'place', input: EMPTY, effect: 'once' })

/** The newest message that a model was sent, as text. */
export const lastRead = (model: ScriptedModel): string => JSON.stringify(model.requests.at(-1)?.messages.at(-1))
