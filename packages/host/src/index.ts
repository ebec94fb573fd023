// What programs import from @baton/host: the local host and the things that it is given.
export { createHost } from './local/create-host.ts'
export type { HostOptions } from './local/create-host.ts'
export { createNodeEnvironment } from './environment.ts'
export { createMemoryStore } from './stores/memory-store.ts'
export { createLogger } from './logging.ts'
export type { LoggerOptions } from './logging.ts'
