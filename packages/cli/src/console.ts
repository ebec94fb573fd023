// What a command has of its process; tests give their own.

export interface Console {
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly folder: string
  /** People read the notes, so they may be coloured and laid out; false by default. */
  readonly isTerminal?: boolean
  /** Answers, on standard output. */
  write(text: string): void
  /** One line about what happens, on standard error. */
  note(line: string): void
  /** Calls back at SIGINT and SIGTERM; returns a function that ends it. A second signal ends the process. */
  onStop(callback: () => void): () => void
}

export function createNodeConsole(): Console {
  // A reader that went away (`baton ... | head`) is no error of ours.
  process.stdout.on('error', () => {})
  return {
    variables: process.env,
    folder: process.cwd(),
    isTerminal: process.stderr.isTTY,
    write: (text) => void process.stdout.write(text),
    note: (line) => void process.stderr.write(`${line}\n`),
    onStop,
  }
}

/** What a shell expects of a process that a signal ended. */
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
