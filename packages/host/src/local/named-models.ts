// Models by name, for programs without their own `modelOf`: keys and addresses come from the process's environment
// variables, under the names that the providers use. A name that cannot be used is refused before the first turn.
import type { Agent, Environment, Logger, Model } from '@baton/core'
import type { Variables } from '@baton/models/choose-model'
import { createModelOf, secretsIn } from '@baton/models/choose-model'
import { describeToolVerdict } from '@baton/models/prompted'

export interface NamedModelsOptions {
  readonly variables: Variables
  readonly environment: Pick<Environment, 'transport' | 'clock'>
  readonly log: Logger
}

export interface NamedModels {
  /**
   * @throws BatonError `unknown_model`, `model_not_configured`, `invalid_option` when a variable has an invalid value
   */
  readonly modelOf: (id: string) => Model
  /** Keys and tokens found in the variables. */
  readonly secrets: readonly string[]
}

export function createNamedModels({ variables, environment, log }: NamedModelsOptions): NamedModels {
  const { transport, clock } = environment
  let find: ((id: string) => Model) | undefined
  return {
    // Created for the first name: an invalid variable must not affect a program that names no model.
    modelOf: (id) => {
      find ??= createModelOf({
        variables,
        transport,
        clock,
        onToolVerdict: (verdict, model) => {
          const line = describeToolVerdict(model, verdict)
          if (verdict.type === 'native') log.info(line, { model })
          else log.warn(line, { model, reason: verdict.reason, format: verdict.format })
        },
      })
      return find(id)
    },
    secrets: secretsIn(variables),
  }
}

/**
 * Resolves every model that the agents name, fallbacks included.
 * @throws BatonError as `modelOf` does
 */
export function checkNamedModels(
  modelOf: NamedModels['modelOf'],
  agents: readonly Pick<Agent, 'models'>[],
  defaultModel?: string | Model,
): void {
  const named = [...agents.flatMap(({ models }) => models), defaultModel]
  for (const model of named) if (typeof model === 'string') modelOf(model)
}
