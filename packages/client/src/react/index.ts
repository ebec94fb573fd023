// Exports of @baton/client/react: hooks for React 18 and newer.
export { useSession } from './use-session.ts'
export type { UsedSession } from './use-session.ts'
export { useDirectory } from './use-directory.ts'
export type { UsedDirectory } from './use-directory.ts'
