// The plans that one run of a tool sets. A tool may set any number; the newest counts, and few become records.
import type { PlanEntry } from '@baton/core/internal'
import { parseJson } from '@baton/core/internal'
import type { ToolJob } from './jobs.ts'
import { stringifyResult } from './tool-result.ts'
import type { ToolIo, WorkContext } from './work.ts'

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
