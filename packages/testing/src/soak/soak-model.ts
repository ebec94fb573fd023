// The model of a soak: it speaks, is silent, calls a tool, fails and hangs at random. Checks that each request has all
// inputs in order, without duplicates or gaps.
import type { AbortSignalLike, Agent, Model, ModelRequest, Timers, Tool } from '@baton/core/internal'
import { BatonError, defineAgent, tool } from '@baton/core/internal'
import type { Random } from '@baton/core/testing'

/** Maximum problems kept; the rest are counted. */
const PROBLEMS_MAX = 10

/** Inputs of each conversation that the model has read. */
export class ReadBook {
  readonly problems: string[] = []
  problemCount = 0
  requests = 0
  readonly #newest = new Map<number, number>()

  /** The latest input of the conversation in any request; 0 for none. */
  newest(slot: number): number {
    return this.#newest.get(slot) ?? 0
  }

  read(request: ModelRequest): void {
    this.requests += 1
    const marks = findMarks(request)
    const [first] = marks
    if (!first) return this.report(`a request of session ${request.session} contains no inputs`)
    const known = this.newest(first.slot)
    for (const [index, { slot, serial }] of marks.entries())
      if (slot !== first.slot || serial !== first.serial + index)
        this.report(`conversation ${first.slot}: ${slot}.${serial} is at position ${index} after ${first.serial}`)
    const last = first.serial + marks.length - 1
    if (first.serial > known + 1)
      this.report(`conversation ${first.slot}: ${known + 1} to ${first.serial - 1} were lost`)
    if (last < known)
      this.report(`conversation ${first.slot}: the request ends with ${last}, an earlier one with ${known}`)
    this.#newest.set(first.slot, Math.max(known, last))
  }

  report(problem: string): void {
    this.problemCount += 1
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(problem)
  }
}

function findMarks({ messages }: ModelRequest): readonly { readonly slot: number; readonly serial: number }[] {
  return messages.flatMap((message) =>
    message.role !== 'user'
      ? []
      : message.parts.flatMap((part) =>
          part.type !== 'text'
            ? []
            : [...part.text.matchAll(/<(\d+)\.(\d+)>/g)].map(([, slot, serial]) => ({
                slot: Number(slot),
                serial: Number(serial),
              })),
        ),
  )
}

export interface SoakAgentOptions {
  readonly book: ReadBook
  readonly random: Random
  readonly timers: Timers
  /** Once true, the model always answers. */
  readonly isCalm: () => boolean
}

const ANSWER = ['Ask ', 'how much ', 'it would be, ', 'before you ', 'name ', 'a figure.'] as const

/** Listens, with a window of 20 exchanges. */
export function createSoakAgent(init: SoakAgentOptions): Agent {
  return defineAgent({
    name: 'soaked',
    model: createSoakModel(init),
    tools: createSoakTools(init),
    emptyAnswer: 'silence',
    window: { exchanges: 20, summarise: false },
  })
}

function createSoakModel(init: SoakAgentOptions): Model {
  const { book, random, timers } = init
  return {
    id: 'soak/model',
    provider: 'soak',
    capabilities: { tools: 'native', images: false },
    run: async (request, sink, signal) => {
      book.read(request)
      const answer = (parts: Awaited<ReturnType<Model['run']>>['parts'], finish: 'end' | 'tool-calls') =>
        ({ parts, finish, usage: { inputTokens: 100, outputTokens: 10 }, model: 'soak' }) as const
      await wait(timers, 100 + random.below(800), signal)
      const chance = init.isCalm() ? 1 : random.next()
      if (chance < 0.03) throw new BatonError({ code: 'model_overloaded', message: 'busy' })
      if (chance < 0.04) throw new BatonError({ code: 'model_auth_failed', message: 'no key', retryable: false })
      if (chance < 0.05) {
        await wait(timers, 8000, signal)
        throw new BatonError({ code: 'model_timeout', message: 'it said nothing' })
      }
      if (chance < 0.5) return answer([], 'end')
      const [compare] = request.tools
      const isAsked = request.messages.at(-1)?.role === 'user'
      if (compare && isAsked && chance < 0.6)
        return answer([{ type: 'call', name: compare.name, arguments: '{"cents":8000}' }], 'tool-calls')
      for (const text of ANSWER) {
        await wait(timers, 50 + random.below(400), signal)
        sink({ type: 'text-delta', text })
      }
      return answer([{ type: 'text', text: ANSWER.join('') }], 'end')
    },
  }
}

/** Takes up to three seconds, and occasionally fails. */
function createSoakTools({ random, timers }: SoakAgentOptions): readonly Tool[] {
  return ['offer.compare', 'offer.rate'].map((name) =>
    tool({
      name,
      description: 'Compares an offer with the limit.',
      input: { type: 'object', properties: { cents: { type: 'integer' } } },
      effect: 'pure',
      execute: async (_, { signal }) => {
        await wait(timers, random.below(3000), signal)
        if (random.chance(0.05)) throw new Error('the price list cannot be read')
        return { overByPercent: 14 }
      },
    }),
  )
}

function wait(timers: Timers, delayMs: number, signal: AbortSignalLike): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      stop()
      reject(new BatonError({ code: 'cancelled', message: 'it was aborted' }))
    }
    const stop = timers.start(delayMs, () => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
