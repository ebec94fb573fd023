// Models of other vendors, on Bedrock and on Chat Completions servers. This file lists what the models support;
// openai-chat/quirks.ts lists each server's format.
import type { Effort } from '@baton/core/internal'
import type { ModelFamily, ModelTraits, ThinkingTraits, TraitsRow } from './model-traits.ts'
import { NO_THINKING, PLAIN_TRAITS } from './model-traits.ts'

function row(family: ModelFamily, name: string, pattern: RegExp, facts: readonly [string, ModelTraits]): TraitsRow {
  const [source, traits] = facts
  return { family, name, pattern, checked: '2026-11', source, traits }
}

function withEfforts(off: ThinkingTraits['off'], ...efforts: readonly Effort[]): ThinkingTraits {
  return { kind: 'effort', efforts, off }
}

/** Thinks by default. Each server has its own way to change that, or none. */
const UNTOLD: ThinkingTraits = { kind: 'untold', efforts: [], off: 'never' }
const TEXT_ONLY: ModelTraits = { ...PLAIN_TRAITS, images: false }

/** Nova user guide, "Complete request schema". */
const NOVA: ModelTraits = { ...PLAIN_TRAITS, files: true, cache: true, output: 'none', singleCalls: false }

/** docs.x.ai, reasoning: models that think reject `stop`. */
const GROK: ModelTraits = { ...PLAIN_TRAITS, stop: false }
const XAI = 'docs.x.ai/docs/guides/reasoning'

const DEEPSEEK = 'api-docs.deepseek.com, thinking mode'

const THINKERS =
  /^(?:(?:zai-)?glm-(?:4[.p-][5-9]|[5-9])|kimi-(?:.*thinking|k[3-9])|minimax-m[2-9]|nemotron-(?:3|nano-9b)|phi-4.*reasoning)/

export const OTHER_ROWS: readonly TraitsRow[] = [
  row('nova-2', 'Nova 2', /nova-2/, [
    'Nova 2 user guide, extended thinking: `high` would forbid maxTokens',
    { ...NOVA, contextTokens: 1_000_000, outputTokens: 65_535, thinking: withEfforts('absent', 'low', 'medium') },
  ]),
  row('nova', 'Nova Micro', /nova-micro/, ['Nova user guide', { ...NOVA, images: false, outputTokens: 10_000 }]),
  row('nova', 'Nova', /nova-(?:lite|pro|premier)/, ['Nova user guide', { ...NOVA, outputTokens: 10_000 }]),
  row('grok', 'Grok 4.5 and 4.6', /^grok-4[.-][56]/, [
    XAI,
    { ...GROK, contextTokens: 500_000, thinking: withEfforts('never', 'low', 'medium', 'high') },
  ]),
  row('grok', 'Grok 4.3', /^grok-4[.-]3/, [
    XAI,
    { ...GROK, contextTokens: 1_000_000, thinking: withEfforts('none', 'none', 'low', 'medium', 'high') },
  ]),
  row('grok', 'Grok without reasoning', /^grok-(?:.*non-reasoning|2|3(?!-mini))/, [
    'docs.x.ai/docs/models',
    { ...GROK, thinking: NO_THINKING, stop: true },
  ]),
  row('grok', 'Grok 3 mini', /^grok-3-mini/, [XAI, { ...GROK, thinking: withEfforts('never', 'low', 'high') }]),
  row('grok', 'Grok 4, 4.1, 4.20, code, build', /^grok-(?:4(?:-0709|[.-]1|[.-]20|-fast|-latest|$)|code|build)/, [
    'docs.x.ai: no effort (opencode-oci-provider v0.2.3)',
    { ...GROK, thinking: UNTOLD },
  ]),
  row('deepseek', 'DeepSeek 3.1 and later', /^deepseek-v(?:3[.p][1-9]|[4-9])/, [
    DEEPSEEK,
    { ...TEXT_ONLY, thinking: { kind: 'switch', efforts: [], off: 'disabled' } },
  ]),
  row('deepseek', 'DeepSeek reasoner, R1', /^deepseek-(?:reasoner|r1)/, [DEEPSEEK, { ...TEXT_ONLY, thinking: UNTOLD }]),
  row('deepseek', 'DeepSeek chat', /^deepseek-(?:chat|coder|v[123](?![.p]))/, [DEEPSEEK, TEXT_ONLY]),
  row('mistral', 'Magistral', /magistral/, ['docs.mistral.ai, reasoning', { ...PLAIN_TRAITS, thinking: UNTOLD }]),
  row('mistral', 'Mistral', /^(?:open-)?(?:mistral|ministral|mixtral|codestral|devstral|pixtral|voxtral)/, [
    'docs.mistral.ai/models',
    PLAIN_TRAITS,
  ]),
  row('qwen', 'Qwen without thinking', /^qwen(?:[12]|3.*(?:instruct|coder)|.*-vl-\d+b-instruct)/, [
    'Qwen model cards',
    PLAIN_TRAITS,
  ]),
  row('qwen', 'Qwen 3 and later', /^qwq|^qwen-?(?:[3-9]|max|plus)/, [
    'Qwen model cards: thinking is on by default',
    { ...PLAIN_TRAITS, thinking: { ...UNTOLD, efforts: ['low', 'medium', 'high'] } },
  ]),
  row('other', 'GLM, Kimi, MiniMax, Nemotron with thinking', THINKERS, [
    'model cards',
    { ...PLAIN_TRAITS, thinking: UNTOLD },
  ]),
]

/** Traits if no row and no family matches. `reasoning_effort` is sent only if requested. */
export const UNKNOWN_ROW: TraitsRow = row('other', 'All others', /^/, [
  'what most servers take',
  { ...PLAIN_TRAITS, thinking: withEfforts('absent', 'minimal', 'low', 'medium', 'high') },
])
