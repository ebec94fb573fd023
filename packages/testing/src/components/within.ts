// Waits with a deadline for tests; a failed wait says what did not happen.
import type { StartedCommand } from './start-command.ts'

/** Returns the promise's value. @throws Error that names `what` after `ms` milliseconds, and the promise's rejection */
export async function within<Value>(ms: number, what: string, promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not happen within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Waits until the command prints the line. @throws Error with its output after `ms` milliseconds, or if it ends without
 * the line
 */
export async function untilLineWithin(ms: number, command: StartedCommand, wanted: string): Promise<void> {
  try {
    await within(
      ms,
      `the line "${wanted}"`,
      command.untilLine((line) => line === wanted),
    )
  } catch (cause) {
    throw new Error(`${String(cause)}; the command’s output: ${command.output()}${command.errors()}`, { cause })
  }
}
