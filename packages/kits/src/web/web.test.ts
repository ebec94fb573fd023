// Pages, texts and JSON of a local site, and three search services that check every request against their own rules.
import type { ToolContext } from '@baton/core'
import { createToolContext } from '@baton/core/testing'
import { createHost, defineAgent } from '@baton/host'
import { createAnthropicModel } from '@baton/models/anthropic'
import { startFakeAnthropic } from '@baton/testing/fake-anthropic'
import type { LocalAnswer } from '@baton/testing/local-server'
import { startLocalServer } from '@baton/testing/local-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { FAILURE_KEY, testServiceFailures } from '../shared/service-failures.test-kit.ts'
import type { WebOptions } from './index.ts'
import { braveSearch, searxngSearch, tavilySearch, webFor, webTools } from './index.ts'
import { SEARCH_KEY, startSearchServer } from './search-server.test-kit.ts'

/** Runs a tool like a host. */
async function run(name: string, input: object, options: WebOptions, change: Partial<ToolContext> = {}) {
  const tool = webTools(options).find((one) => one.name === name)
  if (!tool?.execute || !(tool.input instanceof z.ZodType) || !(tool.output instanceof z.ZodType)) throw new Error(name)
  const context = createToolContext({ signal: new AbortController().signal, ...change })
  const result = await tool.execute(tool.input.parse(input), context)
  expect(tool.output.parse(result)).toEqual(result)
  return result as { text: string; truncated: boolean; next?: { startChar: number }; results: readonly object[] } // checked above
}

