// A version 2 connection that is cut after any event and reconnects with its cursor: nothing is repeated or missed, and
// no effect happens twice, even if another server over the same store takes over.
import type { Agent, SessionEvent, Store } from '@baton/core'
import { createHost, createMemoryStore, createNodeEnvironment } from '@baton/host'
import { expect, test } from 'vitest'
import { createWebSocketFront } from './server.ts'
import { chooseSample } from '@baton/testing/depth'
import { createHomeAgent } from '@baton/testing/home-agent'
import type { V2App } from './v2.test-kit.ts'
import { connectV2App, joinTexts } from './v2.test-kit.ts'

const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })

interface Effects {
  camera: number
  note: number
  pay: number
}

/** A device that handles its frames, and remembers across connections what it has started. */
class Device {
  readonly events: SessionEvent[] = []
  readonly #effects: Effects
  readonly #begun = new Set<string>()
  #read = 0

  constructor(effects: Effects) {
    this.#effects = effects
  }

  /** Plays until the turn has ended (returns false) or this many events were received in all. */
  async play(app: V2App, most: number): Promise<boolean> {
    this.#read = 0
    for (;;) {
      const event = await app.until(() => app.events[this.#read])
      this.#read += 1
      if (event.type !== 'live') this.events.push(event)
      if (event.type === 'turn-finished') return false
      if (this.events.length >= most) return true
      await this.answer(app, event)
    }
  }

  async answer(app: V2App, event: SessionEvent): Promise<void> {
    if (event.type === 'call' && event.call.runs === 'client' && event.call.holder === 'phone') {
      const { callId, status } = event.call
      if (status !== 'waiting' && status !== 'running') return
      // Refused: the event is from the past, and the call has ended or belongs to another device.
      const isOwn = await app.request('call.claim', { callId }).then(
        () => true,
        (cause: unknown) => passOverSettled(cause),
      )
      if (isOwn !== true) return
      if (!this.#begun.has(callId)) this.#effects.camera += 1
      this.#begun.add(callId)
      await app.request('call.result', { callId, outcome: { output: 'a hall' } }).catch(passOverSettled)
    } else if (event.type === 'approval-requested')
      await app.request('approval.decide', { approvalId: event.approvalId, decision: 'approve' }).catch(passOverSettled)
    else if (event.type === 'question-asked')
      await app
        .request('question.answer', { questionId: event.questionId, value: { card: 'the red one' } })
        .catch(passOverSettled)
  }
}

/** The first connection has already submitted it. */
function passOverSettled(cause: unknown): void {
  if (!/approval_refused|question_refused|call_over|call_not_offered|approval\b/.test(String(cause))) throw cause
}

interface Play {
  /** Event counts, over all connections, at which the connection is cut. */
  readonly cuts: readonly number[]
  /** Whether another server takes over at each cut. */
  readonly restarts: boolean
}

async function startServer(agent: Agent, store: Store) {
  const host = createHost({ environment, agent, store })
  const limits = { sessionFramesPerMinute: MANY, addressFramesPerMinute: MANY, addressSessionsPerMinute: MANY }
  const front = createWebSocketFront(host, { ...environment, port: 0, limits })
  const { url } = await front.listen()
  const stop = async (): Promise<void> => {
    await front.close()
    await host.stop()
  }
  return { url, stop }
}

const MANY = 1_000_000

async function playTurn({ cuts, restarts }: Play) {
  const effects: Effects = { camera: 0, note: 0, pay: 0 }
  const store = createMemoryStore()
  const { timers } = environment
  const onEffect = (name: 'note' | 'pay'): void => void (effects[name] += 1)
  const start = () => startServer(createHomeAgent({ timers, onEffect }), store)
  let server = await start()
  const device = new Device(effects)
  let app = await connectV2App(server.url)
  await app.request('session.open', { session: 's', from: 'start', device: { name: 'phone' } })
  await app.request('input.send', { input: 'i1', content: 'A picture, please' })
  for (const most of [...cuts, Infinity]) {
    if (!(await device.play(app, most))) break
    // A device continues where it has read, not where the last frame ended.
    const from = device.events.at(-1)?.cursor
    if (!from) throw new Error('nothing was told')
    app.cut()
    if (restarts) {
      await server.stop()
      server = await start()
    }
    app = await connectV2App(server.url)
    await app.request('session.open', { session: 's', from, device: { name: 'phone' } })
    // Requests that it had received but not answered.
    for (const event of device.events.slice(-1)) await device.answer(app, event)
  }
  const all = await connectV2App(server.url)
  await all.request('session.open', { session: 's', from: 'start' })
  await all.event('turn-finished')
  await server.stop()
  const end = all.events.findIndex(({ type }) => type === 'turn-finished')
  return { effects, told: device.events, past: all.events.slice(0, end + 1) }
}

const WRITTEN = new Set(['text', 'reasoning', 'call-writing', 'call-progress', 'live'])

function listKinds(events: readonly SessionEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (WRITTEN.has(event.type)) return []
    return [event.type === 'call' ? `call ${event.call.name} ${event.call.status}` : event.type]
  })
}

/** Checks that one play received the events of the log, in order, each once. */
function checkTold({ told, past }: Awaited<ReturnType<typeof playTurn>>): void {
  expect(listKinds(told)).toEqual(listKinds(past))
  expect([...joinTexts(told)]).toEqual([...joinTexts(past)])
}

test('a connection that is cut after any event goes on without a gap or a repeat', async () => {
  const whole = await playTurn({ cuts: [], restarts: false })
  checkTold(whole)
  expect(whole.effects).toEqual({ camera: 1, note: 1, pay: 1 })
  const places = Array.from({ length: whole.told.length - 1 }, (_, index) => index + 1)
  for (const cut of chooseSample(places, { quick: 6, landing: 16 })) {
    const played = await playTurn({ cuts: [cut], restarts: false })
    checkTold(played)
    expect(played.effects, `cut after ${cut} events`).toEqual({ camera: 1, note: 1, pay: 1 })
  }
  const often = await playTurn({ cuts: places, restarts: false })
  checkTold(often)
  expect(often.effects).toEqual({ camera: 1, note: 1, pay: 1 })
  console.log(`version 2: ${places.length} places of a turn, cut at each`)
})

test('another server goes on with the session after any event', async () => {
  const whole = await playTurn({ cuts: [], restarts: false })
  const places = Array.from({ length: whole.told.length - 1 }, (_, index) => index + 1)
  for (const cut of chooseSample(places, { quick: 4, landing: 12 })) {
    const played = await playTurn({ cuts: [cut], restarts: true })
    checkTold(played)
    for (const [name, count] of Object.entries(played.effects))
      expect(count, `${name}, server changed after ${cut} events`).toBeLessThanOrEqual(1)
  }
})
