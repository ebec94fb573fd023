// Exports of @baton/tools/effect.
export { fromEffect } from './from-effect.ts'
export type { EffectTools, EffectToolsOptions } from './from-effect.ts'
export { effectTool } from './effect-tool.ts'
export type { EffectTool, EffectToolOptions } from './effect-tool.ts'
export type { EffectSchema, ServiceTag } from './effect-types.ts'
export type { ToolSettings, ToolsSettings } from '../shared/tool-settings.ts'
