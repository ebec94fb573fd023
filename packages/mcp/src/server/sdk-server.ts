// Creates the SDK's server for one client, or for one request of 2026-07-28: it lists what an agent offers, and passes
// on calls and tasks.
import type { JsonObject } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type {
  ClientCapabilities,
  JSONRPCRequest,
  Result,
  ServerCapabilities,
  ServerContext,
} from '@modelcontextprotocol/server'
import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  createRequestStateCodec,
  isInputRequiredResult,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { ClientCalls } from './client-calls.ts'
import type { Exposed } from './exposed.ts'
import type { ServerParts } from './options.ts'
import { decideWaiting } from './questions.ts'
import { TASKS_EXTENSION } from '../shared/platform.ts'
import { Task, POLL_MS } from './tasks.ts'
import type { Tasks } from './tasks.ts'
import type { CallPlaceState } from './tool-calls.ts'
import { ToolCalls, nameWaiting, readArguments, toInputRequests } from './tool-calls.ts'

export interface SdkServerOptions {
  readonly parts: ServerParts
  readonly exposed: Exposed
  readonly calls: ClientCalls
  readonly tasks: Tasks
  readonly isModern: boolean
  /** Signs the state that a client sends back. */
  readonly secret: string
}

const STATE_SECONDS = 86_400
/** Carries a task through the SDK, which does not accept one as a tool's result. */
const TASK_FIELD = 'baton/task'

const TaskParams = z.looseObject({ taskId: z.string() })
const NoParams = z.looseObject({})

export function createSdkServer(init: SdkServerOptions): Server {
  const { parts, exposed, calls, tasks, isModern, secret } = init
  // Only the asked principal can use the state.
  const codec = createRequestStateCodec<CallPlaceState>({
    key: secret,
    ttlSeconds: STATE_SECONDS,
    bind: () => calls.principal.id,
  })
  const server = new TaskServer(parts.info, {
    capabilities: describeCapabilities(isModern),
    ...(parts.instructions !== undefined && { instructions: parts.instructions }),
    requestState: { verify: (state, context) => codec.verify(state, context) },
  })
  server.onerror = (cause) =>
    parts.log.info('an MCP client sent an invalid message', { cause: cause.message.slice(0, 500) })
  const toolCalls = new ToolCalls({
    parts,
    exposed,
    calls,
    tasks,
    isModern,
    sign: (state, context) => codec.mint(state, context),
  })
  server.setRequestHandler('tools/list', async () => ({
    tools: (await exposed.list()).map(({ listed: { execution, ...listed } }) =>
      // In 2026-07-28 only the server decides about tasks.
      execution && !isModern ? { ...listed, execution } : listed,
    ),
  }))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const capabilities = readCapabilities(server, isModern, context)
    const called = await toolCalls.run(
      {
        name: params.name,
        arguments: readArguments(params.arguments),
        canBeAsked: canBeAsked(capabilities),
        knowsTasks: knowsTasks(capabilities),
        task: 'task' in params && isJsonObject(params.task) ? readWish(params.task) : undefined,
      },
      context,
    )
    if (called instanceof Task) return { content: [], _meta: { [TASK_FIELD]: writeCreated(called, isModern) } }
    if (isInputRequiredResult(called)) return called
    const listed = (await exposed.find(params.name))?.listed
    return server.projectCallToolResult(called, listed?.outputSchema)
  })
  addTaskMethods(server, { ...init, toolCalls })
  return server
}

interface TaskMethods extends SdkServerOptions {
  readonly toolCalls: ToolCalls
}

