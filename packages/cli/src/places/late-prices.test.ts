// Costs of a command's answers: none is lost, however the agent names its model and whenever the prices come.
import type { Model } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { EmbeddedHostOptions } from './embedded-host.ts'
import { openEmbeddedHost } from './embedded-host.ts'
import { openLatePrices } from './late-prices.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** One dollar per million tokens in, five out: 1,000 and 100 tokens cost 1,500 millionths. */
const ID = 'anthropic/claude-haiku-4-5'
const USAGE = { inputTokens: 1000, outputTokens: 100 }

function createModel(): Model {
  return createScriptedModel({ id: ID, steps: () => ({ text: 'yes', usage: USAGE }) })
}

async function ask(init: Pick<EmbeddedHostOptions, 'createAgent' | 'model' | 'wrapModel'>) {
  const { host, stop } = await openEmbeddedHost({
    agent: undefined,
    baseUrl: undefined,
    exchanges: undefined,
    terminal: {
      variables: { ANTHROPIC_API_KEY: 'key' },
      folder,
      write: () => {},
      note: () => {},
      onStop: () => () => {},
      onStray: () => () => {},
    },
    ...init,
  })
  try {
    return await (await host.session('s')).send('hi').answer
  } finally {
    await stop(0)
  }
}

test('an answer of a model that is an object has its cost', async () => {
  const answer = await ask({ createAgent: () => defineAgent({ name: 'a', model: createModel() }), model: undefined })
  expect(answer.usage).toMatchObject({ costMicros: 1500 })
})

test('an answer of a model that prepareStep returns has its cost', async () => {
  const createAgent = () => defineAgent({ name: 'a', model: 'offline', prepareStep: () => ({ model: createModel() }) })
  expect((await ask({ createAgent, model: undefined })).usage).toMatchObject({ costMicros: 1500 })
})

test('the first answer of a model that is named has its cost', async () => {
  const { run } = createModel()
  const answer = await ask({
    createAgent: () => defineAgent({ name: 'a', model: ID }),
    model: undefined,
    wrapModel: (model) => ({ ...model, run }),
  })
  expect(answer.usage).toMatchObject({ costMicros: 1500 })
})

test.each([
  ['named', ID],
  ['an object', createModel()],
])('an answer stays when the prices do not load, with a model that is %s', async (_, model) => {
  const warnings: unknown[] = []
  const { modelOf, priceOf } = await openLatePrices({
    agent: defineAgent({ name: 'a', model }),
    find: createModel,
    log: { info: () => {}, warn: (...said) => void warnings.push(said) },
    load: async () => await Promise.reject(new Error('no such file')),
  })
  const request = {
    instructions: '',
    messages: [],
    tools: [],
    toolChoice: { type: 'auto' },
    settings: {},
    session: 's',
  } as const
  const answer = await modelOf(ID).run(request, () => {}, new AbortController().signal)
  expect(answer.parts).toMatchObject([{ text: 'yes' }])
  expect(priceOf(ID, USAGE)).toBeUndefined()
  expect(warnings).toContainEqual(['the price list did not load; costs are unknown', { cause: 'Error: no such file' }])
})
