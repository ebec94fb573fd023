// Pages of messages over random logs, with rewinds, cuts, refused content and queued inputs: each equals the same page
// of a reader that has read the whole log, whenever the index was stored, lost or last asked.
import type { ChatMessage } from '@baton/core/internal'
import { Conversation, SessionProjection } from '@baton/core/internal'
import type { SessionRecord, Spec } from '@baton/core/machine'
import { applyRecord, createHistory, initialState } from '@baton/core/machine'
import { createRandom } from '@baton/core/testing'
import { chooseCount } from '@baton/testing/depth'
import { expect, test } from 'vitest'
import type { SessionWorld } from '../catalog/catalog.ts'
import type { SessionEngine } from '../engine.ts'
import type { FoundMessage } from './find-message.ts'
import { findMessage, findTurn } from './find-message.ts'
import type { ReadEngine } from './details.ts'
import { readMessages } from './message-page.ts'
import { exploreLog } from './stream-logs.test-kit.ts'
import { SessionStream } from './stream.ts'

const LOGS = chooseCount({ quick: 8, landing: 25, deep: 300 })

test(`each page equals that of the whole log (${LOGS} logs)`, async () => {
  const counts = { pages: 0, messages: 0, rewinds: 0, stored: 0 }
  for (let seed = 1; seed <= LOGS; seed++) {
    const random = createRandom(seed)
    const { records, spec } = exploreLog(seed, { inputs: 150, rewinds: random.pick([0, 0.01, 0.05]) })
    const blobs = new Map<string, string>()
    const log: SessionRecord[] = []
    let state = initialState('explored')
    const history = createHistory()
    const open = (): SessionStream =>
      new SessionStream({
        session: 'explored',
        world: () =>
          ({
            spec,
            timers: { start: () => () => {} }, // nothing is slow
            blobs: {
              get: async (_: string, name: string) => blobs.get(name),
              put: async (_: string, name: string, text: string) => void blobs.set(name, text),
            },
          }) as unknown as SessionWorld, // only what streams read
        state: () => state,
        history: () => history,
        indexSizes: {
          chunk: random.pick([1, 2, 5]),
          storedRecords: random.pick([1, 10]),
          readChunks: random.pick([0, 1, 3]),
        },
        readLog: async function* (fromPos) {
          yield* log.slice(fromPos)
        },
      })
    let stream = open()
    const oracle = new SessionProjection({ limits: () => spec.limits, contextTokens: () => spec.window.contextTokens })
    const conversation = new Conversation()
    for (const record of records) {
      log.push(record)
      state = applyRecord(state, record)
      history.fold(record)
      for (const event of oracle.takeRecord(record).read()) conversation.take(event)
      if (record.facts.some(({ type }) => type === 'history-rewound')) counts.rewinds += 1
      stream.publishRecord(record)
      if (random.chance(0.02)) {
        stream = open()
        stream.startAfter(record.pos)
        if (random.chance(0.3)) blobs.clear()
      }
      if (random.chance(0.9)) continue
      const engine = {
        session: 'explored',
        stream,
        state: () => state,
        history: () => history,
      } as unknown as ReadEngine // no world
      const all: readonly ChatMessage[] = conversation.messages()
      const before = random.chance(0.5) && all.length > 0 ? random.pick(all) : undefined
      const limit = 1 + random.below(8)
      const page = await readMessages(engine, { limit, ...(before && { before: before.id }) })
      const end = before ? all.indexOf(before) : all.length
      const from = Math.max(0, end - limit)
      const where = { seed, pos: record.pos, limit, before: before?.id }
      const listIds = (messages: readonly ChatMessage[]): string => messages.map(({ id }) => id).join(' ')
      expect({ ...where, ids: listIds(page.messages) }).toEqual({ ...where, ids: listIds(all.slice(from, end)) })
      expect({ ...where, messages: page.messages, more: page.more }).toEqual({
        ...where,
        messages: all.slice(from, end),
        more: from > 0,
      })
      expect(before ? oracle.cursor : page.next).toEqual(oracle.cursor)
      if (before) await compareFinds(engine, before, spec)
      counts.pages += 1
      counts.messages += page.messages.length
    }
    counts.stored += blobs.size
  }
  process.stdout.write(`pages: ${JSON.stringify(counts)}\n`)
})

/** Compares what the index finds with a fold of the whole log. */
async function compareFinds(engine: ReadEngine, { id, role, exchange }: ChatMessage, spec: Spec): Promise<void> {
  const known = { ...engine, world: { spec } } as unknown as SessionEngine // only what is read
  const { state, stream } = engine
  const folding = { ...known, state: () => ({ ...state(), index: [] }) }
  const unindexed = { ...known, stream: { records: stream.records.bind(stream), index: { locate: () => undefined } } }
  const turns = [known, unindexed as unknown as SessionEngine].map((one) => role === 'user' && findTurn(one, id))
  expect(await turns[0]).toEqual(await turns[1])
  const unknown = `BatonError: the conversation has no message "${id}"`
  const outcome = (one: SessionEngine): Promise<unknown> => findMessage(one, id).then(pickFound, String)
  // A message may have entered the window and left it in one record.
  expect(await outcome(known)).toEqual(exchange === undefined ? unknown : await outcome(folding))
}

function pickFound({ role, exchange, asked, output, entry, own }: FoundMessage) {
  // An answer that was cut to nothing has lost its entry.
  return { role, exchange, asked, output, ...(role === 'user' && { entry }), first: own[0]?.entry }
}
