// GitHub's tools against a local GitHub that checks every request, and all its own responses, against GitHub's
// published description.
import type { Tool, ToolContext } from '@baton/core'
import { isBatonError } from '@baton/core'
import { createToolContext } from '@baton/core/testing'
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import type { FakeGithub } from '@baton/testing/fake-github'
import { startFakeGithub } from '@baton/testing/fake-github'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { FAILURE_KEY, testServiceFailures } from '../shared/service-failures.test-kit.ts'
import type { GithubOptions } from './index.ts'
import { githubTools } from './index.ts'

const SHOP = { owner: 'acme', repo: 'shop' }
const LONG = 'x'.repeat(30_000)
/** One line of three pages, with a character of two units where the first one ends. */
const BUNDLE = `${'a'.repeat(31_999)}😀${'b'.repeat(40_000)}`
let github: FakeGithub

beforeAll(async () => {
  github = await startFakeGithub({
    tokens: {
      'token-of-ann': { login: 'ann', sees: ['acme/secret'] },
      'token-of-bob': { login: 'bob', mayWrite: false },
    },
    repositories: [
      {
        owner: 'acme',
        name: 'shop',
        labels: ['bug', 'good first issue', 'ui'],
        issues: [
          { title: 'The cart forgets its items', body: 'After a reload it is empty.', labels: ['bug'] },
          { title: 'Dark mode', author: 'eve' },
          { title: 'Long', body: LONG },
          ...Array.from({ length: 32 }, (_, number) => ({ title: `Old ${number}` })),
        ],
        files: {
          'README.md': 'The shop\nis open.\n',
          'src/cart.ts': Array.from({ length: 4000 }, (_, line) => `const line${line} = ${line}`).join('\n'),
          'src/ümlaut #1?.txt': 'a strange name\n',
          'bundle.js': `// made\n${BUNDLE}\n// end`,
          'bundle.min.js': BUNDLE,
          'logo.png': new Uint8Array([137, 80, 78, 71, 0, 1]),
          'big.txt': 'y'.repeat(1024 * 1024 + 1),
        },
      },
      { owner: 'acme', name: 'secret', isPrivate: true, issues: [{ title: 'Hidden' }] },
    ],
  })
})

afterAll(() => github.close())

const TOKENS: Readonly<Record<string, string>> = {
  ann: 'token-of-ann',
  bob: 'token-of-bob',
  mallory: 'token-that-is-wrong',
}

function open(more: Partial<GithubOptions> = {}): readonly Tool[] {
  return githubTools({ token: ({ principal }) => TOKENS[principal.id], server: github.url, ...more })
}

/** Runs a tool like a host, for ann by default. */
async function run(
  name: string,
  input: object = {},
  who = 'ann',
  { tools = open(), ...change }: Partial<ToolContext> & { readonly tools?: readonly Tool[] } = {},
) {
  const tool = tools.find((candidate) => candidate.name === name)
  if (!tool?.execute || !(tool.input instanceof z.ZodType) || !(tool.output instanceof z.ZodType)) throw new Error(name)
  const signal = new AbortController().signal
  const context = createToolContext({ principal: { id: who }, signal, ...change })
  const result = await tool.execute(tool.input.parse({ ...SHOP, ...input }), context)
  expect(tool.output.parse(result)).toEqual(result)
  return result
}

