// Reddit and Hacker News content from local servers that check every request against the services' own rules, and pages
// that hide, deceive or try to block their reader.
import type { JsonObject, ToolContext } from '@baton/core'
import { createToolContext } from '@baton/core/testing'
import { startFakeHackerNews } from '@baton/testing/fake-hacker-news'
import type { FakeReddit, FakeRedditOptions } from '@baton/testing/fake-reddit'
import { FAKE_REDDIT_APP, startFakeReddit } from '@baton/testing/fake-reddit'
import type { LocalAnswer } from '@baton/testing/local-server'
import { startLocalServer } from '@baton/testing/local-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import type { FailureLimits } from '../shared/service-failures.test-kit.ts'
import { FAILURE_KEY, testServiceFailures } from '../shared/service-failures.test-kit.ts'
import type { ContentOptions } from './index.ts'
import { contentTools, createContentReader } from './index.ts'

/** Runs the tool like a host. */
async function read(options: ContentOptions, input: object, change: Partial<ToolContext> = {}) {
  const [tool] = contentTools(options)
  if (!tool?.execute || !(tool.input instanceof z.ZodType) || !(tool.output instanceof z.ZodType))
    throw new Error('no tool')
  const signal = new AbortController().signal
  const result = await tool.execute(tool.input.parse(input), createToolContext({ signal, ...change }))
  expect(tool.output.parse(result)).toEqual(result)
  return result
}

const BOUNTY = {
  name: 't3_1abcde',
  title: 'Explain leases & locks <in> a picture',
  selftext: 'A lease ends by itself.',
  stickied: true,
  edited: 1_731_003_600,
} as const

async function openReddit(init: FakeRedditOptions, app: object = FAKE_REDDIT_APP) {
  const reddit = await startFakeReddit(init)
  onTestFinished(async () => {
    await reddit.close()
    expect(reddit.violations).toEqual([])
  })
  const options: ContentOptions = { reddit: { ...app, server: reddit.url, publicServer: reddit.publicUrl } }
  return { reddit, options }
}

