// The exports of @baton/server/auth: who is behind a request, by a token that another service has signed.
export { createTokenVerifier } from './verify-tokens.ts'
export type { TokenRequest, TokenVerifier, TokenVerifierInit } from './verify-tokens.ts'
export { readBearerToken } from '../shared/bearer-token.ts'
export type { Identity } from '../shared/identity.ts'
