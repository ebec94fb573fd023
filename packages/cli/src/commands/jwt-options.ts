// Options for the JWTs that `baton serve` accepts, checked from words and variables. Nothing is fetched here.
import type { TokenVerifierOptions } from '@baton/server/internal'
import { createTokenVerifier } from '@baton/server/auth'
import { UsageError } from '../words/usage-error.ts'
import type { Variables } from '../words/words.ts'

/** For `parseArgs`. */
export const JWT_WORDS = {
  'jwt-issuer': { type: 'string' },
  'jwt-audience': { type: 'string' },
  'jwt-jwks': { type: 'string' },
  'jwt-claim': { type: 'string' },
} as const

export type JwtValues = { readonly [Name in keyof typeof JWT_WORDS]?: string | undefined }

export type JwtOptions = Pick<TokenVerifierOptions, 'issuer' | 'audience' | 'jwks' | 'claim'>

/** Returns `undefined` if no issuer is named. @throws UsageError */
export function readJwtOptions(values: JwtValues, variables: Variables): JwtOptions | undefined {
  const read = (option: keyof typeof JWT_WORDS): string | undefined =>
    values[option] ?? (variables[`BATON_${option.toUpperCase().replace('-', '_')}`]?.trim() || undefined)
  const [issuer, audience] = [read('jwt-issuer'), read('jwt-audience')]
  const [jwks, claim] = [read('jwt-jwks'), read('jwt-claim')]
  if (issuer === undefined) {
    if (audience ?? jwks ?? claim)
      throw new UsageError('--jwt-audience, --jwt-jwks and --jwt-claim need --jwt-issuer (or BATON_JWT_ISSUER)')
    return undefined
  }
  if (audience === undefined)
    throw new UsageError(
      '--jwt-issuer needs --jwt-audience (or BATON_JWT_AUDIENCE); without it, tokens for other services would be accepted',
    )
  const options: JwtOptions = {
    issuer,
    audience: audience.split(',').map((one) => one.trim()),
    ...(jwks !== undefined && { jwks }),
    ...(claim !== undefined && { claim }),
  }
  try {
    createTokenVerifier(options)
  } catch (cause) {
    throw new UsageError(`--jwt-${cause instanceof Error ? cause.message : String(cause)}`)
  }
  return options
}
