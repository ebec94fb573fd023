// Serves an agent to the editor that started this process, over standard input and output: messages are lines of JSON. A
// line that is not a message is answered with an error and skipped. While a client does not read its answers, its messages
// are not read either.
import type { Readable, Writable } from 'node:stream'
import type { HostWithSessions } from '../shared/check-options.ts'
import { createAcpFront } from './front.ts'
import type { AcpOptions } from './options.ts'
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import { methods } from '@agentclientprotocol/sdk'
import type { Timers } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'

export interface AcpStdioOptions extends AcpOptions {
  /** Default: the streams of the process. */
  readonly input?: Readable
  readonly output?: Writable
}

/** A running `serveAcpOverStdio`: `await server.ended` keeps the process alive until the editor leaves. */
export interface AcpStdioServer {
  /** Settles when the editor has left and its sessions are released. Never rejects. */
  readonly ended: Promise<void>
  /** Releases the sessions, and ends. Never rejects. */
  close(): Promise<void>
}

/**
 * Serves the editor on standard input and output. Nothing else may write to the output, because that would break the
 * protocol. A running turn continues in the host after the editor leaves; stop the host to end the process.
 * @throws BatonError `invalid_option`
 */
export function serveAcpOverStdio(host: HostWithSessions, options: AcpStdioOptions): AcpStdioServer {
  const { input = process.stdin, output = process.stdout, ...rest } = options
  const front = createAcpFront('serveAcpOverStdio', host, rest)
  const { limits, timers } = front.parts
  const stream = createLineStream({ input, output, messageBytes: limits.messageBytes, timers })
  const connection = front.connect(stream, { isLocal: true })
  return {
    ended: connection.ended,
    close: async () => {
      connection.close()
      await connection.ended
    },
  }
}

interface LineStreamOptions {
  readonly input: Readable
  readonly output: Writable
  /** Maximum bytes of one line. */
  readonly messageBytes: number
  readonly timers: Timers
}

/** Unwritten messages above which reading pauses. */
const UNWRITTEN_MAX = 256
const NEWLINE = 10
/** Milliseconds for outstanding answers after the input has ended. */
const LAST_ANSWERS_MS = 10_000

export function createLineStream(init: LineStreamOptions): Stream {
  const writer = new LineWriter(init.output)
  const lines = readLines(init.input, init.messageBytes)
  const readable = new ReadableStream<AnyMessage>({
    pull: async (controller) => {
      for (;;) {
        await writer.untilFewWait()
        const { value, done } = await lines.next()
        if (done) {
          await writer.untilAnswered(init.timers)
          controller.close()
          return
        }
        const message = decodeLine(value, writer, init.messageBytes)
        if (!message) continue
        writer.expectAnswer(message)
        controller.enqueue(message)
        return
      }
    },
    cancel: () => void init.input.destroy(),
  })
  const writable = new WritableStream<AnyMessage>({ write: (message) => writer.write(message) })
  return { readable, writable }
}

class LineWriter {
  readonly #output: Writable
  /** Ids of requests that have no answer yet. */
  readonly #due = new Set<unknown>()
  #answered = Promise.withResolvers<void>()
  #waiting = 0
  #wake = Promise.withResolvers<void>()

  constructor(output: Writable) {
    this.#output = output
    // Each write reports its own error; without a listener the event would crash the process.
    output.on('error', () => {})
  }

  /** Prompts are excluded, because a turn may be waiting for an editor that has left. */
  expectAnswer(message: object): void {
    if ('id' in message && 'method' in message && message.method !== methods.agent.session.prompt)
      this.#due.add(message.id)
  }

  /** A client may send its requests, close its side, and still read the answers. */
  async untilAnswered(timers: Timers): Promise<void> {
    if (this.#due.size === 0) return
    const stopTimer = timers.start(LAST_ANSWERS_MS, () => this.#answered.resolve())
    await this.#answered.promise
    stopTimer()
  }

  /** Resolves when the output has accepted it. */
  write(message: object): Promise<void> {
    this.#waiting += 1
    const isAnswer = 'id' in message && !('method' in message)
    return new Promise<void>((resolve, reject) => {
      this.#output.write(`${JSON.stringify(message)}\n`, (cause) => {
        this.#waiting -= 1
        this.#wake.resolve()
        if (isAnswer && this.#due.delete(message.id) && this.#due.size === 0) this.#answered.resolve()
        if (cause) reject(cause)
        else resolve()
      })
    })
  }

  async untilFewWait(): Promise<void> {
    while (this.#waiting > UNWRITTEN_MAX) {
      this.#wake = Promise.withResolvers()
      await this.#wake.promise
    }
  }
}

type Line = { readonly bytes: Buffer } | { readonly tooLong: true }

/** Buffers at most one line, and nothing of a line that is too long. */
async function* readLines(input: Readable, most: number): AsyncGenerator<Line, undefined> {
  let pieces: Buffer[] = []
  let length = 0
  const take = (): Line => {
    const line: Line = length > most ? { tooLong: true } : { bytes: Buffer.concat(pieces) }
    pieces = []
    length = 0
    return line
  }
  const add = (piece: Buffer): void => {
    length += piece.length
    if (length > most) pieces = []
    else pieces.push(piece)
  }
  try {
    for await (const chunk of input as AsyncIterable<Buffer | string>) {
      let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
        add(rest.subarray(0, end))
        yield take()
        rest = rest.subarray(end + 1)
      }
      add(rest)
    }
  } catch {
    return undefined // the other side broke the connection
  }
  if (length > 0) yield take()
  return undefined
}

/** Returns `undefined` for a line that is not a message, after answering it. */
function decodeLine(line: Line, writer: LineWriter, most: number): AnyMessage | undefined {
  if ('tooLong' in line) return refuse(writer, -32_600, `a message may have at most ${most} bytes`)
  const text = line.bytes.toString('utf8').trim()
  if (text === '') return undefined
  const parsed = parseJson(text)
  if (!parsed.ok) return refuse(writer, -32_700, 'the line is not JSON')
  if (Array.isArray(parsed.value)) return refuse(writer, -32_600, 'this protocol has no batches')
  if (!isJsonObject(parsed.value)) return refuse(writer, -32_600, 'a message must be a JSON object')
  return parsed.value as object as AnyMessage // the SDK checks its fields
}

function refuse(writer: LineWriter, code: number, message: string): undefined {
  writer.write({ jsonrpc: '2.0', id: null, error: { code, message } }).catch(() => {}) // there is no reader
  return undefined
}
