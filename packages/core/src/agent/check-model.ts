// Checks an agent's model and settings when it is defined, before any model is asked.
import { BatonError } from '../errors.ts'
import { decodeModelSettings } from './decode-command.ts'
import type { Model, ModelSettings } from './model.ts'
import { describeValue } from './value-reader.ts'

/**
 * The id of a model, or a model.
 * @throws BatonError `invalid_agent` for anything else, such as a model of another library; `where` begins the message
 */
export function checkModel(where: string, model: unknown): asserts model is string | Model {
  if (typeof model === 'string' && model !== '') return
  const { id, run, capabilities, doStream } = (typeof model === 'object' && model !== null ? model : {}) as Partial<
    Model & { readonly doStream: unknown }
  > // each field is looked at
  const isModel = typeof id === 'string' && id !== '' && typeof run === 'function' && typeof capabilities === 'object'
  if (isModel) return
  throw new BatonError({
    code: 'invalid_agent',
    message: `${where} must be the id of a model, or a model of Baton, not ${describeValue(model)}`,
    ...(doStream !== undefined && {
      hint: 'Make one of a model of the AI SDK by fromAiSdkModel of @baton/models/ai-sdk.',
    }),
  })
}

/** @throws BatonError `invalid_agent` for a setting that there is not, or that is of the wrong kind */
export function checkSettings(where: string, settings: unknown): ModelSettings {
  if (settings === undefined) return {}
  const decoded = decodeModelSettings(settings)
  if (decoded.ok) return decoded.value
  throw new BatonError({ code: 'invalid_agent', message: `${where}: ${decoded.refusal.message}` })
}
