// Performs one run of a server tool. The tool may throw, hang or ignore its signal: the machine's clock settles its call anyway.
import type {
  Generated,
  GenerateRequest,
  JsonObject,
  JsonValue,
  OutputOf,
  Question,
  Schema,
  Session,
  SessionOptions,
  Tool,
  ToolContext,
  PlanEntry,
} from '@baton/core/internal'
import {
  BatonError,
  ERROR_CODES,
  isErrorCode,
  isJsonObject,
  isStandardSchema,
  parseJson,
  readErrorLayer,
  readSchema,
  toJsonSchema,
} from '@baton/core/internal'
import { findBackground, readBackground } from './background.ts'
import type { HostReport, OpenCall, Outcome, State } from '@baton/core/machine'
import { describeThrown } from '../describe-thrown.ts'
import type { ToolQuestions } from './tool-questions.ts'
import { generate } from './generate.ts'
import { guardSignal } from './aborting.ts'
import { readConversation } from './request.ts'
import type { RunTool, ToolJob } from './jobs.ts'
import { describeToolFailure, INLINE_CHARS, refuseDetails, stringifyResult, toOutcome } from './tool-result.ts'
import { runWithRetry } from './tool-retry.ts'
import { remindersOf, ToolSessions } from './tool-sessions.ts'
import type { ToolIo, WorkContext } from './work.ts'

/** Maximum UTF-16 units of an error's message in the host's log. */
const LOGGED_CHARS = 500
/** Maximum UTF-16 units of a progress note. */
const NOTE_CHARS = 4096

/** A tool run's access to its session. */
export interface ToolPlace extends Pick<ToolIo, 'history' | 'cancellation' | 'isClosed' | 'live'> {
  readonly questions: Pick<ToolQuestions, 'ask'>
  readonly report: (report: HostReport) => void
}

export function createToolJob(
  state: State,
  call: Pick<OpenCall, 'name' | 'arguments'>,
  { callId, attempt }: RunTool,
): ToolJob {
  const { session, principal, counters } = state
  const turn = state.turn?.turn ?? counters.turn
  return {
    session,
    principal,
    turn,
    toEntry: counters.entry,
    callId,
    attempt,
    name: call.name,
    arguments: call.arguments,
    models: state.turn?.models.slice(state.turn.candidate) ?? [],
  }
}

export function createToolIo({ callId, attempt }: Pick<ToolJob, 'callId' | 'attempt'>, place: ToolPlace): ToolIo {
  const { history, cancellation, isClosed, live, questions, report } = place
  return {
    history,
    cancellation,
    isClosed,
    live,
    plan: (entries) => report({ type: 'plan-set', callId, attempt, entries }),
    used: (model, usage) => report({ type: 'model-used', callId, attempt, model, usage }),
    ask: (question) => questions.ask(callId, attempt, question),
  }
}

/** Created on demand: most tools set no plan and open no session. */
interface ToolRun {
  plans?: ToolPlans
  sessions?: ToolSessions
  isPure: boolean
  isOver: boolean
}

/** Reports `tool-finished`; undefined if the call ended before the tool began. Never rejects. */
export async function performTool(context: WorkContext, job: ToolJob, io: ToolIo): Promise<HostReport | undefined> {
  const { callId, attempt, session, name } = job
  const run: ToolRun = { isPure: false, isOver: false }
  let outcome: Outcome
  try {
    const tool = context.tools.find((candidate) => candidate.name === name)
    const execute = tool?.execute ?? tool?.fallback
    if (!tool || !execute)
      throw new BatonError({ code: 'tool_gone', message: `the tool "${name}" of ${callId} no longer exists` })
    run.isPure = tool.effect === 'pure'
    const input = await validateInput(context, job, tool)
    // The call settled while its arguments were checked, or its session has another owner: it must not begin.
    if (io.cancellation.signal.aborted) return undefined
    const given: Parameters<Execute> = [input, createContext(context, job, io, run)]
    const value = await (tool.retry
      ? runWithRetry(tool, { ...context, ...job, cancellation: io.cancellation }, () =>
          start(context, job, execute, given),
        )
      : context.runTool
        ? context.runTool(job, execute, ...given)
        : execute(...given))
    if (tool.output) await checkOutput(context, tool, value)
    else if (typeof value !== 'string') refuseDetails(value)
    if (io.isClosed()) return undefined
    // The usual case. Other results are bounded, and their images and files stored.
    const isShort = typeof value === 'string' && value.length <= INLINE_CHARS
    if (isShort) outcome = { type: 'ok', content: [{ type: 'text', text: value }] }
    else outcome = await toOutcome(value, { context, session, callId })
  } catch (thrown) {
    outcome = describeToolFailure(thrown, context.secrets)
    logFailure(context, job, outcome)
  } finally {
    run.isOver = true
    run.sessions?.end()
  }
  run.plans?.end()
  return { type: 'tool-finished', callId, attempt, outcome }
}

