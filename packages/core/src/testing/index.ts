// The test kit: checks for models, stores, tools and wires, and stand-ins for them.
// @internal: names may change in any version; programs import @baton/host/testing.
export * from './random.ts'
export { inlineBlobs } from './inline-blobs.ts'
export * from './neutral-history.ts'
export * from './invariants.ts'
export * from './explore.ts'
export { createCoverage } from './explore-world.ts'
export type { Coverage, World } from './explore-world.ts'
export * from './scripted-model.ts'
export * from './store-contract.ts'
export { playStores } from './store-play.ts'
export type { StorePlay } from './store-play.ts'
export { createToolContext } from './tool-context.ts'
