// Claude, through Anthropic's own API, Bedrock and gateways, newest models first. Unless noted, sources are pages below
// platform.claude.com/docs/en.
import type { Effort } from '@baton/core/internal'
import type { ModelTraits, ThinkingTraits, TraitsRow } from './model-traits.ts'
import { NO_THINKING, PLAIN_TRAITS } from './model-traits.ts'

/** Strict output: "Circular reference detected" (agency-lang#487); at most 16 unions (vercel/ai#17268). */
const SCHEMAS = { unions: 16, optional: 24, lookaround: false, recursion: false }

const EFFORTS: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max']

const CLAUDE: ModelTraits = { ...PLAIN_TRAITS, images: true, files: true, cache: true, schemas: SCHEMAS }

/**
 * Adaptive thinking. Temperature, top_p and top_k were removed (400 "`temperature` is deprecated for this model."), and
 * so was prefilling ("This model does not support assistant message prefill. The conversation must end with a user
 * message.").
 */
const ADAPTIVE: ModelTraits = {
  ...CLAUDE,
  contextTokens: 1_000_000,
  outputTokens: 128_000,
  thinking: { kind: 'adaptive', efforts: EFFORTS, off: 'never' },
  sampling: 'refused',
  prefill: false,
}

/** 400 "\"thinking.type.disabled\" is not supported for this model", and forced calls are an error. */
const ALWAYS_THINKING: ModelTraits = { ...ADAPTIVE, forcing: 'never' }

/**
 * A budget of at least 1,024 within max_tokens, only with the default temperature and without forced calls; off by
 * default.
 */
const BUDGET: ThinkingTraits = {
  kind: 'budget',
  efforts: [],
  off: 'absent',
  budget: { least: 1024, most: Number.MAX_SAFE_INTEGER },
}

function adaptive(off: ThinkingTraits['off'], efforts = EFFORTS): ThinkingTraits {
  return { kind: 'adaptive', efforts, off }
}

/** The end of a name: nothing, a date, a Bedrock version, or an alias. Another number is another model. */
const END = '(?=$|[-_]?v\\d|-20\\d{6}|-latest|-fast|-preview|[@:])'

function claude(name: string, words: string, source: string, traits: ModelTraits): TraitsRow {
  return {
    family: 'claude',
    name: `Claude ${name}`,
    pattern: new RegExp(`^claude-(?:${words})${END}`),
    checked: '2026-11',
    source,
    traits,
  }
}

const WITHOUT_OUTPUT: ModelTraits = { ...CLAUDE, contextTokens: 200_000, output: 'none', sampling: 'unthinking' }

export const CLAUDE_ROWS: readonly TraitsRow[] = [
  claude('Fable 5.1', '(?:fable|mythos)-5-1', 'models/fable-5-1, claude-cookbooks#854', ALWAYS_THINKING),
  claude('Opus 5.5', 'opus-5-5', 'models/opus-5-5/whats-new-opus-5-5', ALWAYS_THINKING),
  claude('Sonnet 5.5', 'sonnet-5-5', 'models/sonnet-5-5/whats-new-sonnet-5-5', {
    ...ALWAYS_THINKING,
    thinking: adaptive('between-tools'),
  }),
  claude('Haiku 5.5', 'haiku-5-5', 'models/haiku-5-5/migration-guide', {
    ...ADAPTIVE,
    thinking: adaptive('disabled'),
  }),
  claude('Opus 5', 'opus-5', 'models/opus-5/whats-new-opus-5', { ...ADAPTIVE, thinking: adaptive('disabled') }),
  claude('Sonnet 5', 'sonnet-5', 'models/sonnet-5/overview', { ...ADAPTIVE, thinking: adaptive('disabled') }),
  claude('Fable 5, Mythos', 'fable-5|mythos(?:-5)?', 'build-with-claude/effort', ADAPTIVE),
  claude('Opus 4.7 and 4.8', 'opus-4-[78]', 'claude-messages-adaptive-thinking (AWS); opencode#22863', {
    ...ADAPTIVE,
    thinking: adaptive('absent'),
  }),
  claude('Opus 4.6, Sonnet 4.6', '(?:opus|sonnet)-4-6', 'claude-messages-adaptive-thinking (AWS)', {
    ...ADAPTIVE,
    outputTokens: 64_000,
    thinking: adaptive('absent', ['low', 'medium', 'high', 'max']),
    sampling: 'one',
  }),
  claude('4.5', '(?:opus|sonnet|haiku)-4-5', 'models/haiku-4-5/migration-guide', {
    ...CLAUDE,
    contextTokens: 200_000,
    outputTokens: 64_000,
    thinking: BUDGET,
    sampling: 'one',
    forcing: 'unthinking',
  }),
  claude('Opus 4.1', 'opus-4-1', 'build-with-claude/structured-outputs', {
    ...CLAUDE,
    contextTokens: 200_000,
    outputTokens: 32_000,
    thinking: BUDGET,
    sampling: 'one',
    forcing: 'unthinking',
  }),
  claude('Opus 4', '(?:opus-4|4-opus)(?:-0)?', 'models/overview of 2025', {
    ...WITHOUT_OUTPUT,
    outputTokens: 32_000,
    thinking: BUDGET,
    forcing: 'unthinking',
  }),
  claude('Sonnet 4, Sonnet 3.7', '(?:sonnet-4|4-sonnet)(?:-0)?|3-7-sonnet', 'models/overview of 2025', {
    ...WITHOUT_OUTPUT,
    outputTokens: 64_000,
    thinking: BUDGET,
    forcing: 'unthinking',
  }),
  claude('3.5', '3-5-(?:sonnet|haiku)', 'models/overview of 2024', {
    ...WITHOUT_OUTPUT,
    outputTokens: 8192,
    thinking: NO_THINKING,
    sampling: 'free',
  }),
  claude('3 and before', '3-(?:opus|sonnet|haiku)|instant[^/]*|2[^/]*|v[12][^/]*', 'models/overview of 2024', {
    ...WITHOUT_OUTPUT,
    outputTokens: 4096,
    thinking: NO_THINKING,
    sampling: 'free',
    cache: false,
  }),
]

/**
 * Third-party servers with the Messages API accept its original features. Selected by the API itself rather than by
 * name.
 */
export const MESSAGES_ROW: TraitsRow = {
  family: 'messages',
  name: 'Others, through the Messages API',
  pattern: /^\b$/,
  checked: '2026-11',
  source: 'messages.d.ts of 2025',
  traits: { ...CLAUDE, thinking: BUDGET, sampling: 'unthinking', forcing: 'unthinking' },
}
