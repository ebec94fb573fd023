// What `baton init` writes. `npm run pack:check` runs it against the packed packages.
import { VERSION } from './version.ts'

export const AGENT_FILE = `// The agent: what it is told, and what it may do. "npm run chat" talks to it, "npm run serve" serves it to apps.
import { defineAgent, tool } from '@baton/core'

const population = tool({
  name: 'city.population',
  description: 'How many people live in a city',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effect: 'pure',
  execute: ({ city }) => ({ city, people: city === 'Oslo' ? 717_710 : null }),
})

// Without a model of its own it takes the one whose key is set, such as ANTHROPIC_API_KEY; "npx baton models" lists them.
export default defineAgent({ name: 'cities', instructions: 'Answer briefly.', tools: [population] })
`

export const AGENT_TEST = `// What the agent does when a model says exactly this. No key and no network are needed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHost } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import agent from './agent.ts'

test('the population comes from the tool', async () => {
  const model = createScriptedModel({
    steps: [
      { calls: [{ name: 'city.population', arguments: { city: 'Oslo' } }] },
      { text: 'Oslo has 717,710 people.' },
    ],
  })
  const host = createHost({ agent, modelOf: () => model, defaultModel: model.id })
  const session = await host.session(undefined)
  const { text } = await session.send('How many people live in Oslo?').answer
  assert.equal(text, 'Oslo has 717,710 people.')
  assert.match(JSON.stringify(model.requests.at(-1)?.messages), /717710/)
  await host.stop()
})
`

const NAME_CHARS_MAX = 100

export function createPackage(folder: string) {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, NAME_CHARS_MAX)
  return {
    name: name || 'agent',
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=22.18' },
    scripts: {
      chat: 'baton chat --agent agent.ts',
      serve: 'baton serve --agent agent.ts',
      test: 'node --test',
    },
    dependencies: { '@baton/cli': VERSION, '@baton/core': VERSION, '@baton/host': VERSION },
  }
}
