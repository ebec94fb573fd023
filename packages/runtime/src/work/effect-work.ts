// Effects that are work: each becomes a job, is performed, and ends in a report. For hosts whose effects are decided in
// another process, with only the folded state.
import type { AwaitedEffect, History, HostReport, State } from '@baton/core/machine'
import type { CallModel, RunTool, Summarise } from './jobs.ts'
import { createModelJob } from './model-work.ts'
import type { ToolPlace } from './tool-work.ts'
import { createToolIo, createToolJob } from './tool-work.ts'
import type { Work } from './work.ts'

export type WorkEffect = CallModel | Summarise | RunTool

export interface EffectPlace extends ToolPlace {
  readonly work: Work
  readonly state: State
  readonly history: History
  /** See `ModelIo.outlive`. */
  readonly outlive?: (settled: Promise<void>) => void
}

export function isWorkEffect(effect: AwaitedEffect): effect is WorkEffect {
  return effect.type === 'call-model' || effect.type === 'summarise' || effect.type === 'run-tool'
}

/** Never rejects. Returns undefined if there is nothing to report, because the call ended before its tool began. */
export async function performEffect(effect: WorkEffect, place: EffectPlace): Promise<HostReport | undefined> {
  const { work, state, history, cancellation } = place
  if (effect.type !== 'run-tool') {
    const { live, outlive } = place
    const io = {
      history,
      live,
      signal: cancellation.signal,
      abort: () => cancellation.abort(),
      ...(outlive && { outlive }),
    }
    return await work.model(createModelJob(state, effect), io)
  }
  const call = history.openCall(effect.callId)
  if (!call) return undefined
  const job = createToolJob(state, call, effect)
  return await work.tool(job, createToolIo(job, place))
}

/** The host's report when only the process that performed the effect died. */
export function createLossReport(effect: WorkEffect): HostReport {
  if (effect.type !== 'run-tool') return { type: 'work-lost', work: { type: 'model', attempt: effect.attempt } }
  const { callId, attempt } = effect
  return { type: 'work-lost', work: { type: 'tool', callId, attempt } }
}
