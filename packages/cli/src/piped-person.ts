// Who speaks without a terminal: one question of the command line, or the lines of a pipe. Nobody can be asked back.
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Person } from './conversation.ts'

export function createOncePerson(question: string): Person {
  const questions = [question]
  return { next: () => Promise.resolve(questions.shift()), close: () => {} }
}

/** Each line that is not blank is said once the turn of the last one is over. */
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
