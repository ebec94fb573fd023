// Exports of @baton/tools/ai-sdk.
export { fromAiSdk } from './from-ai-sdk.ts'
export type { AiSdkOptions, AiSdkTools, AroundCall } from './from-ai-sdk.ts'
export type { AiSdkTool } from './ai-sdk-tool.ts'
export type { ToolSettings, ToolsSettings } from '../shared/tool-settings.ts'
