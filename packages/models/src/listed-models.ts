// Names and context windows of models, as in the price list of @pydantic/genai-prices.
// The list itself is loaded by prices.ts alone, because it is large; this reads an extract that `npm run docs` writes.
import { EXTRACT } from './listed-models-extract.ts'

/**
 * Maps provider names to those in @pydantic/genai-prices. Local servers are not listed: they are free, and their context
 * windows depend on how the server was started.
 */
export const LISTED_PROVIDERS: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  'openai-chat': 'openai',
  azure: 'azure',
  gemini: 'google',
  bedrock: 'aws',
  groq: 'groq',
  openrouter: 'openrouter',
  deepseek: 'deepseek',
  mistral: 'mistral',
  xai: 'x-ai',
  together: 'together',
  fireworks: 'fireworks',
  cerebras: 'cerebras',
}

/** The extract of one provider, as JSON. */
export interface ListedProvider {
  /** Words of the ids of its models, each once. */
  readonly words: readonly string[]
  /** Providers whose models it offers too. */
  readonly also: readonly string[]
  /** Models in the order of the list: the first match counts. A window is in tokens. */
  readonly models: readonly (readonly [match: Match, window?: number])[]
}

/** A rule of the list for names of models, without regard to case except in `regex`. */
export type Match =
  | { readonly or: readonly Match[] }
  | { readonly and: readonly Match[] }
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string }

/** Words of the provider's model ids; `undefined` if the provider is not listed. */
export function findListedWords(provider: string): ReadonlySet<string> | undefined {
  const listed = readProvider(providerId(provider))
  return listed && new Set(listed.words)
}

/** Returns `undefined` if the provider or the model is not listed, or has no window in the list. */
export function findListedWindow(provider: string, model: string): number | undefined {
  const id = providerId(provider)
  const name = model.toLowerCase().trim()
  return (findModel(id, name) ?? findModel(id, withDashedDate(name)))?.[1]
}

function findModel(id: string | undefined, name: string): ListedProvider['models'][number] | undefined {
  const listed = readProvider(id)
  const own = listed?.models.find(([match]) => fits(match, name))
  if (own) return own
  for (const other of listed?.also ?? []) {
    const found = readProvider(other)?.models.find(([match]) => fits(match, name))
    if (found) return found
  }
  return undefined
}

function providerId(provider: string): string | undefined {
  return Object.hasOwn(LISTED_PROVIDERS, provider) ? LISTED_PROVIDERS[provider] : undefined
}

function readProvider(id: string | undefined): ListedProvider | undefined {
  if (id === undefined || !Object.hasOwn(EXTRACT, id)) return undefined
  return JSON.parse(EXTRACT[id] ?? '') as ListedProvider // as generated
}

function fits(match: Match, name: string): boolean {
  if ('or' in match) return match.or.some((each) => fits(each, name))
  if ('and' in match) return match.and.every((each) => fits(each, name))
  if ('equals' in match) return name === match.equals.toLowerCase()
  if ('starts_with' in match) return name.startsWith(match.starts_with.toLowerCase())
  if ('ends_with' in match) return name.endsWith(match.ends_with.toLowerCase())
  if ('contains' in match) return name.includes(match.contains.toLowerCase())
  return new RegExp(match.regex).test(name)
}

/** Dates are written with and without dashes: the list knows `-2025-08-07` where an id may have `-20250807`. */
function withDashedDate(name: string): string {
  return name.replaceAll(/-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g, '-$1-$2-$3')
}
