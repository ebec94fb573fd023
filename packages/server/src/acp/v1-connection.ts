// One client of version 1: applies its requests, as received from the SDK, to its open sessions.
import type {
  AgentApp,
  AgentConnection,
  ClientCapabilities,
  InitializeResponse,
  McpServer,
  SessionModeState,
  StopReason,
} from '@agentclientprotocol/sdk'
import { agent, methods, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'
import { BatonError, isBatonError } from '@baton/core'
import type { AcpSession } from './acp-session.ts'
import { createTurnError } from './acp-errors.ts'
import { MODES, readMode } from './choices.ts'
import { COMMANDS, readCommand, runCommand, readPrompt } from './prompt-content.ts'
import type { AcpApp, ConnectionOptions, AcpMcpServer } from './options.ts'
import { createEditor } from './editor.ts'
import type { OpeningPlace } from './open-sessions.ts'
import { OpenSessions, readPlace } from './open-sessions.ts'
import { createForm } from './question-form.ts'
import { CANCELLED, Requests, checkLogin, describeLogins, empty, toRecord, untilCancelled } from './requests.ts'
import { readStop } from './updates.ts'
import { encodeAsked, encodeChoices, V1Updates } from './v1-updates.ts'
import type { Wire, WireVersion } from './wire.ts'
import { createWire } from './wire.ts'

/** Creates an app for one connection, to be connected to one stream. */
export function createV1App(init: ConnectionOptions): AcpApp<AgentApp> {
  const connection = new V1Connection(init)
  return { app: connection.createApp(), connection: connection.sessions }
}

class V1Connection {
  readonly #init: ConnectionOptions
  readonly sessions: OpenSessions
  readonly #requests: Requests
  #peer: AgentConnection | undefined
  #capabilities: ClientCapabilities = {}

  constructor(init: ConnectionOptions) {
    this.#init = init
    this.#requests = new Requests(init)
    this.sessions = new OpenSessions(init.host, init.parts, {
      createWire: (session, find) => this.#createWire(session, find),
      createEditor: (session, onTerminal) =>
        createEditor({
          client: this.#demandPeer().client,
          session,
          capabilities: this.#capabilities,
          fileMs: init.parts.limits.fileMs,
          timers: init.parts.timers,
          onTerminal,
        }),
    })
  }

  createApp(): AgentApp {
    const answer: Requests['answer'] = (act) => this.#requests.answer(act)
    const { session } = methods.agent
    const app = agent({ name: this.#init.parts.name })
      .onConnect((peer) => void (this.#peer = peer))
      .onRequest(methods.agent.initialize, ({ params }) => this.#initialize(params.clientCapabilities))
      .onRequest(
        methods.agent.authenticate,
        answer(({ params }) => empty(checkLogin(this.#init.parts.auth, params.methodId))),
      )
      .onRequest(
        session.new,
        answer(({ params }) => this.#create(readPlace(params, readServer))),
      )
      .onRequest(
        session.load,
        answer(({ params }) => this.#load(params.sessionId, readPlace(params, readServer), true)),
      )
      .onRequest(
        session.resume,
        answer(({ params }) => this.#load(params.sessionId, readPlace(params, readServer), false)),
      )
      .onRequest(
        session.list,
        answer(({ params }) => this.sessions.list(params.cwd, params.cursor)),
      )
      .onRequest(
        session.close,
        answer(({ params }) => empty(this.sessions.close(params.sessionId))),
      )
      .onRequest(
        session.delete,
        answer(({ params }) => empty(this.sessions.remove(params.sessionId))),
      )
      .onRequest(
        session.setMode,
        answer(({ params }) => this.#setMode(params.sessionId, params.modeId)),
      )
      .onRequest(
        session.setConfigOption,
        answer(({ params }) => this.#setOption(params.sessionId, params.configId, params.value)),
      )
      .onRequest(
        session.prompt,
        answer(({ params, signal }) => this.#prompt(params, signal)),
      )
      .onNotification(session.cancel, ({ params }) => this.sessions.cancel(params.sessionId, CANCELLED))
    const { logout } = this.#init.parts.auth ?? {}
    if (logout)
      app.onRequest(
        methods.agent.logout,
        answer(() => empty(Promise.resolve(logout()))),
      )
    return app
  }

  #initialize(capabilities: ClientCapabilities | undefined): InitializeResponse {
    this.#capabilities = capabilities ?? {}
    const { host, parts } = this.#init
    const { name, title, version, mcp, auth } = parts
    const canList = host.sessions !== undefined
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name, title, version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        mcpCapabilities: { http: mcp.includes('http'), sse: mcp.includes('sse') },
        sessionCapabilities: {
          resume: {},
          close: {},
          ...(parts.additionalDirectories && { additionalDirectories: {} }),
          ...(canList && { list: {} }),
          ...(host.remove && { delete: {} }),
        },
        ...(auth?.logout && { auth: { logout: {} } }),
      },
      authMethods: this.#authMethods(),
    }
  }

  #authMethods(): NonNullable<InitializeResponse['authMethods']> {
    const { auth } = this.#init.parts
    if (!auth) return []
    const { keys, terminals } = describeLogins(auth, this.#capabilities.auth?.terminal === true)
    return [{ id: 'keys', ...keys }, ...terminals.map((terminal) => ({ id: 'login', ...terminal }))]
  }

  async #create(place: OpeningPlace) {
    const opened = await this.sessions.create(place, (created) => created.start('now'))
    this.#tellCommandsLater(opened)
    return { sessionId: opened.session.id, ...(await describeChoices(opened)) }
  }

  async #load(id: string, place: OpeningPlace, replays: boolean) {
    const opened = await this.sessions.open(id, place, async (loaded) => {
      await loaded.start(replays ? await loaded.replay() : (await loaded.session.info()).head)
    })
    this.#tellCommandsLater(opened)
    return await describeChoices(opened)
  }

  /** Sent after the response, because the client does not know the session before. */
  #tellCommandsLater(opened: AcpSession): void {
    setImmediate(() => {
      const availableCommands = COMMANDS.map((command) => ({ ...command }))
      const update = { sessionUpdate: 'available_commands_update', availableCommands } as const
      this.#demandPeer()
        .client.notify(methods.client.session.update, { sessionId: opened.session.id, update })
        .catch(() => {}) // the connection is lost
    })
  }

  async #setMode(id: string, mode: string): Promise<Record<string, never>> {
    const opened = await this.sessions.reach(id)
    await opened.setMode(readMode(mode))
    await opened.tell({ type: 'choices', choices: await opened.choices() })
    return {}
  }

  async #setOption(id: string, option: string, value: unknown) {
    const opened = await this.sessions.reach(id)
    await opened.choose(option, value)
    return { configOptions: encodeChoices(await opened.choices()) }
  }

  async #prompt(
    { sessionId, prompt }: { readonly sessionId: string; readonly prompt: Parameters<typeof readPrompt>[0] },
    request: AbortSignal,
  ): Promise<{ stopReason: StopReason }> {
    const signal = untilCancelled(request, this.#demandPeer().signal)
    const begun = this.sessions.beginPrompt(sessionId, signal)
    const { isCancelled } = begun
    let stopListening = (): void => {}
    try {
      const opened = await this.sessions.reachForPrompt(sessionId, begun)
      if (!opened) return { stopReason: 'cancelled' }
      const cancel = (): void => void opened.cancel(CANCELLED)
      signal.addEventListener('abort', cancel, { once: true })
      stopListening = () => signal.removeEventListener('abort', cancel)
      const command = readCommand(prompt)
      const end = command
        ? await runCommand(command, opened, { tell: (update) => opened.tell(update), isCancelled })
        : await opened.prompt(this.#init.parts.newId(), readPrompt(prompt), isCancelled)
      const { stopReason, error } = readStop(end)
      if (error) throw createTurnError(error)
      return { stopReason }
    } catch (cause) {
      if (isCancelled() && isBatonError(cause) && cause.code === 'cancelled') return { stopReason: 'cancelled' }
      throw cause
    } finally {
      stopListening()
      begun.end()
    }
  }

  /** @throws BatonError before the client is connected, which cannot happen during a request */
  #demandPeer(): AgentConnection {
    if (this.#peer) return this.#peer
    throw new BatonError({ code: 'session_closed', message: 'no client is connected' })
  }

  #createWire(session: string, find: () => AcpSession | undefined): Wire {
    const { notices, compaction } = this.#capabilities.session ?? {}
    const updates = new V1Updates({ notices: isOffered(notices), compaction: isOffered(compaction) })
    const version: WireVersion = {
      encode: (update) => updates.encode(update),
      encodeAsked: (_, shown) => encodeAsked(shown),
      encodeForm: createForm,
    }
    const capabilities = this.#capabilities
    return createWire({ session, peer: this.#demandPeer(), capabilities, version, findPlace: () => find()?.place })
  }
}

function isOffered(capability: unknown): boolean {
  return capability !== undefined && capability !== null
}

async function describeChoices(opened: AcpSession) {
  const modes: SessionModeState = {
    currentModeId: opened.mode,
    availableModes: MODES.map((mode) => ({ ...mode })),
  }
  return { modes, configOptions: encodeChoices(await opened.choices()) }
}

function readServer(server: McpServer): AcpMcpServer {
  const { name } = server
  if ('command' in server) {
    const { command, args, env } = server
    return { type: 'stdio', name, command, args, env: toRecord(env) }
  }
  const { type, url, headers } = server
  return { type, name, url, headers: toRecord(headers) }
}
