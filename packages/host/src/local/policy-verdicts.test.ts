// Policies with invalid verdicts: the call does not run, and the next host can read the session.
import { createScriptedModel } from '@baton/core/testing'
import { defineAgent, tool } from '@baton/core'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import { createHost } from './create-host.ts'

test.each([
  [true],
  ['ALLOW'],
  [null],
  [{}],
  [{ deny: 5 }],
  [{ ask: 5 }],
  [{ ask: 'why', destination: 5 }],
  [{ ask: 'why', destination: 'x'.repeat(1_025) }],
  [{ ask: 'why', each: 'yes' }],
])('%o is no verdict', async (verdict) => {
  let ran = 0
  const put = tool({
    name: 'put',
    description: 'Puts',
    input: { type: 'object' },
    effect: 'once',
    execute: () => (ran += 1),
  })
  const steps = [{ calls: [{ name: 'put', arguments: {} }] }, { text: 'done' }, { text: 'again' }]
  const model = createScriptedModel({ steps })
  const store = createMemoryStore()
  const agent = defineAgent({ name: 'a', model, tools: [put], approvalPolicy: () => verdict as never })
  const first = createHost({ agent, store })
  const session = await first.session('s')
  const seen: string[] = []
  for await (const event of session.send('go'))
    if (event.type === 'call' && event.call.result?.type === 'error') seen.push(event.call.result.message)
  expect(seen).toEqual([
    expect.stringMatching(/^the call was not run, because it could not be checked: the approval policy returned/),
  ])
  await first.stop()

  const second = createHost({ agent, store })
  expect((await (await second.session('s')).send('more').answer).text).toBe('again')
  expect(ran).toBe(0)
  await second.stop()
})
