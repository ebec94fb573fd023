// The options of a program that offers an agent to MCP clients, and their checks.
import type { Agent, Logger, Principal, Timers } from '@baton/core'
import { BatonError, checkFields, checkKinds } from '@baton/core'
import { checkLimits, PLATFORM_TIMERS, SILENT } from '../shared/platform.ts'

export interface McpServerOptions {
  /** The agent whose tools are offered, or who answers. */
  readonly agent: Agent
  /** `tools`: each tool of the agent that the server runs. `agent`: one tool that asks the agent. `tools` by default. */
  readonly expose?: 'tools' | 'agent' | 'both'
  /** Name and version that clients see; the agent's name and `0.1.0` by default. */
  readonly name?: string
  readonly version?: string
  /** Instructions that clients may pass to their model. */
  readonly instructions?: string
  readonly limits?: Partial<McpServerLimits>
  readonly log?: Logger
  /** The process's by default. */
  readonly timers?: Timers
}

export interface McpServerLimits {
  /** Concurrent calls of one client, including those that wait for a person. 16. */
  readonly calls: number
  /** Connected clients of 2025-11-25 over HTTP: in all, and of one principal. 1,000 and 100. */
  readonly clients: number
  readonly clientsPerPrincipal: number
  /** Milliseconds after which Baton forgets an idle client. 30 minutes. */
  readonly idleMs: number
  /** Tasks that Baton keeps: in all, and of one principal. 1,000 and 64. */
  readonly tasks: number
  readonly tasksPerPrincipal: number
  /** The longest that Baton keeps a task, in milliseconds from its beginning. An hour. */
  readonly taskMs: number
  /** Tools whose own time-out is longer than this many milliseconds run as tasks where the client can. 60,000. */
  readonly taskFromMs: number
  /** Bytes of one message of a client. 4 MiB. */
  readonly messageBytes: number
  /** Characters of a text in a result; a client gets the beginning of a longer one. 524,288. */
  readonly resultChars: number
}

/** Who asks. The result of `createTokenVerifier` of `@baton/server/auth` fits. */
export type McpIdentity = Principal | { readonly principal: Principal; readonly expiresAtMs?: number }

export interface McpHttpOptions extends McpServerOptions {
  /** If it returns undefined or throws, the request gets a 401. Without it, everybody is one principal, `anonymous`. */
  readonly authenticate?: (request: Request) => McpIdentity | undefined | Promise<McpIdentity | undefined>
  /**
   * Origins of web pages that may ask, `*` for all; a function decides for each page. By default pages of this machine if there is no
   * `authenticate`, else none.
   */
  readonly origins?: readonly string[] | ((origin: string, request: Request) => boolean)
  /** Names under which clients may reach the server, without a port. By default those of this machine without `authenticate`, else all. */
  readonly hosts?: readonly string[]
  /** Signs the state that a client brings back; at least 32 characters. Servers behind one address need the same. Random by default. */
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
    elsewhere: { tools: 'give the agent that has them: agent: defineAgent({ tools })' },
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
      hint: `Write ${what}(host, { agent }), with the agent whose tools clients are to have.`,
    })
  const { secret } = options as McpHttpOptions // undefined elsewhere
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
