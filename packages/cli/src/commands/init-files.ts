// The files written by `baton init`. `npm run pack:check` tests it with the packed packages.
import { VERSION } from '../version.ts'

export const AGENT_FILE = `// The agent: its instructions and tools. Chat with it using "npm run chat"; serve it to apps with "npm run serve".
import { defineAgent, tool } from '@baton/host'
import { z } from 'zod'

const population = tool({
  name: 'city.population',
  description: 'The population of a city',
  input: z.object({ city: z.string().trim().min(1) }),
  effect: 'pure',
  execute: ({ city }) => ({ city, people: city === 'Oslo' ? 717_710 : null }),
})

// It names no model, so it uses a provider whose key is set, such as ANTHROPIC_API_KEY; "npx baton models" lists them.
export default defineAgent({ name: 'cities', instructions: 'Answer briefly.', tools: [population] })
`

export const AGENT_TEST = `// Tests the agent with a scripted model, without a key or a network.
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
  const host = createHost({ agent, defaultModel: model })
  const session = await host.session()
  const answer = await session.send('What is the population of the city "Oslo"?').answer
  assert.equal(answer.text, 'Oslo has 717,710 people.')
  // The model read the tool's result before it answered.
  assert.match(JSON.stringify(model.requests[1]?.messages), /717710/)
  await host.stop()
})
`

/** As shown in docs/getting-started.md. */
export const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2023",
    "module": "nodenext",
    "strict": true,
    "noEmit": true,
    "allowImportingTsExtensions": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    "types": ["node"],
    "skipLibCheck": true
  }
}
`

export const GITIGNORE = `node_modules/
*.db
*.db-*
*.db.*
.env
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
      types: 'tsc',
    },
    dependencies: { '@baton/cli': VERSION, '@baton/host': VERSION, zod: '^4.2.0' },
    devDependencies: { '@types/node': '^24.0.0', typescript: '^7.0.0' },
  }
}
