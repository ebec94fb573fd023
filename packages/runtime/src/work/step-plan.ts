// What `prepareStep` of an agent changes about one step: it is asked after the request was made, and before it is sent.
import type { ModelRequest, PrepareStep, StepChange, Timers } from '@baton/core'
import { BatonError } from '@baton/core'
import { within } from '../deadline.ts'
import type { CallModel, ModelJob } from './jobs.ts'

/** Milliseconds that `prepareStep` may take. */
const PREPARE_MS = 30_000

/** @throws BatonError `internal` when it takes too long; what it throws itself */
export async function askPrepareStep(
  prepareStep: PrepareStep,
  { job, effect, request, timers }: { job: ModelJob; effect: CallModel; request: ModelRequest; timers: Timers },
): Promise<StepChange> {
  const { session, model } = job
  const { step, attempt } = effect
  const tools = request.tools.map(({ name }) => name)
  const message = `prepareStep did not answer in ${PREPARE_MS} ms`
  const limit = { timeoutMs: PREPARE_MS, error: () => new BatonError({ code: 'internal', message }) }
  const asked = prepareStep({ session, step, attempt, model, messages: request.messages, tools })
  return (await within(timers, limit, Promise.resolve(asked))) ?? {}
}

export function applyStepChange(request: ModelRequest, change: StepChange, effect: CallModel): ModelRequest {
  const { tools, toolChoice, instructions, settings } = change
  const inForce = tools && new Set(tools)
  return {
    ...request,
    ...(inForce && { tools: request.tools.filter(({ name }) => inForce.has(name)) }),
    // Out of rounds the choice is none, whatever the step would like.
    ...(toolChoice && effect.choice === 'auto' && { toolChoice }),
    ...(instructions !== undefined && { instructions }),
    ...(settings && { settings: { ...request.settings, ...settings } }),
  }
}
