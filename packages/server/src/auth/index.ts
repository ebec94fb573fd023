// The exports of @baton/server/auth: identifies the principal of a request by a token signed by another service.
export { createTokenVerifier } from './verify-tokens.ts'
export type { TokenVerifier } from './verify-tokens.ts'
