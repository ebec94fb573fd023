// Which model answers where the permissions allow only models on this machine: keys in the environment count no more.
import type { Model } from '@baton/core'
import { BatonError } from '@baton/core'
import type { ChooseModelInit, ModelChoice } from '@baton/models/choose-model'
import { chooseModel } from '@baton/models/choose-model'

const HINT = 'Name a model on this machine, such as --model ollama/qwen3 or --model gguf:FILE.'

/**
 * As `chooseModel`; of an agent with several models, the first that may be asked. If nobody names a model and that of the environment is
 * elsewhere, it is the offline model.
 * @throws BatonError `not_permitted` for a named model that is elsewhere, and what `chooseModel` throws
 */
export function choosePermittedModel(init: ChooseModelInit, find: (id: string) => Model): ModelChoice {
  const { flag, agentModels = [], variables } = init
  if (flag !== undefined || agentModels.length === 0) {
    const choice = chooseModel(init)
    // A key would not help here, whatever the choice without permissions says.
    if (choice.id === 'offline' && flag === undefined && !variables['MODEL_PROVIDER'])
      return { id: 'offline', reason: 'because no model on this machine is named; name one by --model' }
    if (isHere(find(choice.id))) return choice
    if (flag !== undefined) throw refuse(`--model names ${choice.id}, which is elsewhere`)
    return { id: 'offline', reason: `because ${choice.id} is elsewhere; name one on this machine by --model` }
  }
  for (const model of agentModels) {
    if (!isHere(typeof model === 'string' ? find(model) : model)) continue
    return chooseModel({ agentModels: [model], variables })
  }
  throw refuse(`all models of the agent are elsewhere`)
}

function isHere({ capabilities }: Model): boolean {
  return capabilities.network === false
}

function refuse(why: string): BatonError {
  const message = `the permissions allow only models that run on this machine, and ${why}`
  return new BatonError({ code: 'not_permitted', message, hint: HINT })
}
