// Exports of @baton/tools/workspace.
export { workspaceTools } from './workspace-tools.ts'
export type { WorkspaceOptions, WorkspaceTool } from './workspace-tools.ts'
export type { WorkspaceCommand, WorkspaceCommandEnd, WorkspaceEditor } from './workspace-editor.ts'
export { WORKSPACE_LIMITS } from './workspace-limits.ts'
export type { ShellCommand, ShellOptions } from './shell-tool.ts'
export type { WriteOptions } from './write-tools.ts'
export type { WorkspaceLimits } from './workspace-limits.ts'
