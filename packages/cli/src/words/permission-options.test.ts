// Notes printed about permissions that a command's options remove.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { restrict } from './permission-options.ts'

const agent = defineAgent({
  name: 'shop',
  model: createScriptedModel({ steps: [] }),
  tools: [
    tool({ name: 'order.read', description: 'Reads', input: { type: 'object' }, network: false, execute: () => 1 }),
  ],
  settings: {
    serverTools: {
      anthropic: [{ type: 'web_search_20250305', name: 'web_search' }],
      openai: [{ type: 'web_search' }, { type: 'code_interpreter' }],
    },
  },
})

test.each([
  [{ deny: ['web.*'] }, 'not web.*; left out: web_search of the provider'],
  [{ allow: ['code_*'] }, 'tools code_*; left out: order.read, web_search of the provider'],
  [
    { network: false },
    'no network; only models on this machine; left out: web_search of the provider, code_interpreter of the provider',
  ],
  [{ deny: ['fs.*'] }, 'not fs.*'],
])('%j', (permissions, said) => {
  expect(restrict(agent, permissions).permissions).toBe(said)
})
