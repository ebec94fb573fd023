// The options of the fronts for chats, and what all requests to one front share.
import type { Host, Principal, SessionDirectory } from '@baton/core'
import { BatonError } from '@baton/core'
import type { AllowedSettings } from '../shared/allowed-settings.ts'
import type { Identity } from '../shared/identity.ts'
import type { PeerOptions } from '../shared/peer-identity.ts'
import { checkPeers } from '../shared/peer-identity.ts'
import { PeerWarnings } from '../shared/peer-warnings.ts'
import { sampleLog } from '../shared/sampled-log.ts'
import type { ServerWorld } from '../shared/server-world.ts'
import { createServerWorld } from '../shared/server-world.ts'
import type { QuotaLimits } from './chat-quotas.ts'
import { ChatQuotas, QUOTA_LIMITS } from './chat-quotas.ts'
import type { AllowedOrigins } from './page-origins.ts'
import type { Peers } from './pass-on.ts'
import { RepeatedRequests } from './repeated-requests.ts'

export interface HttpLimits extends QuotaLimits {
  /** Bytes of a request's body; 32 MiB by default, since pictures come in it. */
  readonly bodyBytes: number
  /** Bytes of a response that may wait for its reader; if the reader then reads nothing for a minute, the response ends. 4 MiB. */
  readonly waitingBytes: number
  /** Milliseconds of silence after which a comment keeps a response open. 15,000. */
  readonly keepAliveMs: number
  /** Milliseconds after its end in which an answer is told once more to a page that resumes. 300,000. */
  readonly replayMs: number
}

type Known = Principal | Identity | undefined

export interface HandlerOptions extends Partial<ServerWorld> {
  /** The path at which it is mounted; `/api` by default. */
  readonly basePath?: string
  /**
   * Who asks, and until when that holds; absent: everybody is `anonymous`. Undefined, or an error: 401, with the message of an
   * error `unauthorized`; 503 after 10 seconds. `createTokenVerifier` of @baton/server/auth has one for JWTs.
   */
  readonly authenticate?: (request: Request) => Known | Promise<Known>
  /**
   * Pages of other origins that may ask, as `https://app.example`; `*` for all. None by default: others get 403. A function
   * decides of each page alone, also of those of the server's own origin.
   */
  readonly origins?: AllowedOrigins
  /** True while the server drains: no new turns begin, and running ones are streamed to their end. */
  readonly isDraining?: () => boolean
  /**
   * Names under which the server may be asked, as `app.example` or `localhost`; others get 403. A server that asks for no
   * token needs them: a page could reach it by a name of its own that leads there. All by default.
   */
  readonly hosts?: readonly string[]
  /** Choices that a request may make. None by default; a body that asks for more is refused. */
  readonly allow?: AllowedSettings
  readonly limits?: Partial<HttpLimits>
  /**
   * A new message ends a turn that waits for its page or its user: calls that wait for an approval do not run, and calls that the page
   * has not answered are cancelled. False by default: the message waits until they are decided, answered or past their deadlines, and the stream
   * says for which ones (`data-waiting`).
   */
  readonly cancelWaiting?: boolean
  /**
   * How this server and the others over the same store reach each other; all need the same `basePath`. The front passes a request on to
   * the server that holds its session. Absent: such a request gets 503.
   */
  readonly peers?: PeerOptions
}

/** A host with lists of its sessions has more routes. */
export type HandledHost = Host & Partial<SessionDirectory>

export interface HandlerParts {
  readonly host: HandledHost
  readonly world: ServerWorld
  readonly limits: HttpLimits
  readonly basePath: string
  readonly allow: AllowedSettings
  readonly cancelWaiting: boolean
  readonly isDraining: () => boolean
  readonly repeated: RepeatedRequests
  readonly quotas: ChatQuotas
  readonly peers: Peers | undefined
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  ...QUOTA_LIMITS,
  bodyBytes: 32 * 1024 * 1024,
  waitingBytes: 4 * 1024 * 1024,
  keepAliveMs: 15_000,
  replayMs: 300_000,
}

export const HANDLER_OPTIONS = {
  names: ['basePath', 'authenticate', 'origins', 'isDraining', 'hosts', 'allow', 'limits', 'cancelWaiting', 'peers'],
  limits: DEFAULT_HTTP_LIMITS,
}

/** @throws BatonError `invalid_option` */
export function createParts(host: HandledHost, options: HandlerOptions): HandlerParts {
  const { basePath = '/api', allow = {}, limits = {}, isDraining = () => false, cancelWaiting = false, peers } = options
  for (const [name, value] of Object.entries(limits))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new BatonError({
        code: 'invalid_option',
        message: `limits.${name} must be a whole number from 1, not ${value}`,
      })
  if (!/^(?:\/[^/?#]+)*$/.test(basePath))
    throw new BatonError({ code: 'invalid_option', message: `basePath must be like "/api", not "${basePath}"` })
  const world = { ...createServerWorld(), ...options }
  const all = { ...DEFAULT_HTTP_LIMITS, ...limits }
  const [repeated, quotas] = [new RepeatedRequests(world.clock), new ChatQuotas(all, world.clock)]
  const more = { repeated, quotas, peers: peers && createPeers(peers, world) }
  return { host, world, basePath, allow, cancelWaiting, isDraining, limits: all, ...more }
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
