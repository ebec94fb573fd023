// A wait of a test with a deadline, which says what was waited for.
import type { StartedCommand } from './start-command.ts'

/** @throws Error with `what` when it has not come in so many milliseconds, and whatever the promise rejects with */
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

/** @throws Error with what it said, when the line has not come in so many milliseconds, or the command has ended without it */
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
