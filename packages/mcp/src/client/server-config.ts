// Reads and checks the configuration of an MCP server: from code, from `mcpServers` in a `.mcp.json`, or from one
// command-line argument. Opens no connection.
import type { EffectClass, Trust } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { z } from 'zod'
import type { McpAuth } from './auth.ts'

export interface McpToolOptions {
  /**
   * Default: `untrusted`. Results are then marked as untrusted for policies, and Baton ignores what the server says
   * about its tools' effects.
   */
  readonly trust?: Trust
  /**
   * Effects by tool name. Default: `once`; for a trusted server, taken from its annotations (`readOnlyHint`: `pure`,
   * `idempotentHint`: `idempotent`).
   */
  readonly effects?: Readonly<Record<string, EffectClass>>
  /** `true`, or names of tools: a person must approve each call. Default: false. */
  readonly approval?: boolean | readonly string[]
  /** Names of tools to offer. Default: all. */
  readonly allow?: readonly string[]
  /** Names of tools to exclude. */
  readonly deny?: readonly string[]
  /** Milliseconds that a call may take. Default: 60,000. */
  readonly timeoutMs?: number
  /** `false`: no tools to list and read the server's resources. By default they exist if the server has resources. */
  readonly resources?: boolean
  /**
   * `false`: the server uses no network, so agents without network access can use its tools. A program is started in
   * bubblewrap without network, which requires Linux. A server at an address must be on this machine, and Baton takes
   * your word for it. Default: true.
   */
  readonly network?: boolean
}

/** A program that speaks MCP on its standard input and output. */
export interface StdioMcpServer extends McpToolOptions {
  readonly command: string
  readonly args?: readonly string[]
  /**
   * Added to the few variables that are passed on (`PATH`, `HOME` and similar). The server gets nothing else from the
   * environment.
   */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

export interface HttpMcpServer extends McpToolOptions {
  /** `https:`, or `http:` for a server on this machine. */
  readonly url: string
  /**
   * `http`: streamable HTTP; `sse`: the older transport. Default: streamable HTTP, with a fallback to SSE if the server
   * answers 404 or 405.
   */
  readonly type?: 'http' | 'sse'
  readonly headers?: Readonly<Record<string, string>>
  /** A token, or an OAuth login. */
  readonly auth?: McpAuth
}

/** An MCP server to use: `{ command, args }` for a program, `{ url }` for HTTP. */
export type McpServerConfig = StdioMcpServer | HttpMcpServer

const NAMES = z.array(z.string().min(1)).readonly()
const SHARED = {
  trust: z.enum(['trusted', 'untrusted']).optional(),
  effects: z.record(z.string(), z.enum(['pure', 'idempotent', 'once'])).optional(),
  approval: z.union([z.boolean(), NAMES]).optional(),
  allow: NAMES.optional(),
  deny: NAMES.optional(),
  timeoutMs: z.number().positive().max(2_147_483_647).optional(),
  resources: z.boolean().optional(),
  network: z.boolean().optional(),
}
const TEXTS = z.record(z.string(), z.string())
const STDIO = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).readonly().optional(),
  env: TEXTS.optional(),
  cwd: z.string().min(1).optional(),
  ...SHARED,
})
const HTTP = z.strictObject({
  url: z.string().min(1),
  type: z.enum(['http', 'sse']).optional(),
  headers: TEXTS.optional(),
  auth: z.custom<McpAuth>((value) => typeof value === 'object' && value !== null).optional(),
  ...SHARED,
})

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * Returns a checked copy.
 * @throws BatonError `invalid_mcp_server`
 */
export function checkServer(name: string, config: unknown): McpServerConfig {
  if (!NAME.test(name))
    throw wrong(name, 'its name must be 1 to 64 letters, digits, "_", "." or "-", starting with a letter or digit')
  if (typeof config !== 'object' || config === null) throw wrong(name, 'it must be an object with "command" or "url"')
  const hasCommand = 'command' in config
  if (hasCommand === 'url' in config)
    throw hasCommand
      ? wrong(name, 'it has both "command" and "url"; give only one')
      : wrong(name, `it has neither "command" nor "url"${tellKeys(config)}`, name === 'mcpServers' ? UNWRAP : undefined)
  const parsed = hasCommand ? STDIO.safeParse(config) : HTTP.safeParse(config)
  if (!parsed.success) throw wrong(name, tellIssues(parsed.error), tellFields(parsed.error, hasCommand ? STDIO : HTTP))
  if ('url' in parsed.data) {
    checkUrl(name, parsed.data.url)
    const { hostname } = new URL(parsed.data.url)
    if (parsed.data.network === false && !isLoopback(hostname))
      throw wrong(name, `network: false requires a server on this machine, which ${hostname} is not`)
  }
  return parsed.data as McpServerConfig // the schemas allow `undefined` for absent fields
}

function tellIssues(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ')
}

export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname)
}

function checkUrl(name: string, text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw wrong(name, `url must start with https:// or http://, not "${text.slice(0, 200)}"`)
  if (url.username !== '' || url.password !== '')
    throw wrong(name, 'url must not contain credentials; use "headers" or "auth"')
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw wrong(
      name,
      `url must start with https:// unless the server runs on this machine, which ${url.hostname} does not`,
    )
}

function wrong(name: string, why: string, hint?: string): BatonError {
  const message = `MCP server "${name.slice(0, 100)}": ${why}`
  return new BatonError({ code: 'invalid_mcp_server', message, ...(hint !== undefined && { hint }) })
}

const UNWRAP = 'Pass the value of "mcpServers", or pass the file\'s text to parseMcpConfig.'

