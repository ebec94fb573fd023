// A model that follows a script, for tests of agents, hosts and fronts.
import type { Timers } from '../agent/environment.ts'
import { pause } from '../agent/environment.ts'
import { checkFields } from '../shape/known-fields.ts'
import type { Model, ModelAnswer, ModelCapabilities, ModelPart, ModelRequest } from '../agent/model.ts'
import { BatonError } from '../errors.ts'
import type { FinishReason, SourcePart, Usage } from '../messages.ts'

/** One answer of a scripted model. Its text is streamed in pieces. */
export interface ScriptedStep {
  readonly text?: string
  readonly reasoning?: string
  /** `arguments`: an object that JSON can write, or the text that the model writes. */
  readonly calls?: readonly { readonly name: string; readonly arguments: object | string }[]
  /** Sources cited by the answer; missing ids are filled in. */
  readonly sources?: readonly (Omit<SourcePart, 'type' | 'id'> & { readonly id?: string })[]
  readonly finish?: FinishReason
  readonly usage?: Usage
  /** Makes the call fail with this error, after `text` was streamed. */
  readonly error?: BatonError
  /** Pieces in which the text is streamed; one per word by default. */
  readonly pieces?: readonly string[]
  /** Milliseconds before each piece; needs `timers`. */
  readonly pieceMs?: number
  /** Streams its text and then hangs until it is aborted, or forever if it ignores its signal. */
  readonly hangs?: 'until-aborted' | 'for-ever'
}

/**
 * Options of `createScriptedModel`: `{ steps: [{ calls: [{ name: 'add', arguments: { a: 1 } }] }, { text: 'done' }] }`.
 */
export interface ScriptedModelOptions {
  readonly id?: string
  /** One step per call, or a function of the request and of the call's number, from 0. */
  readonly steps: readonly ScriptedStep[] | ((request: ModelRequest, call: number) => ScriptedStep)
  readonly timers?: Timers
  readonly capabilities?: Partial<ModelCapabilities>
}

/** A model of `createScriptedModel`. It says what its script says, and keeps the requests that it got. */
export interface ScriptedModel extends Model {
  /** The requests received, in order. */
  readonly requests: readonly ModelRequest[]
}

const FIELDS = { id: true, steps: true, timers: true, capabilities: true } satisfies Record<
  keyof ScriptedModelOptions,
  true
>
const STEP_FIELDS = {
  text: true,
  reasoning: true,
  calls: true,
  sources: true,
  finish: true,
  usage: true,
  error: true,
  pieces: true,
  pieceMs: true,
  hangs: true,
} satisfies Record<keyof ScriptedStep, true>

/** @throws BatonError `invalid_option` for an unknown field: a misspelt `text` would be an empty answer */
export function createScriptedModel(init: ScriptedModelOptions): ScriptedModel {
  checkScript(init)
  const requests: ModelRequest[] = []
  const id = init.id ?? 'scripted/model'
  const run: Model['run'] = async (request, sink, signal) => {
    const call = requests.push(request) - 1
    const step = typeof init.steps === 'function' ? init.steps(request, call) : init.steps[call]
    if (!step)
      throw new BatonError({
        code: 'model_provider_failed',
        message: `the script has no step ${call + 1}`,
        retryable: false,
      })
    if (step.reasoning !== undefined) sink({ type: 'reasoning-delta', text: step.reasoning })
    const heeded = step.hangs === 'for-ever' ? undefined : signal
    for (const piece of step.pieces ?? words(step.text ?? '')) {
      await (init.timers && step.pieceMs && pause(init.timers, step.pieceMs, heeded))
      if (heeded?.aborted) throw aborted()
      sink({ type: 'text-delta', text: piece })
    }
    if (step.hangs) await untilAborted(step.hangs === 'until-aborted' ? signal : undefined)
    if (step.error) throw step.error
    return readAnswer(step, id)
  }
  const capabilities: ModelCapabilities = { tools: 'native', images: true, network: false, ...init.capabilities }
  return { id, provider: 'scripted', capabilities, run, requests }
}

function checkScript(init: ScriptedModelOptions): void {
  const code = 'invalid_option'
  checkFields(init, { what: 'createScriptedModel', code, fields: new Set(Object.keys(FIELDS)) })
  const { steps } = init
  if (typeof steps === 'function') return
  if (!Array.isArray(steps))
    throw new BatonError({
      code,
      message: 'createScriptedModel: steps must be an array or a function',
      hint: "Script the model’s answers: steps: [{ text: 'Hello!' }].",
    })
  const fields = new Set(Object.keys(STEP_FIELDS))
  for (const [index, step] of steps.entries())
    checkFields(step, { what: `step ${index + 1} of the script`, code, fields })
}

function readAnswer(step: ScriptedStep, model: string): ModelAnswer {
  const calls = step.calls ?? []
  const parts: ModelPart[] = []
  if (step.reasoning !== undefined) parts.push({ type: 'reasoning', text: step.reasoning })
  const text = step.pieces?.join('') ?? step.text ?? ''
  if (text !== '') parts.push({ type: 'text', text })
  for (const [index, source] of (step.sources ?? []).entries())
    parts.push({ type: 'source', id: `source-${index + 1}`, ...source })
  for (const { name, arguments: given } of calls)
    parts.push({ type: 'call', name, arguments: typeof given === 'string' ? given : JSON.stringify(given) })
  return { parts, finish: step.finish ?? (calls.length > 0 ? 'tool-calls' : 'end'), usage: step.usage ?? {}, model }
}

function words(text: string): readonly string[] {
  return text.match(/\S+\s*|\s+/g) ?? []
}

function untilAborted(signal: Parameters<Model['run']>[2] | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(aborted())
    signal?.addEventListener('abort', () => reject(aborted()), { once: true })
  })
}

function aborted(): BatonError {
  return new BatonError({ code: 'cancelled', message: 'the model call was aborted' })
}
