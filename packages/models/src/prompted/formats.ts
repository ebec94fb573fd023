// Formats by name, and which one a model was trained on: by its chat template, otherwise by its name.
import { BatonError } from '@baton/core'
import type { PromptedFormat } from './format.ts'
import { GRANITE, HERMES, JSON_FENCE, LLAMA } from './formats/json.ts'
import { DEEPSEEK, HARMONY, KIMI, MISTRAL } from './formats/marked.ts'
import { BRACKETS, GEMMA } from './formats/python.ts'
import { GLM_TAGS, MINIMAX, QWEN_CODER } from './formats/tagged.ts'

export type PromptedFormatName =
  | 'hermes'
  | 'json-fence'
  | 'llama'
  | 'brackets'
  | 'qwen-coder'
  | 'glm'
  | 'deepseek'
  | 'harmony'
  | 'kimi'
  | 'granite'
  | 'minimax'
  | 'gemma'
  | 'mistral'

export const PROMPTED_FORMATS: Readonly<Record<PromptedFormatName, PromptedFormat>> = {
  hermes: HERMES,
  'json-fence': JSON_FENCE,
  llama: LLAMA,
  brackets: BRACKETS,
  'qwen-coder': QWEN_CODER,
  glm: GLM_TAGS,
  deepseek: DEEPSEEK,
  harmony: HARMONY,
  kimi: KIMI,
  granite: GRANITE,
  minimax: MINIMAX,
  gemma: GEMMA,
  mistral: MISTRAL,
}

/** Maximum characters of a name that are examined. */
const NAME_CHARS = 256

/** Format for unknown models: most open ones were trained on it. */
const USUAL_FORMAT: PromptedFormatName = 'hermes'

/**
 * The first entry found in a chat template (Jinja) determines the format. Seen in the templates named next to each
 * format.
 */
const BY_TEMPLATE: readonly (readonly [part: string, format: PromptedFormatName])[] = [
  ['<function=', 'qwen-coder'],
  ['<arg_key>', 'glm'],
  ['<｜tool▁calls▁begin｜>', 'deepseek'],
  ['<｜DSML｜', 'deepseek'],
  ['<|channel|>', 'harmony'],
  ['<|tool_calls_section_begin|>', 'kimi'],
  ['<minimax:tool_call>', 'minimax'],
  ['[TOOL_CALLS]', 'mistral'],
  ['<|tool_call_start|>', 'brackets'],
  ['<|python_start|>', 'brackets'],
  ['<|tool_call|>', 'granite'],
  ['<tool_call>', 'hermes'],
  ['<|python_tag|>', 'llama'],
  ['<start_of_turn>', 'gemma'],
]

/**
 * The first pattern that matches a model id, in lower case and without its provider, determines the format. Distilled
 * models keep the format of their base: `deepseek-r1-distill-llama` is listed before both.
 */
const BY_NAME: readonly (readonly [pattern: RegExp, format: PromptedFormatName])[] = [
  [/distill.*qwen|qwen.*distill|hermes|functionary|smollm|granite-?4/, 'hermes'],
  [/distill.*llama|llama.*distill/, 'llama'],
  [/qwen-?3[-_.]?coder|qwen-?3\.[5-9]|nemotron-?3/, 'qwen-coder'],
  [/qwen|qwq/, 'hermes'],
  [/glm-?(?:4\.[5-9]|[5-9])/, 'glm'],
  [/deepseek/, 'deepseek'],
  [/gpt-?oss/, 'harmony'],
  [/kimi/, 'kimi'],
  [/granite/, 'granite'],
  [/minimax/, 'minimax'],
  [/gemma/, 'gemma'],
  [/mistral|mixtral|magistral|ministral|devstral|codestral|pixtral/, 'mistral'],
  [/llama-?4|lfm-?2/, 'brackets'],
  [/llama/, 'llama'],
]

export interface KnownModel {
  /** For example `ollama/qwen3-coder:30b`. */
  readonly id?: string
  /** The model's chat template, if available. */
  readonly template?: string
}

/** The format a model was trained on, or `undefined` if unknown. */
export function findOwnFormat({ id = '', template = '' }: KnownModel): PromptedFormatName | undefined {
  const byTemplate = BY_TEMPLATE.find(([part]) => template.includes(part))
  // The provider `ollama/` must not match llama.
  const name = id.slice(id.indexOf('/') + 1, id.indexOf('/') + NAME_CHARS).toLowerCase()
  return (byTemplate ?? BY_NAME.find(([pattern]) => pattern.test(name)))?.[1]
}

/**
 * The format used to ask a model for calls: its own, otherwise `hermes`. A name alone never selects a format whose
 * marks are special tokens, because a server may strip them from the text.
 */
export function chooseFormat(known: KnownModel): PromptedFormatName {
  const own = findOwnFormat(known)
  const isSeen = findOwnFormat({ ...known, id: '' }) !== undefined
  return own !== undefined && (isSeen || !PROMPTED_FORMATS[own].hasTokens) ? own : USUAL_FORMAT
}

/** Extends a format to also read what a model writes by habit: its native marks, except code blocks. */
export function withHabits(asked: PromptedFormat, own: PromptedFormat | undefined): PromptedFormat {
  if (!own || own === asked) return asked
  const opens = asked.marks.map(({ open }) => open)
  const marks = own.marks.filter(({ open, isFence }) => !isFence && !opens.includes(open))
  const head = asked.head ?? own.head
  return {
    ...asked,
    marks: [...asked.marks, ...marks],
    ...(head && { head }),
    strays: [...new Set([...(asked.strays ?? []), ...(own.strays ?? [])])],
  }
}

/** @throws BatonError `invalid_option` */
export function promptedFormat(name: string): PromptedFormat {
  if (isPromptedFormat(name)) return PROMPTED_FORMATS[name]
  const known = Object.keys(PROMPTED_FORMATS).join(', ')
  throw new BatonError({
    code: 'invalid_option',
    message: `no call format is named "${name}"; use one of ${known}`,
  })
}

export function isPromptedFormat(name: string): name is PromptedFormatName {
  return Object.hasOwn(PROMPTED_FORMATS, name)
}
