// Client of Reddit: with a principal's token, with the program's own application, or without a login at the public
// addresses.
import type { Clock, ToolContext } from '@baton/core/internal'
import { BatonError, describeValue, isBatonError } from '@baton/core/internal'
import type { ServiceAnswer, ServiceRequest } from '../shared/service-client.ts'
import { ServiceClient } from '../shared/service-client.ts'
import type { ServiceOptions } from '../shared/service-client.ts'
import type { Content } from './details.ts'
import { Account, Listing, toContent, Token, toUser } from './reddit-wire.ts'
import type { Target } from './target.ts'
import { readUrl } from './target.ts'

/** Access to Reddit: an application's id and secret, or tokens of users. */
export interface RedditOptions<Services = unknown> {
  /** Id and secret of a Reddit application (https://www.reddit.com/prefs/apps), which reads without a user. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** Returns the OAuth token of the call's principal, or `undefined` to use the application's. */
  readonly token?: (context: ToolContext<Services>) => string | undefined | Promise<string | undefined>
  /** User agent. Reddit expects `<platform>:<app id>:<version> (by /u/<name>)` and rejects generic ones. */
  readonly userAgent?: string
  /** Defaults to `https://oauth.reddit.com`. */
  readonly server?: string
  /** Address for tokens and for reading without one; defaults to `https://www.reddit.com`. */
  readonly publicServer?: string
}

export type RedditTarget = Extract<Target, { readonly type: `reddit-${string}` }>

const FIELDS = ['clientId', 'clientSecret', 'token', 'userAgent', 'server', 'publicServer'] as const
const USER_AGENT = 'node:baton-tools:0.1.0'
/** Milliseconds before expiry at which a token is replaced. */
const SPARE_MS = 60_000

export class RedditApi {
  readonly #options: RedditOptions
  readonly #service: ServiceClient
  readonly #public: ServiceClient
  readonly #nowMs: () => number
  #token: { readonly text: string; readonly untilMs: number } | undefined

  /** @throws BatonError `invalid_option` */
  constructor(what: string, options: RedditOptions, service: ServiceOptions) {
    checkOptions(what, options)
    const { userAgent = USER_AGENT, server = 'https://oauth.reddit.com' } = options
    const { publicServer = 'https://www.reddit.com' } = options
    const common = { ...service, name: 'Reddit', headers: { 'user-agent': userAgent }, showsWords: false }
    this.#options = options
    this.#service = new ServiceClient({ ...common, server, option: `${what}: reddit.server` })
    this.#public = new ServiceClient({ ...common, server: publicServer, option: `${what}: reddit.publicServer` })
    const clock: Pick<Clock, 'nowMs'> | undefined = service.clock
    this.#nowMs = () => (clock ? clock.nowMs() : Date.now())
  }

  /** @throws BatonError as `ServiceClient.ask` does, and `api_refused` if it does not exist */
  async read(target: RedditTarget, context: ToolContext): Promise<Content> {
    if (target.type === 'reddit-user') return await this.#readUser(target.name, context)
    const fullname = target.type === 'reddit-share' ? await this.#findShared(target.path, context) : target.fullname
    const { value } = await this.#ask('/api/info', { id: fullname }, context)
    const [thing] = this.#service.check(Listing, value).data.children
    if (thing?.data.name === fullname) return toContent(thing)
    throw new BatonError({ code: 'api_refused', message: `Reddit has no ${fullname}`, data: { status: 404 } })
  }

  async #readUser(name: string, context: ToolContext): Promise<Content> {
    try {
      const { value } = await this.#ask(`/user/${encodeURIComponent(name)}/about`, {}, context)
      return toUser(this.#service.check(Account, value))
    } catch (thrown) {
      if (!isBatonError(thrown) || thrown.data['status'] !== 404) throw thrown
      const message = `Reddit does not show the user ${name}: there is none, it was deleted, or its posts are hidden`
      throw new BatonError({ code: 'api_refused', message, data: thrown.data, cause: thrown })
    }
  }

