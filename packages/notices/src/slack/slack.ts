// Slack for a host: a destination of its notices, and the handler of what Slack sends. Both work in any process of the app:
// what they have to remember is in the host's store, in Slack's messages, or sealed in a button.
import type { Agent, Clock, JsonObject, Logger, NoticeDestination, Timers, WaitingApproval } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, describeValue, isJsonObject, parseJson } from '@baton/core/internal'
import { checkPrincipal, describeThrown, SYSTEM_TIME, within } from '@baton/runtime'
import { createPassOn } from './pass-on.ts'
import { createButtonSeal } from './sealed-button.ts'
import type { SlackApi } from './slack-api.ts'
import { createSlackApi } from './slack-api.ts'
import { answerEvent } from './slack-events.ts'
import type { DecidingHost } from './slack-interactivity.ts'
import { answerInteraction } from './slack-interactivity.ts'
import type { SlackPlace } from './slack-notices.ts'
import { createSlackNotices } from './slack-notices.ts'
import type { PrincipalOf, ThreadNames } from './slack-people.ts'
import { createThreadNames, mention, principalOfUser, userOfPrincipal } from './slack-people.ts'
import { importSlackKey, isSigned } from './slack-signature.ts'

/** Options of `createSlack`. */
export interface SlackOptions {
  /** The token of the app's bot: `xoxb-…`. */
  readonly botToken: string
  /** The app's signing secret. Several while one replaces another, the current one first. */
  readonly signingSecret: string | readonly string[]
  /**
   * Id of the channel in which people decide the requests of sessions that live elsewhere, or a function that chooses a
   * channel or a thread; undefined: none. Without it, Slack has only conversations.
   */
  readonly channel?: string | ((request: WaitingApproval) => string | SlackPlace | undefined)
  /**
   * The principal of a person of Slack, for decisions and messages; undefined: the person may do nothing. After 10 seconds it
   * counts as failed. By default `slack:TEAM:USER`.
   */
  readonly principalOf?: PrincipalOf
  /** The user of Slack behind a principal, to mention. By default that of `slack:TEAM:USER`. */
  readonly userOf?: (principal: string) => string | undefined
  /** The agent of conversations in threads. By default the host chooses. */
  readonly agent?: string | Agent
  /** Name of the destination. Default: `slack`. */
  readonly name?: string
  /**
   * See `NoticeDestination.retriesMs`. Default: 5, 15 and 60 seconds, 2, 5 and 30 minutes, 2, 5 and 10 hours, because a request
   * is open for minutes.
   */
  readonly retriesMs?: readonly number[]
  /** Gets a warning for each message, click and edit that could not be handled. */
  readonly log?: Pick<Logger, 'warn'>
  /** Address of the Web API. Default: `https://slack.com/api/`. */
  readonly apiUrl?: string
  /** Default: the platform's. */
  readonly fetch?: typeof fetch
  /** Default: the platform's. */
  readonly clock?: Clock
  /** Default: the platform's. */
  readonly timers?: Timers
}

/** Slack for one host. */
export interface Slack {
  /** For `notify` of the host. */
  readonly notices: NoticeDestination
  /**
   * Makes the handler of `POST /slack/events` and `POST /slack/interactivity`, below any path. It answers within 3 seconds. What
   * is not signed by Slack gets 401.
   */
  handler(host: DecidingHost): (request: Request) => Promise<Response>
}

const KINDS = {
  botToken: 'text',
  signingSecret: undefined,
  channel: undefined,
  principalOf: 'a function',
  userOf: 'a function',
  agent: undefined,
  name: 'text',
  retriesMs: undefined,
  log: 'an object',
  apiUrl: 'text',
  fetch: 'a function',
  clock: 'an object',
  timers: 'an object',
} as const
const PLACE_FIELDS = { fields: new Set(['channel', 'thread']), elsewhere: { thread_ts: 'thread', ts: 'thread' } }
const BODY_BYTES = 1_048_576
/** Milliseconds for `principalOf`. */
const IDENTITY_MS = 10_000
const RETRIES_MS = [5000, 15_000, 60_000, 120_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000]
const SECRETS_MAX = 4