type Execute = NonNullable<Tool['execute']>

function start({ runTool }: WorkContext, job: ToolJob, execute: Execute, given: Parameters<Execute>): unknown {
  return runTool ? runTool(job, execute, ...given) : execute(...given)
}

/** A log line for operators. A tool's error about its input concerns only the model, so it is not a warning. */
function logFailure({ log }: WorkContext, { session, callId, name }: ToolJob, outcome: Outcome): void {
  if (outcome.type !== 'error' || !isErrorCode(outcome.code)) return
  const { code, message } = outcome
  const layer = readErrorLayer(code)
  const { fault } = ERROR_CODES[code]
  const about = { session, callId, tool: name, code, layer, fault, cause: message.slice(0, LOGGED_CHARS) }
  if (layer === 'tool') log.info('a tool failed', about)
  else log.warn('a tool failed', about)
}

/** @throws BatonError `invalid_arguments` */
async function validateInput(context: WorkContext, job: ToolJob, tool: Tool): Promise<unknown> {
  const known = context.validated.take(job.name, job.arguments)
  if (known) return known.value
  const { arguments: given } = readBackground(findBackground(context.agent, job.name, tool), job.arguments)
  const checked = await context.validator.validate(tool, given)
  if (checked.ok) return checked.value
  throw new BatonError({ code: 'invalid_arguments', message: checked.issues })
}

async function checkOutput(context: WorkContext, tool: Tool, value: unknown): Promise<void> {
  if (!tool.output) return
  const checked = await context.validator.validate(
    { input: tool.output, subject: 'the result is' },
    stringifyResult(value),
  )
  if (!checked.ok)
    throw new BatonError({
      code: 'result_invalid',
      message: `the result of "${tool.name}" is wrong: ${checked.issues}`,
    })
}

function createContext(context: WorkContext, job: ToolJob, io: ToolIo, run: ToolRun): ToolContext {
  let questions = 0
  let generations = 0
  const { callId, attempt, session, principal } = job
  // Created for every call: a lazy accessor costs more than the signal.
  const signal = guardSignal(io.cancellation.signal, (cause) =>
    context.log.warn('an abort listener of a tool failed', { callId, cause: describeThrown(cause) }),
  )
  return {
    session,
    agent: context.agent.name,
    principal: { id: principal },
    callId,
    turn: job.turn,
    attempt,
    // An early run may be lost with its answer: the next call has its id, perhaps with other arguments.
    get idempotencyKey() {
      return `${session}/${callId}${run.isPure ? `/${context.digest(job.arguments)}` : ''}`
    },
    signal,
    services: context.services,
    log: context.log,
    messages: () => readConversation(context, session, io.history.messages(0, job.toEntry)),
    progress: (note: JsonValue) => {
      const shown = copyNote(note)
      if (shown === undefined)
        context.log.warn('a progress note is too long or not JSON', { callId, limit: NOTE_CHARS })
      else io.live({ type: 'tool-progress', callId, note: shown })
    },
    plan: (entries) => (run.plans ??= new ToolPlans(context, job, io)).set(entries),
    ask: async <Answer extends Schema>(question: Question<Answer>) => {
      const schema = describeAnswer(question)
      const answer = await io.ask({ ...question, schema, n: (questions += 1) })
      return (await readAnswer(question, answer)) as OutputOf<Answer> // by the question's own schema
    },
    generate: async <Output extends Schema>(request: GenerateRequest<Output>) =>
      (await generate({ context, job, io, signal }, request, (generations += 1))) as Generated<OutputOf<Output>>, // by its own schema
    reminders: async () => remindersOf(await sessionsOf(context, job, run).own(), io.history.untrusted().length > 0),
    openSession: async (id?: string, options?: SessionOptions) =>
      (await sessionsOf(context, job, run).open(id, options)) as Session<never>, // the same session, with its agent's types
  }
}

/**
 * The JSON Schema that the user sees, and that later checks the answer.
 * @throws BatonError `question_refused` if the value is not a schema, or the schema cannot describe itself
 */