describe('issues', () => {
  test('are read, with what is long cut and told', async () => {
    expect(await run('GetIssueDetails', { issueNumber: 1 })).toEqual({
      number: 1,
      title: 'The cart forgets its items',
      text: 'After a reload it is empty.',
      state: 'open',
      author: 'octocat',
      labels: ['bug'],
      assignees: [],
      comments: 0,
      isPullRequest: false,
      url: 'https://github.com/acme/shop/issues/1',
      createdAt: '2026-11-01T00:00:01Z',
      updatedAt: '2026-11-01T00:00:01Z',
    })
    expect(await run('GetIssueDetails', { issueNumber: 3 })).toMatchObject({
      text: LONG.slice(0, 20_000),
      truncated: true,
    })
  })

  test('are closed and opened, with a comment if one is given', async () => {
    expect(await run('UpdateIssueStatus', { issueNumber: 2, status: 'closed', comment: 'Done in 2.0.' })).toMatchObject(
      {
        state: 'closed',
        commentUrl: expect.stringContaining('https://'),
      },
    )
    expect(github.issue('acme/shop', 2)).toMatchObject({
      state: 'closed',
      comments: [{ author: 'ann', body: 'Done in 2.0.' }],
    })
    expect(await run('UpdateIssueStatus', { issueNumber: 2, status: 'open' })).toMatchObject({ state: 'open' })
  })

  test('a comment that fails after the status has changed says so', async () => {
    let requests = 0
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      requests += 1
      return requests === 1 ? await globalThis.fetch(url, init) : new Response('{"message":"no"}', { status: 500 })
    }
    await expect(
      run('UpdateIssueStatus', { issueNumber: 2, status: 'closed', comment: 'x' }, 'ann', { tools: open({ fetch }) }),
    ).rejects.toMatchObject({
      code: 'api_failed',
      message: expect.stringMatching(/^the issue is now closed, but its comment failed: GitHub answered 500/),
    })
  })

  test('are listed and searched page by page', async () => {
    const first = (await run('github.list_issues', { state: 'all' })) as { readonly issues: readonly object[] }
    expect(first).toMatchObject({ nextPage: 2 })
    expect(first.issues).toHaveLength(30)
    const second = await run('github.list_issues', { state: 'all', page: 2 })
    expect(second).not.toHaveProperty('nextPage')
    expect(await run('github.list_issues', { labels: ['bug'] })).toMatchObject({ issues: [{ number: 1 }] })
    expect(await run('github.search_issues', { query: 'cart repo:acme/shop' })).toMatchObject({
      total: 1,
      issues: [{ repository: 'acme/shop', number: 1 }],
    })
  })

  test('have comments and labels', async () => {
    await run('github.add_comment', { issueNumber: 1, text: 'I see it too.' })
    expect(await run('github.list_comments', { issueNumber: 1 })).toMatchObject({
      comments: [{ author: 'ann', text: 'I see it too.' }],
    })
    expect(await run('github.list_labels')).toEqual({ labels: ['bug', 'good first issue', 'ui'] })
    expect(await run('github.add_labels', { issueNumber: 1, labels: ['good first issue'] })).toEqual({
      labels: ['bug', 'good first issue'],
    })
    expect(await run('github.remove_label', { issueNumber: 1, label: 'good first issue' })).toEqual({ labels: ['bug'] })
  })
})

const filePage = z.object({
  text: z.string(),
  startChar: z.int(),
  truncated: z.boolean(),
  next: z.object({ startLine: z.int(), startChar: z.int() }).optional(),
})

