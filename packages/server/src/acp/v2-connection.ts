// One client of version 2, a draft: applies its requests, as received from the SDK, to its open sessions.
import type {
  AgentApp,
  AgentConnection,
  ClientCapabilities,
  ElicitationSchema,
  InitializeResponse,
  McpServer,
} from '@agentclientprotocol/sdk/experimental/v2'
import { agent, methods, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk/experimental/v2'
import { BatonError } from '@baton/core'
import type { AcpSession } from './acp-session.ts'
import { toRequestError } from './acp-errors.ts'
import { awaitOutcome, CALL_TOOL, readRuns } from './client-extension.ts'
import { COMMANDS, readCommand, runCommand } from './commands.ts'
import type { AcpApp, AcpConnection, ConnectionOptions } from './connection-options.ts'
import type { BegunRequest } from '../shared/begun-requests.ts'
import type { OpeningPlace } from './open-sessions.ts'
import { OpenSessions } from './open-sessions.ts'
import type { AcpMcpServer } from './options.ts'
import { readPrompt } from './prompt-content.ts'
import { createForm } from './question-form.ts'
import { CANCELLED, Requests, checkLogin, empty, toRecord, waitUntil } from './requests.ts'
import { showAsked } from './shown-call.ts'
import type { Block } from './updates.ts'
import { encodeV2, encodeV2Call, encodeV2Choice } from './v2-updates.ts'
import type { Wire } from './wire.ts'

/** Creates an app for one connection, to be connected to one stream. */
export function createV2App(init: ConnectionOptions): AcpApp<AgentApp> {
  const connection = new V2Connection(init)
  return { app: connection.createApp(), connection }
}

class V2Connection implements AcpConnection {
  readonly #init: ConnectionOptions
  readonly #sessions: OpenSessions
  readonly #requests: Requests
  #peer: AgentConnection | undefined
  #capabilities: ClientCapabilities = {}

  constructor(init: ConnectionOptions) {
    this.#init = init
    this.#requests = new Requests(init)
    this.#sessions = new OpenSessions(init.host, init.parts, {
      createWire: (session, find) => this.#createWire(session, find),
      // Version 2 has no files and terminals.
      createEditor: () => ({}),
    })
  }

  isBusy(): boolean {
    return this.busySession() !== undefined
  }

  busySession(): string | undefined {
    return this.#sessions.busySession()
  }

  async leave(): Promise<void> {
    await this.#sessions.leaveAll()
  }

  createApp(): AgentApp {
    const answer: Requests['answer'] = (act) => this.#requests.answer(act)
    const { session, auth } = methods.agent
    const app = agent({ name: this.#init.parts.name })
      .onConnect((peer) => void (this.#peer = peer))
      .onRequest(methods.agent.initialize, ({ params }) => this.#initialize(params.capabilities))
      .onRequest(
        session.new,
        answer(({ params }) => this.#create(readPlace(params))),
      )
      .onRequest(
        session.resume,
        answer(({ params }) => this.#resume(params.sessionId, readPlace(params), params.replayFrom?.type)),
      )
      .onRequest(
        session.list,
        answer(({ params }) => this.#sessions.list(params.cwd, params.cursor)),
      )
      .onRequest(
        session.close,
        answer(({ params }) => empty(this.#sessions.close(params.sessionId))),
      )
      .onRequest(
        session.delete,
        answer(({ params }) => empty(this.#sessions.remove(params.sessionId))),
      )
      .onRequest(
        session.setConfigOption,
        answer(({ params }) => this.#setOption(params.sessionId, params.configId, params.value)),
      )
      .onRequest(
        session.prompt,
        answer(({ params }) => this.#prompt(params)),
      )
      .onNotification(session.cancel, ({ params }) => this.#sessions.cancel(params.sessionId, CANCELLED))
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
    const { name, description, terminalArgs } = auth
    const about = description === undefined ? {} : { description }
    const hasTerminal = (this.#capabilities.auth?.terminal ?? undefined) !== undefined && terminalArgs !== undefined
    return [
      { type: 'agent', methodId: 'keys', name, ...about },
      ...(hasTerminal
        ? [
            {
              type: 'terminal' as const,
              methodId: 'login',
              name: `${name} in a terminal`,
              ...about,
              args: [...terminalArgs],
            },
          ]
        : []),
    ]
  }

  async #logOut(): Promise<void> {
    const { auth } = this.#init.parts
    if (auth?.logout) await auth.logout()
    else throw new BatonError({ code: 'illegal_input', message: 'this agent has no stored login to remove' })
  }

  async #create(place: OpeningPlace) {
    const opened = await this.#sessions.create(place, (created) => created.start('now'))
    return { sessionId: opened.session.id, ...(await describeSession(opened)) }
  }

  async #resume(id: string, place: OpeningPlace, replayFrom: string | undefined) {
    if (replayFrom !== undefined && replayFrom !== 'start')
      throw new BatonError({
        code: 'invalid_event',
        message: `replayFrom must have the type start, not ${JSON.stringify(replayFrom.slice(0, 100))}`,
      })
    const opened = await this.#sessions.open(id, place, async (resumed) => {
      const from = replayFrom === 'start' ? await resumed.replay() : (await resumed.session.info()).head
      await resumed.tellState()
      await resumed.start(from)
    })
    return await describeSession(opened)
  }

  async #setOption(id: string, option: string, value: unknown) {
    const opened = await this.#sessions.reach(id)
    await opened.choose(option, value)
    return { configOptions: (await opened.choices()).map(encodeV2Choice) }
  }

  /** Answered once the session has accepted the prompt; the end of its turn is reported as a state. */
  async #prompt({ sessionId, prompt }: { readonly sessionId: string; readonly prompt: readonly unknown[] }) {
    const begun = this.#sessions.beginPrompt(sessionId)
    let isAnswered = true
    try {
      const opened = await this.#sessions.reachForPrompt(sessionId, begun)
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

  #createWire(sessionId: string, find: () => AcpSession | undefined): Wire {
    const peer = this.#peer
    if (!peer) throw new BatonError({ code: 'session_closed', message: 'no client is connected' })
    const { client, signal: gone } = peer
    const runs = readRuns(this.#capabilities)
    const form = this.#capabilities.elicitation?.form ?? undefined
    return {
      gone,
      tell: async (update) => {
        const encoded = encodeV2(update)
        if (encoded) await client.notify(methods.client.session.update, { sessionId, update: encoded })
      },
      askPermission: async ({ call, choices }, signal) => {
        const place = find()?.place
        if (!place) throw new RequestError(-32_603, 'the session is closed')
        const shown = showAsked(call, place)
        const asked = {
          sessionId,
          title: shown.title,
          ...(call.asked && { description: call.asked.message }),
          subject: { type: 'tool_call' as const, toolCall: encodeV2Call(shown) },
          options: choices.map((choice) => ({ ...choice })),
        }
        return await client.request(methods.client.session.requestPermission, asked, waitUntil(signal))
      },
      ...(form && {
        askForm: ({ callId: toolCallId, message, schema }, signal) =>
          client.request(
            methods.client.elicitation.create,
            { mode: 'form', sessionId, toolCallId, message, requestedSchema: createV2Form(schema) },
            waitUntil(signal),
          ),
      }),
      ...(runs && {
        runs,
        callTool: async ({ callId: toolCallId, name, input }, signal) => {
          const asked = { sessionId, toolCallId, name, input }
          return await awaitOutcome(client.request(CALL_TOOL, asked, { cancellationSignal: signal }), signal)
        },
      }),
    }
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
    configOptions: (await opened.choices()).map(encodeV2Choice),
    availableCommands: COMMANDS.map((command) => ({ type: 'command' as const, ...command })),
  }
}

interface GivenPlace {
  readonly cwd: string
  readonly additionalDirectories?: readonly string[]
  readonly mcpServers?: readonly McpServer[]
}

function readPlace({ cwd, additionalDirectories = [], mcpServers = [] }: GivenPlace): OpeningPlace {
  return { cwd, additionalDirectories, mcpServers: mcpServers.map(readServer) }
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
