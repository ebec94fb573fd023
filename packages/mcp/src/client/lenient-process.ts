// Runs a server as a program. Its output is read by `lenient-messages.ts`, and its end is noticed even if another
// program keeps its output open, or if it only closes its output.
import type { ChildProcess } from 'node:child_process'
import type { StdioServerParameters } from '@modelcontextprotocol/client/stdio'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Message, TellOdd } from './lenient-messages.ts'
import { Exchange, OpenRequests } from './lenient-messages.ts'
import { MessageReader } from './message-reader.ts'

/** Milliseconds to read the rest of a program's output after its end. */
const LAST_WORDS_MS = 200
/** Milliseconds to wait for the next line of a multi-line message. */
const NEXT_LINE_MS = 500

export interface LenientProcessOptions extends StdioServerParameters {
  /** Maximum characters of one message. */
  readonly maxBufferSize: number
  readonly tell: TellOdd
}

/**
 * The SDK's transport starts the program, and probes its version in a separate process. This class replaces the part
 * that reads bytes. It uses private fields of the SDK: `stranger-servers.process.test.ts` fails if they change.
 */
export class LenientProcess extends StdioClientTransport {
  readonly #open = new OpenRequests()
  #hasEnded = false

  static {
    // The SDK starts the separate process only if the class itself has this method.
    Object.defineProperty(this.prototype, '_dispose', {
      value: Reflect.get(StdioClientTransport.prototype, '_dispose'),
    })
  }

  constructor(init: LenientProcessOptions) {
    super(init)
    const deliver = Reflect.get(this, 'processReadBuffer') as () => void // a method of the SDK
    Reflect.set(this, '_readBuffer', new LenientBuffer(init, this.#open, () => deliver.call(this)))
  }

  override async start(): Promise<void> {
    await super.start()
    const child = Reflect.get(this, '_process') as ChildProcess // just started by the SDK
    let wait: NodeJS.Timeout | undefined
    const end = (): void => {
      wait ??= setTimeout(() => this.#end(child), LAST_WORDS_MS).unref()
    }
    child.once('close', () => clearTimeout(wait)) // noticed by the SDK
    child.once('exit', end)
    child.stdout?.once('end', end)
    child.stdin?.once('error', end)
  }

  override send(message: Message): Promise<void> {
    this.#open.note(message)
    return super.send(message)
  }

  /** Ends calls now; the process gets its time to exit. */
  #end(child: ChildProcess): void {
    if (this.#hasEnded || Reflect.get(this, '_process') !== child) return
    this.#hasEnded = true
    const { onclose } = this
    delete this.onclose
    onclose?.()
    child.stdout?.destroy()
    this.close().catch(() => {
      // `onclose` was already called.
    })
  }
}

/** Replaces the SDK's buffer: bytes in, messages out. */
class LenientBuffer {
  readonly #decoder = new TextDecoder()
  readonly #reader: MessageReader
  readonly #messages: Message[] = []
  readonly #deliver: () => void
  #wait: NodeJS.Timeout | undefined

  /** @param deliver called when there are messages although no bytes arrived */
  constructor({ maxBufferSize, tell }: LenientProcessOptions, open: OpenRequests, deliver: () => void) {
    this.#deliver = deliver
    const exchange = new Exchange({ open, tell })
    this.#reader = new MessageReader(
      {
        onValue: (value) => void this.#messages.push(...exchange.read(value)),
        onNoise: (text) => void this.#messages.push(...exchange.readBroken(text)),
      },
      maxBufferSize,
    )
  }

  append(chunk: Buffer): void {
    clearTimeout(this.#wait)
    this.#reader.push(this.#decoder.decode(chunk, { stream: true }))
    if (this.#reader.isCut) this.#wait = setTimeout(() => this.#giveUp(), NEXT_LINE_MS).unref()
  }

  readMessage(): Message | null {
    return this.#messages.shift() ?? null
  }

  /** No line followed: the value is broken. */
  #giveUp(): void {
    this.#reader.end()
    this.#deliver()
  }

  clear(): void {
    clearTimeout(this.#wait)
    this.#messages.length = 0
  }
}
