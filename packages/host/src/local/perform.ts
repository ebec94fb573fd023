// Who performs which effect. The actor calls the performer of an effect's type directly, so a stack shows no detour.
import type { Effect } from '@baton/core/machine'
import type { ModelRunner } from './model-runner.ts'
import type { TimerRunner } from './timer-runner.ts'
import type { ToolRunner } from './tool-runner.ts'

/** No effect waits for another: what runs long answers with an input of its own, and never rejects. */
export type Performers = {
  readonly [Type in Effect['type']]: (effect: Extract<Effect, { readonly type: Type }>) => unknown
}

export interface Runners {
  readonly timers: TimerRunner
  readonly tools: ToolRunner
  readonly models: ModelRunner
}

export function createPerformers({ timers, tools, models }: Runners): Performers {
  return {
    'call-model': models.call,
    summarise: models.summarise,
    'abort-model': ({ attempt }) => models.abort(attempt),
    'abort-summary': ({ attempt }) => models.abort(attempt),
    'run-tool': tools.run,
    'abort-tool': ({ callId, attempt }) => tools.abort(callId, attempt),
    'set-timer': timers.set,
    'clear-timer': ({ timer, generation }) => timers.clear(timer, generation),
    // Their facts are frames already: whoever reads the session sees the offer or the question.
    'offer-call': nothing,
    'withdraw-offer': nothing,
    'ask-approval': nothing,
    'ask-question': nothing,
    'withdraw-question': nothing,
    'withdraw-approval': nothing,
  }
}

function nothing(): void {}
