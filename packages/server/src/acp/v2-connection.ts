// One client of version 2, a draft: applies its requests, as received from the SDK, to its open sessions.
import type {
  AgentApp,
  AgentConnection,
  ClientCapabilities,
  ElicitationSchema,
  InitializeResponse,
  McpServer,
} from '@agentclientprotocol/sdk/experimental/v2'
import { agent, methods, PROTOCOL_VERSION } from '@agentclientprotocol/sdk/experimental/v2'
import { BatonError } from '@baton/core'
import type { AcpSession } from './acp-session.ts'
import { toRequestError } from './acp-errors.ts'
import { COMMANDS, readCommand, runCommand, readPrompt } from './prompt-content.ts'
import type { AcpApp, ConnectionOptions, AcpMcpServer } from './options.ts'
import type { BegunRequest } from '../shared/begun-requests.ts'
import type { OpeningPlace } from './open-sessions.ts'
import { OpenSessions, readPlace } from './open-sessions.ts'
import { createForm } from './question-form.ts'
import { CANCELLED, Requests, checkLogin, describeLogins, empty, toRecord } from './requests.ts'
import type { Block } from './updates.ts'
import { encodeV2, encodeV2Asked, encodeV2Choices } from './v2-updates.ts'
import type { Wire, WirePeer, WireVersion } from './wire.ts'
import { createWire } from './wire.ts'

/** Creates an app for one connection, to be connected to one stream. */
export function createV2App(init: ConnectionOptions): AcpApp<AgentApp> {
  const connection = new V2Connection(init)
  return { app: connection.createApp(), connection: connection.sessions }
}

