// A command's access to its process; tests provide their own.
import type { Readable, Writable } from 'node:stream'

/**
 * The surroundings of a command: its variables, folder, input and output. `createNodeConsole` gives those of the process.
 */
export interface Console {
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Adds the keys saved by `baton login` to `variables`. */
  loadKeys?(): Promise<void>
  readonly folder: string
  /** Whether people read the notes, so that they may be coloured and laid out. Default: false. */
  readonly isTerminal?: boolean
  /** Writes answers to standard output. */
  write(text: string): void
  /** Writes one line of status to standard error. */
  note(line: string): void
  /** Calls back at SIGINT and SIGTERM; the returned function unsubscribes. A second signal ends the process. */
  onStop(callback: () => void): () => void
  /**
   * Calls back for uncaught errors, instead of ending the process; during the callback the host can still identify the
   * call that caused one. The returned function unsubscribes.
   */
  onStray(callback: (cause: unknown) => void): () => void
  /** For conversations; without them there is no one to talk to. */
  readonly streams?: ConsoleStreams
}

export interface ConsoleStreams {
  readonly input: Readable & { readonly isTTY?: boolean }
  readonly output: TerminalOutput
  readonly errors: TerminalOutput
}

/** The parts of a terminal stream in use; a pipe has none of the fields. */
export interface TerminalOutput extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  hasColors?(variables?: object): boolean
}

/** The console of this process. */
export function createNodeConsole(): Console {
  // A reader that has left (`baton ... | head`, a dead supervisor) is not our error. Reporting it would log it, which
  // fails again, endlessly.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  let variables: Console['variables'] = process.env
  return {
    get variables() {
      return variables
    },
    // Not loaded for the version and the help, which need almost nothing.
    loadKeys: async () => {
      const { addKeptKeys } = await import('./places/kept-keys.ts')
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
    // Accessed only on request, because merely reading `process.stdin` opens it.
    get streams() {
      return { input: process.stdin, output: process.stdout, errors: process.stderr }
    },
  }
}

/** Whether a terminal shows colours and the user wants them: NO_COLOR and TERM=dumb disable them. */
export function wantsColor(stream: TerminalOutput | undefined, variables: Console['variables']): boolean {
  return stream?.isTTY === true && (variables['NO_COLOR'] ?? '') === '' && stream.hasColors?.({ ...variables }) === true
}

/** Exit codes that a shell expects after these signals. */
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
