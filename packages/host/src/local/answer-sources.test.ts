// Sources of an answer: a limited number, each once, and none if it cites nothing or too much.
import type { Model } from '@baton/core/internal'
import { ANSWER_SOURCES_MAX, defineAgent } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createNodeEnvironment } from '../environment.ts'
import { createHost } from './create-host.ts'

async function ask(model: Model) {
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network')) })
  const host = createHost({ agent: defineAgent({ name: 'a', model, retry: { attempts: 1 } }), environment })
  try {
    return await (await host.session('s')).send('go').answer
  } finally {
    await host.stop()
  }
}

test('an answer has its first sources, however many its model cites', async () => {
  const pages = Array.from({ length: ANSWER_SOURCES_MAX + 50 }, (_, index) => ({ url: `https://example.org/${index}` }))
  const { sources } = await ask(createScriptedModel({ steps: [{ text: 'Blue.', sources: [...pages, ...pages] }] }))
  expect(sources).toHaveLength(ANSWER_SOURCES_MAX)
  expect(sources?.[199]).toEqual({ type: 'source', id: 'source-200', url: 'https://example.org/199' })
})

test('an answer that cites nothing has no sources', async () => {
  expect((await ask(createScriptedModel({ steps: [{ text: 'Blue.' }] }))).sources).toEqual([])
})

test('quotes of a source are truncated, and only web addresses are kept', async () => {
  const quote = 'x'.repeat(100_000)
  const sources = [
    { title: 'A page', quote },
    { title: 'A script', url: 'javascript:alert(1)' },
  ]
  const answer = await ask(createScriptedModel({ steps: [{ text: 'Blue.', sources }] }))
  expect(answer.sources).toEqual([
    { type: 'source', id: 'source-1', title: 'A page', quote: quote.slice(0, 4096) },
    { type: 'source', id: 'source-2', title: 'A script' },
  ])
})
