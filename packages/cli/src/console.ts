// A command's access to its process; tests give their own.
import type { Readable, Writable } from 'node:stream'

export interface Console {
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Adds the keys that `baton login` keeps to `variables`. */
  loadKeys?(): Promise<void>
  readonly folder: string
  /** People read the notes, so they may be coloured and laid out; false by default. */
  readonly isTerminal?: boolean
  /** Answers, on standard output. */
  write(text: string): void
  /** One line about what happens, on standard error. */
  note(line: string): void
  /** Calls back at SIGINT and SIGTERM; returns a function that ends it. A second signal ends the process. */
  onStop(callback: () => void): () => void
  /**
   * Calls back, in place of the process's own end, for errors that nobody caught; in the callback the host can still say
   * whose they are. Returns a function that ends it.
   */
  onStray(callback: (cause: unknown) => void): () => void
  /** For conversations; without them nobody is there to talk to. */
  readonly streams?: ConsoleStreams
}

export interface ConsoleStreams {
  readonly input: Readable & { readonly isTTY?: boolean }
  readonly output: TerminalOutput
  readonly errors: TerminalOutput
}

/** The slice of a terminal's stream that is used; a pipe has none of the fields. */
export interface TerminalOutput extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  hasColors?(variables?: object): boolean
}

export function createNodeConsole(): Console {
  // A reader that went away (`baton ... | head`, a supervisor that died) is not an error of ours. Told as one, it would be logged,
  // which fails again, without end.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  let variables: Console['variables'] = process.env
  return {
    get variables() {
      return variables
    },
    // Not for the version and the help, which load next to nothing.
    loadKeys: async () => {
      const { addKeptKeys } = await import('./kept-keys.ts')
      variables = addKeptKeys(process.env, (line) => void process.stderr.write(`${line}\n`))
    },
    folder: process.cwd(),
    isTerminal: process.stderr.isTTY,
    write: (text) => void process.stdout.write(text),
    note: (line) => void process.stderr.write(`${line}\n`),
    onStop,
    onStray: (callback) => {
      process.on('uncaughtException', callback)
      return () => void process.off('uncaughtException', callback)
    },
    // Only who asks for them: the input is opened by being looked at.
    get streams() {
      return { input: process.stdin, output: process.stdout, errors: process.stderr }
    },
  }
}

/** A terminal that shows colours to a person who wants them: NO_COLOR and TERM=dumb say no. */
export function wantsColor(stream: TerminalOutput | undefined, variables: Console['variables']): boolean {
  return stream?.isTTY === true && (variables['NO_COLOR'] ?? '') === '' && stream.hasColors?.({ ...variables }) === true
}

/** The exit code that a shell expects of a process that a signal ended. */
const ENDED_BY = { SIGINT: 130, SIGTERM: 143 } as const

function onStop(callback: () => void): () => void {
  let stopping = false
  const stop = (signal: keyof typeof ENDED_BY): void => {
    if (stopping) process.exit(ENDED_BY[signal])
    stopping = true
    callback()
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  return () => void process.off('SIGINT', stop).off('SIGTERM', stop)
}
