// Input without a terminal: one question of the command line, or the lines of a pipe. There is no one to ask.
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Person } from './conversation.ts'

export function createOncePerson(question: string): Person {
  const questions = [question]
  return { next: () => Promise.resolve(questions.shift()), close: () => {} }
}

/** Sends each non-blank line after the previous turn has ended. */
export function createPipedPerson(input: Readable): Person {
  const lines = createInterface({ input, crlfDelay: Infinity })
  const reader = lines[Symbol.asyncIterator]()
  let line: Promise<IteratorResult<string>> | undefined
  return {
    next: async (signal) => {
      line ??= reader.next()
      const read = await Promise.race([line, untilAborted(signal)])
      if (read === undefined) return ''
      line = undefined
      return read.done === true ? undefined : read.value
    },
    close: () => lines.close(),
  }
}

function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}
