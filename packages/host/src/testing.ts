// Test helpers for agents, from a package that programs already have: models that follow a script or a recording, and
// the context of a tool that is called directly.
export { createScriptedModel, createToolContext } from '@baton/core/testing'
export type { ScriptedModel, ScriptedModelOptions, ScriptedStep } from '@baton/core/testing'
export { recordModel, replayModel } from '@baton/models/recorded'
export type { ReplayedModel } from '@baton/models/recorded'
export { replaySession } from './replay/replay-session.ts'
export type { ReplayReport } from './replay/replay-session.ts'
