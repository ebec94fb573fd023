// `baton serve`: runs the local host behind the WebSocket front until a signal ends it.
import type { Agent, Logger, Clock, LogStore, Principal, StoreHealth } from '@baton/core/internal'
import { listClientModels, readMonotonicMs, voice, BatonError } from '@baton/core/internal'
import type { LocalHost } from '@baton/host'
import { createMetrics } from '@baton/host/metrics'
import type { WebSocketFront } from '@baton/server/websocket'
import { createWebSocketFront } from '@baton/server/websocket'
import { isLoopback } from '@baton/server/internal'
import type { AcpOptions, createAcpSocket } from '@baton/server/acp'
import type { ConsoleOptions } from '@baton/console'
import type { HandlerOptions } from '@baton/server/http'
import { createChatSocket, createHandler, createNodeListener } from '@baton/server/http'
import { secretsIn } from '@baton/models/internal'
import { describeThrown } from '@baton/runtime'
import { randomUUID } from 'node:crypto'
import type { Command } from '../command.ts'
import type { Console } from '../console.ts'
import type { EmbeddedHost, EmbeddedHostOptions } from '../places/embedded-host.ts'
import { openEmbeddedHost } from '../places/embedded-host.ts'
import { escapeControls } from '../terminal/escape-controls.ts'
import type { GatewayHost } from '../places/gateway-host.ts'
import { namePortOption } from './port-in-use.ts'
import type { Guests } from './operator-options.ts'
import { readGuests } from './operator-options.ts'
import { createAccess } from './serve-access.ts'
import { mountConsole } from './serve-console.ts'
import { SERVE_HELP } from './serve-help.ts'
import type { ServeOptions } from './serve-options.ts'
import { serveOptions } from './serve-options.ts'
import { createServerLog } from './server-log.ts'
import { permissionLine } from '../words/permission-options.ts'
import type { ServerAddress } from '../places/server-address.ts'
import { publishAddress } from '../places/server-address.ts'
import type { StoreLocation } from '../places/store-location.ts'
import { hasRecords, nameOfStore, storeLocation } from '../places/store-location.ts'
import { VERSION } from '../version.ts'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { TlsFiles } from '@baton/server/internal'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'

export const serveCommand: Command = {
  help: SERVE_HELP,
  run: (words, terminal) => serve(serveOptions(words, terminal), terminal),
}

