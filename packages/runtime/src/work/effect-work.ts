// Effects that are work: each becomes a job, is performed, and ends in a report. For hosts that perform an effect somewhere
// else than where it was decided, with nothing but what was folded of the records.
import type { LiveFrame } from '@baton/core'
import type { AwaitedEffect, History, HostReport, State } from '@baton/core/machine'
import type { ToolQuestions } from '../session/tool-questions.ts'
import type { Cancellation } from './cancellation.ts'
import type { CallModel, RunTool, Summarise } from './jobs.ts'
import { createModelJob, createToolJob } from './jobs.ts'
import type { ToolIo, Work } from './work.ts'

export type WorkEffect = CallModel | Summarise | RunTool

/** What a tool reaches beside its job. */
export interface ToolPlace {
  readonly cancellation: Cancellation
  readonly questions: Pick<ToolQuestions, 'ask'>
  /** The session left this process. */
  isClosed(): boolean
  live(frame: LiveFrame): void
  report(report: HostReport): void
}

export interface EffectPlace extends ToolPlace {
  readonly work: Pick<Work, 'model' | 'tool'>
  readonly state: State
  readonly history: History
}

export function isWorkEffect(effect: AwaitedEffect): effect is WorkEffect {
  return effect.type === 'call-model' || effect.type === 'summarise' || effect.type === 'run-tool'
}

/** Never rejects. Undefined when there is nothing to report: the call was over before its tool began. */
export async function performEffect(effect: WorkEffect, place: EffectPlace): Promise<HostReport | undefined> {
  const { work, state, history, cancellation } = place
  if (effect.type !== 'run-tool') {
    const live = (frame: LiveFrame): void => place.live(frame)
    return await work.model(createModelJob(state, effect), { history, live, signal: cancellation.signal })
  }
  const job = createToolJob(state, history, effect)
  return job && (await work.tool(job, createToolIo(job, place)))
}

export function createToolIo({ callId, attempt }: Pick<RunTool, 'callId' | 'attempt'>, place: ToolPlace): ToolIo {
  return {
    cancellation: place.cancellation,
    live: (frame) => place.live(frame),
    isClosed: () => place.isClosed(),
    plan: (entries) => place.report({ type: 'plan-set', callId, attempt, entries }),
    ask: (question) => place.questions.ask(callId, attempt, question),
  }
}

/** What a host says when the process died that performed the effect, and nothing else did. */
export function createLossReport(effect: WorkEffect): HostReport {
  if (effect.type !== 'run-tool') return { type: 'work-lost', work: { type: 'model', attempt: effect.attempt } }
  const { callId, attempt } = effect
  return { type: 'work-lost', work: { type: 'tool', callId, attempt } }
}
