// The question by which a server shows what it does with tools, and what its answer to it means. Pure; who asks it, and when,
// stands in with-tool-probe.ts.
import type { BatonError, ModelAnswer, ModelRequest } from '@baton/core'
import { isBatonError } from '@baton/core'
import { AnswerParser } from './answer-parser.ts'
import type { PromptedFormatName } from './formats.ts'
import { chooseFormat, PROMPTED_FORMATS } from './formats.ts'
import { offeredTools } from './json-calls.ts'

/** The verdict: calls work, or tools must be asked for in words. */
export type ToolVerdict =
  | { readonly type: 'native' }
  | {
      readonly type: 'prompted'
      /** `refused`: by an error; `written`: the call stood in the text; `ignored`: there was text and no call. */
      readonly reason: 'refused' | 'written' | 'ignored'
      readonly format: PromptedFormatName
    }

/** The tool of the probe, and the word that it is to be called with: a server of a test knows the probe by them. */
export const PROBE_TOOL = 'repeat_word'
const WORD = 'copper'

/**
 * 256 are sent as 1,024 while tools are offered: room for a model that thinks before it calls, and an end for one that rambles.
 * The choice is the model's: one that is forced works on servers where a free one does not (vLLM without its parser).
 */
export const PROBE_REQUEST: ModelRequest = {
  instructions: '',
  messages: [
    {
      role: 'user',
      parts: [
        { type: 'text', text: `Call the tool ${PROBE_TOOL} with the word "${WORD}". Answer with the call alone.` },
      ],
    },
  ],
  tools: [
    {
      name: PROBE_TOOL,
      description: 'Repeats a word.',
      inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
      effect: 'pure',
    },
  ],
  toolChoice: { type: 'auto' },
  settings: { temperature: 0, maxOutputTokens: 256 },
  session: 'tool-probe',
}

/** Undefined: it says nothing about tools, as an answer that was cut while the model thought. */
export function readProbeAnswer({ parts }: ModelAnswer, usual: PromptedFormatName): ToolVerdict | undefined {
  if (parts.some((part) => part.type === 'call')) return { type: 'native' }
  return readProbeText(parts.map((part) => (part.type === 'text' ? part.text : '')).join(''), usual)
}

/** Characters of text, about 500 tokens: who has written so much and no call rambles, on a slow machine for minutes. */
export const PROBE_TEXT_MAX = 2000

/** @param usual how such a model writes calls where nothing else is known */
export function readProbeText(text: string, usual: PromptedFormatName): ToolVerdict | undefined {
  if (text.trim() === '') return undefined
  // Two formats may have the same marks: what stands between tells which it is, as in a template.
  const formats = [chooseFormat({ template: text }), ...FORMATS_BY_MARK]
  const written = formats.find((format) => writesProbeCall(text, format))
  return written
    ? { type: 'prompted', reason: 'written', format: written }
    : { type: 'prompted', reason: 'ignored', format: usual }
}

/** The plainest mark last: a code block of JSON is what a model falls back on that was taught nothing. */
const FORMATS_BY_MARK: readonly PromptedFormatName[] = ['brackets', 'llama', 'gemma', 'json-fence']

function writesProbeCall(text: string, format: PromptedFormatName): boolean {
  let isWritten = false
  const parser = new AnswerParser({
    format: PROMPTED_FORMATS[format],
    tools: offeredTools(PROBE_REQUEST.tools),
    mayRepair: true,
    onParsed: (parsed) => {
      if (parsed.type === 'call' && parsed.name === PROBE_TOOL && parsed.problem === undefined) isWritten = true
    },
  })
  parser.push(text)
  parser.end(true)
  return isWritten
}

/** Whether a request failed because it had tools. */
export function refusesTools(cause: unknown): cause is BatonError {
  return isBatonError(cause) && cause.code === 'model_without_tools'
}

const REASONS = {
  refused: 'the server refuses tools',
  written: 'the server hands calls on as text',
  ignored: 'the server ignores tools',
} as const

/** For people: `ollama/gemma: the server ignores tools, so they are asked for in words (hermes)`. */
export function describeToolVerdict(model: string, verdict: ToolVerdict): string {
  if (verdict.type === 'native') return `${model}: the server takes tools`
  return `${model}: ${REASONS[verdict.reason]}, so they are asked for in words (${verdict.format})`
}
