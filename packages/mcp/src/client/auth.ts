// Logs in to MCP servers over HTTP: with a token, or with OAuth 2.1 and stored tokens. The SDK runs the flow; this file
// stores its tokens and takes the user to the login page and back.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { BatonError } from '@baton/core'
import type {
  AuthProvider,
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { PagedProvider } from './shared-login.ts'
import { SharedLogin } from './shared-login.ts'

/** Stores logins by server address. Logins are secret. */
export interface McpTokenStore {
  read(server: string): Promise<string | undefined>
  /** `undefined` deletes the entry. */
  write(server: string, login: string | undefined): Promise<void>
}

/** How a program logs in to an MCP server: where it keeps tokens, and how it shows the login page. */
export interface McpOAuth {
  readonly store: McpTokenStore
  /** The address that the login page redirects to. */
  readonly redirectUrl: string
  /** Takes the user to the login page and resolves with the query of the redirect. It has 5 minutes. */
  authorize(page: URL): Promise<URLSearchParams>
  /** Shown on the login page. Default: `Baton`. */
  readonly clientName?: string
  /** An already registered client. If absent, Baton registers one at the first login. */
  readonly client?: { readonly id: string; readonly secret?: string }
  /** An `https:` address that describes this client, for servers that accept one instead of a registration. */
  readonly clientMetadataUrl?: string
  /** Scopes to request, separated by spaces. Default: those named by the server. */
  readonly scope?: string
}

/**
 * `token`: called for each request. `provider`: a login of the MCP SDK, such as its `ClientCredentialsProvider`.
 * Otherwise OAuth in a browser.
 */
export type McpAuth =
  | { readonly token: () => string | undefined | Promise<string | undefined> }
  | { readonly provider: OAuthClientProvider }
  | McpOAuth

/** The login for one server's transports; `login` is undefined if there is no user to log in. */
export interface TransportAuth {
  readonly provider: AuthProvider | OAuthClientProvider
  readonly login?: SharedLogin
}

/** Call it once per server, so that its connections share the login. */
export function createTransportAuth(server: string, auth: McpAuth): TransportAuth {
  if ('token' in auth) return { provider: { token: async () => auth.token() } }
  if ('provider' in auth) return { provider: auth.provider }
  const login = new SharedLogin(server, new StoredLogin(server, auth))
  return { provider: login.provider, login }
}

/** Stored credentials for one server. Each belongs to the authorization server that issued it. */
interface Login {
  clients?: Record<string, StoredOAuthClientInformation>
  tokens?: Record<string, StoredOAuthTokens>
  /** The issuer of the most recently saved tokens. */
  latest?: string
}

const ANY = ''

class StoredLogin implements PagedProvider {
  readonly #server: string
  readonly #oauth: McpOAuth
  declare readonly clientMetadataUrl?: string
  /** A login in progress. It is not stored: another process may log in at the same time. */
  #page: URL | undefined
  #verifier: string | undefined
  #discovery: OAuthDiscoveryState | undefined
  /** The tokens that the running flow has read. */
  #tried: StoredOAuthTokens | undefined
  #changing: Promise<unknown> = Promise.resolve()

  constructor(server: string, oauth: McpOAuth) {
    this.#server = server
    this.#oauth = oauth
    if (oauth.clientMetadataUrl !== undefined) this.clientMetadataUrl = oauth.clientMetadataUrl
  }

  get redirectUrl(): string {
    return this.#oauth.redirectUrl
  }

  get clientMetadata(): OAuthClientMetadata {
    const { clientName = 'Baton', redirectUrl, client, scope } = this.#oauth
    return {
      client_name: clientName,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...(client?.secret === undefined && { token_endpoint_auth_method: 'none' }),
      ...(scope !== undefined && { scope }),
    }
  }

  state(): string {
    return randomBytes(32).toString('base64url')
  }

  async clientInformation(context?: OAuthClientInformationContext): Promise<StoredOAuthClientInformation | undefined> {
    const { client } = this.#oauth
    if (client) return { client_id: client.id, ...(client.secret !== undefined && { client_secret: client.secret }) }
    return (await this.#read()).clients?.[context?.issuer ?? ANY]
  }

  async saveClientInformation(
    information: StoredOAuthClientInformation,
    context?: OAuthClientInformationContext,
  ): Promise<void> {
    await this.#change((login) => (login.clients = { ...login.clients, [context?.issuer ?? ANY]: information }))
  }

  async tokens(context?: OAuthClientInformationContext): Promise<StoredOAuthTokens | undefined> {
    const { tokens, latest } = await this.#read()
    const found = tokens?.[context?.issuer ?? latest ?? ANY]
    if (context) this.#tried = found
    return found
  }

  async saveTokens(tokens: StoredOAuthTokens, context?: OAuthClientInformationContext): Promise<void> {
    const issuer = context?.issuer ?? ANY
    await this.#change((login) => {
      login.tokens = { ...login.tokens, [issuer]: tokens }
      login.latest = issuer
    })
    // Both belong to one login. The server may name another authorization server next time.
    this.#verifier = undefined
    this.#discovery = undefined
  }

  get hasPage(): boolean {
    return this.#page !== undefined
  }

  redirectToAuthorization(page: URL): void {
    this.#page = page
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    if (this.#verifier === undefined) throw refuse(this.#server, 'no login is in progress')
    return this.#verifier
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.#discovery = discovery
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery
  }

  async invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    if (scope === 'all' || scope === 'verifier') this.#verifier = undefined
    if (scope === 'all' || scope === 'discovery') this.#discovery = undefined
    if (scope === 'all') return this.#oauth.store.write(this.#server, undefined)
    if (scope === 'client') await this.#change((login) => delete login.clients)
    if (scope === 'tokens') await this.#change((login) => this.#deleteTried(login))
  }

  async askUser(): Promise<URLSearchParams> {
    const page = this.#page
    if (!page) throw refuse(this.#server, 'it rejects the login and names no login page')
    this.#page = undefined
    const query = await this.#oauth.authorize(page)
    const expected = page.searchParams.get('state') ?? ''
    // The SDK does not compare the state. A response to another login must not complete this one.
    if (expected === '' || !isSame(query.get('state') ?? '', expected))
      throw refuse(this.#server, 'the redirect from its login page belongs to another login')
    return query
  }

  /** Deletes refused tokens, unless another process has renewed them since they were read. */
  #deleteTried(login: Login): void {
    const stored = login.tokens?.[login.latest ?? ANY]
    if (this.#tried === undefined || stored?.access_token === this.#tried.access_token) delete login.tokens
  }

  async #read(): Promise<Login> {
    const text = await this.#oauth.store.read(this.#server)
    if (text === undefined) return {}
    try {
      const login: unknown = JSON.parse(text)
      return typeof login === 'object' && login !== null ? login : {}
    } catch {
      return {} // A damaged entry is ignored: the user logs in again.
    }
  }

  /** One change after another: of two at once, the later one would overwrite the other. */
  #change(change: (login: Login) => unknown): Promise<void> {
    const changed = this.#changing.then(async () => {
      const login = await this.#read()
      change(login)
      await this.#oauth.store.write(this.#server, JSON.stringify(login))
    })
    this.#changing = changed.catch(() => {}) // the caller gets the error
    return changed
  }
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

function refuse(server: string, why: string): BatonError {
  return new BatonError({ code: 'api_unauthorized', message: `MCP server ${server}: ${why}` })
}

/** Stores logins in this process only. */
export function createMemoryTokenStore(): McpTokenStore {
  const logins = new Map<string, string>()
  return {
    read: (server) => Promise.resolve(logins.get(server)),
    write: (server, login) => {
      if (login === undefined) logins.delete(server)
      else logins.set(server, login)
      return Promise.resolve()
    },
  }
}
