// One connection to an MCP server. It lists tools and makes calls, including progress, questions, `input_required`
// rounds and tasks. It ends once and is never reopened.
import type { JsonObject, JsonValue, Logger, Timers, ToolContext } from '@baton/core/internal'
import { BatonError, isBatonError, isJsonObject } from '@baton/core/internal'
import type {
  CallToolResult,
  ElicitResult,
  FetchLike,
  Progress,
  PriorDiscovery,
  Resource,
  ResourceContents,
  Tool as McpTool,
} from '@modelcontextprotocol/client'
import {
  Client,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UrlElicitationRequiredError,
  isInputRequiredResult,
  isSpecType,
} from '@modelcontextprotocol/client'
import { z } from 'zod'
import { answerElicitation } from './elicitation.ts'
import {
  WAITS,
  describeCallFailure,
  describeMcpFailure,
  describeTaskLoss,
  describeUnread,
  isUnsent,
} from './failure.ts'
import { FORGOTTEN } from './lenient-fetch.ts'
import type { TellOdd } from './lenient-messages.ts'
import { readQuestion } from './lenient-results.ts'
import type { McpServerConfig } from './server-config.ts'
import type { TransportAuth } from './auth.ts'
import { isLoginRequired } from './shared-login.ts'
import type { TaskPlace } from './tasks.ts'
import { TASKS_EXTENSION } from '../shared/platform.ts'
import { awaitTask, callAsTask, carryTask, readCarriedTask } from './tasks.ts'
import type { Connected } from './transports.ts'
import { openTransport } from './transports.ts'

/** The SDK requires a number. The call's own deadline, which pauses while a person is asked, ends the call. */
const NO_DEADLINE_MS = 2_147_483_647
/** Milliseconds between two progress notes. Others are dropped. */
const PROGRESS_MS = 50
/** Maximum pages of a list, same as in the SDK. */
const PAGES_MAX = 64
/** Maximum rounds of questions in one call. */
const ROUNDS_MAX = 10
/** Maximum odd messages logged per connection. */
const ODD_MAX = 10
/** Milliseconds for a program to say which version it speaks. A silent program is treated as a 2025 server. */
const PROBE_MS = 10_000

export interface ConnectionOptions {
  readonly name: string
  readonly config: McpServerConfig
  /** The login of the server, shared by its connections. */
  readonly auth?: TransportAuth
  readonly timers: Timers
  readonly log: Logger
  /** Maximum bytes of one message from the server. */
  readonly messageBytes: number
  /** Milliseconds to connect, not counting a login. */
  readonly connectMs: number
  readonly fetch?: FetchLike
  /** The version found by an earlier connection to the same program. */
  readonly prior?: PriorDiscovery
  /** Called once when the connection ends other than by `close()`. */
  readonly onEnd: (connection: Connection) => void
  /** Called when the server says that its tools changed. */
  readonly onToolsChanged: () => void
}

export class Connection {
  readonly #init: ConnectionOptions
  readonly #connected: Connected
  /** Running calls, oldest first. */
  readonly #calls = new Set<ToolContext>()
  #isClosed = false

  private constructor(init: ConnectionOptions, connected: Connected) {
    this.#init = init
    this.#connected = connected
  }

  /** @throws BatonError `api_unavailable`, `api_unauthorized`, `api_failed`, `api_malformed` */
  static async open(init: ConnectionOptions, signal: AbortSignal): Promise<Connection> {
    const { name, config, auth, connectMs, messageBytes, fetch, prior } = init
    let connection: Connection | undefined
    const createClient = (version?: string): Client =>
      createSdkClient({ ...init, version }, (params) => connection?.answerAlone(params))
    try {
      const connected = await openTransport({
        config,
        ...(auth && { auth }),
        createClient,
        messageBytes,
        ...(fetch && { fetch }),
        connect: { timeout: connectMs, signal, ...(prior && { prior }) },
        onMessage: carryTask,
        tellOdd: createOddTeller(init),
      })
      connection = new Connection(init, connected)
      connected.client.onclose = () => connection?.endNow()
      return connection
    } catch (thrown) {
      throw describeMcpFailure(name, thrown)
    }
  }

  /** True for 2026-07-28 and later, where a question belongs to the call that it came with. */
  get isModern(): boolean {
    return this.#connected.client.getProtocolEra() === 'modern'
  }

  get version(): string | undefined {
    return this.#connected.client.getNegotiatedProtocolVersion()
  }