function describeAnswer({ schema }: Question): JsonObject {
  try {
    if (!isStandardSchema(schema)) {
      const [fault] = isJsonObject(schema) ? readSchema(schema).faults : []
      if (fault) throw new Error([fault.path, fault.message].filter((part) => part !== '').join(': '))
      return schema // `checkQuestion` refuses anything but an object
    }
    // A copy: a library may attach itself to its JSON Schema, and that must not reach the log.
    const copy = parseJson(JSON.stringify(toJsonSchema(schema)))
    return copy.ok && isJsonObject(copy.value) ? copy.value : {}
  } catch (cause) {
    const message = `the question cannot be asked: its schema is wrong: ${describeThrown(cause)}`
    throw new BatonError({ code: 'question_refused', message })
  }
}

/** @throws BatonError `question_refused` */
async function readAnswer({ schema }: Question, answer: JsonValue): Promise<unknown> {
  if (!isStandardSchema(schema)) return answer
  const result = await schema['~standard'].validate(answer)
  if (!result.issues) return result.value
  const issues = result.issues.map(({ message }) => message).join('; ')
  throw new BatonError({ code: 'question_refused', message: `the answer does not fit: ${issues}` })
}

/** A copy, because the tool may change its own later. An invalid note does not make the tool fail. */
function copyNote(note: JsonValue): JsonValue | undefined {
  try {
    const text = stringifyResult(note)
    const parsed = text.length <= NOTE_CHARS ? parseJson(text) : undefined
    return parsed?.ok ? parsed.value : undefined
  } catch {
    return undefined
  }
}

function sessionsOf(context: WorkContext, job: ToolJob, run: ToolRun): ToolSessions {
  return (run.sessions ??= new ToolSessions(context, job, () => run.isOver))
}

/** Maximum UTF-16 units of a plan as JSON. */
const PLAN_CHARS = 262_144
/** Milliseconds between two recorded plans of one run. */
const PAUSE_MS = 250
const STATUSES: ReadonlySet<unknown> = new Set<PlanEntry['status']>(['pending', 'in_progress', 'completed'])
const PRIORITIES: ReadonlySet<unknown> = new Set<PlanEntry['priority']>([undefined, 'high', 'medium', 'low'])

export class ToolPlans {
  readonly #context: WorkContext
  readonly #job: ToolJob
  readonly #io: ToolIo
  /** The last recorded plan as JSON. */
  #told = ''
  #waiting: { readonly entries: readonly PlanEntry[]; readonly text: string } | undefined
  #stopPause: (() => void) | undefined

  constructor(context: WorkContext, job: ToolJob, io: ToolIo) {
    this.#context = context
    this.#job = job
    this.#io = io
  }

  /** Logs an invalid plan; people still see the last valid one. */
  set(given: readonly PlanEntry[]): void {
    const { callId } = this.#job
    const plan = copyPlan(given)
    if (typeof plan === 'string') this.#context.log.warn('a plan is not shown', { callId, cause: plan })
    else this.#waiting = plan
    if (!this.#stopPause) this.#tell()
  }

  /** Call at the end of the run: records the last plan. */
  end(): void {
    this.#stopPause?.()
    this.#stopPause = undefined
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting && waiting.text !== this.#told) this.#io.plan(waiting.entries)
  }

  #tell(): void {
    this.#stopPause = undefined
    const waiting = this.#waiting
    this.#waiting = undefined
    if (!waiting || waiting.text === this.#told) return
    this.#told = waiting.text
    this.#io.plan(waiting.entries)
    this.#stopPause = this.#context.timers.start(PAUSE_MS, () => this.#tell())
  }
}

/** A copy with its JSON, or what is wrong with it. The plan comes from foreign code. */
function copyPlan(given: unknown): { readonly entries: readonly PlanEntry[]; readonly text: string } | string {
  let text: string
  try {
    text = stringifyResult(given)
  } catch {
    return 'it is not JSON'
  }
  if (text.length > PLAN_CHARS) return `it has ${text.length} characters; the limit is ${PLAN_CHARS}`
  const parsed = parseJson(text)
  if (!parsed.ok || !Array.isArray(parsed.value)) return 'it is not an array of entries'
  const wrong = parsed.value.findIndex((entry) => !isEntry(entry))
  if (wrong >= 0)
    return `entry ${wrong} must be { content, status: "pending", "in_progress" or "completed", priority?: "high", "medium" or "low" }`
  const entries = (parsed.value as unknown as readonly PlanEntry[]).map(({ content, status, priority }) => ({
    content,
    status,
    ...(priority && { priority }),
  }))
  return { entries, text: JSON.stringify(entries) }
}

function isEntry(entry: unknown): boolean {
  const { content, status, priority } = (entry ?? {}) as Partial<Record<keyof PlanEntry, unknown>>
  return typeof content === 'string' && STATUSES.has(status) && PRIORITIES.has(priority)
}
