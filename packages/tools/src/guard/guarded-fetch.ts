// A fetch for addresses named by a model, a server or a document: public places only, a check of each redirect, and
// limits on everything. The rules are in url-rules.ts and address-rules.ts, the connections in pinned-agent.ts. undici is
// loaded for the first request, and only here.
import { lookup } from 'node:dns/promises'
import type { Timers } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, describeValue, loadOnce } from '@baton/core/internal'
import type * as UndiciExports from 'undici'
import type { Agent, fetch as UndiciFetch, Response as UndiciResponse } from 'undici'
import { parseAllowList } from './allow-list.ts'
import { boundAnswer } from './bounded-answer.ts'
import { parseDenyList } from './deny-list.ts'
import { describeFetchFailure } from './fetch-failure.ts'
import type { PinnedAgentOptions, Resolve } from './pinned-agent.ts'
import { createPinnedAgent } from './pinned-agent.ts'
import type { Asked } from './redirects.ts'
import { isRedirect, nextRequest, readRequest } from './redirects.ts'
import type { UrlRules } from './url-rules.ts'
import { checkUrl, refuseUrl } from './url-rules.ts'

/** Options of `createGuardedFetch`. Without any, only public addresses are fetched. */
export interface GuardOptions {
  /**
   * Non-public addresses that may be fetched: origins (`http://localhost:3000`, which also allows its scheme), hosts
   * (`wiki.corp.example`, `*.corp.example`) and addresses (`10.1.0.0/16`, `::1`). None by default.
   */
  readonly allow?: readonly string[]
  /**
   * Public places that must not be fetched, not even through a redirect: hosts with their subdomains (`spam.example`)
   * and addresses (`203.0.113.0/24`). Takes precedence over `allow`. None by default.
   */
  readonly deny?: readonly string[]
  /** Whether to fetch only what `allow` names; false by default. */
  readonly onlyAllowed?: boolean
  /** `https` by default. */
  readonly schemes?: readonly ('https' | 'http')[]
  /** Maximum bytes of a response body, after decompression, and of a request body; 10 MiB by default. */
  readonly maxBytes?: number
  /** Maximum bytes of a response's headers; 16 KiB by default. */
  readonly maxHeaderBytes?: number
  /** Maximum redirects; 5 by default. */
  readonly maxRedirects?: number
  /** Milliseconds from the call to the end of the body, including redirects; 30,000 by default. */
  readonly timeoutMs?: number
  /**
   * Whether an event stream, once started, is exempt from the time and byte limits, which its reader then applies;
   * false by default.
   */
  readonly streams?: boolean
  /** Resolves a name to all its addresses; the system resolver by default. Called once per connection. */
  readonly lookup?: (hostname: string) => Promise<readonly string[]>
  /** The system timers by default. */
  readonly timers?: Timers
}

/** A `fetch` that refuses addresses of private networks. Call `close` to end its connections. */
export interface GuardedFetch {
  /**
   * Like `fetch`. Uses no proxy, because a proxy resolves names itself. On a runtime that replaces undici (Bun), it
   * reaches only places that `allow` names.
   * @throws BatonError `url_refused` (nothing was sent to that place), `api_unavailable` (no connection, cut off, too
   * slow), `api_malformed` (not HTTP, or over a limit), `illegal_input` (after `close`), `internal` (undici could not be
   * loaded; the next fetch tries again); the reason of an aborted signal. A body fails with the same errors.
   */
  (input: string | URL | Request, init?: RequestInit): Promise<Response>
  /** Closes all its connections and fails their requests. Closing again waits for the same end. */
  close(): Promise<void>
}

const NUMBERS = { maxBytes: 10 * 1024 * 1024, maxHeaderBytes: 16 * 1024, maxRedirects: 5, timeoutMs: 30_000 } as const
const FIELDS = new Set([
  ...Object.keys(NUMBERS),
  'allow',
  'deny',
  'onlyAllowed',
  'schemes',
  'streams',
  'lookup',
  'timers',
])
const TIMER_MS = 2_147_483_647