describe('files and branches', () => {
  test('a folder is listed, a file is read page by page', async () => {
    expect(await run('github.list_files', { path: '/src/' })).toEqual({
      entries: [
        { name: 'cart.ts', path: 'src/cart.ts', type: 'file', bytes: expect.any(Number) },
        { name: 'ümlaut #1?.txt', path: 'src/ümlaut #1?.txt', type: 'file', bytes: 15 },
      ],
      truncated: false,
    })
    expect(await run('github.read_file', { path: 'src/ümlaut #1?.txt' })).toMatchObject({ text: 'a strange name\n' })
    const lines: string[] = []
    for (let startLine: number | undefined = 1; startLine !== undefined;) {
      const page = (await run('github.read_file', { path: 'src/cart.ts', startLine })) as {
        readonly text: string
        readonly next?: { readonly startLine: number }
      }
      lines.push(...page.text.split('\n'))
      startLine = page.next?.startLine
    }
    expect(lines).toHaveLength(4000)
    expect(lines.at(-1)).toBe('const line3999 = 3999')
  })

  test.each([
    ['bundle.min.js', BUNDLE],
    ['bundle.js', `// made\n${BUNDLE}\n// end`],
  ])('a line of %s that is longer than a page goes on with the next one', async (path, whole) => {
    let text = ''
    for (let next: object | undefined = {}; next !== undefined;) {
      const page = filePage.parse(await run('github.read_file', { path, ...next }))
      expect(page.text.length).toBeLessThanOrEqual(32_000)
      expect(page.truncated).toBe(page.next !== undefined)
      text += `${page.startChar === 0 && text !== '' ? '\n' : ''}${page.text}`
      next = page.next
    }
    expect(text).toBe(whole)
  })

  test('a page from the middle of a line names where it begins, and a line or a place that is not there is empty', async () => {
    const nothing = { text: '', lines: 3, truncated: false }
    expect(await run('github.read_file', { path: 'README.md', startLine: 2, startChar: 3 })).toMatchObject({
      text: 'open.\n',
      startLine: 2,
      startChar: 3,
    })
    expect(await run('github.read_file', { path: 'README.md', startLine: 9 })).toMatchObject(nothing)
    expect(await run('github.read_file', { path: 'README.md', startLine: 3, startChar: 9 })).toMatchObject(nothing)
  })

  test('the error says what cannot be shown as text', async () => {
    const said = async (path: string, name = 'github.read_file') =>
      await run(name, { path }).catch(({ code, message }) => `${code}: ${message}`)
    expect(await said('logo.png')).toBe('tool_failed: logo.png is a binary file of 6 bytes')
    expect(await said('big.txt')).toContain('GitHub returns files up to 1 MB')
    expect(await said('src')).toContain('is a folder; list it')
    expect(await said('README.md', 'github.list_files')).toContain('is a file; read it')
    expect(await said('src/../../../../user')).toContain('must not contain')
  })

  test('a change on a branch becomes a pull request', async () => {
    expect(await run('github.create_branch', { branch: 'fix/cart' })).toMatchObject({
      branch: 'fix/cart',
      from: 'main',
    })
    expect(await run('github.list_branches')).toMatchObject({
      branches: [{ name: 'main', isProtected: true }, { name: 'fix/cart' }],
    })
    const { sha } = (await run('github.read_file', { path: 'README.md', ref: 'fix/cart' })) as { readonly sha: string }
    const write = { path: 'README.md', branch: 'fix/cart', content: 'The shop\nis closed.\n', message: 'Close' }
    await expect(run('github.write_file', write)).rejects.toMatchObject({ code: 'api_refused' })
    await run('github.write_file', { ...write, sha })
    await expect(run('github.write_file', { ...write, sha })).rejects.toThrow('read it again first')
    await run('github.write_file', { ...write, path: 'src/new.ts', content: 'export {}\n' })
    expect(github.file('acme/shop', 'fix/cart', 'README.md')).toBe('The shop\nis closed.\n')
    expect(github.file('acme/shop', 'main', 'README.md')).toBe('The shop\nis open.\n')
    const made = { title: 'Close the shop', text: 'Fixes #1', from: 'fix/cart', into: 'main' }
    const { number: pullNumber } = (await run('github.create_pull_request', made)) as { readonly number: number }
    expect(await run('github.list_pull_requests')).toMatchObject({
      pullRequests: [{ number: pullNumber, from: 'fix/cart' }],
    })
    expect(await run('github.read_pull_request', { pullNumber })).toMatchObject({
      title: 'Close the shop',
      text: 'Fixes #1',
      files: [
        { path: 'README.md', status: 'modified', patch: expect.stringContaining('closed') },
        { path: 'src/new.ts', status: 'added' },
      ],
    })
    await run('github.request_reviewers', { pullNumber, reviewers: ['bob'] })
    await expect(run('github.create_review', { pullNumber, verdict: 'approve' })).rejects.toThrow('own pull request')
    const comments = [{ path: 'README.md', line: 2, text: 'Why?' }]
    await run('github.create_review', { pullNumber, verdict: 'comment', text: 'Hm.', comments })
    expect(await run('github.list_reviews', { pullNumber })).toMatchObject({
      reviews: [{ author: 'ann', state: 'COMMENTED', text: 'Hm.' }],
    })
  })
})

