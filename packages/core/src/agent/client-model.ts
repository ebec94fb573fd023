// A model that an app runs, such as a small one on its user's phone. The host asks it as it asks any model.
import type { Agent } from './agent.ts'
import type { Model } from './model.ts'

/** Answers model calls, as `Model.run` does. */
export type ModelRunner = Pick<Model, 'run'>

export interface ClientModel extends Model {
  /**
   * From now on an app of this session runs the model; of several, the one that came last. The returned function takes the app away:
   * what it was asked fails with `model_network_failed`, so that another attempt asks another app.
   */
  attach(session: string, runner: ModelRunner): () => void
}

export function isClientModel(model: Model): model is ClientModel {
  return 'attach' in model && typeof model.attach === 'function'
}

/** The models of an agent that apps run; not those inside of another model. */
export function listClientModels({ models }: Pick<Agent, 'models'>): readonly ClientModel[] {
  return models.filter((model): model is ClientModel => typeof model !== 'string' && isClientModel(model))
}
