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
  return {
    next: async () => {
      const { done, value } = await reader.next()
      return done === true ? undefined : value
    },
    close: () => lines.close(),
  }
}