/** @throws BatonError `invalid_option` */
export function createGuardedFetch(options: GuardOptions = {}): GuardedFetch {
  const guard = openGuard(options)
  const run = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    guard.connections.check()
    const caller = init.signal ?? (input instanceof Request ? input.signal : undefined)
    const deadline = startDeadline(guard, caller ?? undefined)
    try {
      const asked = await readRequest(input, init, { ...guard, signal: deadline.signal })
      return await follow(guard, asked, deadline)
    } catch (thrown) {
      deadline.end()
      throw describeFetchFailure(thrown, deadline)
    }
  }
  return Object.assign(run, { close: guard.connections.close })
}

interface Guard extends UrlRules, Required<Pick<GuardOptions, keyof typeof NUMBERS | 'streams'>> {
  readonly connections: ReturnType<typeof createConnections>
  readonly timers: Timers
}

interface Undici {
  readonly agent: Agent
  readonly fetch: typeof UndiciFetch
  /** False if the runtime replaces undici, as Bun does, and connects on its own. */
  readonly isPinned: boolean
}

/** The connections of one guard: opened for its first request, with undici, which is slow to load. */
function createConnections(init: PinnedAgentOptions) {
  let opening: Promise<Undici> | undefined
  let closing: Promise<void> | undefined
  const check = (): void => {
    if (closing) throw new BatonError({ code: 'illegal_input', message: 'this fetch is closed', hint: OPEN_ANOTHER })
  }
  const load = loadOnce(async (): Promise<Undici> => {
    const undici = await importUndici()
    const agent = createPinnedAgent(undici, init)
    return { agent, fetch: undici.fetch, isPinned: typeof agent.destroy === 'function' }
  })
  const close = async (): Promise<void> => {
    // Who fetched has the reason why undici could not be loaded.
    const opened = await opening?.catch(() => undefined)
    if (opened?.isPinned) await opened.agent.destroy()
  }
  return {
    /** @throws BatonError `illegal_input` after `close` */
    check,
    /** @throws BatonError `illegal_input` after `close`, `internal` if undici cannot be loaded */
    open: async (): Promise<Undici> => {
      check()
      opening = load()
      return await opening
    },
    close: (): Promise<void> => (closing ??= close()),
  }
}

const OPEN_ANOTHER = 'Close a fetch only after its last request, or create a new one.'

/** @throws BatonError `internal` */
async function importUndici(): Promise<typeof UndiciExports> {
  try {
    return await import('undici')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BatonError({
      code: 'internal',
      message: `the package undici could not be loaded: ${why}`,
      hint: 'Try again; if it fails again, install the packages of your program again.',
      cause,
    })
  }
}

function openGuard(options: GuardOptions): Guard {
  const what = 'createGuardedFetch'
  checkFields(options, { what, code: 'invalid_option', fields: FIELDS })
  const kinds = {
    allow: 'an array',
    deny: 'an array',
    onlyAllowed: 'true or false',
    schemes: 'an array',
    streams: 'true or false',
    lookup: 'a function',
  } as const
  checkKinds(options, { what, code: 'invalid_option', kinds })
  const { allow: entries = [], schemes = ['https'], streams = false, lookup: resolve = lookUp } = options
  const { onlyAllowed = false } = options
  const numbers = { ...NUMBERS, ...dropAbsent(options) }
  for (const name of ['maxBytes', 'maxHeaderBytes', 'maxRedirects', 'timeoutMs'] as const) {
    const value = numbers[name]
    const most = name === 'timeoutMs' ? TIMER_MS : Number.MAX_SAFE_INTEGER
    const least = name === 'maxRedirects' ? 0 : 1
    if (!Number.isSafeInteger(value) || value < least || value > most)
      throw wrong(`${name} must be a whole number from ${least} to ${most}, not ${describeValue(value)}`)
  }
  const unknown = schemes.find((scheme) => scheme !== 'https' && scheme !== 'http')
  if (unknown !== undefined) throw wrong(`schemes may contain "https" and "http", not ${describeValue(unknown)}`)
  const allow = parseAllowList(entries)
  const deny = parseDenyList(options.deny ?? [])
  return {
    ...numbers,
    allow,
    deny,
    onlyAllowed,
    streams,
    schemes: new Set(schemes.map((scheme) => `${scheme}:`)),
    connections: createConnections({ allow, deny, resolve, maxHeaderBytes: numbers.maxHeaderBytes }),
    timers: options.timers ?? PLATFORM_TIMERS,
  }
}

