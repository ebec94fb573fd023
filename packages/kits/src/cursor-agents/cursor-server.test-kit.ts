// Cursor's Cloud Agents API as documented (v1 and v0, read in 2026-11), with agents that work until the test ends them.
// Rejects what the real one would reject, and records it.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'

const Prompt = z.strictObject({ text: z.string().min(1) })
const CreateV1 = z
  .strictObject({
    agentId: z
      .string()
      .regex(/^bc-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      .optional(),
    prompt: Prompt,
    repos: z
      .array(z.strictObject({ url: z.url(), startingRef: z.string().optional(), prUrl: z.url().optional() }))
      .length(1),
    workOnCurrentBranch: z.boolean().optional(),
    autoCreatePR: z.boolean().optional(),
    skipReviewerRequest: z.boolean().optional(),
    model: z.strictObject({ id: z.string().min(1) }).optional(),
  })
  // With its own starting ref, an agent would push to that branch.
  .refine(({ workOnCurrentBranch, repos: [repo] }) => !workOnCurrentBranch || repo?.prUrl !== undefined)
const CreateV0 = z.strictObject({
  prompt: Prompt,
  source: z.union([
    z.strictObject({ repository: z.url(), ref: z.string().optional() }),
    z.strictObject({ prUrl: z.url() }),
  ]),
  target: z
    .strictObject({
      autoCreatePr: z.boolean().optional(),
      autoBranch: z.boolean().optional(),
      skipReviewerRequest: z.boolean().optional(),
      branchName: z.string().optional(),
    })
    .optional(),
  model: z.string().optional(),
})
const FollowUp = z.strictObject({ prompt: Prompt })

interface Run {
  readonly id: string
  status: 'RUNNING' | 'FINISHED' | 'CANCELLED'
  result?: string
}

interface HeldAgent {
  readonly id: string
  readonly version: 'v0' | 'v1'
  readonly owner: string
  readonly prompts: string[]
  readonly created: z.infer<typeof CreateV1> | z.infer<typeof CreateV0>
  readonly runs: Run[]
}

export interface CursorServer {
  readonly origin: string
  readonly agents: readonly HeldAgent[]
  /** `<method> <path>` of each request. */
  readonly asked: string[]
  /** Requests that the real service would reject as malformed, with the reason. */
  readonly refusals: string[]
  /** Ends the latest run of an agent. */
  finish(id: string, result: string): void
  /** Acts on the next POST, and then breaks its connection, or answers with 500. */
  loseNextAnswer(how?: 'broken' | 500): void
  close(): Promise<void>
}

/** @param keys valid keys, each with its own agents */
export async function startCursorServer(keys: readonly string[]): Promise<CursorServer> {
  const cursor = new FakeCursor(new Set(keys))
  const server = createServer((request, response) => void cursor.answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  const { agents, asked, refusals } = cursor
  return {
    origin: `http://127.0.0.1:${port}`,
    agents,
    asked,
    refusals,
    finish: (id, result) => Object.assign(cursor.find(id)?.runs.at(-1) ?? {}, { status: 'FINISHED', result }),
    loseNextAnswer: (how = 'broken') => (cursor.losesNext = how),
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

class FakeCursor {
  readonly agents: HeldAgent[] = []
  readonly asked: string[] = []
  readonly refusals: string[] = []
  losesNext: 'broken' | 500 | undefined
  readonly #keys: ReadonlySet<string>

  constructor(keys: ReadonlySet<string>) {
    this.#keys = keys
  }

  find(id: string): HeldAgent | undefined {
    return this.agents.find((agent) => agent.id === id)
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const { method = '', url = '/' } = request
    this.asked.push(`${method} ${url}`)
    const key = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const text = Buffer.concat(pieces).toString()
    // As the real one has done, the error quotes the key.
    const { status, body } = this.#keys.has(key)
      ? this.#route(method, new URL(url, 'http://cursor.test'), text, key)
      : fail(401, `the key ${key} is not valid`)
    const lost = method === 'POST' ? this.losesNext : undefined
    if (lost !== undefined) this.losesNext = undefined
    if (lost === 'broken') {
      request.socket.destroy()
      return
    }
    response.writeHead(lost ?? status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }

  #route(method: string, url: URL, text: string, owner: string): Answer {
    const [version = '', agents, id, rest, runId, act] = url.pathname.slice(1).split('/').map(decodeURIComponent)
    if (agents !== 'agents' || (version !== 'v0' && version !== 'v1')) return fail(404, 'no such path')
    if (id === undefined)
      return method === 'POST' ? this.#create(version, text, owner) : this.#list(version, url, owner)
    // Each version knows only its own agents.
    const agent = this.agents.find((one) => one.id === id && one.version === version && one.owner === owner)
    if (!agent) return fail(404, 'agent_not_found')
    const run = agent.runs.at(-1)
    switch ([method, rest, act].filter(Boolean).join(' ')) {
      case 'GET':
        return ok(version === 'v1' ? showV1(agent) : showV0(agent))
      case 'GET runs':
        return ok({
          id: runId,
          agentId: id,
          status: run?.status,
          ...(run?.result && { result: run.result }),
          ...git(run),
        })
      case 'POST runs':
        if (run?.status === 'RUNNING') return fail(409, 'agent_busy')
        return this.#follow(agent, text)
      case 'POST runs cancel':
        if (run?.status !== 'RUNNING' || run.id !== runId) return fail(409, 'run_not_cancellable')
        run.status = 'CANCELLED'
        return ok({ id: runId })
      case 'POST followup':
        return this.#follow(agent, text)
      case 'POST stop':
        if (run?.status === 'RUNNING') run.status = 'CANCELLED'
        return ok({ id })
      default:
        return fail(404, 'no such path')
    }
  }

  #create(version: 'v0' | 'v1', text: string, owner: string): Answer {
    const read = (version === 'v1' ? CreateV1 : CreateV0).safeParse(JSON.parse(text))
    if (!read.success) return this.#refuse(read.error)
    const given = 'agentId' in read.data ? read.data.agentId : undefined
    if (given !== undefined && this.find(given)) return fail(409, 'agent_id_conflict')
    const id = given ?? `bc_${randomUUID().slice(0, 8)}`
    const agent: HeldAgent = {
      id,
      version,
      owner,
      created: read.data,
      prompts: [read.data.prompt.text],
      runs: [startRun()],
    }
    this.agents.push(agent)
    return version === 'v1'
      ? { status: 201, body: { agent: showV1(agent), run: { id: agent.runs[0]?.id, agentId: id, status: 'CREATING' } } }
      : { status: 201, body: showV0(agent) }
  }

  #follow(agent: HeldAgent, text: string): Answer {
    const read = FollowUp.safeParse(JSON.parse(text))
    if (!read.success) return this.#refuse(read.error)
    agent.prompts.push(read.data.prompt.text)
    const run = startRun()
    agent.runs.push(run)
    return ok(
      agent.version === 'v1' ? { run: { id: run.id, agentId: agent.id, status: 'CREATING' } } : { id: agent.id },
    )
  }

  #list(version: 'v0' | 'v1', url: URL, owner: string): Answer {
    const limit = Number(url.searchParams.get('limit') ?? '20')
    if (!Number.isInteger(limit) || limit < 1 || limit > 100) return fail(400, 'validation_error')
    const own = this.agents.filter((agent) => agent.owner === owner && agent.version === version).toReversed()
    const from = Number(url.searchParams.get('cursor') ?? '0')
    const page = own.slice(from, from + limit)
    const next = from + limit < own.length ? { nextCursor: `${from + limit}` } : {}
    return ok(version === 'v1' ? { items: page.map(listV1), ...next } : { agents: page.map(showV0), ...next })
  }

  #refuse(error: z.ZodError): Answer {
    this.refusals.push(z.prettifyError(error))
    return fail(400, 'validation_error')
  }
}