async function serve(options: ServeOptions, terminal: Console): Promise<number> {
  if (options.dev) return await develop(options.dev, terminal)
  const { server } = options
  /** For chats of the same user on this machine, which find it next to the store. */
  const localToken = randomUUID()
  const guests = readGuests(options, terminal.folder)
  const secrets = [...listSecrets(options, terminal), ...guests.secrets, localToken]
  const log = await createServerLog(server, terminal, secrets)
  const tls = server.tls && readTls(server.tls, terminal.folder)
  const access = createAccess(options, localToken, log)
  const metrics = createMetrics()
  const embedded = await openHost({ ...options, secrets, observers: [metrics] }, terminal, log)
  const local = 'strayCall' in embedded.host ? (embedded.host as LocalHost) : undefined // it has its methods
  let isListening = false
  let isDraining = false
  const findStoreIssue = createReadiness({ store: embedded.store, log, clock: embedded.environment.clock })
  const peers = server.peers && { peers: server.peers }
  const chatOptions = { log, allow: options.allow, isDraining: () => isDraining, limits: server.httpLimits, ...peers }
  const handle = await createRequests(embedded.host, guests, { ...chatOptions, ...access.handler })
  const front = createWebSocketFront(embedded.host, {
    ...embedded.environment,
    log,
    address: options.host,
    port: options.port,
    limits: server.limits,
    trustedProxies: server.trustedProxies,
    hasSession: (session) => hasRecords(embedded.store, session),
    metrics: metrics.prometheus,
    allow: options.allow,
    clientModels: listClientModels(embedded.agent),
    chats: createChatSocket(embedded.host, chatOptions),
    ...(await openEditors(options, embedded, log)),
    requests: createNodeListener(handle, server),
    unreadyReason: () => (isListening ? findStoreIssue() : 'starting'),
    ...(options.origins && { origins: options.origins }),
    ...access.front,
    ...(tls && { tls }),
    ...peers,
  })
  const stopped = untilStopped(terminal)
  const stray = watchStray(terminal, local, log)
  let withdrawAddress = (): void => {}
  const prepared = access.prepare()
  try {
    const { url } = await listen(front, options)
    await prepared
    // Over Temporal, nothing ends with this process, so there is nothing to recover.
    const { recovered } = (await local?.recover({ everyMs: RECOVER_EVERY_MS })) ?? { recovered: 0 }
    if (recovered > 0) log.info('resuming interrupted sessions', { sessions: recovered })
    isListening = true
    withdrawAddress = tellAddress(options.store, { url, ...(!access.isOpen && { token: localToken }) }, log)
    if (access.isOpen && !isLoopback(options.host))
      log.warn('anyone who can reach this address can talk to the agent, because no token is required', {
        host: options.host,
      })
    terminal.write(
      options.json
        ? `${JSON.stringify({ event: 'listening', url })}\n`
        : escapeControls(greeting(url, embedded, { store: options.store, folder: terminal.folder })),
    )
  } catch (cause) {
    await embedded.stop(0)
    throw cause
  }
  const code = await Promise.race([stopped.then(() => 0), stray.then(() => STRAY_EXIT)])
  withdrawAddress()
  isDraining = true
  await endServer(server.drainMs, { front, embedded, log })
  return code
}

/** Chats and sessions, signed events, and the console if there are operators. */
async function createRequests(
  host: (EmbeddedHost | GatewayHost)['host'],
  { operators, webhooks }: Guests,
  options: HandlerOptions,
): Promise<ReturnType<typeof createHandler>> {
  const ownerOf = (session: string): Promise<Principal | undefined> => host.views.ownerOf(session)
  const senders = webhooks.map(({ name, secret }) => [name, { secret, principal: ownerOf }])
  const chats = createHandler(host, {
    ...options,
    ...(senders.length > 0 && { webhooks: Object.fromEntries(senders) as NonNullable<HandlerOptions['webhooks']> }),
  })
  const { allow: _, ...shared } = options
  return await mountConsole(host, { operators, options: shared as ConsoleOptions, chats })
}

/** @throws BatonError `invalid_option` */
async function listen(
  front: { listen(): Promise<{ readonly url: string }> },
  place: { readonly host: string; readonly port: number },
): Promise<{ readonly url: string }> {
  try {
    return await front.listen()
  } catch (cause) {
    throw namePortOption(cause, place)
  }
}

/**
 * Options for editors on other machines: the agent works in the server's folder, and connects to no servers that they
 * request.
 */
function describeEditors(
  { acpV2, allow }: ServeOptions,
  { agent }: Pick<EmbeddedHost, 'agent'>,
  log: Logger,
): AcpOptions {
  return {
    agent,
    name: 'baton',
    title: 'Baton',
    version: VERSION,
    experimentalV2: acpV2,
    models: allow.models ?? [],
    log,
  }
}

/** Loads the protocol of editors only if they may connect. */
async function openEditors(
  options: ServeOptions,
  embedded: EmbeddedHost | GatewayHost,
  log: Logger,
): Promise<{ readonly editors?: ReturnType<typeof createAcpSocket> }> {
  if (!options.acp) return {}
  const acp = await import('@baton/server/acp')
  return { editors: acp.createAcpSocket(embedded.host, describeEditors(options, embedded, log)) }
}

