// Tools for models without native tool calls: instructions explain how to write a call, and written calls are read like
// native ones. The events, the answer and the log are the same.
import type {
  FinishReason,
  Message,
  Model,
  ModelAnswer,
  ModelCallPart,
  ModelEvent,
  ModelPart,
  ModelRequest,
} from '@baton/core/internal'
import type { AnswerParserOptions, ParsedCall } from './answer-parser.ts'
import { AnswerParser } from './answer-parser.ts'
import { checkFields } from '@baton/core/internal'
import { encodePromptedRequest } from './encode-request.ts'
import type { PromptedFormatName } from './formats.ts'
import { chooseFormat, findOwnFormat, PROMPTED_FORMATS, promptedFormat, withHabits } from './formats.ts'
import { offeredTools } from './json-calls.ts'

/** Options of `withPromptedTools`. */
export interface PromptedToolsOptions {
  /**
   * How to ask for calls. Defaults to the format the model was trained on, according to its template or name, or else
   * `hermes`.
   */
  readonly format?: PromptedFormatName
  /** The model's chat template (Jinja), if you have it. */
  readonly template?: string
}

const FIELDS = new Set(['format', 'template'])

/**
 * Adds prompted tools to a model, whatever it supports natively. Requests without tools and calls pass through
 * unchanged.
 *
 * Calls in the model's habitual format are read along with the requested one. Text in code or in a thought is never a
 * call. A call with small mistakes is repaired, and its part lists the `repairs`; an unreadable one becomes a call that
 * never runs (`unreadable`), so that the model learns of it. A truncated call never runs.
 * @throws BatonError `invalid_option` for an unknown format or option
 */
export function withPromptedTools(model: Model, options: PromptedToolsOptions = {}): Model {
  checkFields(options, { what: 'withPromptedTools', code: 'invalid_option', fields: FIELDS })
  const known = { ...options, id: model.id }
  const own = findOwnFormat(known)
  const format = withHabits(promptedFormat(options.format ?? chooseFormat(known)), own && PROMPTED_FORMATS[own])
  const written = new WeakMap<Message, Message>()
  return {
    ...model,
    capabilities: { ...model.capabilities, tools: 'native' },
    run: async (request, sink, signal) => {
      if (!asksForTools(request)) return await model.run(request, sink, signal)
      const reader: Reader = { format, tools: offeredTools(request.tools) }
      const stream = readStream(reader, sink)
      const answer = await model.run(encodePromptedRequest(request, format, written), stream.take, signal)
      stream.end(isWhole(answer.finish))
      return readAnswer(reader, answer)
    },
  }
}

/** Whether a request involves tools at all: declared ones, or earlier results. */
export function asksForTools({ tools, messages }: ModelRequest): boolean {
  return tools.length > 0 || messages.some((message) => message.role === 'tool')
}

type Reader = Pick<AnswerParserOptions, 'format' | 'tools'>

interface Stream {
  readonly take: (event: ModelEvent) => void
  /** Reports what was held back. */
  readonly end: (isWhole: boolean) => void
}

function readStream(reader: Reader, sink: (event: ModelEvent) => void): Stream {
  let calls = 0
  const parser = new AnswerParser({
    ...reader,
    mayRepair: true,
    onParsed: (parsed) => {
      if (parsed.type === 'text') sink({ type: 'text-delta', text: parsed.text })
      else if (parsed.type === 'thought') sink({ type: 'reasoning-delta', text: parsed.text })
      else if (parsed.type === 'call') {
        const { name, arguments: given } = toPart(parsed, reader)
        const index = calls
        calls += 1
        sink({ type: 'call-start', index, name })
        sink({ type: 'call-delta', index, text: given })
        sink({ type: 'call-end', index })
      }
    },
  })
  return {
    take: (event) => {
      if (event.type === 'text-delta') parser.push(event.text)
      else sink(event)
    },
    end: (isWhole) => parser.end(isWhole),
  }
}

/** Parses the whole text again, because the final answer counts rather than what was streamed. */
function readAnswer(reader: Reader, answer: ModelAnswer): ModelAnswer {
  let parts: ModelPart[] = []
  let said = { type: 'text' as 'text' | 'reasoning', text: '' }
  const flush = (): void => {
    if (said.text !== '') parts.push(said)
    said = { type: 'text', text: '' }
  }
  const whole = isWhole(answer.finish)
  const parser = new AnswerParser({
    ...reader,
    // A truncated call is never repaired.
    mayRepair: whole,
    onParsed: (parsed) => {
      if (parsed.type === 'thought-ended') parts = parts.filter(({ type }) => type !== 'call')
      else if (parsed.type === 'call') {
        flush()
        parts.push(toPart(parsed, reader))
      } else {
        const type = parsed.type === 'thought' ? 'reasoning' : 'text'
        if (said.type !== type) flush()
        said = { type, text: said.text + parsed.text }
      }
    },
  })
  for (const part of answer.parts) {
    if (part.type === 'text') parser.push(part.text)
    else {
      flush()
      parts.push(part)
    }
  }
  parser.end(whole)
  flush()
  const hasCalls = parts.some((part) => part.type === 'call')
  return { ...answer, parts, finish: answer.finish === 'end' && hasCalls ? 'tool-calls' : answer.finish }
}

/** Whether the provider considers the answer complete. */
function isWhole(finish: FinishReason): boolean {
  return finish === 'end' || finish === 'tool-calls' || finish === 'pause'
}

/** Name of a call whose tool is unknown. */
const NO_NAME = 'unreadable_call'

function toPart(
  { name: said, arguments: given, repairs, problem, isCut }: ParsedCall,
  { format }: Reader,
): ModelCallPart {
  const name = said === '' ? NO_NAME : said
  // Arguments that end early are reported as cut off, in any format.
  if (isCut) return { type: 'call', name, arguments: '{' }
  if (problem === undefined) return { type: 'call', name, arguments: given, ...(repairs && { repairs }) }
  const unreadable = `the call could not be read, and nothing was executed: ${problem}. Write it again. ${format.howTo}`
  return { type: 'call', name, arguments: '{}', unreadable }
}