  get pid(): number | undefined {
    return this.#connected.pid
  }

  get hasResources(): boolean {
    return this.#connected.client.getServerCapabilities()?.resources !== undefined
  }

  /** The end of the process's standard error. */
  readTail(): string {
    return this.#connected.readTail().trim()
  }

  /** @throws BatonError as `open` does */
  async listTools(signal: AbortSignal): Promise<readonly McpTool[]> {
    const { name, connectMs } = this.#init
    const { client } = this.#connected
    if (client.getServerCapabilities()?.tools === undefined) return []
    try {
      const options = { timeout: connectMs, maxTotalTimeout: connectMs, signal }
      return (await this.#begin(() => client.listTools(undefined, options))).tools
    } catch (thrown) {
      const code = SdkError.isInstance(thrown) ? thrown.code : undefined
      const isEndless = code === SdkErrorCode.ListPaginationExceeded
      if (isEndless || (code === SdkErrorCode.InvalidResult && !this.isModern)) return this.#listLeniently(signal)
      // A server that declares no capabilities is asked anyway.
      if (ProtocolError.isInstance(thrown) && thrown.code === ProtocolErrorCode.MethodNotFound) return []
      throw describeMcpFailure(name, thrown)
    }
  }

  /** @throws BatonError as `open` does, `api_refused`, `tool_failed`, or what `context.ask` throws */
  async call(tool: McpTool, input: JsonObject, context: ToolContext): Promise<CallToolResult> {
    this.#calls.add(context)
    const signal = context.signal as AbortSignal // a real one, as documented in `ToolContext`
    const progress = createProgress(this.#init.timers, context)
    const options = { signal, timeout: NO_DEADLINE_MS, onprogress: progress, allowInputRequired: true }
    const params = { name: tool.name, arguments: input, _meta: { 'baton/idempotencyKey': context.idempotencyKey } }
    // A result without a structured value is accepted; the host checks the rest.
    const { outputSchema: _, ...bare } = tool
    const { client } = this.#connected
    const { name: server, timers } = this.#init
    const place: TaskPlace = {
      client,
      timers,
      options,
      begin: (act) => this.#begin(act),
      withLogin: (act) => this.#withLogin(act),
      lose: (thrown) => describeTaskLoss(server, thrown),
      answer: (requests) => this.#answerAll(requests, context),
    }
    try {
      if (this.#mustBeTask(tool)) return await callAsTask(params, place)
      const ask = (what: typeof params): Promise<CallToolResult> =>
        client.callTool(what, { ...options, toolDefinition: bare })
      let result = await this.#begin(() => this.#withPages(() => ask(params), context))
      for (let round = 1; isInputRequiredResult(result); round += 1) {
        if (round > ROUNDS_MAX)
          throw new BatonError({
            code: 'api_malformed',
            message: `it requested input ${ROUNDS_MAX} times in one call`,
            data: { [WAITS]: true },
          })
        const { inputRequests = {}, requestState } = result
        const inputResponses = await this.#answerAll(inputRequests, context)
        const again = { ...params, inputResponses, ...(requestState !== undefined && { requestState }) }
        result = await this.#withLogin(() => ask(again))
      }
      const task = readCarriedTask(result)
      return task ? await awaitTask(task, place) : result
    } catch (thrown) {
      if (signal.aborted) throw tellStopped(server, thrown)
      throw describeCallFailure(server, thrown)
    } finally {
      progress.end()
      this.#calls.delete(context)
    }
  }

  /**
   * The SDK rejects the whole list if one entry is not a valid tool, or the pages do not end. This keeps the valid ones
   * of the first pages.
   */
  async #listLeniently(signal: AbortSignal): Promise<readonly McpTool[]> {
    const { log, name, connectMs } = this.#init
    const tools: McpTool[] = []
    const cursors = new Set<string>()
    let cursor: string | undefined
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const params = cursor === undefined ? {} : { cursor }
      const options = { timeout: connectMs, signal }
      const { tools: listed = [], nextCursor } = await this.#connected.client
        .request({ method: 'tools/list', params }, LooseTools, options)
        .catch((thrown: unknown) => {
          throw describeMcpFailure(name, thrown)
        })
      for (const tool of listed)
        if (isSpecType.Tool(tool)) tools.push(tool)
        else
          log.warn('a tool of an MCP server was skipped: it violates the protocol', {
            server: name,
            tool: tellName(tool),
          })
      if (nextCursor === undefined) return tools
      if (cursors.has(nextCursor)) break
      cursors.add(nextCursor)
      cursor = nextCursor
    }
    const pages = Math.min(cursors.size + 1, PAGES_MAX)
    log.warn('tools of an MCP server may be missing: its list does not end', { server: name, pages })
    return tools
  }

  /** Reads at most 64 pages. @throws BatonError as `open` does */
  async listResources(signal: AbortSignal): Promise<readonly Resource[]> {
    try {
      return (await this.#begin(() => this.#connected.client.listResources(undefined, { signal }))).resources
    } catch (thrown) {
      throw describeMcpFailure(this.#init.name, thrown)
    }
  }

  /** @throws BatonError as `open` does, `api_refused` */
  async readResource(uri: string, signal: AbortSignal): Promise<readonly ResourceContents[]> {
    try {
      return (await this.#begin(() => this.#connected.client.readResource({ uri }, { signal }))).contents
    } catch (thrown) {
      throw describeMcpFailure(this.#init.name, thrown)
    }
  }

  /** The protocol version it speaks, for the next process of the same program. */
  readPrior(): PriorDiscovery | undefined {
    return this.isModern ? undefined : { kind: 'legacy' }
  }

  /** Ends its calls with `api_unavailable`. A process gets a few seconds to exit and is then killed. Never rejects. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#connected.client.close().catch((cause: unknown) => {
      const { log, name } = this.#init
      log.warn('an MCP server could not be closed', { server: name, cause: String(cause).slice(0, 500) })
    })
  }

  endNow(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#init.onEnd(this)
  }

  /**
   * Answers a question that names no call, as 2025 servers send. All calls on such a connection belong to one session,
   * so any of them reaches the right person.
   */
  async answerAlone(params: Parameters<typeof answerElicitation>[1]): Promise<ElicitResult> {
    const [oldest] = this.#calls
    if (!oldest) return { action: 'cancel' }
    try {
      return await answerElicitation(this.#init.name, params, oldest)
    } catch (thrown) {
      if (isBatonError(thrown) && thrown.code === 'cancelled') return { action: 'cancel' } // the call has ended
      throw thrown
    }
  }

  /**
   * A 2025-11-25 server may refuse a call until the user has opened a page, and has not run it then. Every page is a
   * question; the call is sent again once all are accepted.
   */
  async #withPages<Result>(act: () => Promise<Result>, context: ToolContext): Promise<Result> {
    for (let round = 1; ; round += 1)
      try {
        return await act()
      } catch (thrown) {
        const pages = readPages(thrown)
        if (pages.length === 0 || round > ROUNDS_MAX) throw thrown
        for (const page of pages) {
          const { action } = await answerElicitation(this.#init.name, page, context)
          if (action !== 'accept') throw thrown
        }
      }
  }

  /** A request that was refused for lack of a login or a scope had no effect, so it is sent again. */
  async #withLogin<Result>(act: () => Promise<Result>): Promise<Result> {
    const logIn = this.#connected.beginLogin?.()
    try {
      return await act()
    } catch (thrown) {
      if (!logIn || !isLoginRequired(thrown)) throw thrown
      await logIn(thrown)
      return act()
    }
  }

  /**
   * Sends a call for the first time, or another request. The error says if the server did not read it, because it no
   * longer knows the session or the connection was closed before.
   */
  async #begin<Result>(act: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#withLogin(act)
    } catch (thrown) {
      const isUnread = isUnsent(thrown) || isForgetting(thrown, this.#connected.client.transport?.sessionId)
      throw isUnread ? describeUnread(this.#init.name, thrown) : thrown
    }
  }

  #mustBeTask({ execution }: McpTool): boolean {
    if (this.isModern || execution?.taskSupport !== 'required') return false
    return this.#connected.client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined
  }

  async #answerAll(
    requests: Readonly<Record<string, unknown>>,
    context: ToolContext,
  ): Promise<Record<string, ElicitResult>> {
    const responses: Record<string, ElicitResult> = {}
    // In sequence, because a person answers one question at a time.
    for (const [key, request] of Object.entries(requests)) {
      const { method, params } = (request ?? {}) as {
        method?: unknown
        params?: Parameters<typeof answerElicitation>[1]
      }
      if (method !== 'elicitation/create' || typeof params?.message !== 'string')
        throw new BatonError({
          code: 'api_malformed',
          message: `MCP server "${this.#init.name}" requested ${String(method).slice(0, 100)} from the client, which Baton does not support`,
          data: { [WAITS]: true },
        })
      responses[key] = await answerElicitation(this.#init.name, params, context)
    }
    return responses
  }
}

const LooseTools = z.looseObject({ tools: z.array(z.unknown()).optional(), nextCursor: z.string().optional() })

/** Statuses other than 404 of servers that no longer know a session; 401 is from rmcp, the SDK in Rust. */
const FORGETTING: ReadonlySet<number> = new Set([400, 401, 410])

/**
 * Protocol versions up to 2025-11-25 require 404 for a request with an unknown session. Some servers answer otherwise,
 * with words about the session. Reopening a stream does not count as a request.
 */
function isForgetting(thrown: unknown, sessionId: string | undefined): boolean {
  if (sessionId === undefined || !SdkHttpError.isInstance(thrown)) return false
  if (!thrown.message.startsWith('Error POSTing')) return false
  return thrown.status === 404 || (FORGETTING.has(thrown.status) && FORGOTTEN.test(thrown.message))
}

/** The SDK reports an abort as a time-out. */
function tellStopped(server: string, cause: unknown): BatonError {
  const message = `the call was stopped before MCP server "${server}" answered; it may have taken effect`
  return new BatonError({ code: 'cancelled', message, cause })
}

/** The pages that the user must open before a call. */
function readPages(thrown: unknown): readonly Parameters<typeof answerElicitation>[1][] {
  const listed: unknown = UrlElicitationRequiredError.isInstance(thrown) ? thrown.elicitations : []
  const pages = Array.isArray(listed) ? (listed as readonly JsonValue[]).filter(isJsonObject) : []
  return pages.map((page) => readQuestion({ ...page, mode: 'url' }) as Parameters<typeof answerElicitation>[1]) // a page
}

function tellName(tool: unknown): string {
  const name = typeof tool === 'object' && tool !== null && 'name' in tool ? tool.name : undefined
  return typeof name === 'string' ? name.slice(0, 100) : 'without a name'
}

function createSdkClient(
  options: ConnectionOptions & { readonly version: string | undefined },
  elicit: (params: Parameters<typeof answerElicitation>[1]) => Promise<ElicitResult> | undefined,
): Client {
  const { onToolsChanged, config, connectMs, version } = options
  const client = new Client(
    { name: 'baton', version: '0.1.0' },
    {
      capabilities: {
        elicitation: { form: { applyDefaults: true }, url: {} },
        extensions: { [TASKS_EXTENSION]: {} },
      },
      ...(version !== undefined && { supportedProtocolVersions: [version] }),
      versionNegotiation: {
        mode: 'auto',
        probe: { timeoutMs: 'command' in config ? Math.min(PROBE_MS, connectMs) : connectMs },
      },
      inputRequired: { autoFulfill: false },
      // The host checks the tool's output schema, in linear time.
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }), // never read
      },
      listChanged: { tools: { autoRefresh: false, debounceMs: 200, onChanged: onToolsChanged } },
    },
  )
  client.setRequestHandler('elicitation/create', async ({ params }) => (await elicit(params)) ?? { action: 'cancel' })
  // Among others, one for each piece of progress after the result of its call.
  const tellError = createOddTeller(options)
  client.onerror = (cause) => tellError('the connection to an MCP server reported an error', cause.message)
  return client
}

/** Logs only the first oddities; a server that prints its log never stops. */
function createOddTeller({ log, name }: ConnectionOptions): TellOdd {
  let told = 0
  return (what, text) => {
    told += 1
    if (told <= ODD_MAX)
      log.warn(what, { server: name, text: text.trim().slice(0, 500), ...(told === ODD_MAX && LAST) })
  }
}

const LAST = { note: 'further messages of this kind are not logged' } as const

/** Passes the first note on at once, then the newest one every `PROGRESS_MS`: a server may send thousands. */
function createProgress(timers: Timers, context: ToolContext): ((progress: Progress) => void) & { end(): void } {
  let latest: Progress | undefined
  let stop: (() => void) | undefined
  const tick = (): void => {
    stop = undefined
    if (!latest) return
    const { progress, total, message } = latest
    latest = undefined
    context.progress({
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message: message.slice(0, 1_000) }),
    })
    stop = timers.start(PROGRESS_MS, tick)
  }
  const push = (progress: Progress): void => {
    latest = progress
    if (!stop) tick()
  }
  return Object.assign(push, { end: () => stop?.() })
}