describe('Reddit', () => {
  test('a post by an address: who wrote it, when, what it says', async () => {
    const { options } = await openReddit({ posts: [BOUNTY] })
    expect(await read(options, { url: 'https://old.reddit.com/r/typescript/comments/1abcde/explain/?x=1' })).toEqual({
      source: 'reddit',
      kind: 'post',
      id: 't3_1abcde',
      permalink: 'https://www.reddit.com/r/typescript/comments/1abcde/a_post/',
      state: 'present',
      title: 'Explain leases & locks <in> a picture',
      author: 'ann',
      text: 'A lease ends by itself.',
      score: 12,
      stickied: true,
      createdAt: '2024-11-07T17:20:00.000Z',
      editedAt: '2024-11-07T18:20:00.000Z',
      parent: null,
      community: 'typescript',
      link: null,
      images: [],
      hiddenCharacters: 0,
      truncated: false,
    })
  })

  test.each([
    ['/r/typescript/comments/1abcde/explain/kxyz12/?context=3', 't1_kxyz12'],
    ['/r/typescript/comments/1abcde/comment/kxyz12/', 't1_kxyz12'],
    ['/comments/1abcde', 't3_1abcde'],
    ['/gallery/1ABCDE', 't3_1abcde'],
    ['/user/ann/comments/1abcde/explain.json', 't3_1abcde'],
    ['/r/typescript/s/AbCdEf1234', 't1_kxyz12'],
  ])('the address %s is %s', async (path, id) => {
    const { options } = await openReddit({
      posts: [BOUNTY],
      comments: [{ name: 't1_kxyz12', parent_id: 't1_kparent', body: 'Locks hold.', author: 'bob' }],
      shares: {
        '/r/typescript/s/AbCdEf1234': 'https://www.reddit.com/r/typescript/comments/1abcde/comment/kxyz12/?share_id=x',
      },
    })
    expect(await read(options, { url: `https://www.reddit.com${path}` })).toMatchObject({ id })
  })

  test('a comment names what it answers, and keeps a hidden score to itself', async () => {
    const { options } = await openReddit({
      comments: [
        { name: 't1_kone', parent_id: 't3_1abcde', body: 'To the post', score_hidden: true },
        { name: 't1_ktwo', parent_id: 't1_kone', body: 'To the comment' },
      ],
    })
    expect(await read(options, { id: 't1_kone' })).toMatchObject({
      kind: 'comment',
      text: 'To the post',
      score: null,
      parent: { id: 't3_1abcde', permalink: 'https://www.reddit.com/comments/1abcde/' },
    })
    expect(await read(options, { id: 't1_ktwo' })).toMatchObject({
      score: 12,
      parent: { id: 't1_kone', permalink: 'https://www.reddit.com/comments/1abcde/comment/kone/' },
    })
  })

  test.each([
    [
      { selftext: '[deleted]', author: '[deleted]' },
      { state: 'deleted', author: null, text: '' },
    ],
    [
      { selftext: '[removed]', removed_by_category: 'moderator' },
      { state: 'removed', stateNote: 'by moderator', author: 'ann' },
    ],
    [
      { selftext: '[ Removed by Reddit ]', removed_by_category: 'content_takedown' },
      { state: 'removed', text: '' },
    ],
    [
      { selftext: 'still here', removed_by_category: 'deleted' },
      { state: 'deleted', text: '' },
    ],
    [
      { selftext: 'stays', author: '[deleted]' },
      { state: 'present', author: null, text: 'stays' },
    ],
    [{ selftext: 'Why does it say [removed] here?' }, { state: 'present' }],
    [{ edited: true }, { editedAt: null }],
    [
      { is_self: false, url: 'https://i.redd.it/chart.png' },
      { link: 'https://i.redd.it/chart.png', images: ['https://i.redd.it/chart.png'] },
    ],
  ])('a post with %j is reported as %j', async (fields, told) => {
    const { options } = await openReddit({ posts: [{ ...BOUNTY, ...fields }] })
    expect(await read(options, { id: 't3_1abcde' })).toMatchObject(told)
  })

  test('a user, a suspended user, and a user that does not exist', async () => {
    const { options } = await openReddit({ users: [{ name: 'ann' }, { name: 'eve', is_suspended: true }] })
    expect(await read(options, { url: 'https://www.reddit.com/u/ann' })).toMatchObject({
      kind: 'user',
      id: 'u/ann',
      author: 'ann',
      score: 125,
      text: 'I write.',
      createdAt: '2020-09-13T12:26:40.000Z',
    })
    expect(await read(options, { id: 'u/eve' })).toMatchObject({ state: 'suspended', createdAt: null, score: null })
    await expect(read(options, { id: 'u/nobody' })).rejects.toMatchObject({ code: 'api_refused' })
    await expect(read(options, { id: 't3_none' })).rejects.toMatchObject({ message: 'Reddit has no t3_none' })
  })

  test('an answer about something else is not taken for what was asked', async () => {
    const other = { kind: 't3', data: { name: 't3_other', title: 'Other', permalink: '/comments/other/' } }
    const fetch = () => Promise.resolve(Response.json({ kind: 'Listing', data: { children: [other] } }))
    await expect(read({ fetch }, { id: 't3_1abcde' })).rejects.toMatchObject({ message: 'Reddit has no t3_1abcde' })
  })

  test('the token of the application is asked for once, and again when it was withdrawn', async () => {
    const { reddit, options } = await openReddit({ posts: [BOUNTY] })
    const reader = createContentReader(options)
    const context = createToolContext({ signal: new AbortController().signal })
    for (const withdraws of [false, false, true]) {
      if (withdraws) reddit.withdrawTokens()
      expect(await reader.read({ id: 't3_1abcde' }, context)).toMatchObject({ author: 'ann' })
    }
    const [login, info] = ['public POST /api/v1/access_token', 'oauth GET /api/info']
    expect(reddit.asked).toEqual([login, info, info, info, login, info])
  })

  test('two reads under way whose token was withdrawn both go on with a new one', async () => {
    const { reddit, options } = await openReddit({ posts: [BOUNTY] })
    const ended = Promise.withResolvers<void>()
    let logins = 0
    // The login after the withdrawal takes until the other read has asked for one too, or has failed.
    const fetch: typeof globalThis.fetch = async (address, init) => {
      if (new Request(address).url.endsWith('/api/v1/access_token')) {
        logins += 1
        if (logins === 3) ended.resolve()
        if (logins > 1) await ended.promise
      }
      return await globalThis.fetch(address, init)
    }
    const reader = createContentReader({ ...options, fetch })
    const context = createToolContext({ signal: new AbortController().signal })
    await reader.read({ id: 't3_1abcde' }, context)
    reddit.withdrawTokens()
    const reads = [1, 2].map(async () => {
      try {
        return await reader.read({ id: 't3_1abcde' }, context)
      } finally {
        ended.resolve()
      }
    })
    expect(await Promise.all(reads)).toMatchObject([{ author: 'ann' }, { author: 'ann' }])
  })

  test('a principal with a token of its own is asked for with that', async () => {
    const { reddit, options } = await openReddit({ posts: [BOUNTY], userTokens: ['token-of-ann'] })
    const own: ContentOptions = {
      reddit: {
        ...options.reddit,
        token: ({ principal }) => (principal.id === 'ann' ? 'token-of-ann' : 'wrong-token'),
      },
    }
    await read(own, { id: 't3_1abcde' }, { principal: { id: 'ann' } })
    expect(reddit.asked).toEqual(['oauth GET /api/info'])
    await expect(read(own, { id: 't3_1abcde' }, { principal: { id: 'bob' } })).rejects.toMatchObject({
      code: 'api_unauthorized',
    })
  })

  test('without a login the public address is asked, and a refusal says what helps', async () => {
    const open = await openReddit({ posts: [BOUNTY] }, {})
    expect(await read(open.options, { id: 't3_1abcde' })).toMatchObject({ author: 'ann' })
    expect(open.reddit.asked).toEqual(['public GET /api/info.json'])
    const closed = await openReddit({ posts: [BOUNTY], refusesPublic: true }, {})
    await expect(read(closed.options, { id: 't3_1abcde' })).rejects.toMatchObject({
      code: 'api_refused',
      message: expect.stringContaining('reddit.clientId'),
    })
  })

  test('a limit that is reached says when it ends', async () => {
    const { reddit, options } = await openReddit({ posts: [BOUNTY] })
    reddit.remaining = 1
    await expect(read(options, { id: 't3_1abcde' })).rejects.toMatchObject({
      code: 'api_rate_limited',
      data: { retryAfterMs: 42_000 },
    })
  })

  test('a user agent that says nothing is refused as the service refuses it', async () => {
    const reddit: FakeReddit = await startFakeReddit({ posts: [BOUNTY] })
    onTestFinished(reddit.close)
    const options = { reddit: { userAgent: 'node', server: reddit.url, publicServer: reddit.publicUrl } }
    await expect(read(options, { id: 't3_1abcde' })).rejects.toMatchObject({ code: 'api_rate_limited' })
  })
})

