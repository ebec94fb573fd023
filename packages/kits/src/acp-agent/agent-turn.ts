// One prompt to another agent, built from its updates: text, calls with their file changes, and the plan. Bounded
// regardless of what the agent sends.
import type { PlanEntry, SessionUpdate, ToolCall, ToolCallUpdate } from '@agentclientprotocol/sdk'
import type { JsonValue } from '@baton/core'

export interface AgentCall {
  readonly id: string
  readonly title: string
  readonly kind: string
  readonly status: string
  /** Changed files, as reported by the agent. */
  readonly diffs: readonly { readonly path: string; readonly oldText: string | null; readonly newText: string }[]
}

const TEXT_CHARS = 64_000
const CALLS_MAX = 200
const DIFFS_MAX = 50
const DIFF_CHARS = 8_000
const TITLE_CHARS = 300
/** Maximum updates per prompt. A well-behaved agent sends a few thousand. */
const UPDATES_MAX = 200_000
/** Maximum trailing characters of text in a progress update. */
const NOTE_CHARS = 400
const PLAN_MAX = 100

export class AgentTurn {
  readonly #calls = new Map<string, AgentCall>()
  #text = ''
  #wasText = false
  #plan: readonly { readonly content: string; readonly status: string }[] = []
  #updates = 0
  #isCut = false

  /** Returns false if the agent floods and must be ended. */
  take(update: SessionUpdate): boolean {
    this.#updates += 1
    if (this.isFlooded) return false
    const isText = update.sessionUpdate === 'agent_message_chunk'
    if (isText && update.content.type === 'text') this.#addText(String(update.content.text))
    if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') this.#addCall(update)
    if (update.sessionUpdate === 'plan') this.#plan = readPlan(update.entries)
    this.#wasText = isText
    return true
  }

  get isFlooded(): boolean {
    return this.#updates > UPDATES_MAX
  }

  /** Progress for people who watch: its current text and calls. */
  note(): JsonValue {
    const running = [...this.#calls.values()].filter(({ status }) => status === 'pending' || status === 'in_progress')
    return {
      text: this.#text.slice(-NOTE_CHARS).toWellFormed(),
      calls: this.#calls.size,
      ...(running.length > 0 && { running: running.slice(-3).map(({ title }) => title.slice(0, 120)) }),
      ...(this.#plan.length > 0 && {
        plan: this.#plan.slice(0, 10).map(({ content, status }) => `${status}: ${content.slice(0, 120)}`),
      }),
    }
  }

  result(): {
    readonly text: string
    readonly calls: Omit<AgentCall, 'diffs'>[]
    readonly diffs: AgentCall['diffs'][number][]
    readonly truncated: boolean
  } {
    const calls = [...this.#calls.values()]
    const diffs = calls.flatMap((call) => call.diffs)
    return {
      text: this.#text.trim().toWellFormed(),
      calls: calls.map(({ id, title, kind, status }) => ({ id, title, kind, status })),
      diffs,
      truncated: this.#isCut,
    }
  }

  /** Starts a new paragraph for text after a call. */
  #addText(text: string): void {
    const gap = this.#text !== '' && !this.#wasText ? '\n\n' : ''
    const room = TEXT_CHARS - this.#text.length
    this.#text += `${gap}${text}`.slice(0, Math.max(0, room))
    this.#isCut ||= gap.length + text.length > room
  }

  #addCall(update: ToolCall | ToolCallUpdate): void {
    const id = String(update.toolCallId).slice(0, TITLE_CHARS)
    const known = this.#calls.get(id)
    if (!known && this.#calls.size >= CALLS_MAX) {
      this.#isCut = true
      return
    }
    const { title, kind, status, content } = update
    this.#calls.set(id, {
      id,
      title: String(title ?? known?.title ?? 'a call')
        .slice(0, TITLE_CHARS)
        .toWellFormed(),
      kind: String(kind ?? known?.kind ?? 'other').slice(0, 40),
      status: String(status ?? known?.status ?? 'pending').slice(0, 40),
      diffs: Array.isArray(content) ? readDiffs(content) : (known?.diffs ?? []),
    })
    if (Array.isArray(content)) this.#forgetDiffs()
  }

  /** Drops the oldest diffs beyond the number that is reported, so that an agent cannot fill memory with them. */
  #forgetDiffs(): void {
    let extra = -DIFFS_MAX
    for (const { diffs } of this.#calls.values()) extra += diffs.length
    this.#isCut ||= extra > 0
    for (const [id, call] of this.#calls) {
      if (extra <= 0) return
      this.#calls.set(id, { ...call, diffs: call.diffs.slice(extra) })
      extra -= call.diffs.length
    }
  }
}

function readDiffs(content: NonNullable<ToolCall['content']>): AgentCall['diffs'] {
  return content.slice(0, DIFFS_MAX).flatMap((part) => {
    if (part.type !== 'diff') return []
    const { path, oldText, newText } = part
    return [
      {
        path: String(path).slice(0, 1000),
        oldText: typeof oldText === 'string' ? cut(oldText) : null,
        newText: cut(newText),
      },
    ]
  })
}

function readPlan(entries: readonly PlanEntry[]): readonly { readonly content: string; readonly status: string }[] {
  return entries.slice(0, PLAN_MAX).map(({ content, status }) => ({ content: content.toWellFormed(), status }))
}

function cut(whole: string): string {
  return (whole.length > DIFF_CHARS ? `${whole.slice(0, DIFF_CHARS)}…` : whole).toWellFormed()
}
