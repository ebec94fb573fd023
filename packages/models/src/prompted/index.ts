// Tools for models without native tool calls, and for servers whose tool support is unknown.
import type { Model } from '@baton/core'
import { checkFields } from '@baton/core/internal'
import type { PromptedToolsOptions } from './with-prompted-tools.ts'
import { withPromptedTools } from './with-prompted-tools.ts'
import type { ToolProbeOptions } from './with-tool-probe.ts'
import { withToolProbe } from './with-tool-probe.ts'

export type { PromptedToolsOptions } from './with-prompted-tools.ts'
export { withPromptedTools } from './with-prompted-tools.ts'

const FIELDS = new Set(['format', 'template', 'deadlineMs', 'onVerdict'])

/**
 * Follows the model's capability: `none` is prompted, `unknown` is probed, `native` is returned as is.
 * @throws BatonError `invalid_option`
 */
export function withToolsIfNeeded(model: Model, options: PromptedToolsOptions & ToolProbeOptions = {}): Model {
  checkFields(options, { what: 'withToolsIfNeeded', code: 'invalid_option', fields: FIELDS })
  const { deadlineMs: _deadline, onVerdict: _told, ...prompted } = options
  const { tools } = model.capabilities
  if (tools === 'native') return model
  if (tools === 'none') return withPromptedTools(model, prompted)
  const { template: _, ...probed } = options
  return withToolProbe(model, probed)
}
