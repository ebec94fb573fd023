// Calls that an MCP server runs as tasks, polled until they end. Two forms: the tasks of 2025-11-25, requested by the
// client, and the extension `io.modelcontextprotocol/tasks` of 2026-07-28, where the server decides.
import type { Timers } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { CallToolRequest, CallToolResult, Client, RequestOptions } from '@modelcontextprotocol/client'
import { ProtocolError } from '@modelcontextprotocol/client'
import { z } from 'zod'

/** The SDK does not accept a task as a result. This field of the result's `_meta` carries it through. */
const CARRIED = 'baton/task'

const POLL_MS = { least: 50, most: 10_000, usual: 500 } as const

const Task = z.looseObject({
  taskId: z.string().min(1),
  status: z.string(),
  statusMessage: z.string().optional(),
  pollInterval: z.number().optional(),
  pollIntervalMs: z.number().optional(),
  result: z.looseObject({}).optional(),
  error: z.looseObject({ message: z.string().optional() }).optional(),
  inputRequests: z.record(z.string(), z.unknown()).optional(),
})
type Task = z.infer<typeof Task>
const CreateTask = z.looseObject({ task: Task })
const Anything = z.looseObject({})

export interface TaskPlace {
  readonly client: Client
  readonly timers: Timers
  /** Includes the call's signal. */
  readonly options: RequestOptions & { readonly signal: AbortSignal }
  /** Sends a call for the first time. */
  readonly begin: <Result>(act: () => Promise<Result>) => Promise<Result>
  /** Sends a request that may need a login. */
  readonly withLogin: <Result>(act: () => Promise<Result>) => Promise<Result>
  /** Creates the error for a task whose end cannot be awaited. */
  readonly lose: (thrown: unknown) => BatonError
  /** Answers the server's questions during a task (2026-07-28). */
  readonly answer: (requests: Readonly<Record<string, unknown>>) => Promise<Readonly<Record<string, unknown>>>
}

/** Carries a task through the SDK as a result. Call it with each message before the SDK reads it. */
export function carryTask(message: object): void {
  const { result } = message as {
    result?: { resultType?: unknown; content?: unknown; structuredContent?: unknown; _meta?: object }
  }
  if (typeof result !== 'object' || result === null || result.resultType !== 'task') return
  const task = { ...result }
  result.resultType = 'complete'
  result.content = []
  // The SDK requires a value if the tool has an output schema. The host checks the task's own result.
  result.structuredContent = {}
  result._meta = { ...result._meta, [CARRIED]: task }
}

/** The task in a result. @throws BatonError `api_malformed`, because a malformed task would otherwise count as done */
export function readCarriedTask(result: CallToolResult): Task | undefined {
  const carried = result._meta?.[CARRIED]
  if (carried === undefined) return undefined
  const parsed = Task.safeParse(carried)
  if (parsed.success) return parsed.data
  const message = `it answered with an invalid task: ${z.prettifyError(parsed.error).slice(0, 300)}`
  throw new BatonError({ code: 'api_malformed', message })
}

/** Asks the server to run a call as a task of 2025-11-25. */
export async function callAsTask(params: CallToolRequest['params'], place: TaskPlace): Promise<CallToolResult> {
  const { client, options, begin, withLogin, lose } = place
  const asked = { method: 'tools/call', params: { ...params, task: {} } }
  const answer = await begin(() => client.request(asked, Anything, options))
  const created = CreateTask.safeParse(answer)
  // The server ran the call at once.
  if (!created.success && Array.isArray(answer['content'])) return answer as CallToolResult
  const { task } = CreateTask.parse(answer)
  return followTask(task, place, async ({ taskId }) => {
    const { onprogress: _, ...quiet } = options
    const read = () => client.request({ method: 'tasks/result', params: { taskId } }, Anything, quiet)
    return (await withLogin(read).catch((thrown: unknown) => {
      // The call's own error arrives instead of its result.
      throw options.signal.aborted || ProtocolError.isInstance(thrown) ? thrown : lose(thrown)
    })) as CallToolResult
  })
}

/** Polls a task of 2026-07-28 until it ends. */
export function awaitTask(task: Task, place: TaskPlace): Promise<CallToolResult> {
  // Unchecked JSON from the server; its readers assume nothing about it.
  return followTask(task, place, ({ result }) => Promise.resolve(result as unknown as CallToolResult))
}

/** @throws BatonError `api_failed`, `tool_failed`; the signal's reason after an abort */
async function followTask(
  first: Task,
  place: TaskPlace,
  readResult: (task: Task) => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const { client, options, withLogin, lose } = place
  const { taskId } = first
  const poll = () => client.request({ method: 'tasks/get', params: { taskId } }, Task, { signal: options.signal })
  const isOld = client.getProtocolEra() !== 'modern'
  const answered = new Set<string>()
  let task = first
  try {
    for (;;) {
      options.signal.throwIfAborted()
      if (task.status === 'completed') return await readResult(task)
      if (task.status === 'failed' && isOld) return await readResult(task)
      if (task.status === 'failed' || task.status === 'cancelled') throw tellEnd(task)
      // In the older form, questions arrive while waiting for the result.
      if (task.status === 'input_required' && isOld) return await readResult(task)
      if (task.status === 'input_required') await answerTask(task, answered, place)
      await wait(task, place)
      task = await withLogin(poll).catch((thrown: unknown) => {
        throw options.signal.aborted ? thrown : lose(thrown)
      })
    }
  } catch (thrown) {
    if (options.signal.aborted)
      void client.request({ method: 'tasks/cancel', params: { taskId } }, Anything, { timeout: 5_000 }).catch(() => {
        // The task may have ended, or its server is unreachable. The call has ended either way.
      })
    throw thrown
  }
}

async function answerTask(task: Task, answered: Set<string>, { client, options, answer }: TaskPlace): Promise<void> {
  const open = Object.entries(task.inputRequests ?? {}).filter(([key]) => !answered.has(key))
  if (open.length === 0) return
  const inputResponses = await answer(Object.fromEntries(open))
  for (const [key] of open) answered.add(key)
  const params = { taskId: task.taskId, inputResponses }
  await client.request({ method: 'tasks/update', params }, Anything, { signal: options.signal })
}

function wait({ pollIntervalMs, pollInterval }: Task, { timers, options }: TaskPlace): Promise<void> {
  const asked = pollIntervalMs ?? pollInterval ?? POLL_MS.usual
  const delayMs = Math.min(Math.max(asked, POLL_MS.least), POLL_MS.most)
  return new Promise((resolve, reject) => {
    const { signal } = options
    const onAbort = (): void => {
      stop()
      reject(signal.reason as Error) // set by the abort
    }
    const stop = timers.start(delayMs, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

function tellEnd({ status, statusMessage, error }: Task): BatonError {
  const why = error?.message ?? statusMessage ?? 'the server gave no reason'
  return new BatonError({
    code: status === 'failed' ? 'api_failed' : 'tool_failed',
    message: `the task ${status}: ${why}`,
  })
}
