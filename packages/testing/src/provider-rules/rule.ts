// Rules of providers about single models, as their documentation and their errors say them. They were written from those, and
// know nothing of the table of traits that they are held against.
import type { JsonObject } from '@baton/core'
import { isJsonObject } from '@baton/core'

/** The literal words of a refusal, or what a page says. */
export type Refusal = string

/** Reads a request body: its fields, where they are of the kind that a rule looks at. */
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

/** Refusals of a provider: each rule with whether it was broken. */
export function listBroken(rules: readonly (readonly [boolean, Refusal])[]): readonly Refusal[] {
  return rules.filter(([isBroken]) => isBroken).map(([, refusal]) => refusal)
}

/** Tokens of a short answer for the ear, and the least that a model is given beside them where it thinks. */
export const VOICE_TOKENS = 512
export const THOUGHTS_TOKENS_MIN = 2048

export const STARVED: Refusal = 'thoughts count against the limit of output tokens: nothing is left for the answer'
