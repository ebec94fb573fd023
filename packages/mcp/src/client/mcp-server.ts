// One MCP server as a source of tools for many sessions. Keeps the server's tool list and compares it with the pinned
// definitions.
import type { JsonObject, Logger, Timers, Tool, ToolContext, ToolSource } from '@baton/core/internal'
import { isBatonError, BatonError, findNameIssue } from '@baton/core/internal'
import { createArgumentValidator } from '@baton/runtime'
import type { FetchLike, PriorDiscovery, Tool as McpTool } from '@modelcontextprotocol/client'
import type { TransportAuth } from './auth.ts'
import { createTransportAuth } from './auth.ts'
import { Connection } from './connection.ts'
import { ConnectionPool } from './connection-pool.ts'
import { describeSilence, wasUnread } from './failure.ts'
import type { McpPinStore, PinnedTool } from './pins.ts'
import { addPins, comparePins, fingerprint, isTooLarge, listChanges } from './pins.ts'
import { createResourceTools } from './resource-tools.ts'
import type { McpServerConfig } from './server-config.ts'
import type { McpAnswer } from './tool-from-mcp.ts'
import { toolFromMcp } from './tool-from-mcp.ts'

export interface McpConnectionOptions {
  readonly name: string
  readonly config: McpServerConfig
  readonly timers: Timers
  readonly log: Logger
  readonly pins: McpPinStore
  readonly limits: McpLimits
  readonly fetch?: FetchLike
}

/** Bounds of one MCP server. */
export interface McpLimits {
  /** Connections to one server. Default: 4. Each connection to a 2025 server serves one session at a time. */
  readonly connections: number
  /** Calls that may wait for a connection. Default: 256. Further calls fail with `api_unavailable`. */
  readonly waiting: number
  /** Tools of one server. Default: 256. Baton skips the rest and logs it. */
  readonly tools: number
  /**
   * Bytes of one message from a server. Default: 32 MiB. A larger one ends a program's connection, or the call over
   * HTTP.
   */
  readonly messageBytes: number
  /** Milliseconds to start and connect. Default: 30,000. */
  readonly connectMs: number
  /** Milliseconds without a session or a call before Baton disconnects. Default: 300,000. */
  readonly idleMs: number
}

/** The state of one MCP server, for a page or a log. */
export interface McpServerStatus {
  readonly name: string
  /** `waiting`: it failed or did not start, and Baton retries after a back-off. */
  readonly state: 'idle' | 'connected' | 'waiting' | 'closed'
  /** The protocol version, such as `2025-11-25`; absent while not connected. */
  readonly version?: string
  readonly tools: number
  readonly connections: number
  /** Number of times it has connected. */
  readonly starts: number
  /** Why it is not connected. */
  readonly problem?: string
}

/** Maximum pins of one server per tool that it may offer. */
const PINS_PER_TOOL = 4

export class McpServer implements ToolSource {
  readonly name: string
  readonly network: boolean
  readonly #init: McpConnectionOptions
  readonly #auth: TransportAuth | undefined
  readonly #pool: ConnectionPool
  readonly #listeners = new Set<() => void>()
  readonly #validator = createArgumentValidator()
  /** Definitions, by tool name, that were logged because their schemas are not fully checked. */
  readonly #toldSchemas = new Map<string, string>()
  #tools: readonly Tool[] = []
  /** Tools by name, as last listed by the server. */
  #pinned: ReadonlyMap<string, PinnedTool> = new Map()
  #listed = false
  #prior: PriorDiscovery | undefined
  /** The latest change of the pins. */
  #pinning: Promise<unknown> = Promise.resolve()
  #relisting: Promise<void> | undefined
  #relistAgain = false
  /** Number of requests for the list, and of the newest one with an answer. */
  #asked = 0
  #answered = 0
  #stopIdle: (() => void) | undefined
  #calls = 0
  #isClosed = false