describe('each principal has a token of their own', () => {
  test.each([
    ['nobody', 'api_unauthorized', 'there is no GitHub token for nobody'],
    ['mallory', 'api_unauthorized', 'Bad credentials'],
    ['bob', 'api_refused', 'the token may not do this'],
  ])('%s may not comment', async (who, code, words) => {
    await expect(run('github.add_comment', { issueNumber: 1, text: 'x' }, who)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(words),
    })
  })

  test('what a token may not see is not there', async () => {
    const secret = { ...SHOP, repo: 'secret', issueNumber: 1 }
    expect(await run('GetIssueDetails', secret)).toMatchObject({ title: 'Hidden' })
    await expect(run('GetIssueDetails', secret, 'bob')).rejects.toThrow(
      'it does not exist, or the token may not see it',
    )
    expect(await run('github.search_issues', { query: 'Hidden' }, 'bob')).toMatchObject({ total: 0 })
  })

  test.each([
    ['primary', 80_000, 91_000],
    ['secondary', 60_000, 60_000],
  ] as const)('the %s limit says when to try again', async (kind, least, most) => {
    github.limit(kind, 1)
    const failed = await run('GetIssueDetails', { issueNumber: 1 }).catch((error: unknown) => error)
    if (!isBatonError(failed)) throw new Error('it was not refused')
    expect(failed.code).toBe('api_rate_limited')
    expect(failed.data['retryAfterMs']).toBeGreaterThanOrEqual(least)
    expect(failed.data['retryAfterMs']).toBeLessThanOrEqual(most)
  })
})

describe('CreateImplementationPlan', () => {
  const currentIssue = ({ session }: ToolContext) => (session === 'cart' ? { ...SHOP, issueNumber: 1 } : undefined)

  test.each([{}, { steps: [] }])(
    '%j: has the steps of the model that has read the issue, and people see them',
    async (given) => {
      const planned: string[] = []
      const model = createScriptedModel({
        steps: ({ messages, instructions }) => {
          if (instructions.includes('You plan how to implement')) {
            planned.push(JSON.stringify(messages))
            return {
              text: '{"steps":["Find where the cart is kept","Keep it in the store"]}',
              usage: { inputTokens: 7 },
            }
          }
          const isFirst = messages.at(-1)?.role === 'user'
          return isFirst ? { calls: [{ name: 'CreateImplementationPlan', arguments: given }] } : { text: 'Planned.' }
        },
      })
      const host = createHost({ agent: defineAgent({ name: 'solver', model, tools: open({ currentIssue }) }) })
      const session = await host.session('cart', { principal: { id: 'ann' } })
      const results: unknown[] = []
      const plans: unknown[] = []
      for await (const event of session.send('Plan it.')) {
        if (event.type === 'call' && event.call.result) results.push(event.call.result)
        if (event.type === 'session' && event.plan) plans.push(event.plan)
      }
      expect(results).toMatchObject([
        {
          type: 'ok',
          value: {
            issue: 'acme/shop#1',
            writtenBy: 'model',
            steps: ['Find where the cart is kept', 'Keep it in the store'],
          },
        },
      ])
      expect(planned).toEqual([expect.stringContaining('After a reload it is empty.')])
      expect(plans).toEqual([
        [
          { content: 'Find where the cart is kept', status: 'pending' },
          { content: 'Keep it in the store', status: 'pending' },
        ],
      ])
      await host.stop()
    },
  )

  test('has the steps that the call gives, and asks no model', async () => {
    const planned: unknown[] = []
    const change = { session: 'cart', plan: (entries: unknown) => void planned.push(entries) }
    const tools = open({ currentIssue })
    expect(await run('CreateImplementationPlan', { steps: ['One'] }, 'ann', { ...change, tools })).toMatchObject({
      writtenBy: 'caller',
    })
    expect(planned).toEqual([[{ content: 'One', status: 'pending' }]])
  })

  test('without a current issue it is an error with a code', async () => {
    for (const tools of [open({ currentIssue }), open()])
      await expect(run('CreateImplementationPlan', {}, 'ann', { tools })).rejects.toMatchObject({
        code: 'context_missing',
        message: 'this session has no current issue: specify the issue',
      })
  })
})

test('names that would lead elsewhere are refused before anything is asked', async () => {
  const asked = github.requests.length
  for (const input of [
    { repo: '..', issueNumber: 1 },
    { owner: 'a/b', issueNumber: 1 },
    { issueNumber: 0 },
    { issueNumber: 1.5 },
  ])
    await expect(run('GetIssueDetails', input)).rejects.toThrow(/invalid|small|letters/i)
  await expect(run('github.remove_label', { issueNumber: 1, label: '..' })).rejects.toThrow(/invalid/i)
  await expect(run('github.create_branch', { branch: 'a..b' })).rejects.toThrow('not a valid branch name')
  expect(github.requests).toHaveLength(asked)
})

