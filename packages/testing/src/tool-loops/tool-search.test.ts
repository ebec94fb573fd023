// An agent with two hundred tools: what a request contains, how the model finds a tool, and when nothing is deferred.
import type { Tool } from '@baton/core'
import { createHost, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { expect, test } from 'vitest'

const SUBJECTS = [
  'issue',
  'pull_request',
  'branch',
  'release',
  'label',
  'milestone',
  'comment',
  'review',
  'workflow',
  'secret',
]
const VERBS = [
  'list',
  'get',
  'create',
  'update',
  'delete',
  'close',
  'lock',
  'export',
  'count',
  'watch',
  'archive',
  'move',
  'copy',
  'share',
  'rename',
  'tag',
  'merge',
  'pin',
  'sort',
  'audit',
]

function createTools(count: number): readonly Tool[] {
  return VERBS.flatMap((verb) =>
    SUBJECTS.map((subject) =>
      tool({
        name: `${verb}_${subject}`,
        description: `${verb} a ${subject.replace('_', ' ')} of a repository`,
        input: { type: 'object', properties: { id: { type: 'string' } } },
        effect: 'pure',
        execute: () => `${verb} ${subject}`,
      }),
    ),
  ).slice(0, count)
}

async function play(tools: readonly Tool[], steps: readonly object[]) {
  const model = createScriptedModel({
    steps: [...steps, { text: 'Done.' }] as Parameters<typeof createScriptedModel>[0]['steps'],
  })
  const host = createHost({ agent: defineAgent({ name: 'tester', model, tools }) })
  const session = await host.session('one')
  const results: string[] = []
  for await (const event of session.send('Go.'))
    if (event.type === 'call' && event.call.result) {
      const { result, name } = event.call
      results.push(
        `${name} ${result.type}: ${'content' in result ? result.content.map((part) => (part.type === 'text' ? part.text : '')).join('') : ''}`,
      )
    }
  await host.stop()
  return { results, shown: model.requests.map((request) => request.tools.map(({ name }) => name)) }
}

const search = (query: string) => ({ calls: [{ name: 'tools.search', arguments: { query } }] })

test('thirty tools are all shown, and there is nothing to search', async () => {
  const { shown } = await play(createTools(30), [])
  expect(shown[0]).toHaveLength(30)
  expect(shown[0]).not.toContain('tools.search')
})

test('of two hundred none is shown; what is found is shown from then on, and runs', async () => {
  const { shown, results } = await play(createTools(200), [
    search('merge pull requests'),
    { calls: [{ name: 'merge_pull_request', arguments: { id: '7' } }] },
    search('archive milestones'),
  ])
  expect(shown[0]).toEqual(['tools.search'])
  expect(results[0]).toContain('merge_pull_request')
  expect(shown[1]?.[0]).toBe('tools.search')
  expect(shown[1]?.[1]).toBe('merge_pull_request')
  expect(results[1]).toBe('merge_pull_request ok: merge pull_request')
  // The beginning of the list is unchanged, since a provider's prompt cache has it.
  expect(shown[3]?.slice(0, shown[1]?.length)).toEqual(shown[1])
  expect(shown[3]).toContain('archive_milestone')
})

test('a search without a result says so, and the best comes first', async () => {
  const { results } = await play(createTools(200), [search('zebra'), search('rename label'), search('delete_secret')])
  expect(results[0]).toContain('Nothing fits')
  expect(results[1]).toMatch(/"tools":\[\{"name":"rename_label"/)
  expect(results[2]).toMatch(/"tools":\[\{"name":"delete_secret"/)
})

test('a tool that is called without having been found runs, and is shown afterwards', async () => {
  const { results, shown } = await play(createTools(200), [{ calls: [{ name: 'pin_issue', arguments: {} }] }])
  expect(results).toEqual(['pin_issue ok: pin issue'])
  expect(shown[1]).toEqual(['tools.search', 'pin_issue'])
})

test('`defer` decides for one tool', async () => {
  const [first, second] = createTools(2)
  if (!first || !second) throw new Error('there are no tools')
  const rare = { ...first, defer: true }
  expect((await play([rare, second], [])).shown[0]).toEqual([second.name, 'tools.search'])
  const always = { ...first, defer: false }
  expect((await play([always, ...createTools(40).slice(1)], [])).shown[0]).toEqual([first.name, 'tools.search'])
})

test('few tools with long schemas are deferred in a small window', async () => {
  const long = createTools(20).map((one) => ({ ...one, description: 'x'.repeat(2_000) }))
  const model = createScriptedModel({ steps: [{ text: 'Done.' }] })
  const agent = defineAgent({ name: 'tester', model, tools: long, window: { contextTokens: 16_000 } })
  const host = createHost({ agent })
  await (await host.session('one')).send('Go.').answer
  await host.stop()
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['tools.search'])
})
