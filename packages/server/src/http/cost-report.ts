// The costs of a period, its slow tools, and its failures: counted from the logs, which have every step,
// call and failure. The report says how much it has read, and what it left out.
import type { SessionInfo, SessionQuery, Usage } from '@baton/core/internal'
import type { Fact, SessionRecord } from '@baton/core/machine'
import type { Call, HandlerParts } from './handler-parts.ts'
import { answerJsonText, answerRefusal } from './http-errors.ts'
import { readTime } from './requests.ts'
import { createInvalid } from './ui-messages.ts'

/** Maximum logs that one report reads, the newest first, and sessions that it counts. */
const SESSIONS_MAX = 500
const LISTED_MAX = 5000
const PAGE = 200
/** Records that one report reads. */
const RECORDS_MAX = 500_000
/** Different rows of each table; more are left out. */
const ROWS_MAX = 5000
/** Failures that one report lists one by one; further ones are only counted. */
const FAILED_MAX = 500
/** Characters of a failure's message in the list. */
const MESSAGE_CHARS = 500
/** Durations of one tool that are kept for its median; later ones still count. */
const DURATIONS_MAX = 10_000

export interface Costs extends CostTables {
  readonly fromMs: number
  readonly toMs: number
  readonly sessionsRead: number
  /** Sessions of the period that were not read. */
  readonly sessionsLeft: number
  /** There are more of them than were counted. */
  readonly more: boolean
  /** A table was full, or the records of a log exceeded the limit. */
  readonly cut: boolean
}

interface CostTables {
  readonly rows: readonly CostRow[]
  readonly tools: readonly ToolCost[]
  readonly failures: readonly FailureCount[]
  /** Single failures, the newest first; at most 500. */
  readonly failed: readonly Failed[]
}

export interface CostRow {
  readonly day: string
  readonly agent: string
  readonly model: string
  readonly steps: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  /** Millionths of a US dollar; absent until a step with a price was counted. */
  readonly costMicros?: number
}

export interface ToolCost {
  readonly name: string
  readonly agent: string
  readonly calls: number
  readonly failed: number
  /** Milliseconds; absent if none has ended. */
  readonly ms?: { readonly median: number; readonly p95: number; readonly max: number } | undefined
}

export interface FailureCount {
  readonly code: string
  readonly tool?: string
  readonly count: number
  readonly example: { readonly session: string; readonly callId?: string }
}

/** One failure: a turn that failed, or a call without a result. */
export interface Failed {
  readonly atMs: number
  readonly session: string
  readonly principal: string
  readonly agent: string
  readonly code: string
  readonly message?: string
  readonly tool?: string
  readonly callId?: string
  /** Calls that lead to the session of a delegated agent. */
  readonly path?: readonly string[]
}

type Mutable<Counted> = { -readonly [Field in keyof Counted]: Counted[Field] }

interface CountedTool extends Mutable<Omit<ToolCost, 'ms'>> {
  readonly ms: number[]
}

interface CostRange {
  readonly fromMs: number
  readonly toMs: number
}

/** A session whose log is counted. */
interface Counted {
  readonly id: string
  readonly principal: string
  readonly path?: readonly string[]
}

export class CostReport {
  readonly #range: CostRange
  readonly #rows = new Map<string, Mutable<CostRow>>()
  readonly #tools = new Map<string, CountedTool>()
  readonly #failures = new Map<string, Mutable<FailureCount>>()
  readonly #failed: Failed[] = []
  records = 0
  /** Whether a table was full, or the records of a log exceeded the limit. */
  isCut = false

  constructor(range: CostRange) {
    this.#range = range
  }

  /** Counts the log of one session. Returns whether it has sessions of other agents below. */
  async add(session: Counted, log: AsyncIterable<SessionRecord>): Promise<boolean> {
    const counting: Counting = { session, agent: '', calls: new Map() }
    let hasChildren = false
    for await (const record of log) {
      if (this.records >= RECORDS_MAX) {
        this.isCut = true
        break
      }
      this.records += 1
      const atMs = record.wallMs ?? record.nowMs
      const isMeant = atMs >= this.#range.fromMs && atMs < this.#range.toMs
      for (const fact of record.facts) {
        hasChildren ||= fact.type === 'child-begun'
        this.#note(fact, record, counting)
        if (isMeant) this.#count(fact, { ...record, atMs }, counting)
      }
    }
    return hasChildren
  }

