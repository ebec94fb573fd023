// Code shared by all model adapters. Each provider has its own subpath, so only what is used gets loaded.
export { withModelSettings } from './model-settings.ts'
export { createFetchTransport } from './transport/fetch-transport.ts'
export type { TraitsOverride } from './traits/model-traits.ts'
export type { Transport } from '@baton/core/internal'
