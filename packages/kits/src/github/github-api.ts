// Client of GitHub's REST API with a principal's token: typed by octokit, with answers validated by schemas.
import type { ToolContext } from '@baton/core/internal'
import { BatonError, importPeer, isBatonError, loadOnce } from '@baton/core/internal'
import type { endpoint } from '@octokit/endpoint'
import type { Endpoints, RequestParameters } from '@octokit/types'
import type * as z from 'zod'
import type { ServiceClient, ServiceRequest } from '../shared/service-client.ts'

/** https://docs.github.com/en/rest/about-the-rest-api/api-versions */
const VERSION = '2022-11-28'
/** https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api */
const PAGE_SIZE = 30

/** One call of a tool. */
export interface Asking {
  readonly token: string
  readonly signal: ToolContext['signal']
}

export interface Page<One> {
  readonly items: readonly One[]
  /** Absent on the last page. */
  readonly nextPage?: number
}

export class GithubApi {
  readonly #service: ServiceClient
  /** Loaded with the first request. */
  readonly #loadEndpoint: () => Promise<typeof endpoint>

  constructor(service: ServiceClient) {
    this.#service = service
    this.#loadEndpoint = loadOnce(async () => {
      const octokit = await importPeer('@octokit/endpoint', 'githubTools', () => import('@octokit/endpoint'))
      return octokit.endpoint.defaults({
        baseUrl: service.server,
        headers: {
          accept: 'application/vnd.github+json',
          'user-agent': 'baton-tools',
          'x-github-api-version': VERSION,
        },
      })
    })
  }

  /** @throws BatonError as `ServiceClient.ask` does, and `api_malformed` if the answer does not match the schema */
  async ask<Route extends keyof Endpoints, Value>(
    route: Route,
    parameters: Endpoints[Route]['parameters'],
    schema: z.ZodType<Value>,
    asking: Asking,
  ): Promise<Value> {
    const { value } = await this.#send(route, parameters, asking)
    return this.#service.check(schema, value)
  }

  /** Returns one page of a list. */
  async page<Route extends keyof Endpoints, One>(
    route: Route,
    parameters: Endpoints[Route]['parameters'] & { readonly page: number },
    schema: z.ZodType<readonly One[]>,
    asking: Asking,
  ): Promise<Page<One>> {
    const { value, headers } = await this.#send(route, { per_page: PAGE_SIZE, ...parameters }, asking)
    const items = this.#service.check(schema, value)
    return { items, ...(hasNext(headers) && { nextPage: parameters.page + 1 }) }
  }

  /** Returns one page of a search, whose items are in a field of the answer. */
  async searchPage<Route extends keyof Endpoints, Value>(
    route: Route,
    parameters: Endpoints[Route]['parameters'] & { readonly page: number },
    schema: z.ZodType<Value>,
    asking: Asking,
  ): Promise<{ readonly value: Value; readonly nextPage?: number }> {
    const { value, headers } = await this.#send(route, { per_page: PAGE_SIZE, ...parameters }, asking)
    return { value: this.#service.check(schema, value), ...(hasNext(headers) && { nextPage: parameters.page + 1 }) }
  }

  async #send(route: keyof Endpoints, parameters: RequestParameters, { token, signal }: Asking) {
    const write = await this.#loadEndpoint()
    const { method, url, headers, body } = write(route as string, parameters)
    try {
      return await this.#service.ask({
        method: method as ServiceRequest['method'], // one of the methods that the kit uses
        ...splitAddress(url, this.#service.server),
        headers: { ...headers, authorization: `Bearer ${token}` } as Record<string, string>, // all strings
        ...(body !== undefined && { json: body }),
        secrets: [token],
        signal,
      })
    } catch (thrown) {
      throw explain(thrown)
    }
  }
}

/**
 * Reads `page` from the `Link` header:
 * https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
 */
function hasNext(headers: Headers): boolean {
  return /;\s*rel="?next"?/.test(headers.get('link') ?? '')
}

function splitAddress(url: string, server: string): Pick<ServiceRequest, 'path' | 'query'> {
  const { searchParams } = new URL(url)
  const [path = ''] = url.slice(server.length).split('?')
  return { path, query: Object.fromEntries(searchParams) }
}

/** GitHub also answers 404 for what the token may not see. */
function explain(thrown: unknown): unknown {
  if (!isBatonError(thrown) || thrown.code !== 'api_refused') return thrown
  const { status } = thrown.data
  const why =
    status === 404
      ? 'it does not exist, or the token may not see it'
      : status === 403
        ? 'the token may not do this'
        : status === 409
          ? 'it has changed since: read it again first'
          : undefined
  if (why === undefined) return thrown
  return new BatonError({ code: thrown.code, message: `${thrown.message} (${why})`, data: thrown.data, cause: thrown })
}
