// Tools for models without native tool calls, and for servers whose tool support is unknown.
import type { Model } from '@baton/core'
import type { PromptedToolsOptions } from './with-prompted-tools.ts'
import { withPromptedTools } from './with-prompted-tools.ts'
import type { ToolProbeOptions } from './with-tool-probe.ts'
import { withToolProbe } from './with-tool-probe.ts'

export type { PromptedToolsOptions } from './with-prompted-tools.ts'
export { withPromptedTools } from './with-prompted-tools.ts'

/** Follows the model's capability: `none` is prompted, `unknown` is probed, `native` is returned as is. */
export function withToolsIfNeeded(model: Model, options: PromptedToolsOptions & ToolProbeOptions = {}): Model {
  const { tools } = model.capabilities
  if (tools === 'native') return model
  return tools === 'none' ? withPromptedTools(model, options) : withToolProbe(model, options)
}
