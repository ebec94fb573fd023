// The person at a terminal: a line editor with a history between turns. While a turn runs, keys are kept for the next line
// and not shown, so that they do not stand in the answer.
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { Person } from './conversation.ts'
import type { TerminalOutput } from './console.ts'

export interface TerminalPersonInit {
  readonly input: NodeJS.ReadableStream
  readonly output: TerminalOutput
  readonly prompt: string
  /** Words that are completed by the tab key. */
  readonly completions: readonly string[]
  /** Ctrl+C; `hadText`: a begun line was thrown away by it. */
  readonly onInterrupt: (hadText: boolean) => void
}

/** Lines that come within this time were pasted together, and are one message. */
const PASTE_MS = 15
const WAITING_MAX = 100

export function createTerminalPerson(init: TerminalPersonInit): Person {
  const screen = createMutable(init.output)
  const line = createInterface({
    input: init.input,
    output: screen.output,
    terminal: true,
    historySize: 1000,
    removeHistoryDuplicates: true,
    completer: (text: string) => [
      text.startsWith('/') ? init.completions.filter((word) => word.startsWith(text)) : [],
      text,
    ],
  })
  /** What was typed while nothing was shown, taken out of the editor. */
  const takeTyped = (): string => {
    const typed = line.line
    line.write(null, { ctrl: true, name: 'e' })
    line.write(null, { ctrl: true, name: 'u' })
    return typed
  }
  const waiting: string[] = []
  let isClosed = false
  let isPrompting = false
  let wake = (): void => {}

  collectMessages(line, (message) => {
    if (waiting.length < WAITING_MAX) waiting.push(message)
    wake()
  })
  line.on('SIGINT', () => {
    const hadText = isPrompting && line.line !== ''
    if (hadText) takeTyped()
    init.onInterrupt(hadText)
  })
  line.on('close', () => {
    isClosed = true
    wake()
  })

  const next = async (): Promise<string | undefined> => {
    const typed = takeTyped()
    screen.show()
    line.setPrompt(init.prompt)
    if (waiting.length === 0 && !isClosed) {
      isPrompting = true
      line.prompt()
      if (typed !== '') line.write(typed)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      isPrompting = false
    } else if (waiting[0] !== undefined) screen.output.write(`${init.prompt}${waiting[0]}\n`)
    screen.hide()
    return waiting.shift()
  }
  const ask = async (question: string, signal: AbortSignal): Promise<string> => {
    takeTyped()
    screen.show()
    try {
      return await answerTo(line, question, signal)
    } finally {
      screen.hide()
    }
  }
  return { next, ask, close: () => line.close() }
}

type LineEditor = ReturnType<typeof createInterface>

/** The lines of one paste are one message; its last line is finished by hand. */
function collectMessages(line: LineEditor, take: (message: string) => void): void {
  let pieces: string[] = []
  let timer: NodeJS.Timeout | undefined
  line.on('line', (piece) => {
    pieces.push(piece)
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (line.line !== '') return
      const message = pieces.join('\n')
      pieces = []
      take(message)
    }, PASTE_MS)
  })
  line.on('close', () => clearTimeout(timer))
}

function answerTo(line: LineEditor, question: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      line.off('close', leave)
      signal.removeEventListener('abort', leave)
      reject(new Error('nobody answered'))
    }
    line.once('close', leave)
    signal.addEventListener('abort', leave, { once: true })
    line.question(question, { signal }, (answer) => {
      line.off('close', leave)
      signal.removeEventListener('abort', leave)
      resolve(answer)
    })
  })
}

/** The terminal, which can be covered. The editor asks it for its width. */
function createMutable(terminal: TerminalOutput) {
  let isHidden = false
  const output = new Writable({
    decodeStrings: false,
    write: (piece: string | Buffer, _encoding, done) => {
      if (!isHidden) terminal.write(piece)
      done()
    },
  })
  Object.defineProperty(output, 'columns', { get: () => terminal.columns })
  Object.defineProperty(output, 'isTTY', { value: true })
  terminal.on('resize', () => output.emit('resize'))
  return {
    output,
    hide: () => {
      isHidden = true
    },
    show: () => {
      isHidden = false
    },
  }
}
