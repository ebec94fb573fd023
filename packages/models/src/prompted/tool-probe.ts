// The request that reveals how a server handles tools, and how to interpret the answer. Pure; with-tool-probe.ts
// decides when to send it.
import type { BatonError, ModelAnswer, ModelRequest } from '@baton/core'
import { isBatonError } from '@baton/core'
import { AnswerParser } from './answer-parser.ts'
import type { PromptedFormatName } from './formats.ts'
import { chooseFormat, PROMPTED_FORMATS } from './formats.ts'
import { offeredTools } from './json-calls.ts'

/** The verdict: native calls work, or tools must be prompted. */
export type ToolVerdict =
  | { readonly type: 'native' }
  | {
      readonly type: 'prompted'
      /** `refused`: with an error; `written`: the call was in the text; `ignored`: there was text without a call. */
      readonly reason: 'refused' | 'written' | 'ignored'
      readonly format: PromptedFormatName
    }

/** The probe's tool and the word it should be called with. Test servers recognize the probe by them. */
export const PROBE_TOOL = 'repeat_word'
const WORD = 'copper'

/**
 * The limit of 256 tokens becomes 1,024 while tools are offered: room for a model that thinks before it calls, and a
 * bound for rambling. The call is optional, because forced calls work on servers where optional ones do not (vLLM
 * without its parser).
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

/** Returns `undefined` if the answer is inconclusive, such as one cut off while the model was thinking. */
export function readProbeAnswer({ parts }: ModelAnswer, usual: PromptedFormatName): ToolVerdict | undefined {
  if (parts.some((part) => part.type === 'call')) return { type: 'native' }
  return readProbeText(parts.map((part) => (part.type === 'text' ? part.text : '')).join(''), usual)
}

/**
 * Maximum characters of text, about 500 tokens: a model that has written this much without a call is rambling, on a
 * slow machine for minutes.
 */
export const PROBE_TEXT_MAX = 2000

/** @param usual how such a model writes calls if nothing else is known */
export function readProbeText(text: string, usual: PromptedFormatName): ToolVerdict | undefined {
  if (text.trim() === '') return undefined
  // Two formats may share marks: the content between them decides, as in a template.
  const formats = [chooseFormat({ template: text }), ...FORMATS_BY_MARK]
  const written = formats.find((format) => writesProbeCall(text, format))
  return written
    ? { type: 'prompted', reason: 'written', format: written }
    : { type: 'prompted', reason: 'ignored', format: usual }
}

/** The plainest mark is last: untrained models fall back on a JSON code block. */
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
  refused: 'the server rejects tools',
  written: 'the server returns calls as text',
  ignored: 'the server ignores tools',
} as const

/**
 * Describes the verdict for people: `ollama/gemma: the server ignores tools, so tools are described in the prompt
 * (hermes)`.
 */
export function describeToolVerdict(model: string, verdict: ToolVerdict): string {
  if (verdict.type === 'native') return `${model}: the server supports tools`
  return `${model}: ${REASONS[verdict.reason]}, so tools are described in the prompt (${verdict.format})`
}