describe('web.fetch', () => {
  async function open(pages: Readonly<Record<string, LocalAnswer>>) {
    const site = await startLocalServer(({ url }) => pages[url.pathname] ?? { status: 404 })
    onTestFinished(site.close)
    return { url: site.url, options: { guard: { allow: [site.url] } } satisfies WebOptions }
  }

  test('gives the text of a page, with where it was found after a redirect', async () => {
    const { url, options } = await open({
      '/old': { status: 302, headers: { location: '/new' } },
      '/new': { body: '<title>New</title><h1>News</h1><p>It <a href="/x">moved</a>.</p><p hidden>SECRET</p>' },
    })
    expect(await run('web.fetch', { url: `${url}/old` }, options)).toEqual({
      url: `${url}/new`,
      type: 'html',
      title: 'New',
      text: `# News\n\nIt moved <${url}/x>.`,
      part: 'whole-page',
      hiddenCharacters: 6,
      truncated: false,
    })
  })

  test('a redirect to a place that may not be fetched is refused', async () => {
    const { url, options } = await open({ '/': { status: 302, headers: { location: 'http://169.254.169.254/keys' } } })
    await expect(run('web.fetch', { url }, options)).rejects.toMatchObject({ code: 'url_refused' })
  })

  test('a denied host is not fetched, its subdomains are not, and no redirect leads there', async () => {
    const { url, options } = await open({
      '/': { status: 302, headers: { location: 'https://www.spam.example/' } },
      '/ok': { headers: { 'content-type': 'text/plain' }, body: 'Hi' },
    })
    const guard = { ...options.guard, deny: ['spam.example'] }
    for (const address of ['https://spam.example/a', 'https://a.spam.example./', url])
      await expect(run('web.fetch', { url: address }, { guard })).rejects.toMatchObject({
        code: 'url_refused',
        message: expect.stringContaining('this program denies its host'),
      })
    expect(await run('web.fetch', { url: `${url}/ok` }, { guard })).toMatchObject({ text: 'Hi' })
    // It takes precedence over allowed places.
    await expect(run('web.fetch', { url }, { guard: { ...guard, deny: ['127.0.0.0/8'] } })).rejects.toThrow('denies')
  })

  test('beside a fetch of the program, deny holds, and other rules of the guard are refused', async () => {
    const fetch = () => Promise.resolve(new Response('Hi', { headers: { 'content-type': 'text/plain' } }))
    const options = { fetch, guard: { deny: ['spam.example'] } }
    expect(await run('web.fetch', { url: 'https://ham.example/' }, options)).toMatchObject({ text: 'Hi' })
    await expect(run('web.fetch', { url: 'https://spam.example/' }, options)).rejects.toMatchObject({
      code: 'url_refused',
    })
    expect(() => webTools({ fetch, guard: { onlyAllowed: true, allow: ['ham.example'] } })).toThrow(
      'guard.onlyAllowed has no effect together with fetch',
    )
  })

  test.each([
    ['application/json', '{"a":[1,2]}', { type: 'json', text: '{\n "a": [\n  1,\n  2\n ]\n}' }],
    ['application/problem+json', '{"a":', { type: 'json', text: '{"a":' }],
    ['application/json', '{"id":9007199254740993,"a":1}', { text: '{"id":9007199254740993,"a":1}' }],
    ['application/json', '{"at":12345678.1234567891}', { text: '{"at":12345678.1234567891}' }],
    ['application/json', '{"far":1e999}', { text: '{"far":1e999}' }],
    ['application/json', '{"a":"\\"9007199254740993"}', { text: '{\n "a": "\\"9007199254740993"\n}' }],
    ['application/json', `{"a":"${'\\\\'.repeat(200_000)}"}`, { type: 'json' }],
    ['application/json', '{"a":1.0,"b":1e3,"c":-0.50}', { text: '{\n "a": 1,\n "b": 1000,\n "c": -0.5\n}' }],
    ['text/plain', 'a  b\n', { type: 'text', text: 'a  b\n' }],
    ['', '<!doctype html><p>Hi', { type: 'html', text: 'Hi' }],
    ['application/json', `${'['.repeat(9000)}${']'.repeat(9000)}`, { type: 'json' }],
    ['application/javascript', 'let a', { type: 'text', text: 'let a' }],
    ['', '<!-- a -->\n<!-- b --> <html><p>Hi', { type: 'html', text: 'Hi' }],
    // A backtracking pattern would need years to split the comments.
    ['text/plain', `${'<!---->'.repeat(200)}x`, { type: 'text', text: `${'<!---->'.repeat(200)}x` }],
  ])('what says it is "%s" is given as text: %j', async (type, body, given) => {
    const { url, options } = await open({ '/': { headers: { 'content-type': type }, body } })
    expect(await run('web.fetch', { url }, options)).toMatchObject(given)
  })

  test('a long text comes in parts of the length that was asked for', async () => {
    const { url, options } = await open({ '/': { headers: { 'content-type': 'text/plain' }, body: '😀'.repeat(300) } })
    const parts: string[] = []
    for (let startChar: number | undefined = 0; startChar !== undefined;) {
      const part = await run('web.fetch', { url, startChar, maxChars: 101 }, options)
      parts.push(part.text)
      startChar = part.next?.startChar
    }
    expect(parts.map(({ length }) => length)).toEqual([100, 100, 100, 100, 100, 100])
    expect(parts.join('')).toBe('😀'.repeat(300))
  })

  test.each([
    ['application/pdf', Buffer.from('%PDF-1.7\n')],
    ['text/plain', Buffer.from([0, 1, 2, 3])],
    ['video/mp4', Buffer.from('ftyp')],
  ])('a file that says %s is refused', async (type, body) => {
    const { url, options } = await open({ '/': { headers: { 'content-type': type }, body } })
    await expect(run('web.fetch', { url }, options)).rejects.toMatchObject({ code: 'media_unsupported' })
  })
})

