// Types of kit tools: `tsc` is the test, and code that must not compile is marked.
import { createScriptedModel } from '@baton/core/testing'
import { createHost, defineAgent } from '@baton/host'
import { expect, expectTypeOf, onTestFinished, test } from 'vitest'
import { contentTools } from '../content/index.ts'
import { githubTools } from '../github/index.ts'
import { moderationTools } from '../moderation/index.ts'
import { webTools } from '../web/index.ts'
import { workspaceTools } from '@baton/tools/workspace'

test('calls of a kit have the names, arguments and results of its tools', async () => {
  const steps = [
    { calls: [{ name: 'content.get_span', arguments: { path: 'kit-tool.test.ts', endLine: 1 } }] },
    { text: 'Done.' },
  ]
  const tools = [...workspaceTools({ root: import.meta.dirname, shell: true }), ...moderationTools()]
  const host = createHost({ agent: defineAgent({ name: 'reader', model: createScriptedModel({ steps }), tools }) })
  onTestFinished(() => host.stop())
  const session = await host.session()
  const seen: unknown[] = []
  for await (const event of session.send('Read')) {
    if (event.type === 'approval-requested' && event.call.name === 'shell.run')
      expectTypeOf(event.call.input.command).toEqualTypeOf<string>()
    if (event.type !== 'call') continue
    // @ts-expect-error no tool has this name
    if (event.call.name === 'content.get_spam') continue
    if (event.call.name !== 'content.get_span' || event.call.result?.type !== 'ok') continue
    const { value } = event.call.result
    expectTypeOf(value?.text).toEqualTypeOf<string | undefined>()
    expectTypeOf(value?.next?.startLine).toEqualTypeOf<number | undefined>()
    seen.push(event.call.input.path, value?.startLine)
  }
  expect(seen).toEqual(['kit-tool.test.ts', 1])
})

test('a host must have the services that the functions of a kit ask for', () => {
  interface Services {
    readonly tokens: ReadonlyMap<string, string>
  }
  const model = createScriptedModel({ steps: [] })
  const tools = githubTools<Services>({ token: ({ services }) => services.tokens.get('ann') })
  const github = defineAgent({ name: 'solver', model, tools })
  // @ts-expect-error the token needs services
  createHost({ agent: github })
  createHost({ agent: github, services: { tokens: new Map([['ann', 'token']]) } })
  createHost({ agent: defineAgent({ name: 'solver', model, tools: githubTools({ token: 'token' }) }) })
  const search = () => Promise.resolve([])
  createHost({ agent: defineAgent({ name: 'web', model, tools: webTools({ search }) }) })
  const content = contentTools<Services>({ resolve: (id, { services }) => services.tokens.get(id) })
  // @ts-expect-error the ids need services
  createHost({ agent: defineAgent({ name: 'reader', model, tools: content }) })
})
