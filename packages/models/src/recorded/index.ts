// The exports of @baton/models/recorded: answers of a model, written down and said again.
export { recordModel } from './record-model.ts'
export type { RecordOptions } from './record-model.ts'
export { replayModel } from './replay-model.ts'
export type { ReplayedModel, ReplayOptions } from './replay-model.ts'