function dropAbsent(options: GuardOptions): Partial<Pick<Guard, keyof typeof NUMBERS>> {
  const { maxBytes, maxHeaderBytes, maxRedirects, timeoutMs } = options
  return {
    ...(maxBytes !== undefined && { maxBytes }),
    ...(maxHeaderBytes !== undefined && { maxHeaderBytes }),
    ...(maxRedirects !== undefined && { maxRedirects }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  }
}

async function follow(guard: Guard, first: Asked, deadline: Deadline): Promise<Response> {
  let asked = first
  for (let hops = 0; ; hops += 1) {
    deadline.at(asked.url)
    const answer = await ask(guard, asked, deadline.signal)
    const location = isRedirect(answer.status) ? answer.headers.get('location') : null
    if (location === null || asked.redirect === 'manual') return bound(guard, answer, asked, deadline)
    const refuse = (why: string): BatonError =>
      new BatonError({ code: 'url_refused', message: `${asked.url.origin} redirects, and ${why}` })
    await answer.body?.cancel().catch(() => {
      // The response is abandoned; how its connection ends is irrelevant.
    })
    if (asked.redirect === 'error') throw refuse('this request does not follow redirects')
    if (hops >= guard.maxRedirects) throw refuse(`${guard.maxRedirects} redirects were already followed`)
    asked = nextRequest(asked, answer.status, checkUrl(location, guard, asked.url))
  }
}

/** @throws BatonError `url_refused` if the connection cannot be pinned to checked addresses */
async function ask(guard: Guard, { url, method, headers, body }: Asked, signal: AbortSignal): Promise<UndiciResponse> {
  const { connections, allow, deny } = guard
  const { agent, fetch, isPinned } = await connections.open()
  if (!isPinned && (!allow.allowsPlace(url) || deny.hasAddresses))
    throw refuseUrl(url, 'this runtime cannot pin a connection to the checked address: run it in Node or Deno')
  return await fetch(url.href, {
    method,
    headers: [...headers],
    ...(body && { body }),
    redirect: 'manual',
    signal,
    dispatcher: agent,
  })
}

function bound(guard: Guard, answer: UndiciResponse, { url, method }: Asked, deadline: Deadline): Response {
  const isStream = guard.streams && /^text\/event-stream\b/i.test(answer.headers.get('content-type') ?? '')
  if (isStream) deadline.end()
  return boundAnswer(answer, url.origin, {
    // The response to HEAD declares the length of a body that it does not have.
    maxBytes: isStream || method === 'HEAD' ? undefined : guard.maxBytes,
    onEnd: deadline.end,
    describe: (thrown) => describeFetchFailure(thrown, deadline),
  })
}

export interface Deadline {
  /** Aborted by the caller or by the time limit. */
  readonly signal: AbortSignal
  /** Current target of the request, for messages. */
  readonly at: (url: URL) => void
  readonly place: () => string
  readonly end: () => void
}

function startDeadline({ timers, timeoutMs }: Guard, caller: AbortSignal | undefined): Deadline {
  const own = new AbortController()
  let current: URL | undefined
  const place = (): string => current?.origin ?? 'the place'
  const end = timers.start(timeoutMs, () => {
    const message = `${place()} did not respond in full within ${timeoutMs} ms`
    own.abort(new BatonError({ code: 'api_unavailable', message }))
  })
  const signal = caller ? AbortSignal.any([caller, own.signal]) : own.signal
  return { signal, at: (url) => (current = url), place, end }
}

const lookUp: Resolve = async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address)

const PLATFORM_TIMERS: Timers = {
  start: (delayMs, callback) => {
    // The connection of a pending request keeps the process alive; an unread body must not.
    const timer = setTimeout(callback, delayMs).unref()
    return () => clearTimeout(timer)
  },
}

function wrong(why: string): BatonError {
  return new BatonError({ code: 'invalid_option', message: `createGuardedFetch: ${why}` })
}