/** @throws BatonError `invalid_option`; no error has a secret */
export function createSlack(options: SlackOptions): Slack {
  const what = { what: 'createSlack', code: 'invalid_option' } as const
  checkFields(options, { ...what, fields: new Set(Object.keys(KINDS)), elsewhere: { token: 'botToken' } })
  checkKinds(options, { ...what, kinds: KINDS })
  const { botToken, name = 'slack', retriesMs = RETRIES_MS, channel, userOf = userOfPrincipal } = options
  const { apiUrl = 'https://slack.com/api/', fetch: send = fetch } = options
  const { clock = SYSTEM_TIME.clock, timers = SYSTEM_TIME.timers } = options
  if (typeof botToken !== 'string' || !/^xox[a-z]-[\x21-\x7e]+$/.test(botToken))
    throw wrong('botToken must be the token of the app’s bot, "xoxb-…"')
  const secrets = [options.signingSecret].flat()
  if (
    secrets.length === 0 ||
    secrets.length > SECRETS_MAX ||
    secrets.some((one) => typeof one !== 'string' || one.length < 16)
  )
    throw wrong(`signingSecret must be 1 to ${SECRETS_MAX} signing secrets of at least 16 characters`)
  if (channel !== undefined && typeof channel !== 'string' && typeof channel !== 'function')
    throw wrong(`channel must be the id of a channel or a function, not ${describeValue(channel)}`)
  const api = createSlackApi({ botToken, apiUrl, fetch: send, clock, timers })
  const seal = createButtonSeal(secrets)
  const threads = createThreadNames(secrets)
  const mentionOf = (principal: string): JsonObject => mention(userOf(principal), principal)
  return {
    notices: createSlackNotices({
      name,
      retriesMs,
      api,
      seal,
      threads,
      mention: mentionOf,
      placeOf: (request) => {
        const place = typeof channel === 'function' ? channel(request) : channel
        if (typeof place !== 'object') return place === undefined ? undefined : { channel: place }
        checkFields(place, { ...what, what: 'the place that channel returned', ...PLACE_FIELDS })
        return place
      },
    }),
    handler: (host) => {
      demandHost(host)
      return createSlackHandler({ ...options, host, api, seal, threads, mention: mentionOf, secrets, clock, timers })
    },
  }
}

interface HandlerOptions extends Pick<SlackOptions, 'principalOf' | 'agent' | 'log'> {
  readonly host: DecidingHost
  readonly api: SlackApi
  readonly seal: ReturnType<typeof createButtonSeal>
  readonly threads: ThreadNames
  readonly mention: (principal: string) => JsonObject
  readonly secrets: readonly string[]
  readonly clock: Clock
  readonly timers: Timers
}

/** Without a host, every click would fail. */
function demandHost(host: unknown): void {
  if (typeof host === 'object' && host !== null && 'session' in host) return
  throw new BatonError({
    code: 'invalid_option',
    message: `slack.handler needs a host, not ${describeValue(host)}`,
    hint: 'Write slack.handler(host), and createHost({ notify: [slack.notices] }).',
  })
}

function createSlackHandler(init: HandlerOptions): (request: Request) => Promise<Response> {
  const { principalOf = principalOfUser, log, secrets, host, agent, clock, timers } = init
  const keys = Promise.all(secrets.map(importSlackKey))
  keys.catch(() => {}) // the first delivery reports it
  const later = (what: string, work: Promise<unknown>): void => {
    work.catch((cause: unknown) =>
      log?.warn(`${what} of Slack could not be answered`, { cause: describeThrown(cause) }),
    )
  }
  const error = (): BatonError =>
    new BatonError({ code: 'keys_unavailable', message: `principalOf took more than ${IDENTITY_MS} ms` })
  const findPrincipal: PrincipalOf = async (user) => {
    const found = await within(timers, { timeoutMs: IDENTITY_MS, error }, (async () => await principalOf(user))())
    if (found) checkPrincipal(found, 'the result of principalOf')
    return found
  }
  const parts = { ...init, principalOf: findPrincipal, later, agent, host }
  return async (request) => {
    const [, kind] = /\/slack\/(events|interactivity)$/.exec(new URL(request.url).pathname) ?? []
    if (kind === undefined) return new Response('', { status: 404 })
    if (request.method !== 'POST') return new Response('', { status: 405, headers: { allow: 'POST' } })
    const body = await readBody(request)
    if (!body) return new Response('', { status: 413 })
    const { headers } = request
    if (!(await isSigned({ headers, body, keys: await keys, nowMs: clock.nowMs() })))
      return new Response('', { status: 401 })
    const text = new TextDecoder().decode(body)
    const parsed = parseJson(kind === 'events' ? text : (new URLSearchParams(text).get('payload') ?? ''))
    if (!parsed.ok || !isJsonObject(parsed.value)) return new Response('', { status: 400 })
    const answering = { ...parts, passOn: createPassOn(request, body, timers) }
    return await (kind === 'events' ? answerEvent : answerInteraction)(answering, parsed.value)
  }
}

/** The exact bytes, which are signed; undefined if they are too many. */
async function readBody(request: Request): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    // it is a byte stream
    bytes += piece.length
    if (bytes > BODY_BYTES) return undefined
    pieces.push(piece)
  }
  return new Uint8Array(Buffer.concat(pieces))
}

function wrong(message: string): BatonError {
  return new BatonError({
    code: 'invalid_option',
    message: `createSlack: ${message}`,
    hint: 'Copy both from the pages "Basic Information" and "OAuth & Permissions" of your app.',
  })
}
