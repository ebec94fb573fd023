// The explorer on a real host, with a scripted model: the self-updating plan, reports whose citations must hold, and
// the summary.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject, ModelRequest, Session } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createStore, idOf, writeGemini, writeOpenCodeRows } from '../coding-sessions/session-files.test-kit.ts'
import type { ExplorerOptions } from './index.ts'
import { createExplorer, readExploration } from './index.ts'

let place = ''
let root = ''

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'baton-explorer-'))
  root = join(place, 'shop')
  mkdirSync(join(root, 'src'), { recursive: true })
  writeFileSync(join(root, 'package.json'), '{"name":"shop","main":"./src/index.ts"}\n')
  writeFileSync(join(root, 'src', 'index.ts'), "import { cart } from './cart.ts'\n\nexport const shop = cart\n")
  writeFileSync(join(root, 'src', 'cart.ts'), '// TODO: forget nothing\nexport const cart = []\n')
  writeFileSync(join(root, 'setup.py'), 'print(1)')
})
afterEach(() => rmSync(place, { recursive: true, force: true }))

type Call = NonNullable<ScriptedStep['calls']>[number]
const call = (name: string, args: JsonObject = {}): Call => ({ name, arguments: args })
const ANALYZE = { calls: [call('session.analyze')] }
const grep = { calls: [call('code.grep', { pattern: 'TODO' })] }
const reports = (...places: readonly JsonObject[]) => ({
  calls: [call('explore.report', { findings: [{ text: 'The cart has an open task', evidence: places }] })],
})

async function explore(
  steps: readonly ScriptedStep[] | ((request: ModelRequest) => ScriptedStep),
  options: Partial<ExplorerOptions> = {},
) {
  const model = createScriptedModel({ steps, capabilities: { contextTokens: 4096 } })
  const none = join(place, 'none')
  const sessions = { claudeCode: none, codex: none, geminiCli: none, opencode: none }
  const host = createHost({ agent: createExplorer({ root, model, sessions, ...options }) })
  const session = await host.session('exploration')
  const plans: string[] = []
  const failed: string[] = []
  const ask = async (goal: string) => {
    const turn = session.send(goal)
    for await (const event of turn) {
      if (event.type === 'session' && event.plan) plans.push(event.plan.map(({ status }) => status).join(' '))
      if (event.type === 'call' && event.call.result && event.call.result.type !== 'ok')
        failed.push(`${event.call.name}: ${'message' in event.call.result ? event.call.result.message : ''}`)
    }
    return await turn.answer
  }
  return { model, host, session: session as Session, ask, plans, failed }
}

test('the plan ticks itself off, the report cites calls, and code counts the rest', async () => {
  const plan = [
    { content: 'See what there is', tool: 'fs.list_dir' },
    { content: 'Find open tasks', tool: 'code.grep' },
    { content: 'Read the cart' },
  ]
  const { ask, session, plans, failed, model, host } = await explore([
    ANALYZE,
    { calls: [call('plan.set', { entries: plan })] },
    { calls: [call('fs.list_dir', { path: '.', depth: 2 })] },
    { calls: [call('code.grep', { pattern: 'TODO' }), call('content.get_span', { path: 'src/cart.ts' })] },
    reports({ path: './src/cart.ts', line: 1 }, { path: 'package.json' }),
    { text: 'The cart is nearly done.' },
  ])
  const answer = await ask('Explore the workspace.')
  expect({ text: answer.text, failed }).toEqual({ text: 'The cart is nearly done.', failed: [] })
  expect(plans[0]).toBe('pending pending pending')
  expect(plans).toContain('in_progress pending pending')
  expect(plans).toContain('completed pending pending')
  expect(plans.at(-1)).toBe('completed completed completed')
  expect(model.requests[0]?.toolChoice).toEqual({ type: 'tool', name: 'session.analyze' })
  const summary = await readExploration(session, { root })
  expect(summary).toMatchObject({
    name: 'shop',
    languages: [
      { language: 'TypeScript', files: 2, lines: 5 },
      { language: 'JSON', files: 1, lines: 1 },
      { language: 'Python', files: 1, lines: 1 },
    ],
    entryPoints: ['src/index.ts'],
    citations: { accepted: 2, refused: 0 },
    truncated: false,
  })
  expect(summary.topFiles[0]).toEqual({ path: 'src/cart.ts', calls: 2, lines: 2 })
  const [finding] = summary.findings
  expect(finding?.evidence.map(({ path, line, tool }) => ({ path, line, tool }))).toEqual([
    { path: 'src/cart.ts', line: 1, tool: 'content.get_span' },
    { path: 'package.json', line: undefined, tool: 'fs.list_dir' },
  ])
  await host.stop()
})

test('sessions of every coding agent in the folder can be cited', async () => {
  const store = { ...createStore(join(place, 'agents')), root }
  writeGemini(store, 1, [{ id: 'u', type: 'user', timestamp: '2026-05-01T00:00:00Z', content: 'Open the shop' }])
  const message = { info: { role: 'user' }, parts: [{ type: 'text', text: 'Close the shop' }] }
  writeOpenCodeRows(store, 2, [message])
  const { root: _, ...sessions } = store
  const { ask, session, failed, host } = await explore(
    [ANALYZE, reports({ sessionId: idOf(1) }, { sessionId: 'ses_2' }), { text: 'It opens and closes.' }],
    { sessions },
  )
  await ask('Explore.')
  expect(failed).toEqual([])
  expect((await readExploration(session, { root })).citations).toEqual({ accepted: 2, refused: 0 })
  await host.stop()
})

