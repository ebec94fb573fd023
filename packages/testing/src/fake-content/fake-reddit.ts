// A fake Reddit with posts, comments and users, at two addresses like the real one: oauth.reddit.com for requests with
// a token, www.reddit.com for tokens and requests without. Answers in Reddit's format (https://www.reddit.com/dev/api,
// https://github.com/reddit-archive/reddit/wiki/JSON and /OAuth2, read in 2026-11), and records what a request does
// wrong.
import type { LocalAnswer, LocalRequest } from './local-server.ts'
import { startLocalServer } from './local-server.ts'

type Json = Readonly<Record<string, unknown>>

export interface FakeRedditOptions {
  /** Post fields that override the defaults; `name` is the fullname. */
  readonly posts?: readonly ({ readonly name: `t3_${string}` } & Json)[]
  readonly comments?: readonly ({ readonly name: `t1_${string}`; readonly parent_id: string } & Json)[]
  readonly users?: readonly ({ readonly name: string } & Json)[]
  /** User tokens obtained by an application. */
  readonly userTokens?: readonly string[]
  /** Maps `/r/SUB/s/ID` to its redirect target. */
  readonly shares?: Readonly<Record<string, string>>
  /** Whether to reject all requests without a token, as Reddit does for many networks. */
  readonly refusesPublic?: boolean
}

export interface FakeReddit {
  /** Represents oauth.reddit.com. */
  readonly url: string
  /** Represents www.reddit.com. */
  readonly publicUrl: string
  /** `<oauth or public> <method> <path>` of each request. */
  readonly asked: string[]
  /** Mistakes in requests. */
  readonly violations: string[]
  /** Number of requests still allowed. */
  remaining: number
  /** Revokes the application's tokens so far. */
  withdrawTokens(): void
  close(): Promise<void>
}

export const FAKE_REDDIT_APP = { clientId: 'app-id-of-a-test', clientSecret: 'app-secret-of-a-test' } as const
/** `<platform>:<app id>:<version> (by /u/<name>)`: https://github.com/reddit-archive/reddit/wiki/API */
const USER_AGENT = /^[\w.-]+:[\w./@-]+:v?[\w.-]+(?: \(by \/u\/[\w-]+\))?$/

export async function startFakeReddit(init: FakeRedditOptions = {}): Promise<FakeReddit> {
  const reddit = new Site(init)
  const [oauth, open] = await Promise.all([
    startLocalServer((request) => reddit.answer('oauth', request)),
    startLocalServer((request) => reddit.answer('public', request)),
  ])
  return Object.assign(reddit, {
    url: oauth.url,
    publicUrl: open.url,
    close: async () => {
      await Promise.all([oauth.close(), open.close()])
    },
  })
}

class Site {
  readonly asked: string[] = []
  readonly violations: string[] = []
  remaining = 100
  readonly #init: FakeRedditOptions
  #tokens: string[] = []
  #given = 0

  constructor(init: FakeRedditOptions) {
    this.#init = init
  }

  withdrawTokens(): void {
    this.#tokens = []
  }

  answer(place: 'oauth' | 'public', request: LocalRequest): LocalAnswer {
    const { method, url, headers } = request
    this.asked.push(`${place} ${method} ${url.pathname}`)
    // The real one answers common user agents this way, however few requests they send.
    if (!USER_AGENT.test(headers['user-agent'] ?? '')) {
      this.violations.push(`the user agent "${headers['user-agent']}" does not identify the client`)
      return { status: 429, body: { message: 'Too Many Requests', error: 429 } }
    }
    const limits = this.#count()
    if (this.remaining < 0) return { status: 429, headers: limits, body: { message: 'Too Many Requests', error: 429 } }
    const said = place === 'oauth' ? this.#answerOauth(request) : this.#answerPublic(request)
    return { ...said, headers: { ...limits, ...said.headers } }
  }

