// Exports of @baton/models/recorded: recording and replaying a model's answers.
export { recordModel } from './record-model.ts'
export type { RecordOptions } from './record-model.ts'
export { replayModel } from './replay-model.ts'
export type { ReplayedModel, ReplayOptions } from './replay-model.ts'
