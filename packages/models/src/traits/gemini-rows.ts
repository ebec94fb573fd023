// Gemini, through the Gemini API and Vertex AI, newest models first. Unless noted, sources are pages below
// ai.google.dev/gemini-api/docs.
import type { Effort } from '@baton/core/internal'
import type { ModelTraits, ThinkingTraits, TraitsRow } from './model-traits.ts'
import { NO_THINKING, PLAIN_TRAITS } from './model-traits.ts'

const GEMINI: ModelTraits = {
  ...PLAIN_TRAITS,
  contextTokens: 1_048_576,
  outputTokens: 65_536,
  files: true,
  // 400 "Function calling with a response mime type: 'application/json' is unsupported".
  output: 'without-tools',
  // There is no option to limit an answer to one call.
  singleCalls: false,
  schemas: { lookaround: true, recursion: false },
}

/**
 * Levels instead of a budget, tools together with JSON (recorded), and signatures that must be sent back with their
 * calls.
 */
const GEMINI_3: ModelTraits = { ...GEMINI, output: 'native', signedCalls: true }

function withLevels(...efforts: readonly Effort[]): ModelTraits {
  return { ...GEMINI_3, thinking: { kind: 'effort', efforts, off: 'never' } }
}

function withBudget(off: ThinkingTraits['off'], least: number, most: number): ModelTraits {
  return { ...GEMINI, thinking: { kind: 'budget', efforts: [], off, budget: { least, most } } }
}

const END = '(?=$|-\\d{3}$|-preview|-exp|-latest|-image|-\\d\\d-\\d{4}|-\\d\\d-\\d\\d)'

function gemini(name: string, words: string, source: string, traits: ModelTraits): TraitsRow {
  return {
    family: 'gemini',
    name: `Gemini ${name}`,
    pattern: new RegExp(`^gemini-(?:${words})${END}`),
    checked: '2026-11',
    source,
    traits,
  }
}

/** "temperature, top_p, and top_k are deprecated" (whats-new-gemini-3.6): ignored today, an error in future. */
const NEWEST: ModelTraits = { ...withLevels('low', 'medium', 'high'), sampling: 'refused' }

export const GEMINI_ROWS: readonly TraitsRow[] = [
  gemini('3.7 and 3.8 Flash', '3\\.[78]-flash', 'docs.cloud.google.com guides/gemini-3-8-flash', NEWEST),
  gemini('3.6 Flash', '3\\.6-flash', 'whats-new-gemini-3.6', NEWEST),
  gemini('Flash and Pro, latest', '(?:flash|pro|flash-lite)', 'models', NEWEST),
  gemini('3 and 3.5 Flash, 3.1 and 3.5 Flash-Lite', '3(?:\\.[15])?-flash(?:-lite)?', 'whats-new-gemini-3.5', {
    ...withLevels('minimal', 'low', 'medium', 'high'),
  }),
  gemini('3.1 Pro', '3\\.1-pro', 'docs.cloud.google.com guides/gemini-3-5-flash', withLevels('low', 'medium', 'high')),
  gemini('3 Pro', '3-pro', 'thinking', withLevels('low', 'high')),
  gemini('2.5 Pro', '2\\.5-pro', 'thinking: 128 to 32,768 tokens', withBudget('never', 128, 32_768)),
  gemini('2.5 Flash-Lite', '2\\.5-flash-lite', 'thinking: 512 to 24,576 tokens', withBudget('zero', 512, 24_576)),
  gemini('2.5 Flash', '2\\.5-flash', 'thinking: to 24,576 tokens', withBudget('zero', 1, 24_576)),
  gemini('2.0 and before', '(?:1|2\\.0)[^/]*?|exp[^/]*|pro-vision[^/]*', 'models of 2025', {
    ...GEMINI,
    thinking: NO_THINKING,
    outputTokens: 8192,
  }),
  {
    family: 'gemini',
    name: 'Gemma, LearnLM',
    pattern: /^(?:gemma|learnlm)/,
    checked: '2026-11',
    source: 'core/gemma_on_gemini_api',
    traits: { ...GEMINI, thinking: NO_THINKING, contextTokens: 131_072, outputTokens: 8192 },
  },
]