/** Without the file, a chat has to name the server. */
function tellAddress(store: StoreLocation, address: ServerAddress, log: Logger): () => void {
  try {
    return publishAddress(store, address)
  } catch (cause) {
    log.warn('the address of the server could not be written next to its store', { cause: describeThrown(cause) })
    return () => {}
  }
}

/** Milliseconds between looks for sessions of a server over the same store that died. */
const RECOVER_EVERY_MS = 5000

/** Lists secrets. An option counts like its variable. */
function listSecrets({ server, store }: ServeOptions, { variables }: Console): readonly string[] {
  return secretsIn({
    ...variables,
    ...(server.token !== undefined && { BATON_TOKEN: server.token }),
    ...(store.type === 'postgres' && { BATON_STORE: store.url }),
  })
}

/** @throws BatonError as openEmbeddedHost does */
async function openHost(
  options: ServeOptions & Pick<EmbeddedHostOptions, 'secrets' | 'observers'>,
  terminal: Console,
  log: Logger,
): Promise<EmbeddedHost | GatewayHost> {
  if (options.temporal) {
    const { openGatewayHost } = await import('../places/gateway-host.ts')
    return await openGatewayHost({ ...options, profile: voice, terminal, log }, options.temporal)
  }
  const address = options.server.peers?.address
  // The fronts do their own waiting.
  return await openEmbeddedHost({ ...options, profile: voice, address, heldMs: 0, terminal, log })
}

/**
 * EX_SOFTWARE of sysexits.h, an internal software error: a supervisor restarts the server, which recovers its sessions.
 */
const STRAY_EXIT = 70

/**
 * Handles uncaught errors, as from a tool's timer. It is unknown what they left half done, so the process should not
 * run much longer: running turns may end, then it exits. Resolves at the first one; each is logged.
 */
function watchStray(terminal: Console, host: LocalHost | undefined, log: Logger): Promise<void> {
  return new Promise((resolve) => {
    terminal.onStray((cause) => {
      const why = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
      log.warn('an uncaught error occurred; the server exits when running turns have ended', {
        ...host?.strayCall(),
        cause: why,
      })
      resolve()
    })
  })
}

interface Running {
  readonly front: Pick<WebSocketFront, 'drain' | 'close'>
  readonly embedded: Pick<EmbeddedHost | GatewayHost, 'environment' | 'stop'>
  readonly log: Logger
}

/** Turns that apps wait for are delivered completely first; turns without a reader get the remaining time. */
export async function endServer(drainMs: number, { front, embedded, log }: Running): Promise<void> {
  const { clock } = embedded.environment
  const untilMs = readMonotonicMs(clock) + drainMs
  log.info('the server is stopping; running turns may end', { withinMs: drainMs })
  await front.drain({ withinMs: drainMs })
  await embedded.stop(Math.max(0, untilMs - readMonotonicMs(clock)))
  await front.close()
}

function untilStopped(terminal: Console): Promise<void> {
  return new Promise((resolve) => void terminal.onStop(resolve))
}

/** There is no one to ask behind an app of version 1, so a call that needs an approval is denied. */
function warnOfApprovals({ tools, approvalPolicy }: Agent): string {
  const asked = tools.filter(({ approval }) => approval !== false).map(({ name }) => name)
  if (asked.length === 0 && !approvalPolicy) return ''
  const what = asked.length > 0 ? `calls of ${asked.join(', ')}` : 'calls that the agent’s policy asks about'
  return `\n  note   apps of version 1 cannot approve calls: ${what} are denied at once`
}

interface ServedFrom {
  readonly store: StoreLocation
  readonly folder: string
}

