// Runs server tools. A tool may throw, hang or ignore its signal: its call settles by the machine's clock all the same.
import type { Agent, Frame, JsonValue, Logger, Principal, Store, Tool, ToolContext } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Effect, OpenCall, Outcome } from '@baton/core/machine'
import type { Actor } from './actor.ts'
import type { ArgumentValidator } from './arguments.ts'
import { failureOf, outcomeOf } from './bounded-result.ts'

type RunTool = Extract<Effect, { readonly type: 'run-tool' }>

export interface ToolRunnerInit {
  readonly session: string
  readonly agent: Agent
  readonly principal: Principal
  readonly services: unknown
  readonly tools: readonly Tool[]
  readonly store: Store
  readonly validator: ArgumentValidator
  readonly log: Logger
  readonly actor: Actor
  readonly publish: (frame: Frame) => void
}

export interface ToolRunner {
  /** Never rejects: a failure is a result. */
  run(effect: RunTool): Promise<void>
  abort(callId: string, attempt: number): void
  close(): void
}

/** UTF-16 units of a progress note. */
const NOTE_CHARS = 4096

export function createToolRunner(init: ToolRunnerInit): ToolRunner {
  const running = new Map<string, AbortController>()

  const runTool = async (effect: RunTool): Promise<void> => {
    const { callId, attempt } = effect
    const { actor, session, store } = init
    const controller = new AbortController()
    running.set(`${callId}:${attempt}`, controller)
    let outcome: Outcome
    try {
      const { tool, execute, call } = findTool(init, callId)
      const checked = await init.validator.validate(tool, call.arguments)
      if (!checked.ok) throw new BatonError({ code: 'invalid_arguments', message: checked.issues })
      const value = await execute(checked.value, contextFor(init, effect, controller.signal))
      if (tool.output) await checkOutput(init, tool, value)
      outcome = await outcomeOf(value, { blobs: store.blobs, session, callId })
    } catch (thrown) {
      outcome = failureOf(thrown)
    }
    running.delete(`${callId}:${attempt}`)
    // Late or not: the machine knows, and logs it. A session that died takes no result.
    actor.submit({ type: 'tool-finished', callId, attempt, outcome }).catch(() => {})
  }

  return {
    run: runTool,
    abort: (callId, attempt) => running.get(`${callId}:${attempt}`)?.abort(),
    close: () => {
      for (const controller of running.values()) controller.abort()
      running.clear()
    },
  }
}

interface FoundTool {
  readonly tool: Tool
  readonly execute: NonNullable<Tool['execute']>
  readonly call: OpenCall
}

/** @throws BatonError `tool_gone` */
function findTool(init: ToolRunnerInit, callId: string): FoundTool {
  const call = init.actor.history().openCall(callId)
  const tool = init.tools.find((candidate) => candidate.name === call?.name)
  if (call && tool?.execute) return { tool, execute: tool.execute, call }
  throw new BatonError({ code: 'tool_gone', message: `there is no tool for ${callId} any more` })
}

async function checkOutput(init: ToolRunnerInit, tool: Tool, value: unknown): Promise<void> {
  if (!tool.output) return
  const text = JSON.stringify(value) ?? 'null'
  const checked = await init.validator.validate({ input: tool.output }, text)
  if (!checked.ok)
    throw new BatonError({
      code: 'result_invalid',
      message: `the result of "${tool.name}" is wrong: ${checked.issues}`,
    })
}

function contextFor(init: ToolRunnerInit, effect: RunTool, signal: AbortSignal): ToolContext {
  const { callId, attempt } = effect
  return {
    session: init.session,
    agent: init.agent.name,
    principal: init.principal,
    call: callId,
    attempt,
    idempotencyKey: `${init.session}/${callId}`,
    signal,
    services: init.services,
    log: init.log,
    progress: (note: JsonValue) => {
      if (JSON.stringify(note).length <= NOTE_CHARS) init.publish({ type: 'tool-progress', callId, note })
      else init.log.warn('a progress note is too long', { callId, limit: NOTE_CHARS })
    },
  }
}
