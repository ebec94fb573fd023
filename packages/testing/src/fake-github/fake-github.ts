// A local GitHub: in-memory repositories behind the part of GitHub's API that @baton/kits/github uses. Validates each
// request, and each of its answers, against GitHub's published description.
import type { Asked, Reply, FoundOperation } from './operations.ts'
import { refuse, GithubOperations } from './operations.ts'
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseJson } from '@baton/core/internal'
import { answerRequest } from './answers.ts'
import type { FakeRepository, Issue, Repository } from './repositories.ts'
import { openRepository } from './repositories.ts'

export type { Asked, Reply } from './operations.ts'
export { DOCUMENTED, refuse, textIn } from './operations.ts'
export type { FakeIssue, FakeRepository, Issue } from './repositories.ts'

export interface FakeToken {
  readonly login: string
  /** Private repositories that it can see, as `owner/name`. */
  readonly sees?: readonly string[]
  /** Whether it may write; true by default. */
  readonly mayWrite?: boolean
}

export interface FakeGithubOptions {
  readonly tokens: Readonly<Record<string, FakeToken>>
  readonly repositories: readonly FakeRepository[]
}

export interface FakeGithub {
  /** Value for the option `server`. */
  readonly url: string
  /** Requests, as `GET /repos/{owner}/{repo}`, with the login of the caller. */
  readonly requests: readonly { readonly operation: string; readonly login: string }[]
  /** Requests and answers of this server that violate GitHub's description. */
  readonly violations: readonly string[]
  /** Number of operations in this excerpt of GitHub's description. */
  readonly described: number
  issue(repository: string, number: number): Issue | undefined
  file(repository: string, branch: string, path: string): string | undefined
  branches(repository: string): readonly string[]
  /** Rejects the next requests as over a limit: the hourly one or the secondary one. */
  limit(kind: 'primary' | 'secondary', times: number): void
  close(): Promise<void>
}

export async function startFakeGithub(init: FakeGithubOptions): Promise<FakeGithub> {
  const local = new LocalGithub(init)
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () =>
      send(response, local.answer(request, Buffer.concat(pieces).toString('utf8'), addressOf(server))),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: addressOf(server),
    requests: local.requests,
    violations: local.violations,
    described: local.operations.all.length,
    issue: (repository, number) => local.find(repository)?.issues.get(number),
    file: (repository, branch, path) => local.find(repository)?.branches.get(branch)?.get(path)?.toString('utf8'),
    branches: (repository) => [...(local.find(repository)?.branches.keys() ?? [])],
    limit: (kind, times) => (local.limited = { kind, times }),
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

function addressOf(server: Server): string {
  const { port } = server.address() as AddressInfo // it listens on a port
  return `http://127.0.0.1:${port}`
}

class LocalGithub {
  readonly operations = new GithubOperations()
  readonly requests: { readonly operation: string; readonly login: string }[] = []
  readonly violations: string[] = []
  limited: { readonly kind: 'primary' | 'secondary'; readonly times: number } = { kind: 'primary', times: 0 }
  readonly #tokens: FakeGithubOptions['tokens']
  readonly #repositories: readonly Repository[]

  constructor({ tokens, repositories }: FakeGithubOptions) {
    this.#tokens = tokens
    this.#repositories = repositories.map(openRepository)
  }

  find(name: string): Repository | undefined {
    return this.#repositories.find((one) => `${one.owner}/${one.name}`.toLowerCase() === name.toLowerCase())
  }

  answer(request: IncomingMessage, text: string, origin: string): Reply {
    const url = new URL(request.url ?? '/', origin)
    const token = /^(?:bearer|token) (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const account = Object.hasOwn(this.#tokens, token) ? this.#tokens[token] : undefined
    if (!account) return refuse(401, 'Bad credentials')
    const wrong = findWrongHeader(request)
    if (wrong !== undefined) this.violations.push(wrong)
    const found = this.operations.find(request.method ?? '', url.pathname)
    if (!found) {
      this.violations.push(`no operation ${request.method} ${url.pathname}`)
      return refuse(404, 'Not Found')
    }
    const route = `${found.operation.method} ${found.operation.path}`
    this.requests.push({ operation: route, login: account.login })
    if (this.limited.times > 0) {
      this.limited = { ...this.limited, times: this.limited.times - 1 }
      return refuseByLimit(this.limited.kind)
    }
    const parsed = text === '' ? undefined : parseJson(text)
    const body = parsed?.ok ? parsed.value : undefined
    const issue =
      parsed?.ok === false ? 'the body is not JSON' : this.operations.findIssue(found, url.searchParams, body)
    if (issue !== undefined) {
      this.violations.push(`${route}: ${issue}`)
      return refuse(422, 'Validation Failed', [issue])
    }
    const asked = { route, values: found.values, query: url.searchParams, body: (body ?? {}) as Asked['body'], origin } // it was validated
    const reply = this.#answerFor(account, found, asked)
    checkReply(this.operations, found, reply, this.violations)
    return reply
  }

  #answerFor(
    { login, sees = [], mayWrite = true }: FakeToken,
    { operation, values: { owner, repo = '' } }: FoundOperation,
    asked: Pick<Asked, 'route' | 'values' | 'query' | 'body' | 'origin'>,
  ): Reply {
    const isSeen = (one: Repository): boolean => !one.isPrivate || sees.includes(`${one.owner}/${one.name}`)
    const repository = owner === undefined ? undefined : this.find(`${owner}/${repo}`)
    if (owner !== undefined && !(repository && isSeen(repository))) return refuse(404, 'Not Found')
    if (operation.method !== 'GET' && !mayWrite) return refuse(403, 'Resource not accessible by personal access token')
    return answerRequest({
      ...asked,
      login,
      repository,
      repositories: this.#repositories.filter(isSeen),
      example: (status = 200) => structuredClone(operation.answers[status]?.example ?? null),
    })
  }
}

/** https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api */
function refuseByLimit(kind: 'primary' | 'secondary'): Reply {
  const reset = Math.ceil(Date.now() / 1000) + 90
  if (kind === 'primary')
    return {
      ...refuse(403, 'API rate limit exceeded for user ID 1.'),
      headers: { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) },
    }
  return {
    ...refuse(403, 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'),
    headers: { 'retry-after': '60' },
  }
}

/** https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api */
function findWrongHeader({ headers }: IncomingMessage): string | undefined {
  if (!headers['user-agent']) return 'there is no User-Agent'
  if (headers.accept !== 'application/vnd.github+json') return `Accept is ${headers.accept}`
  const version = headers['x-github-api-version']
  return version === '2022-11-28'
    ? undefined
    : `X-GitHub-Api-Version is ${typeof version === 'string' ? version : 'absent'}`
}

function checkReply(operations: GithubOperations, found: FoundOperation, reply: Reply, violations: string[]): void {
  if (reply.status >= 300) return
  const wrong = operations.findWrongAnswer(found, reply.status, reply.body ?? null)
  if (wrong !== undefined) violations.push(`answer to ${found.operation.method} ${found.operation.path}: ${wrong}`)
}

function send(response: ServerResponse, { status, body, headers }: Reply): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '4999',
    ...headers,
  })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}