  view(): CostTables {
    const rows = [...this.#rows.values()].toSorted((one, other) => (one.day < other.day ? 1 : -1))
    const tools = [...this.#tools.values()].map(({ ms, ...row }) => ({ ...row, ms: summarise(ms) }))
    const failures = [...this.#failures.values()].toSorted((one, other) => other.count - one.count)
    const failed = this.#failed.toSorted((one, other) => other.atMs - one.atMs)
    return { rows, tools, failures, failed }
  }

  /** Remembers what later facts refer to, whatever the period. */
  #note(fact: Fact, { nowMs }: SessionRecord, counting: Counting): void {
    if (fact.type === 'session-opened') counting.agent = fact.agent
    if (fact.type === 'agent-changed' && fact.agent !== undefined) counting.agent = fact.agent
    if (fact.type === 'step-finished')
      for (const { callId, name } of fact.calls) counting.calls.set(callId, { name, beganMs: undefined })
    if (fact.type === 'call-started' || fact.type === 'call-claimed') {
      const call = counting.calls.get(fact.callId)
      if (call) call.beganMs ??= nowMs
    }
  }

  #count(fact: Fact, { nowMs, atMs }: SessionRecord & { readonly atMs: number }, counting: Counting): void {
    const { calls } = counting
    if (fact.type === 'step-finished' || fact.type === 'model-used' || fact.type === 'summary-finished')
      this.#addUsage(fact, atMs, counting)
    // The attempt that failed for good ends its turn, which has the same error.
    if (fact.type === 'turn-finished' && fact.error) this.#addFailure(counting, { atMs, ...fact.error })
    if ((fact.type !== 'call-settled' || fact.task) && fact.type !== 'task-settled') return
    const { callId, settlement } = fact
    const call = calls.get(callId)
    calls.delete(callId)
    if (!call) return
    const row = this.#room(this.#tools, `${counting.agent}\n${call.name}`, () => ({
      name: call.name,
      agent: counting.agent,
      calls: 0,
      failed: 0,
      ms: [],
    }))
    if (row) row.calls += 1
    if (row && call.beganMs !== undefined && row.ms.length < DURATIONS_MAX) row.ms.push(nowMs - call.beganMs)
    if (settlement.type === 'ok') return
    if (row) row.failed += 1
    const code = 'code' in settlement ? settlement.code : settlement.type
    const message = 'message' in settlement ? settlement.message : undefined
    this.#addFailure(counting, { atMs, code, callId, tool: call.name, ...(message !== undefined && { message }) })
  }

  #addUsage(
    fact: { readonly type: string; readonly usage: Usage; readonly model?: string },
    atMs: number,
    { agent }: Counting,
  ): void {
    const day = new Date(atMs).toISOString().slice(0, 10)
    const model = fact.model ?? 'summary'
    const begin: Mutable<CostRow> = { day, agent, model, steps: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
    const row = this.#room(this.#rows, `${day}\n${agent}\n${model}`, () => begin)
    if (!row) return
    const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, costMicros } = fact.usage
    if (fact.type === 'step-finished') row.steps += 1
    row.inputTokens += inputTokens
    row.outputTokens += outputTokens
    row.cachedTokens += cacheReadTokens
    if (costMicros !== undefined) row.costMicros = (row.costMicros ?? 0) + costMicros
  }

  #addFailure(
    { session, agent }: Counting,
    failure: Pick<Failed, 'atMs' | 'code' | 'message' | 'tool' | 'callId'>,
  ): void {
    const { atMs, code, message, tool, callId } = failure
    const { id, principal, path } = session
    const about = { ...(tool !== undefined && { tool }), ...(callId !== undefined && { callId }) }
    const said = message === undefined ? {} : { message: message.slice(0, MESSAGE_CHARS) }
    if (this.#failed.length < FAILED_MAX)
      this.#failed.push({ atMs, session: id, principal, agent, code, ...said, ...about, ...(path && { path }) })
    const example = { session: id, ...(callId !== undefined && { callId }) }
    const begin = { code, ...(tool !== undefined && { tool }), count: 0, example }
    const row = this.#room(this.#failures, `${code}\n${tool ?? ''}`, () => begin)
    if (row) row.count += 1
  }

  #room<Kept>(table: Map<string, Kept>, key: string, create: () => Kept): Kept | undefined {
    const known = table.get(key)
    if (known) return known
    if (table.size >= ROWS_MAX) {
      this.isCut = true
      return undefined
    }
    const created = create()
    table.set(key, created)
    return created
  }
}

