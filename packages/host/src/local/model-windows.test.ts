// A host uses what a model declares: its window shortens the history, and an unknown name is logged once.
import { BatonError, defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createHost } from './create-host.ts'
import { noUnhandledRejections } from './test-world.test-kit.ts'

noUnhandledRejections()

test('a session never asks for more than the window of its model, and says once what the model is taken for', async () => {
  const warnings: unknown[] = []
  const capabilities = { contextTokens: 1000, assumedTraits: 'Claude Fable 5.1' }
  const model = createScriptedModel({ steps: () => ({ text: 'ok' }), capabilities })
  const host = createHost({
    agent: defineAgent({ name: 'a', model: 'x/new', window: { summarise: false } }),
    modelOf: () => model,
    log: { info: () => undefined, warn: (message, data) => void warnings.push([message, data]) },
  })
  const session = await host.session('one')
  for (let turn = 0; turn < 8; turn++) await session.send(`${turn}${'x'.repeat(399)}`).answer
  await host.session('two')
  await host.stop()
  const sizes = model.requests.map(({ messages }) => JSON.stringify(messages).length / 4)
  expect([sizes.length, Math.max(...sizes) < 1000]).toEqual([8, true])
  expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain('"0xxx')
  expect(warnings).toEqual([
    [
      'the model is not in any table; it is treated like the newest known model of its family',
      { model: 'x/new', as: 'Claude Fable 5.1' },
    ],
  ])
})

test('a summary is asked once: without marks for a prompt cache, and without tools of the provider', async () => {
  const model = createScriptedModel({ steps: () => ({ text: 'ok' }), capabilities: { contextTokens: 1000 } })
  const settings = { temperature: 0.5, cache: '1h', serverTools: { x: [{ type: 'search' }] } } as const
  const window = { reserveTokens: 100, keepExchanges: 1 }
  const host = createHost({ agent: defineAgent({ name: 'a', model, settings, window }) })
  const session = await host.session('one')
  for (let turn = 0; turn < 12; turn++) await session.send(`${turn}${'x'.repeat(399)}`).answer
  await host.stop()
  const asked = (isSummary: boolean) =>
    model.requests.find(({ instructions }) => instructions.startsWith('Summarise') === isSummary)?.settings
  expect(asked(true)).toEqual({ temperature: 0.5, cache: 'off', maxOutputTokens: 512 })
  expect(asked(false)).toEqual(settings)
})

test('after a refusal that names the window, the requested answer fits behind the input', async () => {
  const message = 'input and answer together are longer than the 3000 tokens of the window'
  const error = new BatonError({ code: 'context_overflow', message, data: { contextTokens: 3000 } })
  const model = createScriptedModel({ steps: [{ error }, { text: 'ok' }, { text: 'ok' }] })
  const host = createHost({ agent: defineAgent({ name: 'a', model, settings: { maxOutputTokens: 4000 } }) })
  const session = await host.session('one')
  expect((await session.send('x'.repeat(4000)).answer).text).toBe('ok')
  expect((await session.send('and now?').answer).text).toBe('ok')
  await host.stop()
  const [first, ...later] = model.requests.map(({ settings }) => settings.maxOutputTokens ?? 0)
  expect(first).toBe(4000)
  // About 1,000 tokens of input, plus a margin for the estimate's error.
  for (const tokens of later) expect(tokens).toSatisfy((given: number) => given > 1500 && given < 2000)
})
