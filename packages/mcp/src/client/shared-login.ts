// One login to an MCP server for all its connections. Requests that are refused at the same time share one refresh of
// the token, or one login page. The SDK runs each flow; this file decides whether a refused request begins one.
import type { AuthProvider, FetchLike, OAuthClientProvider } from '@modelcontextprotocol/client'
import {
  InsufficientScopeError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  isStrictScopeSuperset,
} from '@modelcontextprotocol/client'

/** A login that takes a user to its page. */
export interface PagedProvider extends OAuthClientProvider {
  /** Whether a flow has named a login page that the user has not been taken to. */
  readonly hasPage: boolean
  /** Takes the user there; resolves with the query of the redirect. @throws BatonError `api_unauthorized` */
  askUser(): Promise<URLSearchParams>
}

/** Logs in after the refusal of a request, which may then be sent again. @throws BatonError `api_unauthorized` */
export type LogIn = (refusal: unknown, fetch: FetchLike) => Promise<void>

/** Whether a request had no effect, because the server requires a login or a wider scope. */
export function isLoginRequired(thrown: unknown): boolean {
  return UnauthorizedError.isInstance(thrown) || InsufficientScopeError.isInstance(thrown)
}

/** Describes a refused request. */
type Refusal = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0]

export class SharedLogin {
  readonly #server: URL
  readonly #provider: PagedProvider
  /** The token of each request that was refused. */
  readonly #sent = new WeakMap<Response, string | undefined>()
  #renewing: Promise<void> | undefined
  #loggingIn: Promise<void> | undefined
  /** Number of logins that have ended. */
  #ended = 0
  /** Every scope that the server has required. */
  #scope: string | undefined

  constructor(server: string, provider: PagedProvider) {
    this.#server = new URL(server)
    this.#provider = provider
  }

  /** For the SDK's transports. Given the whole login, they would run a flow for each refused request. */
  readonly provider: AuthProvider = {
    token: async () => (await this.#provider.tokens())?.access_token,
    onUnauthorized: (refusal) => this.#renew(refusal),
  }

  /** Wraps the fetch of a transport, to know which token a refused request had. */
  watch(fetch: FetchLike): FetchLike {
    return async (url, init) => {
      const response = await fetch(url, init)
      if (response.status === 401) this.#sent.set(response, readToken(init?.headers))
      return response
    }
  }

  /** Call it before a request. The returned function does nothing if another login has ended since then. */
  begin(): LogIn {
    const before = this.#ended
    return async (refusal, fetch) => {
      if (this.#ended !== before) return
      this.#loggingIn ??= this.#logIn(refusal, fetch).finally(() => {
        this.#loggingIn = undefined
        this.#ended += 1
      })
      await this.#loggingIn
    }
  }

  #renew(refusal: Refusal): Promise<void> {
    this.#renewing ??= this.#renewUnlessDone(refusal).finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #renewUnlessDone({ response, fetchFn }: Refusal): Promise<void> {
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
    this.#scope = computeScopeUnion(this.#scope, scope)
    const tokens = await this.#provider.tokens()
    // Another request, connection or process has renewed it.
    if (tokens && tokens.access_token !== this.#sent.get(response)) return
    if (this.#loggingIn || this.#provider.hasPage) throw new UnauthorizedError()
    const outcome = await auth(this.#provider, {
      serverUrl: this.#server,
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      ...(scope !== undefined && { scope }),
      fetchFn,
    })
    if (outcome !== 'AUTHORIZED') throw new UnauthorizedError()
  }

  async #logIn(refusal: unknown, fetch: FetchLike): Promise<void> {
    if (InsufficientScopeError.isInstance(refusal) && !this.#provider.hasPage) await this.#widen(refusal, fetch)
    if (!this.#provider.hasPage) return
    const query = await this.#provider.askUser()
    await new StreamableHTTPClientTransport(this.#server, { authProvider: this.#provider, fetch }).finishAuth(query)
  }

  /** Requests a wider scope, as a transport of the SDK does. */
  async #widen({ requiredScope, resourceMetadataUrl }: InsufficientScopeError, fetchFn: FetchLike): Promise<void> {
    const tokens = await this.#provider.tokens()
    const scope = computeScopeUnion(this.#scope, tokens?.scope, requiredScope)
    this.#scope = scope
    await auth(this.#provider, {
      serverUrl: this.#server,
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      ...(scope !== undefined && { scope }),
      // A refresh cannot widen the scope.
      forceReauthorization: isStrictScopeSuperset(scope, tokens?.scope),
      fetchFn,
    })
  }
}

function readToken(headers: ConstructorParameters<typeof Headers>[0]): string | undefined {
  return /^Bearer (.+)$/i.exec(new Headers(headers).get('authorization') ?? '')?.[1]
}
