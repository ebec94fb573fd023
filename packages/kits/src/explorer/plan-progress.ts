// The progress of a plan the model has written. An entry is done when a call of its tool has succeeded after the plan
// was set; each call completes one entry.
import type { Message, PlanEntry, ToolContext } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import * as z from 'zod'

export const PLAN_TOOL = 'plan.set'

export const planEntries = z
  .array(
    z.object({
      content: z.string().trim().min(1).max(300).describe('What to do'),
      tool: z.string().max(100).optional().describe('The tool that does it'),
    }),
  )
  .min(1)
  .max(20)
type Planned = z.infer<typeof planEntries>[number]

interface CallState {
  readonly tool: string
  readonly status: 'running' | 'ok' | 'failed'
}

/** Maximum sessions whose latest turn is remembered. */
const SESSIONS_MAX = 200

export class PlanProgress {
  /** An entry with an unknown tool counts as one without a tool: models misspell names. */
  readonly #tools: ReadonlySet<string>
  /** Calls of each session's latest turn, in the order they started. */
  readonly #turns = new Map<
    string,
    { readonly turn: number; plan: readonly Planned[]; readonly calls: Map<string, CallState> }
  >()

  constructor(tools: ReadonlySet<string>) {
    this.#tools = tools
  }

  set(context: ToolContext, plan: readonly Planned[]): void {
    const state = this.#open(context)
    state.plan = plan
    // Calls in the same answer run concurrently with it.
    for (const [callId, { status }] of state.calls) if (status !== 'running') state.calls.delete(callId)
    this.#show(context, state)
  }

  /** Runs a call, and shows in the plan that it is running and how it ended. */
  async follow<Result>(context: ToolContext, tool: string, run: () => Promise<Result>): Promise<Result> {
    const state = this.#open(context)
    // After a restart, the plan is in the conversation.
    if (state.plan.length === 0) {
      const messages = await context.messages()
      // Meanwhile, another call may have set or restored it.
      if (state.plan.length === 0) restore(state, messages)
    }
    const tell = (status: CallState['status']): void => {
      state.calls.set(context.callId, { tool, status })
      if (state.plan.length > 0) this.#show(context, state)
    }
    tell('running')
    try {
      const result = await run()
      tell('ok')
      return result
    } catch (thrown) {
      tell('failed')
      throw thrown
    }
  }

  #open({ session, turn }: ToolContext) {
    const known = this.#turns.get(session)
    if (known?.turn === turn) return known
    const made = { turn, plan: [] as readonly Planned[], calls: new Map<string, CallState>() }
    this.#turns.delete(session)
    this.#turns.set(session, made)
    const [oldest] = this.#turns.keys()
    if (this.#turns.size > SESSIONS_MAX && oldest !== undefined) this.#turns.delete(oldest)
    return made
  }

  #show(
    context: ToolContext,
    { plan, calls }: { readonly plan: readonly Planned[]; readonly calls: ReadonlyMap<string, CallState> },
  ): void {
    const known = plan.map(({ content, tool }) =>
      tool !== undefined && this.#tools.has(tool) ? { content, tool } : { content },
    )
    context.plan(markEntries(known, [...calls.values()]))
  }
}

/** Restores the plan and the calls after it, of this turn only. */
function restore(
  state: { plan: readonly Planned[]; readonly calls: Map<string, CallState> },
  messages: readonly Message[],
): void {
  const begin = messages.findLastIndex(({ role }) => role === 'user')
  for (const message of messages.slice(begin + 1)) {
    if (message.role === 'assistant')
      for (const part of message.parts) {
        if (part.type !== 'call' || part.name !== PLAN_TOOL) continue
        const given = parseJson(part.arguments)
        const entries = planEntries.safeParse(
          given.ok && isJsonObject(given.value) ? given.value['entries'] : undefined,
        )
        if (!entries.success) continue
        state.plan = entries.data
        state.calls.clear()
      }
    if (message.role === 'tool')
      for (const { callId, name, isError } of message.parts)
        if (name !== PLAN_TOOL) state.calls.set(callId, { tool: name, status: isError ? 'failed' : 'ok' })
  }
}

function markEntries(plan: readonly Planned[], calls: readonly CallState[]): readonly PlanEntry[] {
  const statuses = plan.map((): PlanEntry['status'] => 'pending')
  for (const status of ['ok', 'running'] as const)
    for (const call of calls) {
      if (call.status !== status) continue
      const isOpen = (at: number): boolean => statuses[at] === 'pending'
      const named = plan.findIndex(({ tool }, at) => isOpen(at) && tool === call.tool)
      const at = named >= 0 ? named : plan.findIndex(({ tool }, index) => isOpen(index) && tool === undefined)
      if (at >= 0) statuses[at] = status === 'ok' ? 'completed' : 'in_progress'
    }
  return plan.map(({ content }, at) => ({ content, status: statuses[at] ?? 'pending' }))
}
