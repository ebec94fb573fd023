// Options for offering an agent to MCP clients, and their validation.
import type { Agent, Logger, Principal, Timers } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds } from '@baton/core/internal'
import { checkLimits, PLATFORM_TIMERS, SILENT } from '../shared/platform.ts'

/** Options of `serveMcpOverStdio`: `{ agent }`. */
export interface McpServerOptions {
  /** The agent whose tools are offered, or who answers. */
  readonly agent: Agent
  /**
   * `tools`: each of the agent's tools that runs on the server. `agent`: one tool that asks the agent. Default:
   * `tools`.
   */
  readonly expose?: 'tools' | 'agent' | 'both'
  /** Name and version shown to clients. Default: the agent's name, and `0.1.0`. */
  readonly name?: string
  readonly version?: string
  /** Instructions that clients may pass to their model. */
  readonly instructions?: string
  readonly limits?: Partial<McpServerLimits>
  readonly log?: Logger
  /** Default: the process's timers. */
  readonly timers?: Timers
}

export interface McpServerLimits {
  /** Concurrent calls of one client, including calls that wait for a person. Default: 16. */
  readonly calls: number
  /** Connected 2025-11-25 clients over HTTP: in total, and per principal. Default: 1,000 and 100. */
  readonly clients: number
  readonly clientsPerPrincipal: number
  /** Milliseconds until an idle client is forgotten. Default: 30 minutes. */
  readonly idleMs: number
  /** Stored tasks: in total, and per principal. Default: 1,000 and 64. */
  readonly tasks: number
  readonly tasksPerPrincipal: number
  /** Maximum milliseconds that a task is stored, from its start. Default: one hour. */
  readonly taskMs: number
  /** Tools with a time-out above this many milliseconds run as tasks if the client supports tasks. Default: 60,000. */
  readonly taskFromMs: number
  /** Maximum bytes of one message from a client. Default: 4 MiB. */
  readonly messageBytes: number
  /** Maximum characters of a text in a result; a client gets the beginning of a longer one. Default: 524,288. */
  readonly resultChars: number
}

/** The authenticated principal. The result of `createTokenVerifier` of `@baton/server/auth` can be returned as is. */
export type McpIdentity = Principal | { readonly principal: Principal; readonly expiresAtMs?: number }

/** Options of `createMcpHandler`. */
export interface McpHttpOptions extends McpServerOptions {
  /**
   * If it returns `undefined` or throws, the request gets a 401. Without it, every client is one principal,
   * `anonymous`.
   */
  readonly authenticate?: (request: Request) => McpIdentity | undefined | Promise<McpIdentity | undefined>
  /**
   * Origins of web pages that may send requests, or `*` for all; a function decides per page. Default: pages of this
   * machine if there is no `authenticate`, otherwise none.
   */
  readonly origins?: readonly string[] | ((origin: string, request: Request) => boolean)
  /**
   * Host names that clients may use for the server, without a port. Default: those of this machine if there is no
   * `authenticate`, otherwise all.
   */
  readonly hosts?: readonly string[]
  /**
   * Signs the state that a client sends back; at least 32 characters. Servers behind one address need the same secret.
   * Default: random.
   */
  readonly secret?: string
}

export interface ServerParts {
  readonly agent: Agent
  readonly expose: 'tools' | 'agent' | 'both'
  readonly info: { readonly name: string; readonly version: string }
  readonly instructions: string | undefined
  readonly limits: McpServerLimits
  readonly log: Logger
  readonly timers: Timers
}

const LIMITS: McpServerLimits = {
  calls: 16,
  clients: 1000,
  clientsPerPrincipal: 100,
  idleMs: 1_800_000,
  tasks: 1000,
  tasksPerPrincipal: 64,
  taskMs: 3_600_000,
  taskFromMs: 60_000,
  messageBytes: 4 * 1024 * 1024,
  resultChars: 524_288,
}

const FIELDS = ['agent', 'expose', 'name', 'version', 'instructions', 'limits', 'log', 'timers'] as const
const HTTP_FIELDS = ['authenticate', 'origins', 'hosts', 'secret'] as const
const SECRET_CHARS = 32

/** @throws BatonError `invalid_option` */
export function readOptions(what: string, options: McpServerOptions, isHttp: boolean): ServerParts {
  checkFields(options, {
    what,
    code: 'invalid_option',
    fields: new Set<string>(isHttp ? [...FIELDS, ...HTTP_FIELDS] : FIELDS),
    elsewhere: { tools: 'pass an agent that has them: agent: defineAgent({ tools })' },
  })
  checkKinds(options, {
    what,
    code: 'invalid_option',
    kinds: {
      agent: 'an object',
      expose: ['tools', 'agent', 'both'],
      name: 'text',
      version: 'text',
      instructions: 'text',
      limits: 'an object',
      authenticate: 'a function',
      hosts: 'an array',
      secret: 'text',
    },
  })
  const { agent, expose = 'tools', version = '0.1.0', instructions, log = SILENT, timers = PLATFORM_TIMERS } = options
  if (typeof agent?.name !== 'string' || !Array.isArray(agent.tools))
    throw new BatonError({
      code: 'invalid_option',
      message: `${what}: agent must be made by defineAgent`,
      hint: `Write ${what}(host, { agent }) with the agent whose tools to offer.`,
    })
  const { secret } = options as McpHttpOptions // undefined except over HTTP
  if (secret !== undefined && secret.length < SECRET_CHARS)
    throw new BatonError({
      code: 'invalid_option',
      message: `${what}: secret must have at least ${SECRET_CHARS} characters, not ${secret.length}`,
    })
  const info = { name: options.name ?? agent.name, version }
  return { agent, expose, info, instructions, limits: readLimits(what, options.limits), log, timers }
}

function readLimits(what: string, given: Partial<McpServerLimits> = {}): McpServerLimits {
  checkFields(given, { what: `${what}: limits`, code: 'invalid_option', fields: new Set(Object.keys(LIMITS)) })
  checkLimits(`${what}: `, given)
  return { ...LIMITS, ...given }
}
