// Exports of @baton/tools/guard.
export { createGuardedFetch } from './guarded-fetch.ts'
export type { GuardedFetch, GuardOptions } from './guarded-fetch.ts'