interface Counting {
  readonly session: Counted
  agent: string
  readonly calls: Map<string, { readonly name: string; beganMs: number | undefined }>
}

/** Milliseconds; undefined without a duration. */
function summarise(ms: readonly number[]): ToolCost['ms'] {
  if (ms.length === 0) return undefined
  const sorted = ms.toSorted((one, other) => one - other)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { median: at(0.5), p95: at(0.95), max: at(1) }
}

/** Milliseconds of a report without `from`. */
const PERIOD_MS = 30 * 86_400_000

export async function answerCosts({ host, world }: HandlerParts, call: Call): Promise<Response> {
  const { url } = call
  const { views, sessions } = host
  if (!views || !sessions) return answerRefusal(501, 'invalid_option', 'this host cannot read its logs')
  const toMs = readTime(url, 'to') ?? world.clock.nowMs() + 1
  const fromMs = readTime(url, 'from') ?? toMs - PERIOD_MS
  const format = url.searchParams.get('format') ?? (wantsCsv(call.request) ? 'csv' : 'json')
  if (format !== 'json' && format !== 'csv') throw createInvalid('format must be json or csv')
  const agent = url.searchParams.get('agent')
  const owner = url.searchParams.get('principal')
  const about = { ...(agent !== null && { agent }), ...(owner !== null && { principal: { id: owner } }) }
  const { listed, more } = await listSessions(sessions, { since: fromMs, ...about }, toMs)
  const report = new CostReport({ fromMs, toMs })
  let sessionsRead = 0
  for (const { id, principal } of listed.slice(0, SESSIONS_MAX)) {
    if (report.records >= RECORDS_MAX || call.request.signal.aborted) break
    const counted = { id, principal: principal.id }
    const hasChildren = await report.add(counted, views.log(id))
    sessionsRead += 1
    if (!hasChildren) continue
    for (const { path } of await views.children(id)) await report.add({ ...counted, path }, views.log(id, { path }))
  }
  const left = { fromMs, toMs, sessionsRead, sessionsLeft: listed.length - sessionsRead, more, cut: report.isCut }
  const view: Costs = { ...report.view(), ...left }
  if (format === 'json') return answerJsonText(200, call.write(view))
  const name = `attachment; filename="costs-${new Date(fromMs).toISOString().slice(0, 10)}.csv"`
  return answerJsonText(200, toCsv(view.rows), {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': name,
  })
}

function wantsCsv({ headers }: Request): boolean {
  return headers.get('accept')?.includes('text/csv') === true
}

async function listSessions(
  list: NonNullable<HandlerParts['host']['sessions']>,
  query: Pick<SessionQuery, 'since' | 'agent' | 'principal'>,
  toMs: number,
): Promise<{ readonly listed: readonly SessionInfo[]; readonly more: boolean }> {
  const listed: SessionInfo[] = []
  let cursor: string | undefined
  do {
    const page = await list({ ...query, limit: PAGE, ...(cursor !== undefined && { cursor }) })
    listed.push(...page.sessions.filter(({ createdMs }) => createdMs < toMs))
    cursor = page.cursor
  } while (cursor !== undefined && listed.length < LISTED_MAX)
  return { listed, more: cursor !== undefined }
}

const COLUMNS = ['day', 'agent', 'model', 'steps', 'inputTokens', 'outputTokens', 'cachedTokens', 'costMicros'] as const

function toCsv(rows: readonly CostRow[]): string {
  const lines = rows.map((row) => COLUMNS.map((column) => toCell(row[column] ?? '')).join(','))
  return [COLUMNS.join(','), ...lines].map((line) => `${line}\r\n`).join('')
}

/** A text that begins like a formula gets a quote before it: a spreadsheet would run it. */
function toCell(value: string | number): string {
  if (typeof value === 'number') return `${value}`
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