describe('web.search', () => {
  async function open(server: { readonly allowsJson?: boolean } = {}) {
    const service = await startSearchServer(server)
    onTestFinished(async () => {
      await service.close()
      expect(service.violations).toEqual([])
    })
    const brave = (apiKey = SEARCH_KEY) => braveSearch({ apiKey, server: `${service.url}/res/v1` })
    const tavily = (apiKey = SEARCH_KEY) => tavilySearch({ apiKey, server: service.url })
    return { brave, tavily, searxng: searxngSearch({ server: service.url }) }
  }

  test.each(['brave', 'tavily', 'searxng'] as const)(
    '%s gives what was asked for, without what is not an address',
    async (name) => {
      const services = await open()
      const search = name === 'searxng' ? services.searxng : services[name]()
      expect(await run('web.search', { query: 'leases', count: 3 }, { search })).toMatchObject({
        provider: search.name,
        results: [0, 2].map((index) => ({
          title: `Result ${index}`,
          url: `https://a.example/${index}`,
          snippet: `It says ${index}`,
        })),
      })
    },
  )

  test('a date is given if the service gives one', async () => {
    const { brave, tavily } = await open()
    const dates = async (search: WebOptions['search']) =>
      (await run('web.search', { query: 'x', count: 1 }, { ...(search && { search }) })).results
    expect(await dates(brave())).toMatchObject([{ publishedAt: expect.stringMatching(/^2026-11-/) }])
    expect(await dates(tavily())).toEqual([{ title: 'Result 0', url: 'https://a.example/0', snippet: 'It says 0' }])
  })

  test('nothing found is an empty list', async () => {
    const { brave } = await open()
    expect(await run('web.search', { query: 'nothing' }, { search: brave() })).toMatchObject({ results: [] })
  })

  test('a wrong key, and a principal without one', async () => {
    const { brave, tavily } = await open()
    for (const search of [brave('a-wrong-key'), tavily('a-wrong-key'), braveSearch({ apiKey: () => undefined })])
      await expect(run('web.search', { query: 'x' }, { search })).rejects.toMatchObject({ code: 'api_unauthorized' })
  })

  test('the error for a SearXNG without JSON says which setting it lacks', async () => {
    const { searxng } = await open({ allowsJson: false })
    await expect(run('web.search', { query: 'x' }, { search: searxng })).rejects.toMatchObject({
      code: 'api_refused',
      message: expect.stringContaining('search.formats'),
    })
  })

  test('a function of the program searches, and its long answers are cut', async () => {
    const search: WebOptions['search'] = ({ query }, { principal }) =>
      Promise.resolve([{ title: `${query} for ${principal.id}`, url: 'https://a.example/', snippet: 'x'.repeat(5000) }])
    const { results } = await run('web.search', { query: 'leases' }, { search }, { principal: { id: 'ann' } })
    expect(results).toEqual([{ title: 'leases for ann', url: 'https://a.example/', snippet: `${'x'.repeat(1999)}…` }])
  })
})

test('a search shows no result that web.fetch may not read', async () => {
  const search = () =>
    Promise.resolve(
      ['spam.example', 'www.spam.example', 'notspam.example', 'ham.example'].map((host) => ({
        title: host,
        url: `https://${host}/`,
        snippet: '',
      })),
    )
  const titles = async (guard: WebOptions['guard']) =>
    (await run('web.search', { query: 'x' }, { search, ...(guard && { guard }) })).results.map((one) =>
      'title' in one ? one.title : '',
    )
  expect(await titles({ deny: ['spam.example'] })).toEqual(['notspam.example', 'ham.example'])
  expect(await titles({ allow: ['ham.example'], onlyAllowed: true })).toEqual(['ham.example'])
})