  async #ask(path: string, query: ServiceRequest['query'], context: ToolContext): Promise<ServiceAnswer> {
    const { signal } = context
    const own = await this.#options.token?.(context)
    // raw_json=1: without it, "<", ">" and "&" are HTML entities.
    const request = { method: 'GET', query: { ...query, raw_json: 1 }, signal } as const
    if (own !== undefined) return await this.#service.ask({ ...request, path, ...login(own) })
    if (this.#options.clientId === undefined) return await this.#askPublic({ ...request, path: `${path}.json` })
    const token = await this.#login(signal)
    try {
      return await this.#service.ask({ ...request, path, ...login(token) })
    } catch (thrown) {
      if (!isBatonError(thrown) || thrown.code !== 'api_unauthorized') throw thrown
      // The token was revoked early. Another read may have replaced it meanwhile.
      if (this.#token?.text === token) this.#token = undefined
      return await this.#service.ask({ ...request, path, ...login(await this.#login(signal)) })
    }
  }

  async #askPublic(request: ServiceRequest): Promise<ServiceAnswer> {
    try {
      return await this.#public.ask(request)
    } catch (thrown) {
      if (!isBatonError(thrown) || thrown.data['status'] !== 403) throw thrown
      const message = `${thrown.message} (without a login, Reddit rejects requests from many networks and with common user agents: set reddit.clientId and reddit.userAgent)`
      throw new BatonError({ code: 'api_refused', message, data: thrown.data, cause: thrown })
    }
  }

  /** https://github.com/reddit-archive/reddit/wiki/OAuth2#application-only-oauth */
  async #login(signal: ToolContext['signal']): Promise<string> {
    if (this.#token && this.#token.untilMs > this.#nowMs() + SPARE_MS) return this.#token.text
    const { clientId = '', clientSecret = '' } = this.#options
    const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
    const { value } = await this.#public.ask({
      method: 'POST',
      path: '/api/v1/access_token',
      form: { grant_type: 'client_credentials' },
      headers: { authorization: `Basic ${basic}` },
      secrets: [basic, clientSecret],
      mayChange: false,
      signal,
    })
    const { access_token: text, expires_in } = this.#public.check(Token, value)
    this.#token = { text, untilMs: this.#nowMs() + expires_in * 1000 }
    return text
  }

  /** The target of a share link, which only a redirect reveals. */
  async #findShared(path: string, { signal }: ToolContext): Promise<string> {
    const location = await this.#public.findRedirect({ method: 'GET', path, signal })
    const target = location === undefined ? undefined : readUrl(location)
    if (target?.type === 'reddit-thing') return target.fullname
    throw new BatonError({
      code: 'api_refused',
      message: `https://www.reddit.com${path.slice(0, 100)} does not lead to a Reddit post or comment: use the address that a browser shows there`,
    })
  }
}

function login(token: string) {
  return { headers: { authorization: `Bearer ${token}` }, secrets: [token] }
}

function checkOptions(what: string, options: RedditOptions): void {
  const fail = (message: string): BatonError =>
    new BatonError({ code: 'invalid_option', message: `${what}: ${message}` })
  const unknown = Object.keys(options).find((name) => !FIELDS.some((field) => field === name))
  if (unknown !== undefined) throw fail(`reddit has no field "${unknown}"; its fields are ${FIELDS.join(', ')}`)
  for (const name of ['clientId', 'clientSecret', 'userAgent'] as const) {
    const value: unknown = options[name]
    if (value !== undefined && (typeof value !== 'string' || value.trim() === ''))
      throw fail(`reddit.${name} must be a string, not ${name === 'clientSecret' ? 'that' : describeValue(value)}`)
  }
  if ((options.clientId === undefined) !== (options.clientSecret === undefined))
    throw fail('reddit.clientId and reddit.clientSecret must be given together or not at all')
}
