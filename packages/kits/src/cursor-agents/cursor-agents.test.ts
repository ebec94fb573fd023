// The five tools against a server that rejects what Cursor's would reject, in both versions and in all failure
// situations.
import type { JsonObject, Tool, ToolContext } from '@baton/core'
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FAILURE_KEY, testServiceFailures } from '../shared/service-failures.test-kit.ts'
import type { CursorServer } from './cursor-server.test-kit.ts'
import { startCursorServer } from './cursor-server.test-kit.ts'
import { cursorAgentClientTools, cursorAgentTools } from './index.ts'

const KEYS = { ann: 'key_of_ann_0123456789', bob: 'key_of_bob_0123456789' }
let cursor: CursorServer
beforeEach(async () => {
  cursor = await startCursorServer(Object.values(KEYS))
})
afterEach(() => cursor.close())

interface Called {
  readonly type: string
  readonly value?: unknown
  readonly code?: string
  readonly message?: string
}

/** One call in its own session. */
async function call(tools: readonly Tool[], name: string, input: JsonObject, principal = 'ann'): Promise<Called> {
  const model = createScriptedModel({ steps: [{ calls: [{ name, arguments: input }] }, { text: 'Done.' }] })
  const host = createHost({ agent: defineAgent({ name: 'tester', model, tools: [...tools] }) })
  try {
    const session = await host.session('one', { principal: { id: principal } })
    let result: Called = { type: 'none' }
    for await (const event of session.send('Go.')) {
      if (event.type === 'approval-requested')
        await session.decide({ approvalId: event.approvalId, decision: 'approve' })
      if (event.type === 'call' && event.call.result) result = event.call.result as Called // any kind of result
    }
    return result
  } finally {
    await host.stop()
  }
}

const keyOf = ({ principal }: ToolContext): string | undefined => KEYS[principal.id as keyof typeof KEYS]
const open = (version?: 'v0' | 'v1'): readonly Tool[] =>
  cursorAgentTools({ apiKey: keyOf, server: cursor.origin, ...(version && { version }) })
const idOf = ({ value }: Called): string => (value as { readonly id: string }).id

test.each(['..', '.', 'a/../b', 'a\\b', 'a\u001b[2J', 'a\u202eb', 'a b', '\ud800'])(
  'the id %j is refused before anything is asked',
  async (id) => {
    expect(await call(open(), 'agent.followup', { id, prompt: 'Go on' })).toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining('write the id as returned by agent.spawn') as string,
    })
    expect(await call(open(), 'agent.status', { id })).toMatchObject({ code: 'invalid_arguments' })
  },
)

describe.each(['v1', 'v0'] as const)('version %s', (version) => {
  test('an agent is started, looked at, told more once it has ended, and stopped twice', async () => {
    const tools = open(version)
    const started = await call(tools, 'agent.spawn', { prompt: 'Fix the tests', repository: 'me/app', ref: 'main' })
    const id = idOf(started)
    expect(started.value).toMatchObject({
      id,
      repository: 'https://github.com/me/app',
      url: expect.stringContaining(id) as string,
    })
    expect((await call(tools, 'agent.status', { id })).value).toMatchObject({ status: 'RUNNING' })
    cursor.finish(id, 'All tests pass.')
    expect((await call(tools, 'agent.status', { id })).value).toMatchObject({
      status: 'FINISHED',
      summary: 'All tests pass.',
    })
    expect((await call(tools, 'agent.followup', { id, prompt: 'Now the docs' })).type).toBe('ok')
    expect((await call(tools, 'agent.cancel', { id })).value).toMatchObject({ status: 'CANCELLED' })
    expect((await call(tools, 'agent.cancel', { id })).value).toMatchObject({ status: 'CANCELLED' })
    expect(cursor.agents.map(({ prompts }) => prompts)).toEqual([['Fix the tests', 'Now the docs']])
    expect(cursor.refusals).toEqual([])
    expect(cursor.asked.every((line) => line.includes(`/${version}/`))).toBe(true)
  })

  test('each principal has its own agents, page by page', async () => {
    const tools = open(version)
    for (const prompt of ['One', 'Two', 'Three']) await call(tools, 'agent.spawn', { prompt, repository: 'me/app' })
    await call(tools, 'agent.spawn', { prompt: 'Hers', repository: 'bob/app' }, 'bob')
    const names = ({ value }: Called) =>
      (value as { readonly agents: readonly { readonly name: string }[] }).agents.map(({ name }) => name)
    const first = await call(tools, 'agent.list', { limit: 2 })
    expect(names(first)).toEqual(['Three', 'Two'])
    const { nextCursor } = first.value as { readonly nextCursor: string }
    expect(names(await call(tools, 'agent.list', { limit: 2, cursor: nextCursor }))).toEqual(['One'])
    expect(names(await call(tools, 'agent.list', {}, 'bob'))).toEqual(['Hers'])
    const [own] = cursor.agents
    expect(await call(tools, 'agent.status', { id: own?.id ?? '' }, 'bob')).toMatchObject({ code: 'api_refused' })
  })

  test('a pull request is worked on in its own branch, or in a new one', async () => {
    const tools = open(version)
    const prUrl = 'https://github.com/me/app/pull/7'
    await call(tools, 'agent.spawn', { prompt: 'Fix it', prUrl })
    await call(tools, 'agent.spawn', { prompt: 'Fix it anew', prUrl, autoBranch: true, autoCreatePr: true })
    expect(cursor.refusals).toEqual([])
    const url = 'https://github.com/me/app'
    expect(cursor.agents.map(({ created }) => created)).toMatchObject(
      version === 'v1'
        ? [
            { repos: [{ url, prUrl }], workOnCurrentBranch: true, autoCreatePR: false },
            { repos: [{ url, prUrl }], workOnCurrentBranch: false, autoCreatePR: true },
          ]
        : [
            { source: { prUrl }, target: { autoBranch: false, autoCreatePr: false } },
            { source: { prUrl }, target: { autoBranch: true, autoCreatePr: true } },
          ],
    )
  })
})

