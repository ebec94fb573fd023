// A stream over a log in memory, for tests that write the records themselves.
import type { LiveFrame } from '@baton/core/internal'
import type { Fact, History, SessionRecord, State } from '@baton/core/machine'
import { applyRecord, createHistory, initialState } from '@baton/core/machine'
import type { SessionWorld } from '../catalog/catalog.ts'
import { EventReader } from './reader.ts'
import type { ReadingOptions } from './reader.ts'
import { SessionStream } from './stream.ts'

export type Happening = readonly Fact[] | LiveFrame

export function openStream(options: { readonly readLog?: (fromPos: number) => AsyncIterable<SessionRecord> } = {}) {
  const log: SessionRecord[] = []
  let state: State = initialState('s')
  const history: History = createHistory()
  const spec: { limits: object; window: { contextTokens?: number } } = { limits: {}, window: {} }
  const stream = new SessionStream({
    session: 's',
    world: () => ({ spec }) as unknown as SessionWorld, // only what projections read
    state: () => state,
    history: () => history,
    readLog:
      options.readLog ??
      async function* (fromPos) {
        yield* log.slice(fromPos)
      },
  })
  /** Appends a record to the log, without publishing it. */
  const append = (...facts: readonly Fact[]): SessionRecord => {
    const record = { version: 1, pos: log.length, nowMs: 0, epoch: 1, input: { type: 'user-input' }, facts } as const
    log.push(record)
    return record
  }
  const fold = (record: SessionRecord): void => {
    state = applyRecord(state, record)
    history.fold(record)
  }
  const publish = (...facts: readonly Fact[]): void => {
    const record = append(...facts)
    fold(record)
    stream.publishRecord(record)
  }
  const play = (...happenings: readonly Happening[]): void => {
    for (const one of happenings)
      if ('type' in one) stream.publishLive(one)
      else publish(...one)
  }
  const read = (init: ReadingOptions = {}): EventReader => new EventReader(stream, init)
  return { spec, stream, state: () => state, history: () => history, log, append, fold, publish, play, read }
}

/** A turn that answers an input, up to its first attempt. */
export function beginTurn(turn: number, inputId = `i${turn}`): readonly Fact[] {
  const entries = [{ entry: turn, inputs: [inputId], notes: [], chars: 1 }]
  return [
    { type: 'turn-started', turn, exchange: turn, models: ['m'], deadlineMs: 9 },
    { type: 'inputs-entered', exchange: turn, entries },
  ]
}

export function beginAttempt(attempt: number, step = 1): Fact {
  return { type: 'model-started', attempt, step, model: 'm', fromEntry: 1, toEntry: 1, choice: 'auto', chars: 1 }
}

export function finishTurn(turn: number, text = ''): Fact {
  return { type: 'turn-finished', turn, outcome: 'answered', text }
}

export function write(attempt: number, offset: number, text: string): LiveFrame {
  return { type: 'text-delta', attempt, offset, text }
}
