// Exports of @baton/models/offline.
export { createOfflineModel } from './offline-model.ts'
