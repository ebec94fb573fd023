// The token for a server. It is never shown, not even an invalid one.
import { UsageError } from './usage-error.ts'
import type { Variables } from './words.ts'

/** Reads `--token`, then BATON_TOKEN. @throws UsageError */
export function readToken(option: string | undefined, variables: Variables): string | undefined {
  const name = option === undefined ? 'the variable BATON_TOKEN' : '--token'
  const token = option ?? (variables['BATON_TOKEN']?.trim() || undefined)
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return token
  throw new UsageError(`${name} must be at least one printable ASCII character, without spaces`)
}
