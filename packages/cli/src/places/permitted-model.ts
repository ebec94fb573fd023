// Chooses the model when permissions allow only models on this machine, ignoring keys in the environment.
import type { Model } from '@baton/core'
import { BatonError } from '@baton/core'
import type { ChooseModelOptions, ModelChoice } from '@baton/models/choose-model'
import { chooseModel } from '@baton/models/choose-model'

const HINT = 'Name a model on this machine, such as --model ollama/qwen3 or --model gguf:FILE.'

/**
 * Like `chooseModel`; for an agent with several models, chooses the first permitted one. If no model was named and that
 * of the environment is external, the result is the offline model.
 * @throws BatonError `not_permitted` for a named model that is external, and errors of `chooseModel`
 */
export function choosePermittedModel(init: ChooseModelOptions, find: (id: string) => Model): ModelChoice {
  const { flag, agentModels = [], variables } = init
  if (flag !== undefined || agentModels.length === 0) {
    const choice = chooseModel(init)
    // A key would not help here, unlike the reason given without permissions suggests.
    if (choice.id === 'offline' && flag === undefined && !variables['MODEL_PROVIDER'])
      return { id: 'offline', reason: 'because no model on this machine is named; name one with --model' }
    if (isHere(find(choice.id))) return choice
    if (flag !== undefined) throw refuse(`--model names ${choice.id}, which does not`)
    return { id: 'offline', reason: `because ${choice.id} is not on this machine; name one that is with --model` }
  }
  for (const model of agentModels) {
    if (!isHere(typeof model === 'string' ? find(model) : model)) continue
    return chooseModel({ agentModels: [model], variables })
  }
  throw refuse(`none of the agent's models does`)
}

function isHere({ capabilities }: Model): boolean {
  return capabilities.network === false
}

function refuse(why: string): BatonError {
  const message = `the permissions allow only models that run on this machine, but ${why}`
  return new BatonError({ code: 'not_permitted', message, hint: HINT })
}