test('a call ticks off an entry whose tool the model has misspelled', async () => {
  const entries = [
    { content: 'Search', tool: 'grep' },
    { content: 'List', tool: 'fs.list_dir' },
  ]
  const { ask, plans, host } = await explore([
    ANALYZE,
    { calls: [call('plan.set', { entries })] },
    grep,
    reports({ path: 'src/cart.ts', line: 1 }),
    { text: 'Done.' },
  ])
  await ask('Explore.')
  expect(plans.at(-1)).toBe('completed pending')
  await host.stop()
})

test.each([
  ['a line that no result has shown', { path: 'src/cart.ts', line: 99 }, '"src/cart.ts:99"'],
  ['a file that exists, but was not looked at', { path: 'setup.py' }, '"setup.py"'],
  ['a session that does not exist', { sessionId: 'abc' }, '"abc"'],
])('a report that cites %s is refused, and asked for again', async (_, wrong, named) => {
  const { ask, session, failed, host } = await explore([
    ANALYZE,
    grep,
    reports(wrong),
    reports({ path: 'src/cart.ts', line: 1 }),
    { text: 'Done.' },
  ])
  await ask('Explore.')
  expect(failed).toEqual([expect.stringContaining(`no call has shown ${named}`)])
  expect(await readExploration(session, { root })).toMatchObject({
    findings: [{ evidence: [{ path: 'src/cart.ts', line: 1, tool: 'code.grep' }] }],
    citations: { accepted: 1, refused: 1 },
  })
  await host.stop()
})

test('the last step asks for the report, and a model that never gives one ends all the same', async () => {
  const { ask, session, model, host } = await explore(
    ({ toolChoice }) =>
      toolChoice.type === 'none'
        ? { text: 'I give up.' }
        : toolChoice.type === 'tool' && toolChoice.name === 'explore.report'
          ? reports({ path: 'nowhere' })
          : grep,
    { maxSteps: 4 },
  )
  const answer = await ask('Explore.')
  expect(answer.text).toBe('I give up.')
  const choices = model.requests.map(({ toolChoice }) => ('name' in toolChoice ? toolChoice.name : toolChoice.type))
  expect(choices).toEqual([
    'session.analyze',
    'auto',
    'auto',
    'explore.report',
    'explore.report',
    'explore.report',
    'none',
  ])
  expect(await readExploration(session, { root })).toMatchObject({
    findings: [],
    citations: { accepted: 0, refused: 3 },
  })
  await host.stop()
})

test('in the planned style one answer has the plan and all of its calls, and the next one reports', async () => {
  const entries = [
    { content: 'List', tool: 'fs.list_dir' },
    { content: 'Search', tool: 'code.grep' },
  ]
  const { ask, session, plans, host } = await explore(
    [
      ANALYZE,
      { calls: [call('plan.set', { entries }), call('fs.list_dir'), ...grep.calls] },
      reports({ path: 'src/cart.ts', line: 1 }),
      { text: 'Done.' },
    ],
    { style: 'planned' },
  )
  await ask('Explore.')
  expect(plans.at(-1)).toBe('completed completed')
  expect((await readExploration(session, { root })).findings).toHaveLength(1)
  await host.stop()
})

test('a later exploration knows the first one, and its summary has its own findings', async () => {
  const { ask, session, model, host } = await explore([
    ANALYZE,
    grep,
    reports({ path: 'src/cart.ts', line: 1 }),
    { text: 'First.' },
    ANALYZE,
    { calls: [call('content.get_span', { path: 'src/index.ts' })] },
    {
      calls: [
        call('explore.report', {
          findings: [
            {
              text: 'The shop is the cart',
              evidence: [
                { path: 'src/index.ts', line: 3 },
                { path: 'src/cart.ts', line: 1 },
              ],
            },
          ],
        }),
      ],
    },
    { text: 'Second.' },
  ])
  await ask('Explore.')
  await ask('And the shop?')
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('The cart has an open task')
  expect((await readExploration(session, { root })).findings.map(({ text }) => text)).toEqual(['The shop is the cart'])
  await host.stop()
})

test('it has no network and only models on this machine, unless that is allowed, and an hour', () => {
  expect(createExplorer({ root }).permissions).toEqual([{ network: false, externalModels: false }])
  expect(createExplorer({ root }).limits.turnMs).toBe(3_600_000)
  expect(() => createExplorer({ root, maxSteps: 1 })).toThrow('maxSteps must be a whole number from 2 to 100, not 1')
  expect(() => createExplorer({ root, style: 'wild' } as unknown as ExplorerOptions)).toThrow('style must be')
})

test('it only looks: a workspace that may write, and misspelt permissions, are refused', () => {
  const workspace = { limits: {}, write: { approval: false }, shell: true } // the compiler allows extra fields in a variable
  expect(() => createExplorer({ root, workspace })).toThrow('createExplorer: workspace has no field "write"')
  const permissions = { externalModel: true }
  expect(() => createExplorer({ root, permissions } as ExplorerOptions)).toThrow('it is called "externalModels" here')
  expect(() => createExplorer({ root, permissions: { network: 'yes' } } as unknown as ExplorerOptions)).toThrow(
    'createExplorer: permissions: network must be true or false, not "yes"',
  )
})
