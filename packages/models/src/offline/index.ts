// What users import from @baton/models/offline.
export { createOfflineModel } from './offline-model.ts'