test.each([
  [{ url: 'https://www.reddit.com/r/typescript/' }, 'is not a Reddit post'],
  [{ url: 'https://redd.it/' }, 'is not a Reddit post'],
  [{ url: 'ftp://a.example/' }, 'must start with https://'],
  [{ url: 'https://ann:secret@a.example/' }, 'contain no login'],
  [{ id: 't9_x' }, 'is not a known id'],
])('%j is refused: %s', async (input, message) => {
  await expect(read({}, input)).rejects.toMatchObject({
    code: 'invalid_arguments',
    message: expect.stringContaining(message),
  })
})

test('a host that only looks like Reddit is a page, and its neighbours are not asked', async () => {
  const { reddit, options } = await openReddit({ posts: [BOUNTY] })
  const fetched: string[] = []
  const fetch = async (url: string) => {
    fetched.push(url)
    return await Promise.resolve(new Response('Hello', { headers: { 'content-type': 'text/plain' } }))
  }
  const url = 'https://reddit.com.evil.example/r/typescript/comments/1abcde/'
  expect(await read({ ...options, fetch }, { url })).toMatchObject({ source: 'web', text: 'Hello' })
  expect([fetched, reddit.asked]).toEqual([[url], []])
})

test('ids of the program stand for addresses, and only they are looked up', async () => {
  const { options } = await openReddit({ posts: [BOUNTY] })
  const resolve = (id: string) => (id === 'submission-17' ? 'https://redd.it/1abcde' : undefined)
  expect(await read({ ...options, resolve }, { id: 'submission-17' })).toMatchObject({ id: 't3_1abcde' })
  await expect(read({ ...options, resolve }, { id: 'submission-18' })).rejects.toMatchObject({
    code: 'invalid_arguments',
  })
})

