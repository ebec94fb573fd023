// The end of a session's actor: what it no longer does, and that every waiting caller gets an error.
import type { Logger, Store } from '@baton/core/internal'
import { BatonError, defineAgent, createSpec } from '@baton/core/internal'
import type { Effect, Input } from '@baton/core/machine'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import { openActor } from './actor.ts'
import type { Performer } from './performer.ts'
import { SessionLeases } from './session-leases.ts'
import { createManualTime, never, noUnhandledRejections } from './test-world.test-kit.ts'

noUnhandledRejections()

const KILLED = new BatonError({ code: 'session_closed', message: 'killed by a test' })

const SILENT: Logger = { info: () => {}, warn: () => {} }

async function opened() {
  const { environment } = createManualTime()
  const store = createMemoryStore()
  const deaths: string[] = []
  const actor = await openActor({
    session: 's',
    leases: new SessionLeases({
      store,
      disk: store,
      owner: 'o',
      address: undefined,
      timers: environment.timers,
      log: SILENT,
      onHandover: () => {},
    }),
    newId: () => 'birth',
    isReopened: false,
    mustExist: false,
    principal: { id: 'ann' },
    specFor: () => createSpec(defineAgent({ name: 'a' }), ['m']),
    store,
    disk: store,
    clock: environment.clock,
    timers: environment.timers,
    pause: never,
    listener: {
      onRecord: () => {},
      onSnapshot: () => {},
      onCommit: () => {},
      onDeath: ({ code }) => deaths.push(code),
    },
  })
  return { actor, store, deaths }
}

/** A performer that calls `perform` and does no work. */
function every(perform: (effect: Effect) => unknown): () => Pick<Performer, 'perform'> {
  return () => ({ perform: (effect) => void perform(effect) })
}

/** Holds every append until the gate opens. */
function gated(store: Store) {
  const gate = Promise.withResolvers<number>()
  const asked = Promise.withResolvers<void>()
  const append = (): Promise<number> => {
    asked.resolve()
    return gate.promise
  }
  Object.assign(store, { append })
  return { gate, asked: asked.promise }
}

const INPUT = { type: 'user-input', inputId: 'i', parts: [{ type: 'text', text: 'go' }] } as const

test('an actor that dies of its first effect performs none of the others', async () => {
  const { actor } = await opened()
  const performed: Effect['type'][] = []
  actor.start(
    every((effect) => {
      performed.push(effect.type)
      actor.kill(KILLED)
    }),
  )
  expect(await actor.submit([INPUT])).toMatchObject([{ type: 'accepted' }])
  expect(performed).toEqual(['call-model'])
})

test.each([
  ['is stored in the end', (gate: PromiseWithResolvers<number>) => gate.resolve(1)],
  [
    'is not stored either',
    (gate: PromiseWithResolvers<number>) => gate.reject(new BatonError({ code: 'store_conflict', message: 'no' })),
  ],
])('an actor that is killed while a record waits, which %s, rejects every input', async (_, answer) => {
  const { actor, store, deaths } = await opened()
  const { gate, asked } = gated(store)
  const performed: Effect[] = []
  actor.start(every((effect) => performed.push(effect)))
  const inputs = [actor.submit([INPUT]), actor.submit([{ ...INPUT, inputId: 'j' }])]
  await asked
  actor.kill(KILLED)
  actor.kill(KILLED)
  answer(gate)
  for (const input of [...inputs, actor.submit([INPUT])]) await expect(input).rejects.toBe(KILLED)
  expect(performed).toEqual([])
  expect(deaths).toEqual(['session_closed'])
})

test('simultaneous inputs share one commit, each with its own record', async () => {
  const { actor, store } = await opened()
  const appended: number[] = []
  const { append } = store
  const counted: Store['append'] = (session, epoch, afterPos, records) => {
    appended.push(records.length)
    return append(session, epoch, afterPos, records)
  }
  Object.assign(store, { append: counted })
  const answers = await Promise.all(['i', 'j', 'k'].map((inputId) => actor.submit([{ ...INPUT, inputId }])))
  expect(answers).toEqual([1, 2, 3].map((pos) => [{ type: 'accepted', pos }]))
  expect(appended).toEqual([3])
})

test('an effect that throws ends its actor, not the process', async () => {
  const { actor, deaths } = await opened()
  actor.start(
    every(() => {
      throw new Error('a runner is broken')
    }),
  )
  expect(await actor.submit([INPUT])).toMatchObject([{ type: 'accepted' }])
  expect(deaths).toEqual(['internal'])
})

test('an actor with a hanging store accepts a limited number of inputs, and every requested answer', async () => {
  const { actor, store } = await opened()
  actor.start(every(() => {}))
  const { asked } = gated(store)
  const stored = actor.submit([INPUT])
  await asked
  const waiting = [
    stored,
    ...Array.from({ length: 10_000 }, (_, index) => actor.submit([{ ...INPUT, inputId: `i${index}` }])),
  ]
  for (const one of waiting) one.catch(() => {}) // they reject when the actor is killed
  expect(await actor.submit([{ ...INPUT, inputId: 'one more' }])).toMatchObject([
    { type: 'refused', code: 'queue_full' },
  ])
  const error = { code: 'internal', message: 'failed', retryable: false } as const
  const fired = { type: 'timer-fired', timer: 'turn', generation: 0 } as const
  const awaited: readonly Input[] = [
    fired,
    { type: 'model-failed', attempt: 1, error },
    { type: 'model-stopped', attempt: 1, text: '' },
    { type: 'summary-failed', attempt: 1, error },
    { type: 'tool-finished', callId: 'c', attempt: 1, outcome: { type: 'error', code: 'tool_failed', message: 'no' } },
    { type: 'work-lost', work: { type: 'model', attempt: 1 } },
  ]
  const taken = awaited.map((input) => actor.submit([input]))
  // An input that is not awaited is refused even next to an awaited one.
  const beside = actor.submit([fired, { ...INPUT, inputId: 'beside' }])
  beside.catch(() => {}) // if accepted, it would reject when the actor is killed
  const waits = new Promise((resolve) => void setImmediate(resolve, 'it waits'))
  expect(await Promise.race([beside, waits])).toMatchObject([{ type: 'refused' }, { type: 'refused' }])
  actor.kill(KILLED)
  for (const one of taken) await expect(one).rejects.toMatchObject({ code: 'session_closed' })
})
