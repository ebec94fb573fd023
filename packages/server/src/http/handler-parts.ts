// The options of chat fronts, and the state shared by all requests to one front.
import type { FrontSession, Principal, SessionOptions } from '@baton/core/internal'
import { BatonError, frontOf } from '@baton/core/internal'
import type { AllowedOrigins, Incoming } from './requests.ts'
import { createIncoming } from './requests.ts'
import { RepeatedRequests } from './repeated-requests.ts'
import type { Asker, QuotaLimits } from './chat-quotas.ts'
import { ChatQuotas, QUOTA_LIMITS } from './chat-quotas.ts'
import type { KnownSender, WebhookSender } from './signed-events.ts'
import { readSenders } from './signed-events.ts'
import type { AllowedSettings } from '../shared/allowed-settings.ts'
import type { Identity, PeerOptions } from '../shared/peer-identity.ts'
import { checkPeers, PeerWarnings } from '../shared/peer-identity.ts'
import type { HostWithSessions } from '../shared/check-options.ts'
import { sampleLog } from '../shared/rate-limit.ts'
import type { ServerWorld } from '../shared/server-world.ts'
import { createServerWorld } from '../shared/server-world.ts'
import { BegunRequests } from '../shared/begun-requests.ts'
import type { FindPowers, OperatorPower, Writer } from './operator-powers.ts'
import { createWriter, readPowers } from './operator-powers.ts'

export interface HttpLimits extends QuotaLimits {
  /** Bytes of a request's body, which may include pictures. Default: 32 MiB. */
  readonly bodyBytes: number
  /** Unsent bytes of a response; if the reader then reads nothing for a minute, the response ends. Default: 4 MiB. */
  readonly waitingBytes: number
  /** Milliseconds of silence until a comment keeps a response open. Default: 15,000. */
  readonly keepAliveMs: number
  /** Milliseconds after its end during which an answer is sent again to a page that resumes. Default: 300,000. */
  readonly replayMs: number
}

type Known = Principal | Identity | undefined

/**
 * Options of `createHandler` and `createChatSocket`. Set `authenticate` before strangers can reach the server:
 * `createHandler(host, { authenticate: verifier.authenticate })`.
 */
export interface HandlerOptions extends Partial<ServerWorld> {
  /** The path at which the front is mounted. Default: `/api`. */
  readonly basePath?: string
  /**
   * Returns the request's principal, and optionally until when that holds. If it returns `undefined` or throws, the
   * request gets 401, with the message of an `unauthorized` error; after 10 seconds it gets 503. Without it, every
   * caller is `anonymous`. `createTokenVerifier` of @baton/server/auth provides one for JWTs.
   */
  readonly authenticate?: (request: Request) => Known | Promise<Known>
  /**
   * Other origins whose pages may send requests, such as `https://app.example`, or `*` for all. Default: none, so they
   * get 403. A function decides for every page, including those of the server's own origin.
   */
  readonly origins?: AllowedOrigins
  /** True while the server drains: no new turns start, and running ones are streamed until they end. */
  readonly isDraining?: () => boolean
  /**
   * Host names that requests may use for the server, such as `app.example` or `localhost`; requests for others get
   * 403. Set it on a server without tokens: otherwise, a page could reach it through its own domain name resolving to
   * the server. Default: all names.
   */
  readonly hosts?: readonly string[]
  /** Settings that a request may choose. Default: none; a body with any other setting is refused. */
  readonly allow?: AllowedSettings
  readonly limits?: Partial<HttpLimits>
  /**
   * Whether a new message ends a turn that waits for its page or its user: calls waiting for an approval do not run,
   * and calls that the page has not answered are cancelled. Default: false, so the message waits until they are
   * decided, answered or past their deadlines, and the stream lists them (`data-waiting`).
   */
  readonly cancelWaiting?: boolean
  /**
   * Programs that send signed events to `POST {base}/sessions/:id/events`, by name, in the form of Standard Webhooks. A
   * request with a signature is checked against their secrets, and needs no `authenticate`. Default: none, so such a
   * request is refused.
   */
  readonly webhooks?: Readonly<Record<string, WebhookSender>>
  /**
   * Returns the powers that a principal has over sessions of all owners, such as `['see', 'decide']`: for consoles. Default:
   * none. See docs/console.md.
   */
  readonly operators?: FindPowers
  /**
   * How servers over the same store reach each other; all need the same `basePath`. A request is passed on to the
   * server that holds its session. Without it, such a request gets 503.
   */
  readonly peers?: PeerOptions
}

