// Tools for models without calls of their own: they are told in words how to write one, and what they write is read as native
// calls are. The same events, the same answer, the same log.
import type { FinishReason, Message, Model, ModelAnswer, ModelEvent, ModelPart, ModelRequest } from '@baton/core'
import { createAnswerParser } from './answer-parser.ts'
import { encodePromptedRequest } from './encode-request.ts'
import type { PromptedFormat, PromptedFormatName } from './formats.ts'
import { USUAL_FORMAT, promptedFormat } from './formats.ts'

export interface PromptedToolsOptions {
  /** How calls are written. `hermes` by default: what most open models were taught. */
  readonly format?: PromptedFormatName
}

/**
 * The model with tools by prompt, whatever it can do by itself. Requests without tools and calls go to it as they are.
 * @throws BatonError `invalid_option` for a format that there is not
 */
export function withPromptedTools(model: Model, options: PromptedToolsOptions = {}): Model {
  const format = promptedFormat(options.format ?? USUAL_FORMAT)
  const written = new WeakMap<Message, Message>()
  return {
    ...model,
    capabilities: { ...model.capabilities, tools: 'native' },
    run: async (request, sink, signal) => {
      if (!asksForTools(request)) return await model.run(request, sink, signal)
      const names = new Set(request.tools.map(({ name }) => name))
      const reader: Reader = { format, isTool: (name) => names.has(name) }
      const stream = readStream(reader, sink)
      const answer = await model.run(encodePromptedRequest(request, format, written), stream.take, signal)
      return readAnswer(reader, answer, stream.end)
    },
  }
}

/** Whether a server has to do with tools at all: with declared ones, or with results of before. */
export function asksForTools({ tools, messages }: ModelRequest): boolean {
  return tools.length > 0 || messages.some((message) => message.role === 'tool')
}

interface Reader {
  readonly format: PromptedFormat
  readonly isTool: (name: string) => boolean
}

interface Stream {
  readonly take: (event: ModelEvent) => void
  /** Tells what was held back. */
  readonly end: () => void
}

function readStream({ format, isTool }: Reader, sink: (event: ModelEvent) => void): Stream {
  let calls = 0
  const parser = createAnswerParser(
    format,
    (parsed) => {
      if (parsed.type === 'text') sink({ type: 'text-delta', text: parsed.text })
      if (parsed.type !== 'call') return
      const index = calls
      calls += 1
      sink({ type: 'call-start', index, name: parsed.name })
      sink({ type: 'call-delta', index, text: parsed.arguments })
      sink({ type: 'call-end', index })
    },
    isTool,
  )
  return {
    take: (event) => {
      if (event.type === 'text-delta') parser.push(event.text)
      else sink(event)
    },
    end: () => void parser.end(),
  }
}

/** The whole text once more, since the answer is what counts, not what was streamed of it. */
function readAnswer({ format, isTool }: Reader, answer: ModelAnswer, endStream: () => void): ModelAnswer {
  endStream()
  const parts: ModelPart[] = []
  let isMalformed = false
  const said = { text: '' }
  const flush = (): void => {
    if (said.text !== '') parts.push({ type: 'text', text: said.text })
    said.text = ''
  }
  const parser = createAnswerParser(
    format,
    (parsed) => {
      if (parsed.type === 'malformed') isMalformed = true
      else if (parsed.type === 'text') said.text += parsed.text
      else {
        flush()
        parts.push({ ...parsed })
      }
    },
    isTool,
  )
  for (const part of answer.parts) {
    if (part.type === 'text') parser.push(part.text)
    else {
      flush()
      parts.push(part)
    }
  }
  const isCut = parser.end()
  flush()
  const hasCalls = parts.some((part) => part.type === 'call')
  return { ...answer, parts, finish: readFinish(answer.finish, { isCut, isMalformed, hasCalls }) }
}

interface Reading {
  /** The answer ended inside of a call. */
  readonly isCut: boolean
  readonly isMalformed: boolean
  readonly hasCalls: boolean
}

/** A call that was cut off never runs, and one that cannot be read is asked for again, with the whole answer. */
function readFinish(finish: FinishReason, { isCut, isMalformed, hasCalls }: Reading): FinishReason {
  if (finish !== 'end') return finish
  if (isCut || isMalformed) return 'malformed-call'
  return hasCalls ? 'tool-calls' : 'end'
}