  constructor(init: McpConnectionOptions) {
    this.#init = init
    this.name = init.name
    this.network = init.config.network ?? true
    const { timers, limits, name, config } = init
    this.#auth = 'url' in config && config.auth ? createTransportAuth(config.url, config.auth) : undefined
    this.#pool = new ConnectionPool({
      name,
      timers,
      connections: limits.connections,
      waiting: limits.waiting,
      open: (signal) => this.#open(signal),
      onReconnected: () => void this.#relist(),
    })
  }

  /**
   * Connects if necessary. @throws BatonError `api_unavailable` and other connection errors; the session then has none
   * of its tools
   */
  async list(): Promise<readonly Tool[]> {
    if (!this.#listed) await this.#read()
    this.#watchIdle()
    return this.#tools
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.#pool.keep(true)
    this.#watchIdle()
    return () => {
      this.#listeners.delete(listener)
      this.#pool.keep(this.#listeners.size > 0)
      this.#watchIdle()
    }
  }

  /**
   * Closes the connections and ends the calls on them. Sessions keep the tools, but their calls fail. Never rejects.
   */
  async shutDown(): Promise<void> {
    this.#isClosed = true
    this.#stopIdle?.()
    await this.#pool.close()
  }

  status(): McpServerStatus {
    const { version, connections, starts, problem } = this.#pool.status()
    const state = this.#isClosed ? 'closed' : connections > 0 ? 'connected' : problem === undefined ? 'idle' : 'waiting'
    return {
      name: this.name,
      state,
      tools: this.#tools.length,
      connections,
      starts,
      ...(version !== undefined && { version }),
      ...(problem !== undefined && { problem }),
    }
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const { name, config, timers, log, limits, fetch } = this.#init
    const connection = await Connection.open(
      {
        name,
        config,
        ...(this.#auth && { auth: this.#auth }),
        timers,
        log,
        messageBytes: limits.messageBytes,
        connectMs: limits.connectMs,
        ...(fetch && { fetch }),
        ...(this.#prior && 'command' in config && { prior: this.#prior }),
        onEnd: (ended) => {
          log.warn('an MCP server ended', { server: name, wrote: ended.readTail().slice(-500) })
          this.#pool.remove(ended)
        },
        onToolsChanged: () => void this.#relist(),
      },
      signal,
    )
    this.#prior = connection.readPrior()
    return connection
  }

  /**
   * Reads the list again and notifies the sessions if it changed. Never rejects: after a failure the known tools stay.
   */
  #relist(): Promise<void> {
    if (this.#relisting) {
      this.#relistAgain = true
      return this.#relisting
    }
    const before = this.#tools
    // The answer contains every change before its request. So a connection opened by this reading starts no other one;
    // otherwise a server that forgets each session would be read in a loop.
    this.#relisting = this.#read(() => (this.#relistAgain = false))
      .then(() => {
        if (this.#tools !== before) for (const listener of this.#listeners) listener()
      })
      .catch((cause: unknown) => {
        this.#init.log.warn('the tools of an MCP server could not be listed', { server: this.name, cause: tell(cause) })
      })
      .finally(() => {
        this.#relisting = undefined
        if (!this.#relistAgain || this.#isClosed) return
        this.#relistAgain = false
        void this.#relist()
      })
    return this.#relisting
  }

  /** `onAsk` is called whenever the server is about to be asked. */
  async #read(onAsk?: () => void): Promise<void> {
    const { connectMs } = this.#init.limits
    const signal = AbortSignal.timeout(connectMs)
    const read = this.#use(undefined, signal, async (connection) => {
      onAsk?.()
      const at = (this.#asked += 1)
      const listed = await connection.listTools(signal)
      const pinned = await this.#pin(this.#choose(listed))
      // Ignores the older of two readings that ends last.
      if (at < this.#answered) return
      this.#answered = at
      this.#pinned = new Map(pinned.map((one) => [one.offered.name, one]))
      this.#tools = [...this.#makeTools(pinned), ...this.#resourceTools(connection)]
      this.#listed = true
    })
    await read.catch((cause: unknown) => {
      throw cause === signal.reason ? describeSilence(this.name, connectMs) : cause
    })
  }

  /** Pins new tools with their current definitions. Tools that the server no longer lists stay pinned. */
  async #pin(listed: readonly McpTool[]): Promise<readonly PinnedTool[]> {
    const { limits, log } = this.#init
    let leftOut: readonly string[] = []
    const after = await this.#changePins((before) => {
      const added = addPins(before, listed, PINS_PER_TOOL * limits.tools)
      leftOut = added.leftOut
      return added.pins.length > before.length ? added.pins : before
    })
    if (leftOut.length > 0)
      log.warn('new tools of an MCP server were skipped: it has offered too many since it was first seen', {
        server: this.name,
        tools: leftOut.slice(0, 10),
        limit: PINS_PER_TOOL * limits.tools,
      })
    return comparePins(
      listed.filter(({ name }) => !leftOut.includes(name)),
      after,
    )
  }

  /** One change after another: of two at once, the later one would overwrite the other's pins. */
  #changePins(change: (before: readonly McpTool[]) => readonly McpTool[]): Promise<readonly McpTool[]> {
    const { pins } = this.#init
    const changed = this.#pinning.then(async () => {
      const before = (await pins.read(this.name)) ?? []
      const after = change(before)
      if (after !== before) await pins.write(this.name, after)
      return after
    })
    this.#pinning = changed.catch(() => {}) // the caller gets the error
    return changed
  }

  #choose(listed: readonly McpTool[]): readonly McpTool[] {
    const { config, log, limits } = this.#init
    const { allow, deny } = config
    const names = new Set<string>()
    const chosen = listed.filter((definition) => {
      const { name } = definition
      if ((allow && !allow.includes(name)) || deny?.includes(name)) return false
      const leftOut = names.has(name)
        ? 'an earlier one has the same name'
        : isTooLarge(definition)
          ? 'its definition is too large'
          : undefined
      names.add(name)
      if (leftOut !== undefined)
        log.warn(`a tool of an MCP server was skipped: ${leftOut}`, { server: this.name, tool: name.slice(0, 100) })
      return leftOut === undefined
    })
    const missing = allow?.filter((name) => !names.has(name)) ?? []
    if (missing.length > 0)
      log.warn('an MCP server does not have all tools in "allow"', { server: this.name, missing: [...missing] })
    if (chosen.length > limits.tools)
      log.warn('tools of an MCP server were skipped: there are too many', {
        server: this.name,
        tools: chosen.length,
        limit: limits.tools,
      })
    return chosen.slice(0, limits.tools)
  }

  #makeTools(pinned: readonly PinnedTool[]): readonly Tool[] {
    const { log, config } = this.#init
    return pinned.flatMap(({ offered }) => {
      try {
        const issue = findNameIssue(offered.name)
        if (issue !== undefined) throw new Error(`its name must ${issue}`)
        const call = (input: JsonObject, context: ToolContext): Promise<McpAnswer> =>
          this.#callTool(offered, input, context)
        const made = toolFromMcp(offered, { options: config, call, validator: this.#validator })
        this.#tellSchema(offered, made.schemaWarnings)
        return [made]
      } catch (cause) {
        log.warn('a tool of an MCP server was skipped', { server: this.name, tool: offered.name, cause: tell(cause) })
        return []
      }
    })
  }

  /** Warns once per definition, however often the server is listed. */
  #tellSchema(definition: McpTool, warnings: readonly string[] = []): void {
    const known = fingerprint(definition)
    if (warnings.length === 0 || this.#toldSchemas.get(definition.name) === known) return
    this.#toldSchemas.set(definition.name, known)
    const about = { server: this.name, tool: definition.name, leftOut: warnings }
    this.#init.log.warn('the schema of a tool of an MCP server is not fully checked', about)
  }

  async #callTool(offered: McpTool, input: JsonObject, context: ToolContext): Promise<McpAnswer> {
    const definition = await this.#agree(offered, context)
    const result = await this.#call((connection) => connection.call(definition, input, context), context)
    return { definition, result }
  }

  /**
   * Returns the server's current definition of the tool, after asking a person if it changed. A session may still hold
   * the old tool, and the server may change it again meanwhile: the latest list counts.
   * @throws BatonError `call_denied`
   */
  async #agree(offered: McpTool, context: ToolContext): Promise<McpTool> {
    for (;;) {
      const { offered: pinned = offered, waiting } = this.#pinned.get(offered.name) ?? {}
      if (!waiting) return pinned
      await askConsent({ server: this.name, before: pinned, after: waiting }, context)
      await this.#accept(waiting)
    }
  }

  /** A person accepted this definition. It now applies in every session. */
  async #accept(definition: McpTool): Promise<void> {
    const { name } = definition
    await this.#changePins((before) => [...before.filter((pin) => pin.name !== name), definition])
    const { waiting } = this.#pinned.get(name) ?? {}
    if (waiting && fingerprint(waiting) === fingerprint(definition))
      this.#pinned = new Map(this.#pinned).set(name, { offered: definition })
    void this.#relist()
  }

  #resourceTools(connection: Connection): readonly Tool[] {
    const { config } = this.#init
    if (config.resources === false || !connection.hasResources) return []
    return createResourceTools(this.name, config, (act, context) => this.#call(act, context))
  }

  async #call<Result>(act: (connection: Connection) => Promise<Result>, context: ToolContext): Promise<Result> {
    const signal = context.signal as AbortSignal // a real one, as documented in `ToolContext`
    this.#calls += 1
    this.#watchIdle()
    try {
      return await this.#use(context.session, signal, act)
    } finally {
      this.#calls -= 1
      this.#watchIdle()
    }
  }

  /** Runs `act` on a connection, and again on others if the server has not read it. */
  async #use<Result>(
    session: string | undefined,
    signal: AbortSignal,
    act: (connection: Connection) => Promise<Result>,
  ): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      const lease = await this.#pool.take(session, signal)
      try {
        return await act(lease.connection)
      } catch (thrown) {
        // A restarted server answers like this on each of its old connections.
        if (!wasUnread(thrown)) throw thrown
        // Before the lease ends, because its end gives the connection to a waiting call.
        this.#pool.drop(lease.connection)
        if (signal.aborted || tries > this.#init.limits.connections) throw thrown
      } finally {
        lease.end()
      }
    }
  }

  #watchIdle(): void {
    this.#stopIdle?.()
    this.#stopIdle = undefined
    if (this.#listeners.size > 0 || this.#calls > 0 || this.#isClosed) return
    const { timers, limits } = this.#init
    this.#stopIdle = timers.start(
      limits.idleMs,
      () => {
        // The next session reads the list again.
        this.#listed = false
        void this.#pool.rest()
      },
      { isBackground: true },
    )
  }
}

