// What a command has of its process; tests give their own.

export interface Console {
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly folder: string
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
    write: (text) => void process.stdout.write(text),
    note: (line) => void process.stderr.write(`${line}\n`),
    onStop,
  }
}

/** What a shell expects of a process that SIGINT ended. */
const INTERRUPTED = 130

function onStop(callback: () => void): () => void {
  let stopping = false
  const stop = (): void => {
    if (stopping) process.exit(INTERRUPTED)
    stopping = true
    callback()
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  return () => void process.off('SIGINT', stop).off('SIGTERM', stop)
}
