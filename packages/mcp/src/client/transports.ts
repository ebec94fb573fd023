// Opens one connection to an MCP server over its configured transport: a process, or HTTP of either kind.
import type { Client, ConnectOptions, FetchLike, JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import {
  ProtocolError,
  SSEClientTransport,
  SUPPORTED_PROTOCOL_VERSIONS,
  SdkHttpError,
  SseError,
  StreamableHTTPClientTransport,
  createFetchWithInit,
} from '@modelcontextprotocol/client'
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import type { TransportAuth } from './auth.ts'
import { createLenientFetch } from './lenient-fetch.ts'
import type { TellOdd } from './lenient-messages.ts'
import { LenientProcess } from './lenient-process.ts'
import { createBoundedFetch } from './bounded-fetch.ts'
import type { HttpMcpServer, McpServerConfig, StdioMcpServer } from './server-config.ts'
import { isLoginRequired } from './shared-login.ts'
import { answerAtStreamEnd, endAtStreamEnd } from './stream-ends.ts'
import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { BatonError } from '@baton/core'

/** Characters kept from the end of a process's standard error; they are quoted in errors. */
const TAIL_CHARS = 2_000
/** Characters of that in an error, which quotes 500 characters in total. */
const WORDS = 400

export interface OpenTransport {
  /** The end of the process's standard error; empty over HTTP. */
  readonly readTail: () => string
  /** The process id; `undefined` over HTTP. */
  readonly pid: number | undefined
  /**
   * Call it before a request. The returned function takes the user to the login page after the server refused the
   * request. Absent if there is no user to log in.
   */
  readonly beginLogin?: () => (refusal: unknown) => Promise<void>
}

export interface TransportOptions {
  readonly config: McpServerConfig
  readonly auth?: TransportAuth
  /** Creates a client for one attempt: the SDK connects each client once. `version`: the only version to request. */
  readonly createClient: (version?: string) => Client
  /** Maximum bytes of one message. */
  readonly messageBytes: number
  readonly fetch?: FetchLike
  readonly connect: ConnectOptions
  /** Logs messages that violate the protocol. */
  readonly tellOdd: TellOdd
  /** Called with each message before the SDK reads it. */
  readonly onMessage: (message: object) => void
}

export type Connected = OpenTransport & { readonly client: Client }

/**
 * Connects, logs in if the server asks for it, and falls back from streamable HTTP to SSE. @throws what the SDK throws
 */
export async function openTransport(init: TransportOptions): Promise<Connected> {
  const { config, createClient } = init
  const open = (again: TransportOptions): Promise<Connected> =>
    'command' in config ? openProcess(again, config) : openHttp(again, config)
  try {
    return await open(init)
  } catch (thrown) {
    const version = findOfferedVersion(thrown)
    if (version === undefined) throw thrown
    const connect: ConnectOptions = { ...init.connect, prior: { kind: 'legacy' } }
    return open({ ...init, connect, createClient: () => createClient(version) })
  }
}

/**
 * A server should answer a handshake with a version that it supports. Some refuse it and list their versions, as in an
 * example of the specification (2025-11-25, Lifecycle, Error Handling).
 */
function findOfferedVersion(thrown: unknown): string | undefined {
  if (!ProtocolError.isInstance(thrown) || typeof thrown.data !== 'object' || thrown.data === null) return undefined
  const offered: unknown = Reflect.get(thrown.data, 'supported')
  return Array.isArray(offered) ? HANDSHAKES.find((version) => offered.includes(version)) : undefined
}

/** Versions with a handshake, newest first. */
const HANDSHAKES = SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version < '2026')
  .toSorted()
  .toReversed()

async function openProcess(init: TransportOptions, config: StdioMcpServer): Promise<Connected> {
  const { args = [], env, cwd, network } = config
  const [command = '', ...words] =
    network === false ? await boxWithoutNetwork([config.command, ...args]) : [config.command, ...args]
  const transport = new LenientProcess({
    command,
    args: words,
    env: { ...getDefaultEnvironment(), ...readCertificates(), ...env },
    ...(cwd !== undefined && { cwd }),
    stderr: 'pipe',
    maxBufferSize: init.messageBytes,
    tell: init.tellOdd,
  })
  let tail = ''
  transport.stderr?.on('data', (chunk: Buffer) => (tail = (tail + chunk.toString('utf8')).slice(-TAIL_CHARS)))
  const client = init.createClient()
  try {
    await connect(client, transport, init)
  } catch (thrown) {
    // A process that dies at startup gives the reason only on its standard error.
    const words = withoutStack(tail)
    if (words !== '' && thrown instanceof Error) thrown.message += `; it wrote: ${words}`
    throw thrown
  }
  return { client, readTail: () => tail, pid: transport.pid ?? undefined }
}

/**
 * Variables that name a company's certificate authorities: `npx` and `uvx` may need them to reach a registry. They are
 * not secret.
 */