export interface HandlerParts {
  /** A host that can list its sessions has more routes. */
  readonly host: HostWithSessions
  readonly world: ServerWorld
  readonly limits: HttpLimits
  readonly basePath: string
  readonly allow: AllowedSettings
  readonly cancelWaiting: boolean
  readonly isDraining: (() => boolean) | undefined
  readonly repeated: RepeatedRequests
  readonly quotas: ChatQuotas
  /** Requests of chats whose inputs are not accepted yet. */
  readonly begun: BegunRequests
  readonly operators: FindPowers | undefined
  readonly peers: Peers | undefined
  readonly senders: readonly KnownSender[]
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  ...QUOTA_LIMITS,
  bodyBytes: 32 * 1024 * 1024,
  waitingBytes: 4 * 1024 * 1024,
  keepAliveMs: 15_000,
  replayMs: 300_000,
}

export const HANDLER_OPTIONS = {
  names: [
    'basePath',
    'authenticate',
    'origins',
    'isDraining',
    'hosts',
    'allow',
    'limits',
    'cancelWaiting',
    'webhooks',
    'operators',
    'peers',
  ],
  limits: DEFAULT_HTTP_LIMITS,
}

/** @throws BatonError `invalid_option` */
export function createParts(host: HostWithSessions, options: HandlerOptions): HandlerParts {
  const {
    basePath = '/api',
    allow = {},
    limits = {},
    isDraining,
    cancelWaiting = false,
    webhooks = {},
    operators,
    peers,
  } = options
  for (const [name, value] of Object.entries(limits))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new BatonError({
        code: 'invalid_option',
        message: `limits.${name} must be a whole number of at least 1, not ${value}`,
      })
  if (!/^(?:\/[^/?#]+)*$/.test(basePath))
    throw new BatonError({ code: 'invalid_option', message: `basePath must be like "/api", not "${basePath}"` })
  const world = { ...createServerWorld(), ...options }
  const all = { ...DEFAULT_HTTP_LIMITS, ...limits }
  const [repeated, quotas] = [new RepeatedRequests(world.clock), new ChatQuotas(all, world.clock)]
  const senders = readSenders(webhooks)
  const more = {
    repeated,
    quotas,
    senders,
    operators,
    begun: new BegunRequests(),
    peers: peers && createPeers(peers, world),
  }
  return { host, world, basePath, allow, cancelWaiting, isDraining, limits: all, ...more }
}

/** A front's knowledge of the other servers. */
interface Peers {
  readonly options: PeerOptions
  readonly warnings: PeerWarnings
  /** Logs requests that are passed on; bursts are sampled. */
  readonly noteInfo: ServerWorld['log']['info']
}

function createPeers(options: PeerOptions, { log, clock }: ServerWorld): Peers {
  checkPeers(options)
  const sampled = sampleLog(log, clock)
  return {
    options,
    warnings: new PeerWarnings(sampled, clock),
    noteInfo: (message, data) => sampled.info(message, data),
  }
}

/** One request that was let in. */
export interface Call extends Incoming, Writer {
  readonly url: URL
  /** The principal and address that its turn counts for. */
  readonly asker: Asker
  /** The caller that its response counts for while streaming; empty if a peer counts it. */
  readonly reader: Asker
  readonly isFromPeer: boolean
  readonly principal: Principal
  /** Over sessions of all owners; empty for an ordinary client. */
  readonly powers: ReadonlySet<OperatorPower>
  /** When the client's identity expires; see `Identity`. */
  readonly expiresAtMs: number | undefined
  readonly open: (id: string, how: Required<Pick<SessionOptions, 'existing'>>) => Promise<FrontSession>
}

export interface Found extends Identity {
  /** The network address, if known. */
  readonly address: string | undefined
  /** Whether a peer passed the request on. It has authenticated the client and counted the request. */
  readonly isFromPeer: boolean
}

/** A peer has counted the bytes and the stream of a request it passes on; a turn counts where it runs. */
export function createCall({ host, quotas, limits, operators }: HandlerParts, request: Request, found: Found): Call {
  const { principal, expiresAtMs, address, isFromPeer } = found
  const powers = readPowers(operators, principal)
  const asker: Asker = { principal: principal.id, address }
  const takeBytes = (bytes: number): void => (isFromPeer ? undefined : quotas.takeBytes(asker, bytes))
  return {
    ...createIncoming(request, { bytesMax: limits.bodyBytes, takeBytes }),
    url: new URL(request.url),
    asker,
    reader: isFromPeer ? { principal: undefined, address: undefined } : asker,
    isFromPeer,
    principal,
    powers,
    ...createWriter(host, powers),
    expiresAtMs,
    open: async (id, how) => frontOf(await host.session(id, { principal, ...how })),
  }
}