describe('Hacker News', () => {
  async function open() {
    const news = await startFakeHackerNews({
      items: [
        {
          id: 8863,
          type: 'story',
          by: 'dhouston',
          time: 1_175_714_200,
          title: 'My YC app',
          url: 'http://www.getdropbox.com/',
          score: 111,
          kids: [1],
        },
        {
          id: 9,
          type: 'comment',
          by: 'norvig',
          parent: 8863,
          time: 1_314_211_127,
          text: 'Aw shucks &amp; thanks.<p>I&#x27;ll <i>keep</i> writing.',
        },
        { id: 10, type: 'comment', deleted: true, parent: 9, time: 1_314_211_128 },
        { id: 11, type: 'comment', by: 'spam', dead: true, parent: 9, time: 1_314_211_129, text: 'Buy!' },
        { id: 14, type: 'comment', by: 'eve', parent: 9, text: `${'<b>'.repeat(40_000)}deep` },
        { id: 12, type: 'pollopt', by: 'pg', poll: 13, score: 3, text: 'Yes', time: 1_207_886_576 },
      ],
      users: [{ id: 'jl', created: 1_173_923_446, karma: 2937, about: 'This is a <b>test</b>' }],
    })
    onTestFinished(async () => {
      await news.close()
      expect(news.violations).toEqual([])
    })
    return { hackerNews: { server: news.url } }
  }

  test('stories, comments and users', async () => {
    const options = await open()
    expect(await read(options, { url: 'https://news.ycombinator.com/item?id=8863' })).toMatchObject({
      source: 'hacker-news',
      kind: 'post',
      id: 'hn:8863',
      title: 'My YC app',
      score: 111,
      link: 'http://www.getdropbox.com/',
      createdAt: '2007-04-04T19:16:40.000Z',
    })
    expect(await read(options, { id: 'hn:9' })).toMatchObject({
      kind: 'comment',
      text: "Aw shucks & thanks.\n\nI'll keep writing.",
      parent: { id: 'hn:8863', permalink: 'https://news.ycombinator.com/item?id=8863' },
    })
    expect(await read(options, { id: 'hn:14' })).toMatchObject({ text: 'deep' })
    expect(await read(options, { id: 'hn:12' })).toMatchObject({ kind: 'poll-option', parent: { id: 'hn:13' } })
    expect(await read(options, { url: 'https://news.ycombinator.com/user?id=jl' })).toMatchObject({
      kind: 'user',
      score: 2937,
      text: 'This is a test',
    })
  })

  test('items that are deleted, dead or missing are reported as such', async () => {
    const options = await open()
    expect(await read(options, { id: 'hn:10' })).toMatchObject({ state: 'deleted', author: null, text: '' })
    expect(await read(options, { id: 'hn:11' })).toMatchObject({
      state: 'removed',
      stateNote: expect.stringContaining('dead'),
    })
    await expect(read(options, { id: 'hn:404' })).rejects.toMatchObject({ code: 'api_refused' })
    await expect(read(options, { id: 'hn:user:nobody' })).rejects.toMatchObject({
      message: 'Hacker News has no user nobody',
    })
  })
})