  #count(): Record<string, string> {
    this.remaining -= 1
    const left = Math.max(0, this.remaining)
    return { 'x-ratelimit-used': '1', 'x-ratelimit-remaining': `${left}.0`, 'x-ratelimit-reset': '42' }
  }

  #answerOauth(request: LocalRequest): LocalAnswer {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const known = [...this.#tokens, ...(this.#init.userTokens ?? [])]
    if (!known.includes(token)) return { status: 401, body: { message: 'Unauthorized', error: 401 } }
    if (request.url.pathname.endsWith('.json')) this.violations.push('".json" belongs to the public addresses')
    return this.#read(request)
  }

  #answerPublic(request: LocalRequest): LocalAnswer {
    const { url, method, headers } = request
    if (url.pathname === '/api/v1/access_token') return this.#giveToken(request)
    const share = this.#init.shares?.[url.pathname]
    if (share !== undefined) return { status: 301, headers: { location: share }, body: '' }
    if (headers.authorization !== undefined) this.violations.push(`${method} ${url.pathname} shows a login in public`)
    if (this.#init.refusesPublic === true) return { status: 403, body: '<p>whoa there, pardner!</p>' }
    if (!url.pathname.endsWith('.json')) return { body: '<!doctype html><title>reddit</title>' }
    url.pathname = url.pathname.replace(/\.json$/, '')
    return this.#read(request)
  }

  /** https://github.com/reddit-archive/reddit/wiki/OAuth2#application-only-oauth */
  #giveToken({ method, headers, body }: LocalRequest): LocalAnswer {
    const { clientId, clientSecret } = FAKE_REDDIT_APP
    const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
    if (headers.authorization !== basic) return { status: 401, body: { message: 'Unauthorized', error: 401 } }
    const form = new URLSearchParams(body)
    const isForm = headers['content-type'] === 'application/x-www-form-urlencoded'
    if (method !== 'POST' || !isForm || form.get('grant_type') !== 'client_credentials') {
      this.violations.push(`a token was requested with ${method} ${headers['content-type']} ${body}`)
      return { body: { error: 'unsupported_grant_type' } } // with status 200, like the real one
    }
    this.#given += 1
    const access_token = `app-token-${this.#given}-of-a-test`
    this.#tokens.push(access_token)
    return { body: { access_token, token_type: 'bearer', expires_in: 86_400, scope: '*' } }
  }

  #read({ method, url }: LocalRequest): LocalAnswer {
    if (method !== 'GET') this.violations.push(`${method} ${url.pathname} reads nothing`)
    // Without it, texts contain "&lt;" instead of "<".
    if (url.searchParams.get('raw_json') !== '1') this.violations.push(`${url.pathname} was asked without raw_json=1`)
    const user = /^\/user\/([\w-]+)\/about$/.exec(url.pathname)?.[1]
    if (user !== undefined) return this.#readUser(user)
    if (url.pathname !== '/api/info') return { status: 404, body: { message: 'Not Found', error: 404 } }
    const names = (url.searchParams.get('id') ?? '').split(',')
    if (!names.every((name) => /^t[135]_[a-z0-9]+$/.test(name)))
      this.violations.push(`"${names.join()}" are no fullnames`)
    const children = [
      ...(this.#init.posts ?? []).map((data) => ({ kind: 't3', data: { ...POST, ...idsOf(data.name), ...data } })),
      ...(this.#init.comments ?? []).map((data) => ({
        kind: 't1',
        data: { ...COMMENT, ...idsOf(data.name), ...data },
      })),
    ].filter(({ data }) => names.includes(data.name))
    return {
      body: {
        kind: 'Listing',
        data: { after: null, before: null, dist: children.length, modhash: null, geo_filter: '', children },
      },
    }
  }

  #readUser(name: string): LocalAnswer {
    const found = this.#init.users?.find((one) => one.name === name)
    if (!found) return { status: 404, body: { message: 'Not Found', error: 404 } }
    // A suspended account shows nothing else.
    const data = found['is_suspended'] === true ? found : { ...USER, ...found }
    return { body: { kind: 't2', data } }
  }
}

function idsOf(name: string): Json {
  const id = name.slice(3)
  const isPost = name.startsWith('t3_')
  return {
    id,
    permalink: isPost ? `/r/typescript/comments/${id}/a_post/` : `/r/typescript/comments/1abcde/a_post/${id}/`,
  }
}

const THING = {
  approved_at_utc: null,
  subreddit: 'typescript',
  subreddit_id: 't5_2ru0x',
  author: 'ann',
  author_fullname: 't2_4esadt4t',
  banned_by: null,
  created: 1_731_000_000,
  created_utc: 1_731_000_000,
  distinguished: null,
  edited: false,
  likes: null,
  mod_note: null,
  mod_reports: [],
  saved: false,
  score: 12,
  ups: 12,
  stickied: false,
}
const POST = {
  ...THING,
  title: 'A post',
  selftext: '',
  is_self: true,
  url: 'https://www.reddit.com/r/typescript/comments/1abcde/a_post/',
  hide_score: false,
  media: null,
  removed_by_category: null,
  num_comments: 3,
  over_18: false,
  upvote_ratio: 0.98,
}
const COMMENT = { ...THING, body: '', link_id: 't3_1abcde', parent_id: 't3_1abcde', replies: '', score_hidden: false }
const USER = {
  id: '4esadt4t',
  created_utc: 1_600_000_000,
  link_karma: 100,
  comment_karma: 20,
  total_karma: 125,
  is_employee: false,
  subreddit: { display_name: 'u_ann', public_description: 'I write.' },
}