function tell(cause: unknown): string {
  if (isBatonError(cause)) return cause.message
  return cause instanceof Error ? cause.message : String(cause)
}

interface ChangedTool {
  readonly server: string
  readonly before: McpTool
  readonly after: McpTool
}

/** Total characters of all quotes; a question has at most 4,000. */
const QUOTED_CHARS = 3_000
/** Characters shown before the first difference. */
const LEAD_CHARS = 40

const SCHEMA = {
  type: 'object',
  properties: { accept: { type: 'boolean', title: 'Accept the change and run the call?' } },
  required: ['accept'],
} as const

/**
 * Asks the user whether a call may go to a tool that its server has changed. It uses a question instead of an
 * approval, because remembered approvals and policies can answer approvals without having seen the change.
 * Resolves if the person accepts. @throws BatonError `call_denied` if not; the call must not be sent
 */
export async function askConsent(tool: ChangedTool, context: Pick<ToolContext, 'ask' | 'attempt'>): Promise<void> {
  const changes = listChanges(tool.before, tool.after)
  const what = `MCP server "${tool.server}" changed its tool "${tool.before.name}" (${changes.map(({ field }) => field).join(', ')})`
  const deny = (why: string, cause?: unknown): BatonError =>
    new BatonError({ code: 'call_denied', message: `${what}; the call was not sent: ${why}`, cause })
  // An earlier attempt's recorded answer may belong to another question, so a repeated attempt asks nothing.
  if (context.attempt > 1) throw deny('it was a repeated attempt. A new call asks the user')
  const quoted = Math.floor(QUOTED_CHARS / (2 * changes.length))
  const lines = changes.flatMap(({ field, before, after }) => quoteBoth(field, before, after, quoted))
  const message = [`${what} since it was first seen.`, ...lines].join('\n')
  let answer: { readonly accept?: unknown }
  try {
    answer = (await context.ask({ message, schema: SCHEMA })) as typeof answer // an object, by its schema
  } catch (cause) {
    if (isBatonError(cause) && cause.code === 'question_declined') throw deny(cause.message, cause)
    throw cause
  }
  if (answer.accept !== true) throw deny('the user did not accept the change')
}

/** Two lines that show the difference. They are JSON, so the server's text cannot look like a line of the question. */
function quoteBoth(field: string, before: string, after: string, chars: number): readonly string[] {
  let same = 0
  while (same < Math.min(before.length, after.length) && before[same] === after[same]) same += 1
  const from = Math.max(0, same - LEAD_CHARS)
  const quote = (text: string): string => {
    const rest = text.length - from - chars
    return `${from > 0 ? '…' : ''}${text.slice(from, from + chars)}${rest > 0 ? `… (${rest} more characters)` : ''}`
  }
  return [`${field} was: ${quote(before)}`, `${field} is: ${quote(after)}`]
}
