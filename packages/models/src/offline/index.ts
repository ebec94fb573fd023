// Exports of @baton/models/offline. @internal: programs import it from @baton/host.
export { createOfflineModel } from './offline-model.ts'