function ok(body: unknown): Answer {
  return { status: 200, body }
}

function fail(status: number, message: string): Answer {
  return { status, body: { error: { code: message, message } } }
}

function startRun(): Run {
  return { id: `run-${randomUUID()}`, status: 'RUNNING' }
}

function git(run: Run | undefined) {
  const prUrl = 'https://github.com/me/app/pull/8'
  return run?.status === 'FINISHED'
    ? { git: { branches: [{ repoUrl: 'github.com/me/app', branch: 'cursor/fix-1', prUrl }] } }
    : {}
}

function listV1(agent: HeldAgent) {
  const isRunning = agent.runs.at(-1)?.status === 'RUNNING'
  const url = `https://cursor.com/agents/${agent.id}`
  const times = { createdAt: '2026-11-24T06:00:00.000Z', updatedAt: '2026-11-24T06:00:00.000Z' }
  return {
    id: agent.id,
    name: agent.prompts[0],
    status: isRunning ? 'ACTIVE' : 'IDLE',
    url,
    ...times,
    latestRunId: agent.runs.at(-1)?.id,
  }
}

function showV1(agent: HeldAgent) {
  return { ...listV1(agent), ...('repos' in agent.created && { repos: agent.created.repos }), env: { type: 'cloud' } }
}

function showV0({ id, prompts, runs, created }: HeldAgent) {
  const run = runs.at(-1)
  const source = 'source' in created ? created.source : {}
  const target = { ...('target' in created && created.target), url: `https://cursor.com/agents?id=${id}` }
  const times = { createdAt: '2026-11-24T06:00:00Z' }
  return {
    id,
    name: prompts[0],
    status: run?.status,
    source,
    target,
    ...times,
    ...(run?.result && { summary: run.result }),
  }
}
