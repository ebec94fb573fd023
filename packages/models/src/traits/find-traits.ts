// Looks up a model in the table by its name, as people, gateways and Bedrock write it. A user's own traits win; an
// unknown name counts as the newest model of its family.
import type { ModelCapabilities } from '@baton/core/internal'
import { CLAUDE_ROWS, MESSAGES_ROW } from './claude-rows.ts'
import { GEMINI_ROWS } from './gemini-rows.ts'
import { GPT_OSS_ROW, GPT_ROWS } from './gpt-rows.ts'
import type { ModelFamily, ModelTraits, TraitsOverride, TraitsRow } from './model-traits.ts'
import { OTHER_ROWS, UNKNOWN_ROW } from './other-rows.ts'

/** All rows, with the newest of each family first. */
export const TRAITS_TABLE: readonly TraitsRow[] = [
  ...CLAUDE_ROWS,
  MESSAGES_ROW,
  ...GPT_ROWS,
  GPT_OSS_ROW,
  ...GEMINI_ROWS,
  ...OTHER_ROWS,
  UNKNOWN_ROW,
]

export interface TraitsQuery {
  /** The name sent to the provider: `claude-opus-5-5`, `us.amazon.nova-lite-v1:0`, `openai/gpt-5.6-sol`. */
  readonly model: string
  /** The family to assume if the name does not reveal one. */
  readonly family?: ModelFamily
  readonly override?: TraitsOverride | undefined
}

export interface FoundTraits {
  readonly traits: ModelTraits
  readonly family: ModelFamily
  /** Name of the row. */
  readonly row: string
  /** Whether no row matches and the newest model of the family was assumed. */
  readonly isAssumed: boolean
}

export function findTraits({ model, family, override }: TraitsQuery): FoundTraits {
  const name = plainName(model)
  const known = TRAITS_TABLE.find((row) => row !== UNKNOWN_ROW && row.pattern.test(name))
  const meant = known ? undefined : (FAMILIES.find(([, pattern]) => pattern.test(name))?.[0] ?? family)
  const row = known ?? TRAITS_TABLE.find((each) => each.family === meant && meant !== 'other') ?? UNKNOWN_ROW
  return {
    traits: override ? mergeTraits(row.traits, override) : row.traits,
    family: row.family,
    row: row.name,
    isAssumed: !known && row !== UNKNOWN_ROW && row !== MESSAGES_ROW,
  }
}

type Told = Required<Pick<ModelCapabilities, 'images' | 'output'>> &
  Pick<ModelCapabilities, 'contextTokens' | 'assumedTraits'>

/** A model's capabilities according to the table. */
export function describeCapabilities(query: TraitsQuery): Told {
  const { traits, row, isAssumed } = findTraits(query)
  const { contextTokens } = traits
  return {
    images: traits.images,
    output: traits.output,
    ...(contextTokens !== undefined && { contextTokens }),
    ...(isAssumed && { assumedTraits: row }),
  }
}

/** Families by name, for models newer than the table. */
const FAMILIES: readonly (readonly [ModelFamily, RegExp])[] = [
  ['claude', /claude/],
  ['gpt-oss', /^gpt-oss/],
  ['gpt', /^(?:gpt-\d|o\d|chatgpt|chat-latest)/],
  ['gemini', /^gemini/],
  ['nova-2', /^nova/],
  ['grok', /^grok/],
  ['deepseek', /^deepseek/],
]

/** `us.anthropic.claude-haiku-4-5-20251001-v1:0` and `anthropic/claude-haiku-4.5` both become `claude-haiku-4-5…`. */
function plainName(model: string): string {
  const last = model.toLowerCase().slice(model.lastIndexOf('/') + 1)
  const bare = withoutVendor(last)
    .replace(/^ft:([^:]+).*$/, '$1')
    .replace(/:[\w-]+$/, '')
  return bare.startsWith('claude') ? bare.replace(/(\d)\.(\d)/g, '$1-$2') : bare
}

function withoutVendor(name: string): string {
  return name.replace(
    /^(?:[a-z-]+\.)?(?:amazon|anthropic|mistral|meta|deepseek|openai|qwen|cohere|writer|google)\./,
    '',
  )
}

/** `us.anthropic.claude-…` and `anthropic.claude-…` are one model: signatures of one are valid for the other. */
export function dropRegion(modelId: string): string {
  const id = modelId.slice(modelId.lastIndexOf('/') + 1)
  return id.replace(/^[a-z-]+\.(?=(amazon|anthropic|mistral|meta|deepseek|openai|qwen|cohere|writer)\.)/, '')
}

export function mergeTraits(traits: ModelTraits, override: TraitsOverride): ModelTraits {
  return {
    ...traits,
    ...override,
    thinking: { ...traits.thinking, ...override.thinking },
    schemas: { ...traits.schemas, ...override.schemas },
  }
}
