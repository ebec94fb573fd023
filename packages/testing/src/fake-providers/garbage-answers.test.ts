// Models that answer with garbage, through the real host: it kills no session, none of it is stored, a paid call is not
// repeated beyond the documented policy, and later turns behave as if it had never arrived.
import type { Model, ModelRequest } from '@baton/core'
import { defineAgent, isBatonError } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { applyRecord, initialState } from '@baton/core/machine'
import type { LogStore } from '@baton/core/internal'
import { createHost, createMemoryStore, createNodeEnvironment } from '@baton/host'
import { afterAll, expect, test } from 'vitest'
import { asAnswer, asEvent, GARBAGE_ANSWERS, GARBAGE_EVENTS } from './garbage-answers.ts'

const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network')) })
/** Documented: `retry.attempts` of an agent. */
const ATTEMPTS = 2
const uncaught: unknown[] = []
const note = (cause: unknown): void => void uncaught.push(cause)
process.on('uncaughtException', note)
afterAll(() => void process.off('uncaughtException', note))

const ANSWER = {
  parts: [{ type: 'text', text: 'Good.' }],
  finish: 'end',
  usage: { inputTokens: 5 },
  model: 'm',
} as const

function createModel(run: Model['run']): Model {
  return { id: 'garbage/model', provider: 'garbage', capabilities: { tools: 'native', images: true }, run }
}

interface Told {
  readonly outcome: string
  readonly calls: number
  readonly answers: readonly string[]
  readonly requests: readonly ModelRequest[]
  readonly warnings: readonly string[]
  readonly records: readonly SessionRecord[]
}

/** A turn with the garbage, one without, and another after a restart. */
async function converse(goWrong: Model['run']): Promise<Told> {
  const store = createMemoryStore()
  const requests: ModelRequest[] = []
  const warnings: string[] = []
  const answers: string[] = []
  let isWrong = true
  let calls = 0
  const model = createModel(async (request, sink, signal) => {
    requests.push(request)
    if (!isWrong) return ANSWER
    calls += 1
    return await goWrong(request, sink, signal)
  })
  const agent = defineAgent({ name: 'a', model, retry: { attempts: ATTEMPTS, baseMs: 0, maxMs: 0 } })
  const log = { info: () => {}, warn: (message: string) => void warnings.push(message) }
  const open = () => createHost({ environment, store, agent, log })
  const first = open()
  const session = await first.session('s')
  const outcome = await session.send('Hello').answer.then(
    (answer) => answer.outcome,
    (cause: unknown) => (isBatonError(cause) ? cause.code : String(cause)),
  )
  isWrong = false
  answers.push((await session.send('Again').answer).text)
  await first.stop()
  const second = open()
  answers.push((await (await second.session('s')).send('And again').answer).text)
  await second.stop()
  return { outcome, calls, answers, requests, warnings, records: await readRecords(store) }
}

async function readRecords(store: LogStore): Promise<readonly SessionRecord[]> {
  const records: SessionRecord[] = []
  for await (const record of store.read('s', 0)) records.push(record)
  return records
}

/** Numbers in the state that are not finite. */
function listBadNumbers(value: unknown, path = 'state'): readonly string[] {
  if (typeof value === 'number') return Number.isFinite(value) ? [] : [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, field]) => listBadNumbers(field, `${path}.${key}`))
}

function expectSane({ answers, requests, warnings, records }: Told): void {
  expect(answers).toEqual(['Good.', 'Good.'])
  expect(warnings.filter((line) => line.includes('opened again'))).toEqual([])
  expect(JSON.parse(JSON.stringify(records))).toEqual(records)
  // A failure's message may name the fault.
  const kept = JSON.stringify(records, (key, value: unknown) => (key === 'error' ? undefined : value))
  expect(kept).not.toMatch(/NaN|\\ud[89a-f]|hologram|many/i)
  const state = records.reduce(applyRecord, initialState('s'))
  expect(listBadNumbers(state)).toEqual([])
  // Each message of the last request is text that a provider accepts.
  expect(JSON.stringify(requests.at(-1)?.messages)).not.toMatch(/NaN|null|\\ud[89a-f]/i)
}

test.each(GARBAGE_ANSWERS)('an answer that is garbage: $name', async ({ becomes, answer }) => {
  const told = await converse(() => Promise.resolve(asAnswer(answer())))
  expect(told.outcome).toBe(becomes)
  expect(told.calls).toBe(becomes === 'model_malformed_answer' ? ATTEMPTS : 1)
  expectSane(told)
})

test.each(GARBAGE_EVENTS)('a piece of an answer that is garbage: %s', async (_, becomes, event) => {
  const told = await converse((_request, sink) => {
    sink({ type: 'text-delta', text: 'Hi ' })
    sink(asEvent(event()))
    return Promise.resolve({ ...ANSWER, parts: [{ type: 'text', text: 'Hi there' }] })
  })
  expect(told.outcome).toBe(becomes)
  expect(told.calls).toBe(becomes === 'model_malformed_answer' ? ATTEMPTS : 1)
  expectSane(told)
})

test('garbage is counted', () => {
  console.log(`garbage: ${GARBAGE_ANSWERS.length} answers, ${GARBAGE_EVENTS.length} pieces`)
  expect(GARBAGE_ANSWERS.length).toBeGreaterThanOrEqual(24)
  expect(uncaught).toEqual([])
})
