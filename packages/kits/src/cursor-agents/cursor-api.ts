// Client of Cursor's Cloud Agents API: version 1, and version 0 for anything version 1 does not support. Error bodies
// are never shown, since they have contained keys, so the messages are our own.
import { createHash } from 'node:crypto'
import type { JsonValue, ToolContext } from '@baton/core/internal'
import { BatonError, hasNeverConnected, isBatonError } from '@baton/core/internal'
import type * as z from 'zod'
import type { ServiceClient } from '../shared/service-client.ts'
import type { CloudAgent, ListInput, SpawnInput } from './definitions.ts'
import {
  fromV0,
  fromV1,
  Named,
  repositoryOf,
  toV0,
  toV1,
  V0Agent,
  V0List,
  V1Agent,
  V1Created,
  V1CreatedRun,
  V1List,
  V1Run,
} from './wire.ts'

/** One call of a tool: the key it uses and its cancellation. */
export interface Asking {
  readonly key: string
  readonly signal: ToolContext['signal']
  readonly idempotencyKey: string
}

export class CursorApi {
  readonly #service: ServiceClient
  readonly #version: 'v0' | 'v1'

  constructor(service: ServiceClient, version: 'v0' | 'v1') {
    this.#service = service
    this.#version = version
  }

  /**
   * In version 1, the agent's id is derived from the call's key. A start whose response was lost can be found, and
   * repeating the call does not start a second agent.
   */
  async spawn(input: SpawnInput, asking: Asking): Promise<CloudAgent> {
    if (input.prUrl !== undefined && repositoryOf(input.prUrl) === undefined)
      throw new BatonError({
        code: 'invalid_arguments',
        message: `prUrl must be the https address of a pull request, such as https://github.com/owner/repo/pull/7, not "${input.prUrl.slice(0, 200)}"`,
      })
    if (this.#version === 'v0' || input.branchName !== undefined)
      return fromV0(await this.#post(asking, '/v0/agents', toV0(input), V0Agent))
    const agentId = toAgentId(asking.idempotencyKey)
    try {
      const { agent, run } = await this.#post(asking, '/v1/agents', toV1(input, agentId), V1Created)
      return fromV1(agent, run)
    } catch (thrown) {
      return await this.#find(agentId, asking, thrown)
    }
  }

  /**
   * Finds the agent of a start whose response was lost or that was made before (409). @throws the original error if
   * there is none
   */
  async #find(agentId: string, asking: Asking, thrown: unknown): Promise<CloudAgent> {
    if (!isBatonError(thrown) || hasNeverConnected(thrown)) throw thrown
    const isLost = thrown.code === 'api_unavailable' || thrown.code === 'api_malformed' || thrown.code === 'api_failed'
    if (!isLost && statusOf(thrown) !== 409) throw thrown
    try {
      return await this.#read(agentId, asking)
    } catch {
      if (asking.signal.aborted) throw thrown
      const { code, message, data } = thrown
      throw new BatonError({
        code,
        message: `${message}; if the agent was started, its id is ${agentId}: check it with agent.status before you start another`,
        data,
        cause: thrown,
      })
    }
  }

  async status(id: string, asking: Asking): Promise<CloudAgent> {
    if (this.#version === 'v0') return fromV0(await this.#get(asking, `/v0/agents/${part(id)}`, V0Agent))
    return await this.#orV0(
      () => this.#read(id, asking),
      async () => fromV0(await this.#get(asking, `/v0/agents/${part(id)}`, V0Agent)),
    )
  }

  /** Leaves an agent that is not running unchanged. */
  async cancel(id: string, asking: Asking): Promise<CloudAgent> {
    const stop = async (): Promise<CloudAgent> => {
      await this.#post(asking, `/v0/agents/${part(id)}/stop`, undefined, Named)
      return fromV0(await this.#get(asking, `/v0/agents/${part(id)}`, V0Agent))
    }
    if (this.#version === 'v0') return await stop()
    const cancelRun = async (): Promise<CloudAgent> => {
      const { latestRunId } = await this.#get(asking, `/v1/agents/${part(id)}`, V1Agent)
      if (latestRunId !== undefined)
        try {
          await this.#post(asking, `/v1/agents/${part(id)}/runs/${part(latestRunId)}/cancel`, undefined, Named)
        } catch (thrown) {
          // It has already ended or been cancelled.
          if (statusOf(thrown) !== 409) throw thrown
        }
      return await this.#read(id, asking)
    }
    return await this.#orV0(cancelRun, stop)
  }

  async followup(id: string, prompt: string, asking: Asking): Promise<CloudAgent> {
    const body = { prompt: { text: prompt } }
    const follow = async (): Promise<CloudAgent> => {
      await this.#post(asking, `/v0/agents/${part(id)}/followup`, body, Named)
      return { id, status: 'RUNNING' }
    }
    if (this.#version === 'v0') return await follow()
    return await this.#orV0(async () => {
      try {
        const { run } = await this.#post(asking, `/v1/agents/${part(id)}/runs`, body, V1CreatedRun)
        return { id, status: run.status }
      } catch (thrown) {
        if (statusOf(thrown) !== 409) throw thrown
        throw new BatonError({
          code: 'api_refused',
          message: `the agent ${id} is busy and accepts one instruction at a time: wait until agent.status reports that it has ended, or stop it with agent.cancel`,
          data: { status: 409 },
          cause: thrown,
        })
      }
    }, follow)
  }

  async list({ limit = 20, cursor, prUrl }: ListInput, asking: Asking) {
    const query = { limit, cursor, prUrl }
    if (this.#version === 'v0') {
      const { agents, nextCursor } = await this.#get(asking, '/v0/agents', V0List, query)
      return { agents: agents.slice(0, limit).map(fromV0), ...(nextCursor && { nextCursor }) }
    }
    const { items, nextCursor } = await this.#get(asking, '/v1/agents', V1List, query)
    return {
      agents: items.slice(0, limit).map((agent) => fromV1(agent)),
      ...(nextCursor !== undefined && { nextCursor }),
    }
  }

  async #read(id: string, asking: Asking): Promise<CloudAgent> {
    const agent = await this.#get(asking, `/v1/agents/${part(id)}`, V1Agent)
    const { latestRunId } = agent
    if (latestRunId === undefined) return fromV1(agent)
    return fromV1(agent, await this.#get(asking, `/v1/agents/${part(id)}/runs/${part(latestRunId)}`, V1Run))
  }

  /** Version 1 may not know an agent started by version 0. */
  async #orV0(ask: () => Promise<CloudAgent>, askV0: () => Promise<CloudAgent>): Promise<CloudAgent> {
    try {
      return await ask()
    } catch (thrown) {
      if (statusOf(thrown) !== 404) throw thrown
      try {
        return await askV0()
      } catch (second) {
        throw statusOf(second) === 404 ? notFound(thrown) : second
      }
    }
  }

  async #get<Value>(
    { key, signal }: Asking,
    path: string,
    schema: z.ZodType<Value>,
    query?: Readonly<Record<string, string | number | undefined>>,
  ): Promise<Value> {
    const service = this.#service
    const { value } = await service.ask({ method: 'GET', path, signal, ...login(key), ...(query && { query }) })
    return service.check(schema, value)
  }

  async #post<Value>(
    { key, signal }: Asking,
    path: string,
    json: JsonValue | undefined,
    schema: z.ZodType<Value>,
  ): Promise<Value> {
    const service = this.#service
    const { value } = await service.ask({
      method: 'POST',
      path,
      signal,
      ...login(key),
      ...(json !== undefined && { json }),
    })
    return service.check(schema, value)
  }
}

function login(key: string) {
  return { headers: { authorization: `Bearer ${key}` }, secrets: [key] }
}

function part(id: string): string {
  return encodeURIComponent(id)
}

function statusOf(thrown: unknown): unknown {
  return isBatonError(thrown) ? thrown.data['status'] : undefined
}

function notFound(cause: unknown): BatonError {
  return new BatonError({
    code: 'api_refused',
    message:
      'Cursor answered 404: the agent does not exist, or it is too new to be read yet; agent.list returns the existing ones',
    data: { status: 404 },
    cause,
  })
}

/** A UUID in version 4 format, derived from the call's key so that it is the same each time. */
function toAgentId(idempotencyKey: string): string {
  const hex = createHash('sha256').update(`cursor-agent ${idempotencyKey}`).digest('hex')
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4)
  return `bc-${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