function greeting(
  url: string,
  { agent, choice, permissions }: Pick<EmbeddedHost, 'agent' | 'choice' | 'permissions'>,
  { store, folder }: ServedFrom,
): string {
  const tools = agent.tools.map((tool) => tool.name).join(', ')
  return `Baton listens on ${url}
  agent  ${agent.name}${tools === '' ? '' : `: ${tools}`}${permissionLine({ permissions })}
  model  ${choice.id}, ${choice.reason}
  store  ${nameOfStore(store)}${warnOfApprovals(agent)}
  try    useChat at ${url.replace(/^ws(.*)\/ws$/, 'http$1/api/chat')} (docs/chat.md), @baton/client (docs/client.md), or in another terminal:
         npx baton chat${chatOption(url, { store, folder })}
  end    Ctrl+C
`
}

/** A chat in the same folder finds the server by itself. */
function chatOption(url: string, { store, folder }: ServedFrom): string {
  const own = storeLocation(undefined, {}, folder)
  return store.type === 'sqlite' && own.type === 'sqlite' && own.path === store.path ? '' : ` --url ${url}`
}

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))
const WATCH = ['--watch', '--watch-preserve-output', '--watch-kill-signal=SIGTERM']

/**
 * `baton serve --dev`: the same server as a child of Node's watcher, which restarts it when the agent's file or a file
 * it imports changes. The old server gets a signal, finishes its turns, and only then the new one starts on the same
 * port.
 * `words` are those of `serve` without `--dev`. Returns the exit code.
 */
function develop(words: readonly string[], terminal: Console): Promise<number> {
  const child = spawn(process.execPath, [...WATCH, BATON, 'serve', ...words], {
    cwd: terminal.folder,
    env: { ...terminal.variables },
    stdio: 'inherit',
    // In its own process group, so that Ctrl+C reaches it once, through this process, and a running turn can end.
    detached: process.platform !== 'win32',
  })
  const endGroup = (): void => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  }
  // A second signal ends this process at once, and must not leave a server behind.
  process.once('exit', endGroup)
  const stopListening = terminal.onStop(() => void child.kill('SIGTERM'))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      stopListening()
      process.off('exit', endGroup)
      resolve(signal === null ? (code ?? 1) : 1)
    })
  })
}

interface TlsFileNames {
  readonly certFile: string
  readonly keyFile: string
}

/** @throws BatonError `invalid_option` when a file cannot be read or is not PEM, or the two do not match */
function readTls({ certFile, keyFile }: TlsFileNames, folder: string): TlsFiles {
  const files = { cert: readPem('--tls-cert', certFile, folder), key: readPem('--tls-key', keyFile, folder) }
  try {
    createSecureContext(files)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const message = `--tls-cert ${certFile} and --tls-key ${keyFile} cannot be used: ${why}`
    throw new BatonError({ code: 'invalid_option', message, cause })
  }
  return files
}

function readPem(option: string, file: string, folder: string): string {
  try {
    return readFileSync(resolve(folder, file), 'utf8')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BatonError({ code: 'invalid_option', message: `${option} ${file} cannot be read: ${why}`, cause })
  }
}

interface ReadinessOptions {
  readonly store: Pick<LogStore, 'health'>
  readonly log: Logger
  readonly clock: Clock
}

const SHARED_MS = 1000

/**
 * A server's readiness check, based on its store's health, which is checked at most once a second regardless of the
 * number of requests.
 * Resolves with the code of the problem; its message is only logged, since any client may ask.
 */
export function createReadiness({ store, log, clock }: ReadinessOptions): () => Promise<string | undefined> {
  let asked: { readonly atMs: number; readonly health: Promise<StoreHealth> } | undefined
  let told: string | undefined
  return async () => {
    const nowMs = clock.nowMs()
    if (!asked || Math.abs(nowMs - asked.atMs) >= SHARED_MS) asked = { atMs: nowMs, health: store.health() }
    const health = await asked.health
    const said = health.ok ? undefined : health.message
    if (said !== told && !health.ok)
      log.warn('the store cannot be written', {
        code: health.code,
        cause: health.message,
        hint: health.hint,
      })
    if (said !== told && health.ok) log.info('the store can be written again')
    told = said
    return health.ok ? undefined : health.code
  }
}
