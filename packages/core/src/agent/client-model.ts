// A model that an app runs, such as a small one on a phone. The host calls it like any other model.
import type { Agent } from './agent.ts'
import type { Model } from './model.ts'

/** Answers model calls, as `Model.run` does. */
export type ModelRunner = Pick<Model, 'run'>

export interface ClientModel extends Model {
  /**
   * Lets an app of this session run the model; the latest app wins. The returned function removes the app: its pending
   * requests fail with `model_network_failed`, so that another attempt asks another app.
   */
  attach(session: string, runner: ModelRunner): () => void
}

export function isClientModel(model: Model): model is ClientModel {
  return 'attach' in model && typeof model.attach === 'function'
}

/** The agent's models that apps run, excluding those inside another model. */
export function listClientModels({ models }: Pick<Agent, 'models'>): readonly ClientModel[] {
  return models.filter((model): model is ClientModel => typeof model !== 'string' && isClientModel(model))
}
