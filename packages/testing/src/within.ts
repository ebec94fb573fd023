// Waits with a deadline for tests; a wait that fails says what did not come.
import type { StartedCommand } from './start-command.ts'

/** The promise's value. @throws Error that names `what` after `ms` milliseconds, and what the promise rejects with */
export async function within<Value>(ms: number, what: string, promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come in ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits until the command prints the line. @throws Error with its output after `ms` milliseconds, or when it ends without the line */
export async function untilLineWithin(ms: number, command: StartedCommand, wanted: string): Promise<void> {
  try {
    await within(
      ms,
      `the line "${wanted}"`,
      command.untilLine((line) => line === wanted),
    )
  } catch (cause) {
    throw new Error(`${String(cause)}; the command said: ${command.output()}${command.errors()}`, { cause })
  }
}
