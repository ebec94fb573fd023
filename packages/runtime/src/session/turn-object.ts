// The Turn as programs hold it. A name of another library's result is refused with Baton's: read silently it would be
// undefined.
import type { SessionEvent, Turn } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'

/** Getters of the prototype, so that a turn costs no more than its fields. They are not part of its type. */
class MisnamedParts {
  get text(): never {
    throw createMisnamed('text', '(await session.send(…).answer).text')
  }

  get output(): never {
    throw createMisnamed('output', '(await session.send(…).answer).output')
  }

  get object(): never {
    throw createMisnamed('object', '(await session.send(…, { output: schema }).answer).output')
  }

  get usage(): never {
    throw createMisnamed('usage', '(await session.send(…).answer).usage')
  }

  get sources(): never {
    throw createMisnamed('sources', '(await session.send(…).answer).sources')
  }

  get finishReason(): never {
    throw createMisnamed('finishReason', '(await session.send(…).answer).stop')
  }

  get toolCalls(): never {
    throw createMisnamed('toolCalls', 'for await (const event of session.send(…)), with events of type "call"')
  }

  get toolResults(): never {
    throw createMisnamed('toolResults', 'for await (const event of session.send(…)), with the result of each "call"')
  }

  get steps(): never {
    throw createMisnamed('steps', 'for await (const event of session.send(…)), with events of type "step-finished"')
  }

  get textStream(): never {
    throw createMisnamed('textStream', 'for await (const event of session.send(…)), with events of type "text"')
  }

  get fullStream(): never {
    throw createMisnamed('fullStream', 'for await (const event of session.send(…))')
  }
}

class TurnObject<Answer> extends MisnamedParts {
  readonly id: string
  readonly answer: Promise<Answer>
  readonly [Symbol.asyncIterator]!: () => AsyncIterator<SessionEvent>

  constructor(id: string, answer: Promise<Answer>, events: AsyncIterable<SessionEvent>) {
    super()
    this.id = id
    this.answer = answer
    this[Symbol.asyncIterator] = () => events[Symbol.asyncIterator]()
  }
}

export function createTurn<Answer>(
  id: string,
  answer: Promise<Answer>,
  events: AsyncIterable<SessionEvent>,
): Pick<Turn, 'id' | typeof Symbol.asyncIterator> & { readonly answer: Promise<Answer> } {
  return new TurnObject(id, answer, events)
}

function createMisnamed(name: string, written: string): BatonError {
  return new BatonError({
    code: 'invalid_option',
    message: `a turn has no "${name}": await its answer, or read its events`,
    hint: `Write ${written}.`,
  })
}
