// Options for serving an agent to editors over the Agent Client Protocol, and their validation.
import type { Agent, Clock, FieldKind, Logger, Principal, Timers } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds } from '@baton/core/internal'
import { createServerWorld } from '../shared/server-world.ts'
import type { Editor } from './editor.ts'
import type { HostWithSessions } from '../shared/check-options.ts'

/**
 * An MCP server that the editor requests for a session. Its variables and headers may hold secrets, so they are never
 * logged.
 */
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

/** The folders of a session, as named by the editor that opens it. */
export interface AcpPlace {
  readonly session: string
  /** An absolute path. */
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly AcpMcpServer[]
  /** The editor's services for tools: files with unsaved changes, and terminals that the user sees. */
  readonly editor: Editor
}

export interface AcpAuth {
  /** Shown by the editor, such as `Log in to Baton`. */
  readonly name: string
  readonly description?: string
  /** Arguments appended to the agent's command to log in from a terminal. Without them, there is no such login. */
  readonly terminalArgs?: readonly string[]
  /**
   * Returns why sessions cannot be opened yet, in a sentence for the user, or `undefined` if they can. Called before
   * each session is opened.
   */
  readonly missing: () => string | undefined | Promise<string | undefined>
  /** Removes stored credentials. Without it, the editor cannot log out. */
  readonly logout?: () => void | Promise<void>
}

/**
 * Options of `serveAcpOverStdio` and `createAcpSocket`: the agent that an editor talks to, and the bounds of its
 * sessions. `{ agent }` is enough.
 */
export interface AcpOptions {
  /** The agent of every session, unless `agentOf` is given. */
  readonly agent?: Agent
  /**
   * Creates the agent of a session each time an editor opens it, for example with tools for its folder or the editor's
   * MCP servers.
   */
  readonly agentOf?: (place: AcpPlace) => Agent | Promise<Agent>
  /** The owner of the sessions. Default: `local`. */
  readonly principal?: Principal
  /** Name and version shown by editors. Defaults: the agent's name and `0.1.0`. */
  readonly name?: string
  readonly title?: string
  readonly version?: string
  /**
   * The folder to assign to sessions started elsewhere, such as in a terminal. Without it, the editor does not see
   * them.
   */
  readonly folder?: string
  /** The types of MCP servers that `agentOf` connects, as announced in `initialize`. Default: none. */
  readonly mcp?: readonly ('stdio' | 'http' | 'sse')[]
  /** Whether `agentOf` supports several folders. Default: false, so an editor names only one. */
  readonly additionalDirectories?: boolean
  readonly auth?: AcpAuth
  /**
   * Models of the agent that a user may choose. With a list, the thinking effort cannot be chosen either. Default:
   * `any`.
   */
  readonly models?: readonly string[] | 'any'
  /** Also speaks the draft of version 2 with clients that ask for it. It may change without notice. Default: false. */
  readonly experimentalV2?: boolean
  readonly limits?: Partial<AcpLimits>
  readonly log?: Logger
  /** Defaults to the system's. */
  readonly timers?: Timers
  readonly clock?: Clock
  readonly newId?: () => string
}

export interface AcpLimits {
  /** Bytes of one message from a client. Default: 16 MiB. */
  readonly messageBytes: number
  /** Open sessions per connection. Default: 64. */
  readonly sessions: number
  /** Prompts of one session waiting for answers. Default: 16. */
  readonly prompts: number
  /** Requests of one connection waiting for answers. Default: 256. */
  readonly requests: number
  /** Messages sent when a session is loaded; older ones are left out. Default: 2,000. */
  readonly replayedMessages: number
  /** Characters of a tool's result text shown in the editor; the model reads all of it. Default: 262,144. */
  readonly resultChars: number
  /** Milliseconds for the editor to read or write a file. Default: 30,000. */
  readonly fileMs: number
  /**
   * Milliseconds for the client to answer a client tool call; the call's own deadline applies too. Default: 600,000.
   */
  readonly toolMs: number
}

export interface AcpParts extends Required<Omit<AcpOptions, 'agent' | 'agentOf' | 'folder' | 'auth' | 'limits'>> {
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

/** Each option's kind, where nothing else checks it. */
const KINDS: Readonly<Record<keyof AcpOptions, FieldKind | undefined>> = {
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
  models: undefined,
  log: undefined,
  timers: undefined,
  clock: undefined,
  newId: undefined,
}

/** @throws BatonError `invalid_option` */
export function readAcpOptions(what: string, options: AcpOptions): AcpParts {
  checkFields(options, {
    what,
    code: 'invalid_option',
    fields: new Set(Object.keys(KINDS)),
    elsewhere: { tools: 'pass an agent that has them: agent: defineAgent({ tools })', cwd: 'folder' },
  })
  checkKinds(options, { what, code: 'invalid_option', kinds: KINDS })
  const { agent, agentOf } = options
  if (!agent && !agentOf)
    throw new BatonError({
      code: 'invalid_option',
      message: `${what} needs an agent`,
      hint: `Write ${what}(host, { agent }), or use agentOf for a separate agent per session.`,
    })
  const world = createServerWorld()
  const name = options.name ?? agent?.name ?? 'baton'
  return {
    agentOf: agentOf ?? (() => agent as Agent), // one of them is set
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
        message: `${what}: limits.${name} must be a whole number of at least 1, not ${String(limit).slice(0, 40)}`,
      })
  return { ...LIMITS, ...given }
}

/** Dependencies of a connection, for both protocol versions. */
export interface ConnectionOptions {
  readonly host: HostWithSessions
  readonly parts: AcpParts
  /** Whether the client belongs to this user and runs on this machine. */
  readonly isLocal: boolean
  readonly log: Logger
}

/** An open connection, as its server sees it. */
export interface AcpConnection {
  /** Whether a prompt is being answered. */
  isBusy(): boolean
  /** The session in which a prompt is being answered. */
  busySession(): string | undefined
  /** Releases all sessions. Their turns continue. Never rejects. */
  leave(): Promise<void>
}

/** An SDK app for one connection. */
export interface AcpApp<App> {
  readonly app: App
  readonly connection: AcpConnection
}
