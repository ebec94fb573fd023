// Settings that belong to a model rather than to an agent: they hold wherever nobody nearer to the request says otherwise.
import type { Model, ModelSettings } from '@baton/core'

/** The same model with settings of its own; those of the agent, the turn and the step win. */
export function withModelSettings(model: Model, settings: ModelSettings): Model {
  return {
    ...model,
    run: (request, sink, signal) => {
      const { toolChoice: _, ...own } = settings
      return model.run({ ...request, settings: { ...own, ...request.settings } }, sink, signal)
    },
  }
}
