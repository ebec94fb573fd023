// Checks an agent's model and settings when it is defined, before any model is called.
import { BatonError } from '../errors.ts'
import { decodeModelSettings } from './decode-command.ts'
import type { Model, ModelSettings } from './model.ts'
import { describeValue } from './value-reader.ts'

/**
 * Asserts that a value is a model or the id of one. `where` begins the message.
 * @throws BatonError `invalid_agent` for anything else, such as a model of another library
 */
export function checkModel(where: string, model: unknown): asserts model is string | Model {
  if (typeof model === 'string' && model !== '') return
  const { id, run, capabilities, doStream } = (typeof model === 'object' && model !== null ? model : {}) as Partial<
    Model & { readonly doStream: unknown }
  > // each field is checked
  const isModel = typeof id === 'string' && id !== '' && typeof run === 'function' && typeof capabilities === 'object'
  if (isModel) return
  throw new BatonError({
    code: 'invalid_agent',
    message: `${where} must be the id of a model, or a model of Baton, not ${describeValue(model)}`,
    ...(doStream !== undefined && {
      hint: 'Convert an AI SDK model with fromAiSdkModel from @baton/models/ai-sdk.',
    }),
  })
}

/** @throws BatonError `invalid_agent` for an unknown setting, or one of the wrong type */
export function checkSettings(where: string, settings: unknown): ModelSettings {
  if (settings === undefined) return {}
  const decoded = decodeModelSettings(settings)
  if (decoded.ok) return decoded.value
  throw new BatonError({ code: 'invalid_agent', message: `${where}: ${decoded.refusal.message}` })
}
