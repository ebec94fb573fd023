// Providers' rules about individual models, taken from their documentation and errors, independently of the traits
// table that is tested against them.
import type { JsonObject } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'

/** The verbatim message of a rejection, or what a page says. */
export type Refusal = string

/** Reads a request body: its fields, if they have the type that a rule expects. */
export function objectAt(body: JsonObject, ...path: readonly string[]): JsonObject {
  let value: JsonObject = body
  for (const key of path) {
    const next = value[key]
    if (!isJsonObject(next)) return {}
    value = next
  }
  return value
}

export function listAt(body: JsonObject, key: string): readonly unknown[] {
  const value = body[key]
  return Array.isArray(value) ? value : []
}

export function textAt(body: JsonObject, key: string): string {
  const value = body[key]
  return typeof value === 'string' ? value : ''
}

export function numberAt(body: JsonObject, key: string): number {
  const value = body[key]
  return typeof value === 'number' ? value : 0
}

/** Returns the broken rules of a provider. */
export function listBroken(rules: readonly (readonly [boolean, Refusal])[]): readonly Refusal[] {
  return rules.filter(([isBroken]) => isBroken).map(([, refusal]) => refusal)
}

/** Tokens of a short spoken answer, and the minimum reserved for thinking in addition. */
export const VOICE_TOKENS = 512
export const THOUGHTS_TOKENS_MIN = 2048

export const STARVED: Refusal = 'thinking counts against the limit of output tokens: nothing is left for the answer'