test('a start with the name of a branch goes to version 0, and its agent is found there afterwards', async () => {
  const tools = open()
  const id = idOf(await call(tools, 'agent.spawn', { prompt: 'Fix', repository: 'me/app', branchName: 'fix-7' }))
  expect((await call(tools, 'agent.status', { id })).value).toMatchObject({ status: 'RUNNING', branch: 'fix-7' })
  expect((await call(tools, 'agent.followup', { id, prompt: 'More' })).type).toBe('ok')
  expect((await call(tools, 'agent.cancel', { id })).value).toMatchObject({ status: 'CANCELLED' })
})

test.each(['broken', 500] as const)(
  'a start whose answer is lost (%s) has started one agent, and finds it',
  async (how) => {
    cursor.loseNextAnswer(how)
    const started = await call(open(), 'agent.spawn', { prompt: 'Fix', repository: 'me/app' })
    expect(started).toMatchObject({ type: 'ok', value: { status: 'RUNNING' } })
    expect(cursor.agents).toHaveLength(1)
  },
)

test('an agent that is busy takes no further instruction, and the model reads what to do', async () => {
  const tools = open()
  const id = idOf(await call(tools, 'agent.spawn', { prompt: 'Fix', repository: 'me/app' }))
  const told = await call(tools, 'agent.followup', { id, prompt: 'More' })
  expect(told).toMatchObject({ code: 'api_refused', message: expect.stringContaining('is busy') as string })
})

test.each([
  [{ prompt: 'Fix' }, 'exactly one of repository and prUrl'],
  [{ prompt: 'Fix', repository: 'me/app', prUrl: 'https://github.com/me/app/pull/7' }, 'exactly one'],
  [{ prompt: 'Fix', repository: 'https://github.com/me/app' }, 'owner/repo'],
  [{ prompt: 'Fix', prUrl: 'http://github.com/me/app/pull/7' }, 'must be the https address'],
  [{ prompt: 'Fix', prUrl: 'https://github.com/me/app' }, 'must be the https address'],
])('%j starts nothing', async (input, message) => {
  const told = await call(open(), 'agent.spawn', input)
  expect(told).toMatchObject({ code: 'invalid_arguments', message: expect.stringContaining(message) as string })
  expect(cursor.asked).toEqual([])
})

test('a principal without a key, and one whose key is wrong', async () => {
  const tools = cursorAgentTools({
    apiKey: ({ principal }) => (principal.id === 'eve' ? 'key_that_is_wrong' : undefined),
    server: cursor.origin,
  })
  expect(await call(tools, 'agent.list', {}, 'carl')).toMatchObject({
    code: 'api_unauthorized',
    message: expect.stringContaining('no Cursor key for carl') as string,
  })
  const refused = await call(tools, 'agent.list', {}, 'eve')
  expect(refused.code).toBe('api_unauthorized')
  expect(refused.message).not.toContain('key_that_is_wrong')
})

test('the tools of clients have the same names, descriptions and arguments', () => {
  const seen = (tools: readonly Tool[]) =>
    tools.map(({ name, description, inputSchema, effect }) => ({ name, description, inputSchema, effect }))
  expect(seen(cursorAgentClientTools())).toEqual(seen(open()))
  expect(cursorAgentClientTools().every(({ execute }) => execute === undefined)).toBe(true)
})

test.each([
  [{ apiKey: '' }, 'apiKey must be a key'],
  [{ apiKey: 'k', version: 'v2' }, 'version must be'],
  [{ apiKey: 'k', server: 'cursor' }, 'server must be an address'],
  [{ apiKey: 'k', approvals: false }, 'no field "approvals"'],
])('the options %j are refused', (options, message) => {
  expect(() => cursorAgentTools(options as never)).toThrow(message)
})

const id = 'bc-1'
testServiceFailures({
  name: 'Cursor',
  open: (origin, limits) => ({
    tools: cursorAgentTools({ apiKey: FAILURE_KEY, server: origin, approval: false, ...limits }),
    calls: [
      { name: 'agent.spawn', input: { prompt: 'Fix', repository: 'me/app' } },
      { name: 'agent.status', input: { id } },
      { name: 'agent.cancel', input: { id } },
      { name: 'agent.followup', input: { id, prompt: 'More' } },
      { name: 'agent.list', input: {} },
    ],
  }),
})
