// Performs what the machine asks for, each effect by the runner that knows how.
import type { Effect } from '@baton/core/machine'
import type { ModelRunner } from './model-runner.ts'
import type { TimerRunner } from './timer-runner.ts'
import type { ToolRunner } from './tool-runner.ts'

export interface Runners {
  readonly timers: TimerRunner
  readonly tools: ToolRunner
  readonly models: ModelRunner
}

/** No effect waits for another: what runs long answers with an input of its own. */
export function createPerformer({ timers, tools, models }: Runners): (effect: Effect) => void {
  return function perform(effect) {
    switch (effect.type) {
      case 'call-model':
        void models.call(effect)
        break
      case 'summarise':
        void models.summarise(effect)
        break
      case 'abort-model':
      case 'abort-summary':
        models.abort(effect.attempt)
        break
      case 'run-tool':
        void tools.run(effect)
        break
      case 'abort-tool':
        tools.abort(effect.callId, effect.attempt)
        break
      case 'set-timer':
        timers.set(effect)
        break
      case 'clear-timer':
        timers.clear(effect.timer, effect.generation)
        break
      case 'offer-call':
      case 'ask-approval':
      case 'withdraw-offer':
      case 'withdraw-approval':
        // Their facts are frames already: whoever reads the session sees the offer or the question.
        break
      default:
        effect satisfies never
    }
  }
}