function addTaskMethods(server: Server, { parts, calls, tasks, isModern, toolCalls }: TaskMethods): void {
  const owner = calls.principal.id
  const find = (id: string, context: ServerContext): Task => {
    if (isModern && !knowsTasks(readCapabilities(server, true, context)))
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
      })
    const task = tasks.find(owner, id)
    if (task) return task
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'there is no such task')
  }
  server.setRequestHandler('tasks/get', { params: TaskParams }, ({ taskId }, context) =>
    writeTask(find(taskId, context), isModern),
  )
  server.setRequestHandler('tasks/cancel', { params: TaskParams }, ({ taskId }, context) => {
    const task = find(taskId, context)
    if (!isModern && task.isOver)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `the task is already ${task.status}`)
    task.cancel()
    return isModern ? {} : writeTask(task, false)
  })
  if (isModern) {
    server.setRequestHandler('tasks/update', { params: TaskParams }, async ({ taskId }, context) => {
      const { live } = find(taskId, context)
      // The SDK removes them from the parameters.
      for (const [name, response] of Object.entries(context.mcpReq.inputResponses ?? {}))
        await live.inOrder(async () => {
          const waiting = nameWaiting(live.waiting)[name]
          if (!waiting) return
          const issue = await decideWaiting(live.session, waiting, response)
          if (issue === undefined) return
          parts.log.info('an MCP client gave an invalid answer', { session: live.session.id, issue })
          live.askAgain(waiting.id)
        })
      return {}
    })
    return
  }
  server.setRequestHandler('tasks/list', { params: NoParams }, () => ({
    tasks: tasks.list(owner).map((task) => writeTask(task, false)),
  }))
  server.setRequestHandler('tasks/result', { params: TaskParams }, async ({ taskId }, context) => {
    const task = find(taskId, context)
    const result = await toolCalls.attendTask(task, context)
    return { ...result, _meta: { ...result._meta, 'io.modelcontextprotocol/related-task': { taskId } } }
  })
}

/**
 * The SDK validates tool results and does not allow tasks among them, so the task replaces the result after that check.
 */
class TaskServer extends Server {
  protected override _wrapHandler(
    method: string,
    handler: (request: JSONRPCRequest, context: ServerContext) => Promise<Result>,
  ): (request: JSONRPCRequest, context: ServerContext) => Promise<Result> {
    const wrapped = super._wrapHandler(method, handler)
    if (method !== 'tools/call') return wrapped
    return async (request, context) => {
      const result = await wrapped(request, context)
      const task = result._meta?.[TASK_FIELD]
      return isJsonObject(task) ? task : result
    }
  }
}

function describeCapabilities(isModern: boolean): ServerCapabilities {
  const tools = { listChanged: true }
  if (isModern) return { tools, extensions: { [TASKS_EXTENSION]: {} } }
  return { tools, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
}

function readCapabilities(server: Server, isModern: boolean, context: ServerContext): ClientCapabilities | undefined {
  // Fields of the request itself, validated by the SDK.
  const envelope = context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
  return isModern
    ? (envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined)
    : server.getClientCapabilities()
}

function knowsTasks(capabilities: ClientCapabilities | undefined): boolean {
  return capabilities?.extensions?.[TASKS_EXTENSION] !== undefined
}

/** Whether the client can show forms: `elicitation: {}` without a mode means forms. */
function canBeAsked(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation
  if (!elicitation) return false
  return elicitation.form !== undefined || elicitation.url === undefined
}

function readWish({ ttl }: JsonObject): { readonly ttl?: number } {
  return typeof ttl === 'number' && ttl > 0 ? { ttl } : {}
}

/**
 * A task in the format of either revision: nested, with `tasks/result` (2025-11-25), or flat, with its result inside
 * (the extension of 2026-07-28).
 * The answer to a call that became a task.
 */
function writeCreated(task: Task, isModern: boolean): JsonObject {
  const about = describeTask(task, isModern)
  return isModern ? { resultType: 'task', ...about } : { task: about }
}

/** The answer to `tasks/get`. */
function writeTask(task: Task, isModern: boolean): JsonObject {
  const about = describeTask(task, isModern)
  if (!isModern) return about
  const { status, result } = task
  if (status === 'completed') return { ...about, result: toJson(result) }
  if (status === 'input_required')
    return { ...about, inputRequests: toJson(toInputRequests(nameWaiting(task.live.waiting))) }
  return about
}

function describeTask(task: Task, isModern: boolean): JsonObject {
  const { id, status, message, createdAt, updatedAt, ttlMs } = task
  return {
    taskId: id,
    status,
    ...(message !== undefined && { statusMessage: message }),
    createdAt,
    lastUpdatedAt: updatedAt,
    ...(isModern ? { ttlMs, pollIntervalMs: POLL_MS } : { ttl: ttlMs, pollInterval: POLL_MS }),
  }
}

/** JSON, as the SDK's types guarantee. */
function toJson(value: unknown): JsonObject {
  return value as JsonObject
}
