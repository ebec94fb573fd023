// Default settings that belong to a model rather than an agent.
import type { Model, ModelSettings } from '@baton/core'

/** Returns the model with default settings. Those of the agent, the turn and the step take precedence. */
export function withModelSettings(model: Model, settings: ModelSettings): Model {
  return {
    ...model,
    run: (request, sink, signal) => {
      const { toolChoice: _, ...own } = settings
      return model.run({ ...request, settings: { ...own, ...request.settings } }, sink, signal)
    },
  }
}