class V2Connection {
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
      // Version 2 has no files and terminals.
      createEditor: () => ({}),
    })
  }

  createApp(): AgentApp {
    const answer: Requests['answer'] = (act) => this.#requests.answer(act)
    const { session, auth } = methods.agent
    const app = agent({ name: this.#init.parts.name })
      .onConnect((peer) => void (this.#peer = peer))
      .onRequest(methods.agent.initialize, ({ params }) => this.#initialize(params.capabilities))
      .onRequest(
        session.new,
        answer(({ params }) => this.#create(readPlace(params, readServer))),
      )
      .onRequest(
        session.resume,
        answer(({ params }) => this.#resume(params.sessionId, readPlace(params, readServer), params.replayFrom?.type)),
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
        session.setConfigOption,
        answer(({ params }) => this.#setOption(params.sessionId, params.configId, params.value)),
      )
      .onRequest(
        session.prompt,
        answer(({ params }) => this.#prompt(params)),
      )
      .onNotification(session.cancel, ({ params }) => this.sessions.cancel(params.sessionId, CANCELLED))
    if (this.#init.parts.auth)
      app
        .onRequest(
          auth.login,
          answer(({ params }) => empty(checkLogin(this.#init.parts.auth, params.methodId))),
        )
        .onRequest(
          auth.logout,
          answer(() => empty(this.#logOut())),
        )
    return app
  }

  #initialize(capabilities: ClientCapabilities | undefined): InitializeResponse {
    this.#capabilities = capabilities ?? {}
    const { host, parts } = this.#init
    const { name, title, version, mcp, additionalDirectories } = parts
    return {
      protocolVersion: PROTOCOL_VERSION,
      info: { name, title, version },
      capabilities: {
        session: {
          prompt: { image: {}, embeddedContext: {} },
          mcp: { ...(mcp.includes('stdio') && { stdio: {} }), ...(mcp.includes('http') && { http: {} }) },
          ...(host.remove && { delete: {} }),
          ...(additionalDirectories && { additionalDirectories: {} }),
        },
      },
      authMethods: this.#authMethods(),
    }
  }

  #authMethods(): NonNullable<InitializeResponse['authMethods']> {
    const { auth } = this.#init.parts
    if (!auth) return []
    const { keys, terminals } = describeLogins(auth, (this.#capabilities.auth?.terminal ?? undefined) !== undefined)
    return [
      { type: 'agent', methodId: 'keys', ...keys },
      ...terminals.map((terminal) => ({ methodId: 'login', ...terminal })),
    ]
  }

  async #logOut(): Promise<void> {
    const { auth } = this.#init.parts
    if (auth?.logout) await auth.logout()
    else throw new BatonError({ code: 'illegal_input', message: 'this agent has no stored login to remove' })
  }

  async #create(place: OpeningPlace) {
    const opened = await this.sessions.create(place, (created) => created.start('now'))
    return { sessionId: opened.session.id, ...(await describeSession(opened)) }
  }

  async #resume(id: string, place: OpeningPlace, replayFrom: string | undefined) {
    if (replayFrom !== undefined && replayFrom !== 'start')
      throw new BatonError({
        code: 'invalid_event',
        message: `replayFrom must have the type start, not ${JSON.stringify(replayFrom.slice(0, 100))}`,
      })
    const opened = await this.sessions.open(id, place, async (resumed) => {
      const from = replayFrom === 'start' ? await resumed.replay() : (await resumed.session.info()).head
      await resumed.tellState()
      await resumed.start(from)
    })
    return await describeSession(opened)
  }

  async #setOption(id: string, option: string, value: unknown) {
    const opened = await this.sessions.reach(id)
    await opened.choose(option, value)
    return { configOptions: encodeV2Choices(await opened.choices()) }
  }

  /** Answered once the session has accepted the prompt; the end of its turn is reported as a state. */
  async #prompt({ sessionId, prompt }: { readonly sessionId: string; readonly prompt: readonly unknown[] }) {
    const begun = this.sessions.beginPrompt(sessionId)
    let isAnswered = true
    try {
      const opened = await this.sessions.reachForPrompt(sessionId, begun)
      if (!opened)
        throw new BatonError({ code: 'cancelled', message: 'the prompt was cancelled before the session accepted it' })
      const messageId = this.#init.parts.newId()
      const blocks = prompt as readonly Block[] // those of version 1, and unknown ones, which are refused
      const command = readCommand(blocks)
      if (command) {
        isAnswered = false
        setImmediate(() => void this.#runCommand(command, opened, { messageId, blocks, begun }))
        return { messageId }
      }
      const { accepted, ended } = opened.say(messageId, readPrompt(blocks), begun.isCancelled)
      ended.catch(() => {}) // its state is reported
      await accepted
      return { messageId }
    } finally {
      if (isAnswered) begun.end()
    }
  }

  /** Never rejects. */
  async #runCommand(
    command: NonNullable<ReturnType<typeof readCommand>>,
    opened: AcpSession,
    { messageId: id, blocks, begun }: GivenCommand,
  ): Promise<void> {
    try {
      await opened.tell({ type: 'user-message', id, content: blocks, isOwn: true })
      if (command === 'status') await opened.tell({ type: 'state', state: 'running' })
      const { isCancelled } = begun
      const end = await runCommand(command, opened, { tell: (update) => opened.tell(update), isCancelled })
      // A turn reports its own end.
      if (command === 'status') await opened.tell({ type: 'ended', end })
    } catch (cause) {
      const { message } = toRequestError(cause, this.#init)
      const error = { code: 'illegal_input', message } as const
      const end = begun.isCancelled() ? ({ stop: 'cancelled' } as const) : ({ stop: 'failed', error } as const)
      await opened.tell({ type: 'ended', end }).catch(() => {}) // the connection is lost
    } finally {
      begun.end()
    }
  }

  #createWire(session: string, find: () => AcpSession | undefined): Wire {
    if (!this.#peer) throw new BatonError({ code: 'session_closed', message: 'no client is connected' })
    const peer = this.#peer as unknown as WirePeer // its methods are the same; version 2 checks their params
    const version: WireVersion = { encode: encodeV2, encodeAsked: encodeV2Asked, encodeForm: createV2Form }
    const capabilities = this.#capabilities
    return createWire({ session, peer, capabilities, version, findPlace: () => find()?.place })
  }
}

interface GivenCommand {
  readonly messageId: string
  readonly blocks: readonly Block[]
  readonly begun: BegunRequest
}

/** Like a version 1 form, with its optional fields filled in. */
function createV2Form(schema: Parameters<typeof createForm>[0]): ElicitationSchema {
  const { properties = {}, ...form } = createForm(schema)
  return { ...form, type: 'object', properties } as ElicitationSchema // its properties are those of version 1
}

async function describeSession(opened: AcpSession) {
  return {
    configOptions: encodeV2Choices(await opened.choices()),
    availableCommands: COMMANDS.map((command) => ({ type: 'command' as const, ...command })),
  }
}

/** @throws BatonError `invalid_event` for an unknown transport */
function readServer(server: McpServer): AcpMcpServer {
  if (server.type === 'stdio' && 'command' in server) {
    const { name, command, args = [], env = [] } = server as Extract<McpServer, { readonly type: 'stdio' }> // by its type
    return { type: 'stdio', name, command, args, env: toRecord(env) }
  }
  if (server.type === 'http' && 'url' in server) {
    const { name, url, headers = [] } = server as Extract<McpServer, { readonly type: 'http' }> // by its type
    return { type: 'http', name, url, headers: toRecord(headers) }
  }
  throw new BatonError({
    code: 'invalid_event',
    message: `an MCP server of the type ${JSON.stringify(String(server.type).slice(0, 100))} cannot be connected`,
  })
}
