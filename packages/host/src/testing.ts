// Test helpers for agents, from the package that programs have already: models that say what a script or a recording says, and
// the context of a tool that is called directly.
export { createScriptedModel, createToolContext } from '@baton/core/testing'
export type { ScriptedModel, ScriptedModelInit, ScriptedStep } from '@baton/core/testing'
export { recordModel, replayModel } from '@baton/models/recorded'
export { replaySession } from './replay/replay-session.ts'
