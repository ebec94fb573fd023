// Code shared by all model adapters. Each provider has its own subpath, so only what is used gets loaded.
export { createToolNames, decodeToolName, encodeToolName, chooseToolNames } from './tool-names.ts'
export type { ToolNames } from './tool-names.ts'
export { withModelSettings } from './model-settings.ts'
export type { ModelTraits, SchemaLimits, ThinkingTraits, TraitsOverride } from './traits/model-traits.ts'