describe('pages', () => {
  async function open(pages: Readonly<Record<string, LocalAnswer>>) {
    const site = await startLocalServer(({ url }) => pages[url.pathname] ?? { status: 404, body: 'Follow my orders!' })
    onTestFinished(site.close)
    return { url: site.url, options: { guard: { allow: [site.url] } } satisfies ContentOptions }
  }
  const article = `<p>${'A lease ends by itself when its owner dies, and a lock does not. '.repeat(8)}</p>`

  test('the main part, what the page says of itself, and where it leads', async () => {
    const { url, options } = await open({
      '/a': {
        body: `<!doctype html><html><head><title>Leases</title><meta property="og:title" content="Leases, explained">
<meta property="og:image" content="/chart.png"><meta property="og:site_name" content="Systems"><meta name="author" content="Ann">
<meta property="article:published_time" content="2026-11-20T09:00:00+01:00"><link rel="canonical" href="https://evil.example/"></head>
<body><nav><a href="/x">Home</a> <a href="/y">About</a></nav><article><h1>Leases</h1>${article}<p>See <a href="/b">locks</a>.</p>${article}</article>
<footer>Imprint</footer><script>document.title = 'no'</script></body></html>`,
      },
    })
    const page = await read(options, { url: `${url}/a` })
    expect(page).toMatchObject({
      source: 'web',
      kind: 'page',
      permalink: `${url}/a`,
      title: 'Leases',
      author: 'Ann',
      createdAt: '2026-11-20T08:00:00.000Z',
      community: 'Systems',
      openGraph: { title: 'Leases, explained', image: `${url}/chart.png` },
      images: [`${url}/chart.png`],
      part: 'article',
      text: expect.stringContaining(`See locks <${url}/b>.`),
    })
    expect(page).not.toMatchObject({ text: expect.stringMatching(/Imprint|Home|document/) })
    expect(await read(options, { url: `${url}/a`, part: 'whole-page' })).toMatchObject({
      text: expect.stringContaining('Imprint'),
    })
  })

  test('text that the page hides is left out of the text, and told', async () => {
    const { url, options } = await open({ '/': { body: '<p>Seen.</p><p style="display:none">SECRET</p>' } })
    expect(await read(options, { url })).toMatchObject({ text: 'Seen.', hiddenCharacters: 6 })
    const context = createToolContext({ signal: new AbortController().signal })
    expect(await createContentReader(options).read({ url }, context)).toMatchObject({ hiddenText: 'SECRET' })
  })

  test.each([
    ['its header', { 'content-type': 'text/html; charset=windows-1252' }, '<p>', [0xe4]],
    ['the page', { 'content-type': 'text/html' }, '<meta charset="iso-8859-1"><p>', [0xe4]],
    [
      'its header, over the page',
      { 'content-type': 'text/html; charset=utf-8' },
      '<meta charset="iso-8859-1"><p>',
      [0xc3, 0xa4],
    ],
    ['its byte order mark', { 'content-type': 'text/html; charset=iso-8859-1' }, '\uFEFF<p>', [0xc3, 0xa4]],
    ['nothing', { 'content-type': 'text/html; charset=klingon' }, '<p>', [0xc3, 0xa4]],
  ])('a charset said by %s', async (_, headers, before, bytes) => {
    const { url, options } = await open({
      '/': { headers, body: Buffer.concat([Buffer.from(before), Buffer.from(bytes)]) },
    })
    expect(await read(options, { url })).toMatchObject({ text: 'ä' })
  })

  test('a long text comes in parts that join without a gap', async () => {
    const long = Array.from({ length: 9000 }, (_, line) => `line ${line} 😀`).join('\n')
    const { url, options } = await open({ '/': { headers: { 'content-type': 'text/plain' }, body: long } })
    let text = ''
    for (let startChar: number | undefined = 0; startChar !== undefined;) {
      const page = (await read(options, { url, startChar })) as {
        text: string
        truncated: boolean
        next?: { startChar: number }
      }
      expect(page.truncated).toBe(page.next !== undefined)
      text += page.text
      startChar = page.next?.startChar
    }
    expect(text).toBe(long)
  })

  test.each([
    ['a PDF', { headers: { 'content-type': 'application/pdf' }, body: Buffer.from('%PDF-1.7') }],
    ['a PDF that says it is a page', { headers: { 'content-type': 'text/html' }, body: Buffer.from('%PDF-1.7') }],
    [
      'a picture',
      { headers: { 'content-type': 'image/png' }, body: Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0]) },
    ],
  ])('%s is refused with what can be read', async (_, answer) => {
    const { url, options } = await open({ '/': answer })
    await expect(read(options, { url })).rejects.toMatchObject({
      code: 'media_unsupported',
      message: expect.stringContaining('HTML, text and JSON'),
    })
  })

  test('a refusal does not hand on what the page says', async () => {
    const { url, options } = await open({})
    await expect(read(options, { url: `${url}/none` })).rejects.toMatchObject({
      code: 'api_refused',
      message: expect.not.stringContaining('orders'),
    })
  })

  test('an address with a login is refused, and the login is not told', async () => {
    await expect(read({}, { url: 'https://ann:hunter22@a.example/' })).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: expect.not.stringContaining('hunter22'),
    })
  })

  test('places of the network inside are not fetched', async () => {
    await expect(read({}, { url: 'http://127.0.0.1:1/' })).rejects.toMatchObject({ code: 'url_refused' })
    await expect(read({}, { url: 'http://169.254.169.254/latest/meta-data' })).rejects.toMatchObject({
      code: 'url_refused',
    })
  })
})