function readCertificates(): Record<string, string> {
  const names = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** The end of the text without stack lines, which would push the error itself out of the quote. */
function withoutStack(text: string): string {
  const lines = text.split('\n').filter((line) => !/^ +at |^Node\.js v/.test(line) && line.trim() !== '')
  const words = lines.join('\n').trim()
  // Starts at a whole line if there are several.
  return words.length <= WORDS ? words : words.slice(-WORDS).replace(/^[^\n]*\n/, '')
}

async function openHttp(init: TransportOptions, config: HttpMcpServer): Promise<Connected> {
  const { type } = config
  try {
    return await connectHttp(init, config, type ?? 'http')
  } catch (thrown) {
    if (type !== undefined || !isOlderServer(thrown)) throw thrown
    try {
      return await connectHttp(init, config, 'sse')
    } catch (second) {
      // A server that answers 404 or 405 and has no event stream either does not speak MCP. Its first answer describes
      // that best.
      throw second instanceof SseError ? thrown : second
    }
  }
}

/** A server of the older transport answers a POST to its stream's address with these statuses. */
function isOlderServer(thrown: unknown): boolean {
  for (let current = thrown; current instanceof Error; current = current.cause)
    if (SdkHttpError.isInstance(current)) return current.status === 404 || current.status === 405
  return false
}

async function connectHttp(init: TransportOptions, config: HttpMcpServer, type: 'http' | 'sse'): Promise<Connected> {
  const { transport, beginLogin } = createHttpTransport(init, config, type)
  const client = init.createClient()
  const logIn = beginLogin?.()
  try {
    await connect(client, transport, init)
    return toConnected(client, beginLogin)
  } catch (thrown) {
    if (!isLoginRequired(thrown) || !logIn) throw thrown
    await logIn(thrown)
  }
  const again = init.createClient()
  const second = createHttpTransport(init, config, type)
  await connect(again, second.transport, init)
  return toConnected(again, second.beginLogin)
}

function toConnected(client: Client, beginLogin: OpenTransport['beginLogin']): Connected {
  return { client, readTail: () => '', pid: undefined, ...(beginLogin && { beginLogin }) }
}

interface HttpTransport extends Pick<OpenTransport, 'beginLogin'> {
  readonly transport: StreamableHTTPClientTransport | SSEClientTransport
}

function createHttpTransport(
  { messageBytes, fetch, tellOdd, auth }: TransportOptions,
  { url, headers }: HttpMcpServer,
  type: 'http' | 'sse',
): HttpTransport {
  const login = auth?.login
  let older: SSEClientTransport | undefined
  const deliver = type === 'sse' ? (message: JSONRPCMessage): void => older?.onmessage?.(message) : undefined
  const lenient = createLenientFetch(createBoundedFetch(messageBytes, fetch), tellOdd, deliver)
  const requestInit = headers && { headers: { ...headers } }
  const options = {
    fetch: login ? login.watch(lenient) : lenient,
    ...(requestInit && { requestInit }),
    ...(auth && { authProvider: auth.provider }),
  }
  if (type === 'sse') older = new SSEClientTransport(new URL(url), options)
  const transport = older ?? new StreamableHTTPClientTransport(new URL(url), options)
  if (!login) return { transport }
  const toLogin = createFetchWithInit(lenient, requestInit)
  const beginLogin = (): ((refusal: unknown) => Promise<void>) => {
    const logIn = login.begin()
    return (refusal) => logIn(refusal, toLogin)
  }
  return { transport, beginLogin }
}

async function connect(
  client: Client,
  transport: Transport,
  { connect: options, onMessage }: TransportOptions,
): Promise<void> {
  // The SDK calls an existing handler before its own, with the same message.
  transport.onmessage = onMessage
  if (transport instanceof StreamableHTTPClientTransport) answerAtStreamEnd(transport)
  const watch = transport instanceof SSEClientTransport ? endAtStreamEnd(transport) : undefined
  try {
    await client.connect(transport, options)
    watch?.()
  } catch (thrown) {
    await client.close().catch(() => {
      // A connection that failed to open may also fail to close; the first error matters.
    })
    throw thrown
  }
}

/**
 * https://github.com/containers/bubblewrap, 0.8: the same file system, no network, and the program dies with this
 * process.
 */
const OPTIONS = ['--dev-bind', '/', '/', '--unshare-net', '--die-with-parent', '--'] as const
/** Milliseconds. */
const PROBE_MS = 10_000

/**
 * Starts a program without network access: bubblewrap gives it a network namespace that contains only a loopback
 * interface. Nothing else about the machine changes.
 * Returns the sandboxed command line. @throws BatonError `invalid_mcp_server` if bubblewrap cannot be used
 */
async function boxWithoutNetwork(words: readonly string[]): Promise<readonly string[]> {
  const program = findBubblewrap(process.env['PATH'] ?? '', process.cwd())
  const problem = program === undefined ? 'the program "bwrap" was not found' : await findProblem(program)
  if (program !== undefined && problem === undefined) return [program, ...OPTIONS, ...words]
  throw new BatonError({
    code: 'invalid_mcp_server',
    message: `the server may not use the network, but bubblewrap, which enforces that, cannot be used: ${problem}`,
    hint: 'Install bubblewrap (Linux), or allow network access.',
  })
}

/** npm adds the project's `node_modules/.bin` to PATH: a package must not be able to replace the sandbox. */
export function findBubblewrap(path: string, folder: string): string | undefined {
  return path
    .split(delimiter)
    .filter((place) => isAbsolute(place) && !place.split(sep).includes('node_modules') && !isInside(folder, place))
    .map((place) => join(place, 'bwrap'))
    .find(isProgram)
}

/** Services run in the root folder, which contains everything. */
function isInside(folder: string, place: string): boolean {
  if (dirname(folder) === folder) return false
  const way = relative(folder, place)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function findProblem(program: string): Promise<string | undefined> {
  return new Promise((found) => {
    execFile(program, [...OPTIONS, 'true'], { timeout: PROBE_MS }, (error, _, errors) => {
      found(error ? errors.trim().slice(0, 500) || error.message.slice(0, 500) : undefined)
    })
  })
}
