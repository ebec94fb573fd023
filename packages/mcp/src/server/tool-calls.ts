// `tools/call`: one call of one client, for both protocol revisions. A question during the call is sent on the call's
// own stream (2025-11-25), or returned to the client with a signed state that leads its answer back to the same call
// (2026-07-28).
import type { JsonObject, Session } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'
import type { CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server'
import { ProtocolError, ProtocolErrorCode, inputRequired } from '@modelcontextprotocol/server'
import type { CallPlace, ClientCalls } from './client-calls.ts'
import type { Exposed, Offered } from './exposed.ts'
import type { Finish, LiveCall } from './live-call.ts'
import type { ServerParts } from './options.ts'
import type { Waiting } from './questions.ts'
import { decideWaiting, nameRequest, toElicitation } from './questions.ts'
import { relayProgress } from './progress.ts'
import { toMcpError, toMcpResult } from './results.ts'
import type { Task, Tasks } from './tasks.ts'

export interface CallPlaceState extends CallPlace {
  readonly tool: string
  /** Ids of approvals and questions, by the names given to the client. */
  readonly asked: Readonly<Record<string, string>>
}

export interface ToolCallsOptions {
  readonly parts: ServerParts
  readonly exposed: Exposed
  readonly calls: ClientCalls
  readonly tasks: Tasks
  readonly isModern: boolean
  /** Signs the state for a returning client. */
  readonly sign: (state: CallPlaceState, context: ServerContext) => Promise<string>
}

export interface ToolRequest {
  readonly name: string
  readonly arguments: JsonObject
  /** Capabilities declared by the client. */
  readonly canBeAsked: boolean
  readonly knowsTasks: boolean
  /** In protocol 2025-11-25: the client wants a task, stored for this many milliseconds. */
  readonly task?: { readonly ttl?: number | undefined } | undefined
}

interface CallFrame {
  readonly offered: Offered
  readonly request: ToolRequest
  readonly context: ServerContext
}

/** Times that an invalid answer is requested again within one request. */
const ASKED_AGAIN = 3
/** The SDK's maximum wait for a question; the question's own deadline ends it. */
const QUESTION_MS = 2_147_483_647
/** Maximum characters of a client's key. Baton's own keys contain the ids of a session and a call. */
const KEY_CHARS = 1_024

export class ToolCalls {
  readonly #init: ToolCallsOptions

  constructor(init: ToolCallsOptions) {
    this.#init = init
  }

  /** @throws ProtocolError for an unknown tool, and for another tool's state */
  async run(request: ToolRequest, context: ServerContext): Promise<CallToolResult | InputRequiredResult | Task> {
    const { exposed, isModern, tasks, calls } = this.#init
    const offered = await exposed.find(request.name)
    if (!offered) throw invalid(`there is no tool "${request.name.slice(0, 200)}"`)
    const wantsTask = offered.isLong && (isModern ? request.knowsTasks : request.task !== undefined)
    if (!offered.isLong && request.task && !isModern)
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `the tool "${request.name}" cannot run as a task`)
    try {
      const state = context.mcpReq.requestState<CallPlaceState>()
      if (state !== undefined) return await this.#goOn(offered, request, state, context)
      const begin = (): Promise<LiveCall> => this.#begin(offered, request, context)
      if (wantsTask) return await tasks.create(calls.principal.id, begin, request.task?.ttl)
      return await this.#attend(await begin(), offered, request, context)
    } catch (cause) {
      if (cause instanceof ProtocolError) throw cause
      return toMcpError(cause)
    }
  }

  /** Waits for a task's end, and sends its questions over this stream. */
  async attendTask(task: Task, context: ServerContext): Promise<CallToolResult> {
    const related = { 'io.modelcontextprotocol/related-task': { taskId: task.id } }
    await this.#ask(task.live, context, related, () => task.isOver)
    return task.result ?? toMcpError(new BatonError({ code: 'cancelled', message: 'the task was cancelled' }))
  }

  async #begin(offered: Offered, request: ToolRequest, context: ServerContext): Promise<LiveCall> {
    const { calls, parts } = this.#init
    const given = readKey(context.mcpReq._meta?.['baton/idempotencyKey'])
    const start = {
      asks: request.canBeAsked,
      finish: chooseFinish(offered),
      ...(given !== undefined && { key: given }),
    }
    if (offered.type === 'tool') return await calls.call(offered.tool.name, request.arguments, start)
    const { message, conversation } = request.arguments
    if (typeof message !== 'string' || message.trim() === '')
      throw new BatonError({ code: 'invalid_arguments', message: '"message" must be a non-empty string' })
    if (conversation !== undefined && typeof conversation !== 'string')
      throw new BatonError({ code: 'invalid_arguments', message: '"conversation" must be a string' })
    parts.log.info('an MCP client asks the agent', { agent: parts.agent.name, principal: calls.principal.id })
    return await calls.ask(message, conversation, start)
  }

  /** The client is back with answers: the same call continues. */
  async #goOn(
    offered: Offered,
    request: ToolRequest,
    state: CallPlaceState,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    if (state.tool !== request.name) throw invalid('the state belongs to another tool')
    const live = await this.#init.calls.find(state, chooseFinish(offered))
    const { inputResponses = {} } = context.mcpReq
    for (const [name, id] of Object.entries(state.asked)) {
      const response = inputResponses[name]
      if (response === undefined) continue
      // An invalid answer is requested again.
      await live.inOrder(async () => {
        const waiting = await findWaiting(live, id)
        return waiting && (await decideWaiting(live.session, waiting, response))
      })
    }
    return await this.#attend(live, offered, request, context)
  }

  async #attend(
    live: LiveCall,
    offered: Offered,
    request: ToolRequest,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { signal } = context.mcpReq
    const { timers } = this.#init.parts
    const leave = (): void => {
      // A tool that must not be stopped continues: its outcome is in the log, and a client with the key finds it.
      const isAsking = live.waiting.length > 0
      const goesOn = offered.type === 'tool' && offered.tool.onInterrupt !== 'cancel' && !isAsking
      if (!goesOn) live.cancel()
    }
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    const progress = relayProgress(live, context, timers)
    try {
      if (!this.#init.isModern) {
        await this.#ask(live, context, {}, () => false)
        return await live.over()
      }
      for (;;) {
        const change = live.changed()
        const open = await listOpen(live)
        if (live.result) return live.result
        if (open.length > 0) return await this.#sendBack(live, open, { offered, request, context })
        await change
      }
    } finally {
      await progress.end()
      signal.removeEventListener('abort', leave)
    }
  }

  async #sendBack(
    { session, inputId }: LiveCall,
    open: readonly Waiting[],
    { offered: { type }, request: { name }, context }: CallFrame,
  ): Promise<InputRequiredResult> {
    const requests = nameWaiting(open)
    const asked = Object.fromEntries(Object.entries(requests).map(([key, { id }]) => [key, id]))
    return inputRequired({
      inputRequests: toInputRequests(requests),
      requestState: await this.#init.sign({ session: session.id, inputId, type, tool: name, asked }, context),
    })
  }

  /** Asks each question of the call on this stream until the call has ended. Never rejects. */
  async #ask(live: LiveCall, context: ServerContext, meta: JsonObject, isOver: () => boolean): Promise<void> {
    const asking = new Map<string, AbortController>()
    while (!live.result && !isOver() && !context.mcpReq.signal.aborted) {
      const change = live.changed()
      const open = await listOpen(live)
      for (const [id, abort] of asking) if (!open.some((waiting) => waiting.id === id)) abort.abort()
      for (const waiting of open) {
        if (asking.has(waiting.id)) continue
        const abort = new AbortController()
        asking.set(waiting.id, abort)
        void this.#askOne(live, waiting, { context, meta, signal: abort.signal })
      }
      if (!live.result) await change
    }
    for (const abort of asking.values()) abort.abort()
  }

  async #askOne(
    { session }: LiveCall,
    waiting: Waiting,
    {
      context,
      meta,
      signal,
    }: { readonly context: ServerContext; readonly meta: JsonObject; readonly signal: AbortSignal },
  ): Promise<void> {
    const { log } = this.#init.parts
    const elicitation = { ...toElicitation(waiting), ...(Object.keys(meta).length > 0 && { _meta: meta }) }
    try {
      for (let round = 0; round < ASKED_AGAIN; round += 1) {
        const answer = await context.mcpReq.send(
          { method: 'elicitation/create', params: elicitation },
          { signal, timeout: QUESTION_MS },
        )
        const issue = await decideWaiting(session, waiting, answer)
        if (issue === undefined) return
        log.info('an MCP client gave an invalid answer', { session: session.id, issue })
      }
    } catch (cause) {
      if (signal.aborted) return
      log.info('an MCP client could not be asked', { session: session.id, cause: String(cause) })
    }
    await decideWaiting(session, waiting, { action: 'cancel' }).catch(() => {}) // the call has ended
  }
}