test('options are checked', () => {
  expect(() => githubTools({ token: '' })).toThrow(
    'githubTools: token must be a token, or a function that returns the token of a principal, not ""; is the variable that holds it set?',
  )
  expect(() => githubTools({ token: 'x', server: 'ftp://x' })).toThrow('githubTools: server')
  expect(() => githubTools({ token: 'x', sever: 'https://x' } as GithubOptions)).toThrow('sever')
})

const ISSUE = { ...SHOP, issueNumber: 1 }
const PULL = { ...SHOP, pullNumber: 1 }

testServiceFailures({
  name: 'github',
  open: (origin, limits) => ({
    tools: githubTools({ token: FAILURE_KEY, server: origin, currentIssue: () => ISSUE, ...limits }),
    calls: [
      { name: 'GetIssueDetails', input: ISSUE },
      { name: 'UpdateIssueStatus', input: { ...ISSUE, status: 'closed' } },
      { name: 'CreateImplementationPlan', input: {} },
      { name: 'github.list_issues', input: SHOP },
      { name: 'github.search_issues', input: { query: 'x' } },
      { name: 'github.list_comments', input: ISSUE },
      { name: 'github.add_comment', input: { ...ISSUE, text: 'x' } },
      { name: 'github.list_labels', input: SHOP },
      { name: 'github.add_labels', input: { ...ISSUE, labels: ['bug'] } },
      { name: 'github.remove_label', input: { ...ISSUE, label: 'bug' } },
      { name: 'github.list_files', input: SHOP },
      { name: 'github.read_file', input: { ...SHOP, path: 'a' } },
      { name: 'github.write_file', input: { ...SHOP, path: 'a', branch: 'b', content: 'c', message: 'd' } },
      { name: 'github.list_branches', input: SHOP },
      { name: 'github.create_branch', input: { ...SHOP, branch: 'b' } },
      { name: 'github.list_pull_requests', input: SHOP },
      { name: 'github.read_pull_request', input: PULL },
      { name: 'github.create_pull_request', input: { ...SHOP, title: 't', from: 'a', into: 'b' } },
      { name: 'github.list_reviews', input: PULL },
      { name: 'github.create_review', input: { ...PULL, verdict: 'approve' } },
      { name: 'github.request_reviewers', input: { ...PULL, reviewers: ['bob'] } },
    ],
  }),
})

test('everything that was asked and answered is as GitHub describes it', () => {
  const used = new Set(github.requests.map(({ operation }) => operation))
  console.info(
    `github: ${github.requests.length} requests to ${used.size} of ${github.described} operations, ${github.violations.length} not as GitHub describes them`,
  )
  expect(github.violations).toEqual([])
  expect(used.size).toBe(github.described)
})

test('each tool that writes names its repository as its destination, and what writes to a branch the branch too', () => {
  const writing = open().filter(({ approval }) => approval !== undefined && approval !== false)
  const input = {
    ...SHOP,
    issueNumber: 1,
    status: 'closed',
    path: 'a.md',
    branch: 'b',
    labels: ['bug'],
    reviewers: ['bob'],
    event: 'APPROVE',
    steps: [],
  } as const
  const destinations = writing.map(({ name, describe: say }) => [name, say?.(input as never)?.destination] as const)
  expect(destinations.length).toBeGreaterThan(5)
  for (const [name, destination] of destinations)
    expect([name, destination]).toEqual([name, name === 'github.write_file' ? 'acme/shop b' : 'acme/shop'])
})

test('of a diff 8,000 characters of each file are shown, and 40,000 together', async () => {
  await run('github.create_branch', { branch: 'long' })
  for (let file = 0; file < 6; file++)
    await run('github.write_file', {
      path: `long/${file}.txt`,
      branch: 'long',
      content: 'y'.repeat(9000),
      message: 'Long',
    })
  const made = { title: 'Long', text: 'Long', from: 'long', into: 'main' }
  const { number: pullNumber } = (await run('github.create_pull_request', made)) as { readonly number: number }
  const { files } = (await run('github.read_pull_request', { pullNumber })) as {
    readonly files: readonly { readonly patch?: string; readonly truncated?: boolean }[]
  }
  expect(files.map(({ patch = '' }) => patch.length)).toEqual([8000, 8000, 8000, 8000, 8000, 0])
  expect(files.every(({ truncated }) => truncated)).toBe(true)
})