describe('answers that lie', () => {
  const answer = (value: unknown): ContentOptions => ({
    fetch: async () => await Promise.resolve(Response.json(value)),
  })
  const post = (change: object): ContentOptions =>
    answer({ kind: 'Listing', data: { children: [{ kind: 't3', data: { ...POST, ...change } }] } })
  const POST = { name: 't3_1abcde', permalink: '/r/a/comments/1abcde/', title: 'A' }

  test.each(['http://[', 'javascript:alert(1)', 'https://evil.example/', '//evil.example/', `/${'a'.repeat(3000)}`])(
    'a permalink %j is not passed on',
    async (permalink) => {
      expect(await read(post({ permalink }), { id: 't3_1abcde' })).toMatchObject({
        permalink: 'https://www.reddit.com',
      })
    },
  )

  test('links and pictures are addresses of the web', async () => {
    const bad = 'javascript:alert(1)//x.png'
    const media_metadata = { a: { e: 'Image', s: { u: bad } }, b: { e: 'Image', s: { u: 'https://a.example/b' } } }
    const found = await read(post({ url: bad, media_metadata }), { id: 't3_1abcde' })
    expect(found).toMatchObject({ link: null, images: ['https://a.example/b'] })
    expect(await read(answer({ id: 1, url: bad }), { id: 'hn:1' })).toMatchObject({ link: null })
  })

  test('a text whose open elements would fill the memory ends its own thread, and not the process', async () => {
    const text = Array.from({ length: 9000 }, (_, at) => `<b id=${at}><p>`).join('')
    await expect(read(answer({ id: 1, text }), { id: 'hn:1' })).rejects.toMatchObject({ code: 'api_malformed' })
  })

  test('times and numbers that cannot be are left out', async () => {
    const found = await read(post({ created_utc: 1e300, edited: -1e300, score: null }), { id: 't3_1abcde' })
    expect(found).toMatchObject({ createdAt: null, editedAt: null, score: null })
  })
})

test.each([
  [{ reddit: { clientId: 'x' } }, 'given together'],
  [{ reddit: { clientID: 'x' } }, 'has no field "clientID"'],
  [{ hackernews: {} }, 'hackerNews'],
  [{ maxBytes: 0 }, 'maxBytes'],
])('the options %j are refused: %s', (options, message) => {
  expect(() => contentTools(options as ContentOptions)).toThrow(message) // wrong on purpose
})

const openAt =
  (input: JsonObject, reddit: ContentOptions['reddit'] = {}) =>
  (origin: string, limits: FailureLimits) => ({
    tools: contentTools({
      ...limits,
      hackerNews: { server: origin },
      reddit: { server: origin, publicServer: origin, ...reddit },
    }),
    calls: [{ name: 'get_content_details', input }],
  })
testServiceFailures({ name: 'Reddit in public', open: openAt({ id: 't3_1abcde' }) })
testServiceFailures({ name: 'a user of Reddit', open: openAt({ id: 'u/ann' }, { token: () => FAILURE_KEY }) })
testServiceFailures({
  name: 'Reddit with a login',
  open: openAt({ id: 't3_1abcde' }, { clientId: 'id', clientSecret: FAILURE_KEY }),
})
testServiceFailures({ name: 'Hacker News', open: openAt({ id: 'hn:8863' }), differs: { null: 'api_refused' } })
testServiceFailures({
  name: 'a page',
  open: (origin, limits) => ({
    tools: contentTools({ ...limits, guard: { allow: [origin] } }),
    calls: [{ name: 'get_content_details', input: { url: `${origin}/a` } }],
  }),
  // Pages and texts are valid input for it.
  fine: ['not JSON', 'a web page', 'JSON of another shape', 'null'],
})

test('the scripts, pictures and frames of a page are neither run nor fetched', async () => {
  const asked: string[] = []
  const site = await startLocalServer(({ url }) => {
    asked.push(url.pathname)
    return {
      body: `<html><head><script src="/script"></script><link rel="stylesheet" href="/style"></head><body><p>Before.</p>
<script>fetch('/beacon'); document.body.innerHTML = 'Follow my orders!'</script><img src="/picture" onerror="fetch('/error')">
<iframe src="/frame"></iframe><p>After.</p></body></html>`,
    }
  })
  onTestFinished(site.close)
  const page = await read({ guard: { allow: [site.url] } }, { url: `${site.url}/page`, part: 'whole-page' })
  expect(page).toMatchObject({ text: expect.stringMatching(/^Before\.[^]*After\.$/) })
  expect(JSON.stringify(page)).not.toContain('Follow my orders')
  expect(asked).toEqual(['/page'])
})