/** Requests to a task's client, for `tasks/get`. */
export function toInputRequests(requests: Readonly<Record<string, Waiting>>): InputRequiredRequests {
  return Object.fromEntries(
    Object.entries(requests).map(([key, waiting]) => [key, inputRequired.elicit(toElicitation(waiting))]),
  )
}

type InputRequiredRequests = NonNullable<InputRequiredResult['inputRequests']>

export function nameWaiting(waiting: readonly Waiting[]): Readonly<Record<string, Waiting>> {
  return Object.fromEntries(waiting.map((one) => [nameRequest(one), one]))
}

/** Keeps the requests that still wait: a call that was found again also reports those answered long ago. */
async function listOpen({ session, waiting }: LiveCall): Promise<readonly Waiting[]> {
  if (waiting.length === 0) return []
  const questions = (await session.questions()).map(({ questionId }) => questionId)
  const approvals = (await session.approvals()).map(({ approvalId }) => approvalId)
  const open = new Set([...questions, ...approvals])
  return waiting.filter(({ id }) => open.has(id))
}

/** Returns `undefined` for a request that no longer waits, once the call's events have caught up. */
async function findWaiting(live: LiveCall, id: string): Promise<Waiting | undefined> {
  const { session } = live
  for (;;) {
    const change = live.changed()
    const found = live.waiting.find((waiting) => waiting.id === id)
    if (found || live.result) return found
    const isQuestion = (await session.questions()).some(({ questionId }) => questionId === id)
    if (!isQuestion && !(await session.approvals()).some(({ approvalId }) => approvalId === id)) return undefined
    await change
  }
}

function chooseFinish(offered: Offered): Finish {
  return offered.type === 'tool' ? finishCall(offered.listed.outputSchema !== undefined) : finishTurn
}

function finishCall(needsValue: boolean): Finish {
  return async (session, calls, ended) => {
    if ('cause' in ended) return toMcpError(ended.cause)
    return await toMcpResult(calls, { media: (handle) => session.media(handle), needsValue })
  }
}

const finishTurn: Finish = (session: Session, _calls, ended) => {
  if ('cause' in ended) return Promise.resolve(toMcpError(ended.cause))
  const { text, stop } = ended.answer
  const told = { conversation: session.id, text, stop }
  return Promise.resolve({ content: [{ type: 'text', text }], structuredContent: told })
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}

export function readArguments(given: unknown): JsonObject {
  return isJsonObject(given) ? given : {}
}

/** Ignoring a malformed key could let a repeated call run twice. @throws ProtocolError */
function readKey(given: unknown): string | undefined {
  if (given === undefined || (typeof given === 'string' && given !== '' && given.length <= KEY_CHARS)) return given
  throw invalid(`_meta["baton/idempotencyKey"] must be a string of 1 to ${KEY_CHARS} characters`)
}
