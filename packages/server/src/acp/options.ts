// The options of a program that offers an agent to editors over the Agent Client Protocol, and their checks.
import type { Agent, Clock, Logger, Principal, Timers } from '@baton/core'
import { BatonError, checkFields, checkKinds } from '@baton/core'
import { createServerWorld } from '../shared/server-world.ts'
import type { Editor } from './editor.ts'

/** An MCP server that the editor wants a session to have. Its variables and headers may hold secrets, so they are in no log. */
export type AcpMcpServer =
  | {
      readonly type: 'stdio'
      readonly name: string
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
    }
  | {
      readonly type: 'http' | 'sse'
      readonly name: string
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
    }

/** The folders of a session, as the editor names them when it opens it. */
export interface AcpPlace {
  readonly session: string
  /** An absolute path. */
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly AcpMcpServer[]
  /** The editor's services for tools: files with unsaved changes, terminals that a person sees. */
  readonly editor: Editor
}

export interface AcpAuth {
  /** Shown by the editor, such as `Log in to Baton`. */
  readonly name: string
  readonly description?: string
  /** Words that are added to the command of the agent; it then logs a person in, in a terminal. Absent: there is no such login. */
  readonly terminalArgs?: readonly string[]
  /** Why sessions cannot be opened yet, in a sentence for the user; undefined when they can. Asked before each session is opened. */
  readonly missing: () => string | undefined | Promise<string | undefined>
  /** Forgets what a login has kept. Absent: the editor cannot log out. */
  readonly logout?: () => void | Promise<void>
}

export interface AcpOptions {
  /** The agent of every session, unless `agentOf` gives another one. */
  readonly agent?: Agent
  /** Makes the agent of a session, each time that an editor opens it: one with tools for its folder, or with the MCP servers of the editor. */
  readonly agentOf?: (place: AcpPlace) => Agent | Promise<Agent>
  /** The owner of the sessions; `local` by default. */
  readonly principal?: Principal
  /** Name and version that editors show; the agent's name and `0.1.0` by default. */
  readonly name?: string
  readonly title?: string
  readonly version?: string
  /** The folder of sessions that were begun elsewhere, as in a terminal. Absent: the editor does not see those. */
  readonly folder?: string
  /** Which servers `agentOf` connects; none by default, and `initialize` says so. */
  readonly mcp?: readonly ('stdio' | 'http' | 'sse')[]
  /** Whether `agentOf` makes agents that work in several folders. False by default: then an editor names one. */
  readonly additionalDirectories?: boolean
  readonly auth?: AcpAuth
  /** Models of the agent that a user may choose; without `any` how much the model thinks may not be chosen either. `any` by default. */
  readonly models?: readonly string[] | 'any'
  /** Also speaks the draft of version 2 with clients that ask for it. It may change without notice. False by default. */
  readonly experimentalV2?: boolean
  readonly limits?: Partial<AcpLimits>
  readonly log?: Logger
  /** The system's by default. */
  readonly timers?: Timers
  readonly clock?: Clock
  readonly newId?: () => string
}

export interface AcpLimits {
  /** Bytes of one message of a client. 16 MiB. */
  readonly messageBytes: number
  /** Sessions that one connection has open. 64. */
  readonly sessions: number
  /** Prompts of one session that wait for their answers. 16. */
  readonly prompts: number
  /** Requests of one connection that wait for their answers. 256. */
  readonly requests: number
  /** Messages that are sent again when a session is loaded; older ones are left out. 2,000. */
  readonly replayedMessages: number
  /** Characters of a text in a tool's result, as the editor shows it; the model reads all of it. 262,144. */
  readonly resultChars: number
  /** Milliseconds that an editor has to read or to write a file. 30,000. */
  readonly fileMs: number
  /** Milliseconds that a client has to answer a call of a client tool; the call's own deadline holds too. 600,000. */
  readonly toolMs: number
}

export interface AcpParts extends Required<
  Pick<
    AcpOptions,
    | 'principal'
    | 'version'
    | 'mcp'
    | 'additionalDirectories'
    | 'models'
    | 'experimentalV2'
    | 'log'
    | 'timers'
    | 'clock'
    | 'newId'
    | 'name'
    | 'title'
  >
> {
  readonly agentOf: (place: AcpPlace) => Agent | Promise<Agent>
  readonly folder: string | undefined
  readonly auth: AcpAuth | undefined
  readonly limits: AcpLimits
}

const LIMITS: AcpLimits = {
  messageBytes: 16 * 1024 * 1024,
  sessions: 64,
  prompts: 16,
  requests: 256,
  replayedMessages: 2000,
  resultChars: 262_144,
  fileMs: 30_000,
  toolMs: 600_000,
}

const FIELDS = [
  'agent',
  'agentOf',
  'principal',
  'name',
  'title',
  'version',
  'folder',
  'mcp',
  'additionalDirectories',
  'auth',
  'models',
  'experimentalV2',
  'limits',
  'log',
  'timers',
  'clock',
  'newId',
]

const KINDS = {
  agent: 'an object',
  agentOf: 'a function',
  principal: 'an object',
  name: 'text',
  title: 'text',
  version: 'text',
  folder: 'text',
  mcp: 'an array',
  additionalDirectories: 'true or false',
  auth: 'an object',
  experimentalV2: 'true or false',
  limits: 'an object',
} as const

/** @throws BatonError `invalid_option` */
export function readAcpOptions(what: string, options: AcpOptions): AcpParts {
  checkFields(options, {
    what,
    code: 'invalid_option',
    fields: new Set(FIELDS),
    elsewhere: { tools: 'give the agent that has them: agent: defineAgent({ tools })', cwd: 'folder' },
  })
  checkKinds(options, { what, code: 'invalid_option', kinds: KINDS })
  const { agent, agentOf } = options
  if (!agent && !agentOf)
    throw new BatonError({
      code: 'invalid_option',
      message: `${what} needs an agent`,
      hint: `Write ${what}(host, { agent }), or agentOf for an agent of each session's own.`,
    })
  const world = createServerWorld()
  const name = options.name ?? agent?.name ?? 'baton'
  return {
    agentOf: agentOf ?? (() => agent as Agent), // one of them is there
    principal: options.principal ?? { id: 'local' },
    name,
    title: options.title ?? name,
    version: options.version ?? '0.1.0',
    folder: options.folder,
    mcp: options.mcp ?? [],
    additionalDirectories: options.additionalDirectories ?? false,
    auth: options.auth,
    models: options.models ?? 'any',
    experimentalV2: options.experimentalV2 ?? false,
    limits: readLimits(what, options.limits),
    log: options.log ?? world.log,
    timers: options.timers ?? world.timers,
    clock: options.clock ?? world.clock,
    newId: options.newId ?? world.newId,
  }
}

function readLimits(what: string, given: Partial<AcpLimits> = {}): AcpLimits {
  checkFields(given, { what: `${what}: limits`, code: 'invalid_option', fields: new Set(Object.keys(LIMITS)) })
  for (const [name, limit] of Object.entries(given))
    if (!(Number.isSafeInteger(limit) && limit > 0))
      throw new BatonError({
        code: 'invalid_option',
        message: `${what}: limits.${name} must be a whole number above 0, not ${String(limit).slice(0, 40)}`,
      })
  return { ...LIMITS, ...given }
}
