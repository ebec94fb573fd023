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

/** Stores logins by server address. Logins are secret. */
export interface McpTokenStore {
  read(server: string): Promise<string | undefined>
  /** `undefined` deletes the entry. */
  write(server: string, login: string | undefined): Promise<void>
}

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
  /**
   * Completes a login started by the transport: resolves with the query that finishes it. @throws BatonError
   * `api_unauthorized`
   */
  readonly login?: () => Promise<URLSearchParams>
}

export function createTransportAuth(server: string, auth: McpAuth): TransportAuth {
  if ('token' in auth) return { provider: { token: async () => auth.token() } }
  if ('provider' in auth) return { provider: auth.provider }
  const provider = new StoredLogin(server, auth)
  return { provider, login: () => provider.login() }
}

/** Stored credentials for one server. Each belongs to the authorization server that issued it. */
interface Login {
  clients?: Record<string, StoredOAuthClientInformation>
  tokens?: Record<string, StoredOAuthTokens>
  /** The issuer of the most recently saved tokens. */
  latest?: string
  verifier?: string
  discovery?: OAuthDiscoveryState
}

const ANY = ''

class StoredLogin implements OAuthClientProvider {
  readonly #server: string
  readonly #oauth: McpOAuth
  declare readonly clientMetadataUrl?: string
  #page: URL | undefined
  #state: string | undefined

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
    this.#state = randomBytes(32).toString('base64url')
    return this.#state
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
    return tokens?.[context?.issuer ?? latest ?? ANY]
  }

  async saveTokens(tokens: StoredOAuthTokens, context?: OAuthClientInformationContext): Promise<void> {
    const issuer = context?.issuer ?? ANY
    await this.#change((login) => {
      login.tokens = { ...login.tokens, [issuer]: tokens }
      login.latest = issuer
      // Both belong to one login. The server may name another authorization server next time.
      delete login.verifier
      delete login.discovery
    })
  }

  redirectToAuthorization(page: URL): void {
    this.#page = page
  }

  async saveCodeVerifier(verifier: string): Promise<void> {
    await this.#change((login) => (login.verifier = verifier))
  }

  async codeVerifier(): Promise<string> {
    const { verifier } = await this.#read()
    if (verifier === undefined) throw refuse(this.#server, 'no login is in progress')
    return verifier
  }

  async saveDiscoveryState(discovery: OAuthDiscoveryState): Promise<void> {
    await this.#change((login) => (login.discovery = discovery))
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return (await this.#read()).discovery
  }

  async invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    if (scope === 'all') return this.#oauth.store.write(this.#server, undefined)
    const field = ({ client: 'clients', tokens: 'tokens', verifier: 'verifier', discovery: 'discovery' } as const)[
      scope
    ]
    await this.#change((login) => delete login[field])
  }

  async login(): Promise<URLSearchParams> {
    const page = this.#page
    if (!page) throw refuse(this.#server, 'it rejects the login and names no login page')
    this.#page = undefined
    const query = await this.#oauth.authorize(page)
    const expected = this.#state
    // The SDK does not compare the state. A response to another login must not complete this one.
    if (expected === undefined || !isSame(query.get('state') ?? '', expected))
      throw refuse(this.#server, 'the redirect from its login page belongs to another login')
    return query
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

  async #change(change: (login: Login) => unknown): Promise<void> {
    const login = await this.#read()
    change(login)
    await this.#oauth.store.write(this.#server, JSON.stringify(login))
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