function tellKeys(config: object): string {
  const keys = Object.keys(config).slice(0, 10)
  return keys.length === 0 ? '' : `, but ${keys.map((key) => `"${key.slice(0, 50)}"`).join(', ')}`
}

/** Lists the known fields if the configuration has an unknown one. */
function tellFields(error: z.ZodError, { shape }: { readonly shape: object }): string | undefined {
  const isUnknown = error.issues.some(({ code, path }) => code === 'unrecognized_keys' && path.length === 0)
  return isUnknown ? `Its fields are ${Object.keys(shape).join(', ')}.` : undefined
}

/** The part of a `.mcp.json` that Baton reads; other programs store more there. */
const FILE = z.looseObject({ mcpServers: z.record(z.string(), z.unknown()) })

/**
 * Reads the servers of a `.mcp.json`: `{ "mcpServers": { "files": { "command": "…", "args": […] } } }`. `${NAME}` and
 * `${NAME:-default}` in any string are replaced by variables of `env`.
 * @param text the file's content
 * @throws BatonError `invalid_mcp_server`, also for a variable that is not set
 */
export function parseMcpConfig(
  text: string,
  env: Readonly<Record<string, string | undefined>> = {},
): Readonly<Record<string, McpServerConfig>> {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    const message = `the file of MCP servers is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`
    throw new BatonError({ code: 'invalid_mcp_server', message, cause })
  }
  const file = FILE.safeParse(json)
  if (!file.success)
    throw new BatonError({
      code: 'invalid_mcp_server',
      message: `the file of MCP servers is invalid: ${tellIssues(file.error)}`,
      hint: 'Write { "mcpServers": { "name": { "command": "…" } } }.',
    })
  return Object.fromEntries(
    Object.entries(file.data.mcpServers).map(([name, given]) => {
      // Other programs write `"type": "stdio"` next to a command. Baton needs only the command.
      const { type, ...rest } = (given ?? {}) as { readonly type?: unknown }
      const plain =
        type === undefined || type === 'stdio' ? rest : { ...rest, type: type === 'streamable-http' ? 'http' : type }
      return [name, checkServer(name, expand(name, plain, env))]
    }),
  )
}

function expand(name: string, value: unknown, env: Readonly<Record<string, string | undefined>>): unknown {
  if (typeof value === 'string')
    return value.replaceAll(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (_, variable: string, fallback?: string) => {
      const found = env[variable] ?? fallback
      if (found === undefined)
        throw new BatonError({
          code: 'invalid_mcp_server',
          message: `MCP server "${name}" needs the variable ${variable}, which is not set`,
          hint: `Set ${variable}, or write \${${variable}:-default}.`,
        })
      return found
    })
  if (Array.isArray(value)) return value.map((item) => expand(name, item, env))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expand(name, item, env)]))
}

/**
 * Reads a server from one command-line argument: an address, or a command with its arguments, separated by spaces;
 * quotes preserve spaces. It is named after the address's host, the program or the package.
 * @throws BatonError `invalid_mcp_server`
 */
export function readServerArgument(argument: string): { readonly name: string; readonly config: McpServerConfig } {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(argument)) {
    const name = nameFrom(URL.canParse(argument) ? new URL(argument).hostname : 'server')
    return { name, config: checkServer(name, { url: argument }) }
  }
  if (/^(localhost|127\.0\.0\.1|\[::1\]):\d/.test(argument))
    throw new BatonError({
      code: 'invalid_mcp_server',
      message: `an MCP server needs a command or an address, not "${argument.slice(0, 200)}"`,
      hint: `Write http://${argument.slice(0, 200)}.`,
    })
  const [command, ...args] = splitWords(argument)
  if (command === undefined)
    throw new BatonError({
      code: 'invalid_mcp_server',
      message: 'an MCP server needs a command or an address, not an empty string',
    })
  const program = command.split(/[\\/]/).at(-1) ?? command
  const named = RUNNERS.has(program.replace(/\.exe$/, '')) ? args.find((word) => !word.startsWith('-')) : command
  const name = nameFrom(named ?? command)
  return { name, config: checkServer(name, { command, args }) }
}

/** Programs whose first argument names the package or file to run. */
const RUNNERS: ReadonlySet<string> = new Set('npx bunx uvx pnpx node bun deno python python3'.split(' '))

/** Shortens `@modelcontextprotocol/server-everything@1.2` to `everything`, and `@playwright/mcp` to `playwright`. */
function nameFrom(text: string): string {
  const parts = text.split(/[\\/]/).filter((part) => part !== '')
  const isBare = /^(mcp|server|mcp-server)(@.*)?$/.test(parts.at(-1) ?? '') && parts.length > 1
  const last = (isBare ? parts.at(-2)?.replace(/^@/, '') : parts.at(-1)) ?? ''
  const bare = last.replace(/@.*$/, '').replace(/\.(m?[jt]s|py|exe)$/, '')
  const short = bare.replace(/^(mcp-server-|server-|mcp-)/, '').replace(/-(mcp-server|mcp|server)$/, '')
  const legal = short.replaceAll(/[^A-Za-z0-9_.-]/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return legal.slice(0, 64) || 'server'
}

/**
 * Splits words at spaces and quotes like a shell, without its other rules. @throws BatonError `invalid_mcp_server` for
 * an unclosed quote
 */
function splitWords(text: string): readonly string[] {
  const words: string[] = []
  for (const match of text.trim().matchAll(/(?:[^\s"']|"[^"]*"|'[^']*'|["'])+/g)) {
    const word = match[0]
    if (/["']/.test(word.replaceAll(/"[^"]*"|'[^']*'/g, '')))
      throw new BatonError({
        code: 'invalid_mcp_server',
        message: `a quote is not closed in the command of an MCP server: ${word}`,
      })
    words.push(word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ''))
  }
  return words
}
