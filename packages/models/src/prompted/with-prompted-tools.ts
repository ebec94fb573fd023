// Tools for models without calls of their own: they are told in words how to write one, and what they write is read as native
// calls are. The same events, the same answer, the same log.
import type {
  FinishReason,
  Message,
  Model,
  ModelAnswer,
  ModelCallPart,
  ModelEvent,
  ModelPart,
  ModelRequest,
} from '@baton/core'
import type { AnswerParserInit, ParsedCall } from './answer-parser.ts'
import { AnswerParser } from './answer-parser.ts'
import { encodePromptedRequest } from './encode-request.ts'
import type { PromptedFormatName } from './formats.ts'
import { chooseFormat, findOwnFormat, PROMPTED_FORMATS, promptedFormat, withHabits } from './formats.ts'
import { offeredTools } from './json-calls.ts'

export interface PromptedToolsOptions {
  /** How calls are asked for. By default as the model was taught, by its template or its name; `hermes` where neither says so. */
  readonly format?: PromptedFormatName
  /** The model's chat template (Jinja), where you have it. */
  readonly template?: string
}

/**
 * The model with tools by prompt, whatever it can do by itself. Requests without tools and calls go to it as they are.
 *
 * Calls that the model writes by habit are read as well as those it is asked for. Nothing in code is a call, nor in a thought. A call with small mistakes is repaired, and its part says so (`repairs`); one that
 * cannot be read becomes a call that never runs (`unreadable`), so that the model is told. One that was cut off never runs.
 * @throws BatonError `invalid_option` for a format that there is not
 */
export function withPromptedTools(model: Model, options: PromptedToolsOptions = {}): Model {
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

/** Whether a server has to do with tools at all: with declared ones, or with results of before. */
export function asksForTools({ tools, messages }: ModelRequest): boolean {
  return tools.length > 0 || messages.some((message) => message.role === 'tool')
}

type Reader = Pick<AnswerParserInit, 'format' | 'tools'>

interface Stream {
  readonly take: (event: ModelEvent) => void
  /** Tells what was held back. */
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

/** The whole text once more, since the answer is what counts, not what was streamed of it. */
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
    // A cut-off call is never repaired.
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

/** Never cut, as far as the provider knows. */
function isWhole(finish: FinishReason): boolean {
  return finish === 'end' || finish === 'tool-calls' || finish === 'pause'
}

/** The name of a call whose tool nobody can tell. */
const NO_NAME = 'unreadable_call'

function toPart(
  { name: said, arguments: given, repairs, problem, isCut }: ParsedCall,
  { format }: Reader,
): ModelCallPart {
  const name = said === '' ? NO_NAME : said
  // Arguments that end early are told as such, whoever wrote them.
  if (isCut) return { type: 'call', name, arguments: '{' }
  if (problem === undefined) return { type: 'call', name, arguments: given, ...(repairs && { repairs }) }
  const unreadable = `the call could not be read, and nothing was executed: ${problem}. Write it again. ${format.howTo}`
  return { type: 'call', name, arguments: '{}', unreadable }
}
