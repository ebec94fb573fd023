// OpenAI's models, through its own APIs, Azure and gateways, newest models first. Unless noted, sources are pages below
// developers.openai.com/api/docs.
import type { Effort } from '@baton/core/internal'
import type { ModelTraits, TraitsRow } from './model-traits.ts'
import { NO_THINKING, PLAIN_TRAITS } from './model-traits.ts'

/** Structured outputs guide: 10 levels, 1,000 enum values, no lookaround. */
const SCHEMAS = { depth: 10, enumValues: 1000, lookaround: false, recursion: true }

const GPT: ModelTraits = { ...PLAIN_TRAITS, files: true, schemas: SCHEMAS }

/** "Unsupported parameter: 'stop' is not supported with this model." */
const THINKING: ModelTraits = { ...GPT, outputTokens: 128_000, sampling: 'unthinking', stop: false }

/** 400 "Function tools with reasoning_effort are not supported … in /v1/chat/completions" (vane#1173). */
const RESPONSES_FIRST: ModelTraits = { ...THINKING, contextTokens: 1_050_000, chatTools: 'unthinking' }

function withEfforts(traits: ModelTraits, ...efforts: readonly Effort[]): ModelTraits {
  const [least] = efforts
  const kind = least === undefined ? 'untold' : 'effort'
  return { ...traits, thinking: { kind, efforts, off: least === 'none' ? 'none' : 'never' } }
}

function withoutThinking(contextTokens: number, outputTokens: number): ModelTraits {
  return { ...GPT, thinking: NO_THINKING, contextTokens, outputTokens }
}

const DATE = '(?:-20\\d\\d-\\d\\d-\\d\\d)?(?:-latest|-preview)?$'

function gpt(name: string, words: string, source: string, traits: ModelTraits): TraitsRow {
  return { family: 'gpt', name, pattern: new RegExp(`^(?:${words})${DATE}`), checked: '2026-11', source, traits }
}

/** o1 and its successors: "'parallel_tool_calls' is not supported with this model". */
const O_SERIES: ModelTraits = { ...THINKING, contextTokens: 200_000, outputTokens: 100_000, singleCalls: false }
const TOOLS_PAGE = 'guides/reasoning; docs.laozhang.ai gpt-6-chat-tools-2026-11'

export const GPT_ROWS: readonly TraitsRow[] = [
  gpt('GPT-6 Astra, GPT-6.1 Sol', 'gpt-6-astra|gpt-6\\.1-sol', TOOLS_PAGE, {
    ...withEfforts(RESPONSES_FIRST, 'low', 'medium', 'high', 'xhigh', 'max'),
  }),
  gpt('GPT-6, GPT-6.1 Terra', 'gpt-6(?:-sol|-luna)?(?:-fast)?|gpt-6\\.1-terra', TOOLS_PAGE, {
    ...withEfforts(RESPONSES_FIRST, 'none', 'low', 'medium', 'high', 'xhigh', 'max'),
  }),
  gpt('GPT-5.6', 'gpt-5\\.6(?:-sol|-terra|-luna)?', 'models; vane#1173', {
    ...withEfforts(RESPONSES_FIRST, 'none', 'low', 'medium', 'high', 'xhigh', 'max'),
  }),
  gpt('GPT-5 pro', 'gpt-5-pro', 'models/gpt-5-pro', {
    ...withEfforts({ ...THINKING, contextTokens: 400_000, outputTokens: 272_000 }, 'high'),
  }),
  gpt('GPT-5.2 to 5.5 pro', 'gpt-5\\.[2-5]-pro', 'models/gpt-5.2-pro', {
    ...withEfforts({ ...RESPONSES_FIRST, contextTokens: 400_000 }, 'medium', 'high', 'xhigh'),
  }),
  gpt('GPT-5.1 codex max, 5.2 and 5.3 codex', 'gpt-5\\.1-codex-max|gpt-5\\.[23]-codex', 'models/gpt-5.3-codex', {
    ...withEfforts({ ...THINKING, contextTokens: 400_000 }, 'low', 'medium', 'high', 'xhigh'),
  }),
  gpt('GPT-5 and 5.1 codex', 'gpt-5(?:\\.1)?-codex(?:-mini)?', 'models/gpt-5-codex', {
    ...withEfforts({ ...THINKING, contextTokens: 400_000 }, 'low', 'medium', 'high'),
  }),
  gpt('GPT-5 chat', 'gpt-5(?:\\.\\d)?-chat', 'models/gpt-5-chat-latest', withoutThinking(128_000, 16_384)),
  gpt('GPT-5.4, GPT-5.5', 'gpt-5\\.[45]', 'models/gpt-5.5', {
    ...withEfforts(RESPONSES_FIRST, 'none', 'low', 'medium', 'high', 'xhigh'),
  }),
  gpt('GPT-5.4 mini and nano, 5.2, 5.3', 'gpt-5\\.4-(?:mini|nano)|gpt-5\\.[23]', 'models/gpt-5.4-mini', {
    ...withEfforts({ ...RESPONSES_FIRST, contextTokens: 400_000 }, 'none', 'low', 'medium', 'high', 'xhigh'),
  }),
  gpt('GPT-5.1', 'gpt-5\\.1(?:-mini|-nano)?', 'models/gpt-5.1', {
    ...withEfforts({ ...THINKING, contextTokens: 400_000 }, 'none', 'low', 'medium', 'high'),
  }),
  gpt('GPT-5', 'gpt-5(?:-mini|-nano)?', 'models/gpt-5', {
    ...withEfforts({ ...THINKING, contextTokens: 400_000 }, 'minimal', 'low', 'medium', 'high'),
  }),
  gpt('o1-preview, o1-mini', 'o1-(?:preview|mini)', '2024 models: no effort, no schema', {
    ...withEfforts({ ...O_SERIES, contextTokens: 128_000, outputTokens: 32_768, output: 'none' }),
  }),
  gpt('o1, o3, o4', 'o\\d(?:-mini|-pro|-deep-research|-mini-deep-research)?', 'models/o3', {
    ...withEfforts(O_SERIES, 'low', 'medium', 'high'),
  }),
  gpt('GPT-4.1', 'gpt-4\\.1(?:-mini|-nano)?', 'models/gpt-4.1', withoutThinking(1_047_576, 32_768)),
  gpt('GPT-4o', '(?:chat)?gpt-4o(?:-mini)?|gpt-4\\.5', 'models/gpt-4o', withoutThinking(128_000, 16_384)),
  gpt('GPT-4 turbo', 'gpt-4-turbo|gpt-4-(?:0125|1106)', 'models/gpt-4-turbo', {
    ...withoutThinking(128_000, 4096),
    output: 'none',
  }),
  gpt('GPT-4, GPT-3.5', 'gpt-4|gpt-4-0613|gpt-3\\.?5-turbo(?:-\\d+k?)?', 'models/gpt-4', {
    ...GPT,
    outputTokens: 4096,
    output: 'none',
    images: false,
  }),
]

/**
 * Open weights on third-party servers: they always think and accept an effort as a word (openai/gpt-oss, model card).
 */
export const GPT_OSS_ROW: TraitsRow = {
  family: 'gpt-oss',
  name: 'gpt-oss',
  pattern: /^gpt-oss/,
  checked: '2026-11',
  source: 'openai/gpt-oss, model card',
  traits: { ...withEfforts({ ...PLAIN_TRAITS, images: false }, 'low', 'medium', 'high') },
}
