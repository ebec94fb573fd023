// Exports of @baton/models/recorded: recording and replaying a model's answers.
// @internal: programs import them from @baton/host/testing.
export { recordModel } from './record-model.ts'
export type { RecordOptions } from './record-model.ts'
export { replayModel } from './replay-model.ts'
export type { ReplayedModel, ReplayOptions } from './replay-model.ts'
