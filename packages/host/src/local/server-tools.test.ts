// Tools run by a provider are events for readers of the turn.
import type { Model, SessionEvent } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createHost } from './create-host.ts'

test('a search of the provider is an event of the turn, before its text', async () => {
  const scripted = createScriptedModel({ steps: () => ({ text: 'blue' }) })
  const model: Model = {
    ...scripted,
    run: (request, sink, signal) => {
      sink({ type: 'server-tool', name: 'web_search', status: 'started' })
      sink({ type: 'server-tool', name: 'web_search', status: 'finished' })
      return scripted.run(request, sink, signal)
    },
  }
  const host = createHost({ agent: defineAgent({ name: 'a', model }) })
  const session = await host.session('s')
  const events: SessionEvent[] = []
  const turn = session.send('go')
  for await (const event of turn) events.push(event)
  expect(events.filter(({ type }) => type === 'server-tool' || type === 'text')).toMatchObject([
    { type: 'server-tool', name: 'web_search', status: 'started' },
    { type: 'server-tool', name: 'web_search', status: 'finished' },
    { type: 'text', text: 'blue' },
  ])
  await host.stop()
})
