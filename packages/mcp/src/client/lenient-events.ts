// Rewrites a stream of server-sent events into the form that the SDK accepts. Event names and whitespace do not matter;
// an event cut off by the end of the stream counts if its JSON is complete; bare JSON is read as well.
import type { Exchange, Message } from './lenient-messages.ts'
import { MessageReader } from './message-reader.ts'

export const EVENTS = 'text/event-stream'

const FIELDS: ReadonlySet<string> = new Set(['data', 'event', 'id', 'retry'])

type Bytes = Uint8Array<ArrayBuffer>

export function rewriteEvents(exchange: Exchange, charset: string): TransformStream<Bytes, Bytes> {
  const decoder = new TextDecoder(charset)
  const encoder = new TextEncoder()
  let rewriter: Rewriter | undefined
  const write = (controller: TransformStreamDefaultController<Bytes>, text: string): void => {
    if (text !== '') controller.enqueue(encoder.encode(text))
  }
  const push = (text: string): string => {
    if (text.trim() === '' && !rewriter) return ''
    rewriter ??= /^\s*[[{]/.test(text) ? new JsonRewriter(exchange) : new EventRewriter(exchange)
    return rewriter.push(text)
  }
  return new TransformStream({
    transform: (chunk, controller) => write(controller, push(decoder.decode(chunk, { stream: true }))),
    flush: (controller) =>
      write(controller, push(decoder.decode()) + (rewriter?.end() ?? '') + frame(exchange.end(), '')),
  })
}

/** Rewrites the text of a stream into the text of events. */
interface Rewriter {
  push(text: string): string
  end(): string
}

class JsonRewriter implements Rewriter {
  readonly #messages: Message[] = []
  readonly #reader: MessageReader

  constructor(exchange: Exchange) {
    this.#reader = new MessageReader({
      onValue: (value) => void this.#messages.push(...exchange.read(value)),
      onNoise: (text) => void this.#messages.push(...exchange.readBroken(text)),
    })
  }

  push(text: string): string {
    this.#reader.push(text)
    return frame(this.#messages.splice(0), '')
  }

  end(): string {
    this.#reader.end()
    return frame(this.#messages.splice(0), '')
  }
}

class EventRewriter implements Rewriter {
  readonly #exchange: Exchange
  /** The current line, in pieces. */
  #pieces: string[] = []
  #isAfterReturn = false
  #data: string[] = []
  #name = ''
  #id = ''
  #retry = ''

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  push(text: string): string {
    let out = ''
    let start = 0
    for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r/g)) {
      const isRest = this.#isAfterReturn && index === 0 && end === '\n'
      this.#isAfterReturn = end === '\r' && index + 1 === text.length
      const line = this.#pieces.join('') + text.slice(start, index)
      this.#pieces = []
      start = index + end.length
      if (!isRest) out += this.#readLine(line)
    }
    if (start < text.length) {
      this.#isAfterReturn = false
      this.#pieces.push(text.slice(start))
    }
    return out
  }

  end(): string {
    const out = this.#readLine(this.#pieces.join(''))
    return out + this.#dispatch()
  }

  #readLine(line: string): string {
    if (line === '') return this.#dispatch()
    const [, name = '', value = ''] = /^([^:]*)(?:: ?([^]*))?$/.exec(line) ?? []
    const field = name.trim().toLowerCase()
    if (field === 'data') this.#data.push(value)
    else if (field === 'event') this.#name = value.trim()
    else if (field === 'id') this.#id = value
    else if (field === 'retry') this.#retry = value.trim()
    // A message over several lines, of which only the first has a field name.
    else if (field !== '' && !FIELDS.has(field) && this.#data.length > 0) this.#data.push(line)
    return ''
  }

  #dispatch(): string {
    const [data, name, id, retry] = [this.#data.join('\n'), this.#name, this.#id, this.#retry]
    this.#data = []
    this.#name = ''
    this.#id = ''
    this.#retry = ''
    const head = (/^\d+$/.test(retry) ? `retry: ${retry}\n` : '') + (id === '' ? '' : `id: ${id}\n`)
    // The address sent by the older transport.
    if (name === 'endpoint') return `event: endpoint\n${head}data: ${data.trim()}\n\n`
    const messages: Message[] = []
    const reader = new MessageReader({
      onValue: (value) => void messages.push(...this.#exchange.read(value)),
      onNoise: (text) => void messages.push(...this.#exchange.readBroken(text)),
    })
    reader.push(data)
    reader.end()
    if (messages.length > 0) return frame(messages, head)
    return head === '' ? '' : `${head}data:\n\n`
  }
}

/** @param head other fields of the first event */
function frame(messages: readonly Message[], head: string): string {
  return messages.map((message, n) => `${n === 0 ? head : ''}data: ${JSON.stringify(message)}\n\n`).join('')
}