describe('who searches', () => {
  const search = searxngSearch({ server: 'https://search.example' })
  const names = (options: Parameters<typeof webFor>[0]) => webFor(options).tools.map(({ name }) => name)

  test('the rules of the guard hold for the search of a provider, and a model may be named by itself', () => {
    const model = createAnthropicModel({ model: 'claude-haiku-4-5', apiKey: 'key' })
    const tell = (guard: WebOptions['guard']) =>
      webFor({ models: [model, 'openai/gpt-5-mini'], ...(guard && { guard }) }).settings.serverTools
    expect(tell({ deny: ['spam.example', '203.0.113.0/24', '2001:db8::1'] })).toMatchObject({
      anthropic: [{ blocked_domains: ['spam.example'] }],
      openai: [{ filters: { blocked_domains: ['spam.example'] } }],
    })
    const only = ['*.docs.example', 'https://a.example:8443', '10.0.0.0/8', 'spam.example']
    expect(tell({ allow: only, onlyAllowed: true, deny: ['spam.example'] })).toMatchObject({
      anthropic: [{ allowed_domains: ['docs.example', 'a.example'] }],
      openai: [{ filters: { allowed_domains: ['docs.example', 'a.example'] } }],
    })
    const mixed = { allow: ['docs.example'], onlyAllowed: true, deny: ['old.docs.example'] }
    expect(() => tell(mixed)).toThrow('that respects guard')
    expect(webFor({ models: [model], guard: mixed, search }).tools.map(({ name }) => name)).toContain('web.search')
  })

  test('the provider, where all models have a search of their own', () => {
    const options = { models: ['anthropic/claude-haiku-4-5', 'openai/gpt-5-mini'], search }
    expect(names(options)).toEqual(['web.fetch'])
    expect(webFor(options).settings.serverTools).toMatchObject({
      anthropic: [{ type: 'web_search_20250305', name: 'web_search' }],
      openai: [{ type: 'web_search' }],
    })
  })

  test('the provider gets its own search beside the tools of the kit', async () => {
    const asked: unknown[] = []
    const anthropic = await startFakeAnthropic(({ body }) => {
      asked.push(body)
      return { text: 'It rains.' }
    })
    onTestFinished(() => anthropic.close())
    const { tools, settings } = webFor({ models: ['anthropic/claude-haiku-4-5'] })
    const model = createAnthropicModel({ apiKey: 'key-of-a-test', model: 'claude-haiku-4-5', baseUrl: anthropic.url })
    const host = createHost({ agent: defineAgent({ name: 'searcher', model, tools: [...tools], settings }) })
    onTestFinished(() => host.stop())
    const session = await host.session('one')
    expect((await session.send('Does it rain?').answer).text).toBe('It rains.')
    expect(asked).toMatchObject([
      { tools: expect.arrayContaining([{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }]) },
    ])
  })

  test('a service, where one model has none', () => {
    const options = { models: ['anthropic/claude-haiku-4-5', 'gemini/gemini-3-flash'], search }
    expect(names(options)).toEqual(['web.fetch', 'web.search'])
    expect(webFor(options).settings).toEqual({})
  })

  test('nobody: that is an error at once', () => {
    expect(() => webFor({ models: ['gemini/gemini-3-flash'] })).toThrow(
      '"gemini/gemini-3-flash" has no search of its own',
    )
    expect(() => webFor({ models: [] })).toThrow('no model is named')
    expect(() => webFor({ models: 'openai/gpt-5-mini' } as never)).toThrow('models must be an array')
    expect(webTools().map(({ name }) => name)).toEqual(['web.fetch'])
  })
})

test.each([
  [() => braveSearch({ apiKey: ' ' }), 'apiKey'],
  [() => searxngSearch({ server: 'nowhere' }), 'searxngSearch: server'],
  [() => webTools({ search: {} as never }), 'search must be'],
  [() => webTools({ serach: () => [] } as never), 'serach'],
])('wrong options are refused', (open, message) => {
  expect(open).toThrow(message)
})

for (const [name, open] of [
  ['Brave Search', (server: string, limits: object) => braveSearch({ apiKey: FAILURE_KEY, server, ...limits })],
  ['Tavily', (server: string, limits: object) => tavilySearch({ apiKey: FAILURE_KEY, server, ...limits })],
  ['SearXNG', (server: string, limits: object) => searxngSearch({ server, ...limits })],
] as const)
  testServiceFailures({
    name,
    open: (origin, limits) => ({
      tools: webTools({ search: open(origin, limits) }).slice(1),
      calls: [{ name: 'web.search', input: { query: 'x' } }],
    }),
  })
testServiceFailures({
  name: 'web.fetch',
  open: (origin, limits) => ({
    tools: webTools({ ...limits, guard: { allow: [origin] } }),
    calls: [{ name: 'web.fetch', input: { url: `${origin}/a` } }],
  }),
  // Pages, texts and JSON are valid input for it.
  fine: ['not JSON', 'a web page', 'JSON of another shape', 'null'],
})
