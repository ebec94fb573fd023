// The exports of @baton/server/auth: identifies the principal of a request by a token signed by another service.
export { createTokenVerifier } from './verify-tokens.ts'
export type { TokenRequest, TokenVerifier, TokenVerifierOptions } from './verify-tokens.ts'
export { readBearerToken } from '../shared/bearer-token.ts'
export type { Identity } from '../shared/identity.ts'
