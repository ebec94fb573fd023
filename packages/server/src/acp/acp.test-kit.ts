// An editor in this process: the SDK's own client, connected to an agent, with every message checked against the SDK's
// JSON Schemas.
import type { Agent, Store } from '@baton/core'
import { createHost, createNodeEnvironment } from '@baton/host'
import type {
  AnyMessage,
  ClientApp,
  ClientCapabilities,
  ClientContext,
  RequestPermissionRequest,
  SessionUpdate,
  Stream,
} from '@agentclientprotocol/sdk'
import { client, methods } from '@agentclientprotocol/sdk'
import { createAcpFront } from './front.ts'
import type { OpenedConnection } from './front.ts'
import type { AcpOptions } from './options.ts'
import { createSchemaChecks } from './schema-checks.test-kit.ts'

export interface EditorParts {
  readonly agent: Agent
  readonly store?: Store
  /** A host shared with other editors; it outlives this editor. */
  readonly host?: ReturnType<typeof createHost>
  readonly capabilities?: ClientCapabilities
  readonly options?: Partial<AcpOptions>
  /** Adds the editor's own services for the agent. */
  readonly app?: (app: ClientApp) => ClientApp
  /** A person's choice. Default: the first option. */
  readonly permit?: (asked: RequestPermissionRequest, signal: AbortSignal) => Promise<object> | object
}

export interface Told {
  readonly session: string
  readonly update: SessionUpdate
}

export interface TestEditor {
  readonly agent: ClientContext
  readonly told: Told[]
  readonly asked: RequestPermissionRequest[]
  readonly host: ReturnType<typeof createHost>
  readonly connection: OpenedConnection
  /** All messages in both directions. */
  readonly wire: { readonly from: 'client' | 'agent'; readonly message: AnyMessage }[]
  readonly logged: string[]
  open(cwd?: string): Promise<string>
  prompt(session: string, text: string): Promise<string>
  /** Texts of one kind of chunk, joined. */
  text(kind?: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk'): string
  until(holds: () => boolean): Promise<void>
  /** Closes the connection, as the editor. */
  leave(): void
  /** Makes everything that the agent writes fail. */
  breakWrites(): void
  stop(): Promise<void>
}

export async function startEditor(parts: EditorParts): Promise<TestEditor> {
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
  const host = parts.host ?? createHost({ environment, agent: parts.agent, ...(parts.store && { store: parts.store }) })
  const logged: string[] = []
  const note = (message: string, data: object = {}): void => void logged.push(`${message} ${JSON.stringify(data)}`)
  const front = createAcpFront('test', host, { agent: parts.agent, log: { info: note, warn: note }, ...parts.options })
  const wire: TestEditor['wire'][number][] = []
  const checks = createSchemaChecks(1)
  let isBroken = false
  const [ours, theirs] = createStreams((from, message) => {
    if (isBroken && from === 'agent') throw new Error('the pipe is broken')
    wire.push({ from, message })
    checks.check(from, message)
  })
  const connection = front.connect(ours, { isLocal: true })
  const told: Told[] = []
  const asked: RequestPermissionRequest[] = []
  let wake = Promise.withResolvers<void>()
  const tell = (): void => {
    wake.resolve()
    wake = Promise.withResolvers()
  }
  const base = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params }) => {
      told.push({ session: params.sessionId, update: params.update })
      tell()
    })
    .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
      asked.push(params)
      tell()
      const chosen = await parts.permit?.(params, signal)
      const [first] = params.options
      return (chosen ?? { outcome: { outcome: 'selected', optionId: first?.optionId ?? '' } }) as never // as the test says
    })
  const app = parts.app?.(base) ?? base
  const opened = app.connect(theirs)
  const { agent } = opened
  await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    ...(parts.capabilities && { clientCapabilities: parts.capabilities }),
  })
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await wake.promise
  }
  return {
    agent,
    told,
    asked,
    host,
    connection,
    wire,
    logged,
    open: async (cwd = '/work/project') =>
      (await agent.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId,
    prompt: async (sessionId, text) =>
      (await agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] })).stopReason,
    text: (kind = 'agent_message_chunk') =>
      told
        .map(({ update }) =>
          update.sessionUpdate === kind &&
          'content' in update &&
          !Array.isArray(update.content) &&
          update.content?.type === 'text'
            ? update.content.text
            : '',
        )
        .join(''),
    until,
    leave: () => opened.close(),
    breakWrites: () => {
      isBroken = true
    },
    stop: async () => {
      opened.close()
      connection.close()
      await connection.ended
      if (!parts.host) await host.stop()
      checks.expectValid()
    },
  }
}

type See = (from: 'client' | 'agent', message: AnyMessage) => void

/** Two ends of a wire; each message is copied through JSON. */
export function createStreams(see: See): readonly [agent: Stream, client: Stream] {
  const open = (from: 'client' | 'agent') =>
    new TransformStream<AnyMessage, AnyMessage>({
      transform: (message, controller) => {
        const copy = JSON.parse(JSON.stringify(message)) as AnyMessage // the message just written
        see(from, copy)
        controller.enqueue(copy)
      },
    })
  const toAgent = open('client')
  const toClient = open('agent')
  return [
    { readable: toAgent.readable, writable: toClient.writable },
    { readable: toClient.readable, writable: toAgent.writable },
  ]
}
