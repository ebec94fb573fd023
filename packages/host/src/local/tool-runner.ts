// Runs server tools. A tool may throw, hang or ignore its signal: its call settles by the machine's clock all the same.
import type { Agent, Environment, Frame, JsonValue, Logger, Principal, Store, Tool, ToolContext } from '@baton/core'
import { BatonError, parseJson } from '@baton/core'
import type { Effect, OpenCall, Outcome } from '@baton/core/machine'
import type { Actor } from './actor.ts'
import type { ArgumentValidator } from './arguments.ts'
import { failureOf, jsonTextOf, outcomeOf } from './bounded-result.ts'

type RunTool = Extract<Effect, { readonly type: 'run-tool' }>

export interface ToolRunnerInit {
  readonly session: string
  readonly agent: Agent
  readonly principal: Principal
  readonly services: unknown
  readonly tools: readonly Tool[]
  readonly store: Store
  readonly environment: Environment
  readonly validator: ArgumentValidator
  readonly log: Logger
  readonly actor: Actor
  readonly publish: (frame: Frame) => void
}

export interface ToolRunner {
  /** Never rejects: a failure is a result. */
  run(effect: RunTool): Promise<void>
  abort(callId: string, attempt: number): void
  /** How many are under way. */
  count(): number
  close(): void
}

/** UTF-16 units of a progress note. */
const NOTE_CHARS = 4096

export function createToolRunner(init: ToolRunnerInit): ToolRunner {
  const running = new Map<string, AbortController>()
  let closed = false

  const runTool = async (effect: RunTool): Promise<void> => {
    const { callId, attempt } = effect
    const { actor, session, store } = init
    const key = `${callId}:${attempt}`
    const { signal } = begin(key)
    let outcome: Outcome
    try {
      const { tool, execute, call } = findTool(init, callId)
      const checked = await init.validator.validate(tool, call.arguments)
      // Settled while its arguments were looked at, or its session has another owner: it must not begin any more.
      if (signal.aborted) return
      if (!checked.ok) throw new BatonError({ code: 'invalid_arguments', message: checked.issues })
      const context = contextFor(init, effect, { signal, isRunning: () => running.has(key) })
      const value = await execute(checked.value, context)
      if (tool.output) await checkOutput(init, tool, value)
      if (closed) return // a large result would be kept for a session that may have been removed
      outcome = await outcomeOf(value, { blobs: store.blobs, timers: init.environment.timers, session, callId })
    } catch (thrown) {
      outcome = failureOf(thrown)
    }
    running.delete(key)
    // Late or not: the machine knows, and logs it. A session that died takes no result.
    actor.submit({ type: 'tool-finished', callId, attempt, outcome }).catch(() => {})
  }

  const begin = (key: string): AbortController => {
    const controller = new AbortController()
    running.set(key, controller)
    return controller
  }

  /** A tool that ignores its signal may never end: it is forgotten here and now. */
  const abort = (key: string): void => {
    const controller = running.get(key)
    running.delete(key)
    controller?.abort()
  }

  return {
    run: runTool,
    abort: (callId, attempt) => abort(`${callId}:${attempt}`),
    count: () => running.size,
    close: () => {
      closed = true
      for (const key of running.keys()) abort(key)
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
  const checked = await init.validator.validate({ input: tool.output }, jsonTextOf(value))
  if (!checked.ok)
    throw new BatonError({
      code: 'result_invalid',
      message: `the result of "${tool.name}" is wrong: ${checked.issues}`,
    })
}

interface Run {
  readonly signal: AbortSignal
  readonly isRunning: () => boolean
}

function contextFor(init: ToolRunnerInit, effect: RunTool, { signal, isRunning }: Run): ToolContext {
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
      const shown = noteOf(note)
      if (shown === undefined) init.log.warn('a progress note is too long or not JSON', { callId, limit: NOTE_CHARS })
      else if (isRunning()) init.publish({ type: 'tool-progress', callId, note: shown })
    },
  }
}

/** A copy: the tool may go on to change its own. A note that cannot be shown is no reason for a tool to fail. */
function noteOf(note: JsonValue): JsonValue | undefined {
  try {
    const text = jsonTextOf(note)
    const parsed = text.length <= NOTE_CHARS ? parseJson(text) : undefined
    return parsed?.ok ? parsed.value : undefined
  } catch {
    return undefined
  }
}
