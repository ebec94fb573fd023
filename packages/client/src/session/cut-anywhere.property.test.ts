// A client of version 2 whose connection is cut after every frame of a conversation, once or often, and with a
// different server afterwards: the shown text equals the log, each effect happens once, and no event is repeated or
// missed.
import type { SessionEvent } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { chooseCount, chooseSample } from '@baton/testing/depth'
import { findFreePort } from '@baton/testing/free-port'
import { within } from '@baton/testing/within'
import { afterAll, expect, test } from 'vitest'
import type { SessionClient } from '../index.ts'
import { openSession } from '../index.ts'
import { createCuttableWorld, environment, serveAgent, until } from './session.test-kit.ts'

const NO_INPUT = { type: 'object', properties: {} } as const
const STEPS: readonly ScriptedStep[] = [
  {
    reasoning: 'They want a picture.',
    pieces: ['One ', 'moment, ', 'I take ', 'a picture 📷', '.'],
    calls: [
      { name: 'camera', arguments: {} },
      { name: 'note', arguments: {} },
    ],
  },
  { pieces: ['Now ', 'I pay ', 'and ask.'], calls: [{ name: 'pay', arguments: {} }] },
  { pieces: ['All ', 'is done', '.'] },
]

interface Effects {
  camera: number
  note: number
  pay: number
}

const counts = { plays: 0, cuts: 0, events: 0 }
afterAll(() => {
  const { plays, cuts, events } = counts
  console.log(`client of version 2: ${plays} conversations, ${cuts} cuts, ${events} events, each once`)
})

function createHome(effects: Effects) {
  const camera = tool({ name: 'camera', description: 'Takes a picture', input: NO_INPUT, effect: 'once' })
  const note = tool({
    name: 'note',
    description: 'Notes',
    input: NO_INPUT,
    effect: 'once',
    execute: () => `noted ${(effects.note += 1)}`,
  })
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: NO_INPUT,
    effect: 'once',
    approval: true,
    execute: async (_, { ask }) => {
      const said = await ask({ message: 'Which card?', schema: NO_INPUT })
      effects.pay += 1
      return JSON.stringify(said)
    },
  })
  // Depends only on earlier answers, so that a later server continues where the first one was.
  const model = createScriptedModel({
    timers: environment.timers,
    steps: ({ messages }) => ({
      ...STEPS[messages.filter(({ role }) => role === 'assistant').length],
      pieceMs: 1,
    }),
  })
  return defineAgent({ name: 'home', model, tools: [camera, note, pay] })
}

/** Approves and answers every request once, as a person does. */
function actAsPerson(client: SessionClient): void {
  const done = new Set<string>()
  client.subscribe(() => {
    const { approvals, questions } = client.getSnapshot()
    for (const { approvalId } of approvals)
      if (!done.has(approvalId)) {
        done.add(approvalId)
        client.decide({ approvalId, decision: 'approve' }).catch(note)
      }
    for (const { questionId } of questions)
      if (!done.has(questionId)) {
        done.add(questionId)
        client.answer({ questionId, value: {} }).catch(note)
      }
  })
}

const complaints: string[] = []
function note(cause: unknown): void {
  complaints.push(String(cause))
}

interface Play {
  /** The connection is cut after these numbers of frames, each counted from the previous cut. */
  readonly cuts: readonly number[]
  /** Another server over the same store takes over at each cut. */
  readonly restarts: boolean
}

async function play({ cuts, restarts }: Play) {
  const effects: Effects = { camera: 0, note: 0, pay: 0 }
  const store = createMemoryStore()
  const port = await findFreePort()
  const start = () => serveAgent({ agent: createHome(effects), store, front: { port } })
  let server = await start()
  const wires = createCuttableWorld()
  const left = [...cuts]
  wires.cutAfter(left.shift() ?? Infinity)
  const events: SessionEvent[] = []
  const client = openSession({
    url: server.url,
    session: 's',
    world: wires.world,
    reconnect: { baseMs: 1, mostMs: 20 },
    tools: { camera: () => `picture ${(effects.camera += 1)}` },
  })
  actAsPerson(client)
  client.on('event', (event) => void events.push(event))
  client.on('error', ({ message }) => note(message))
  let changing: Promise<unknown> = Promise.resolve()
  client.on('status', (status) => {
    if (status !== 'waiting') return
    counts.cuts += 1
    const next = left.shift()
    wires.cutAfter(next === undefined ? Infinity : wires.frames() + next)
    if (restarts)
      changing = changing
        .then(() => server.stop())
        .then(async () => {
          server = await start()
        })
  })
  try {
    const { answer, accepted } = client.send('A picture, please')
    const { text } = await answer
    await changing
    await within(60_000, `the acceptance of the input, cut after ${cuts.join()},`, accepted)
    const log = await server.host.session('s')
    const { messages } = await log.messages()
    const past: SessionEvent[] = []
    for await (const event of log.events({ from: 'start' })) {
      past.push(event)
      if (event.type === 'turn-finished') break
    }
    counts.plays += 1
    counts.events += events.length
    const shown = client.getSnapshot().messages
    return { effects, events, past, messages, shown, text, frames: wires.frames() }
  } finally {
    client.close()
    await changing
    await server.stop()
  }
}

const WRITTEN = new Set(['text', 'reasoning', 'call-writing', 'call-progress', 'live', 'session'])

function listKinds(events: readonly SessionEvent[]): readonly string[] {
  const end = events.findIndex(({ type }) => type === 'turn-finished')
  return events
    .slice(0, end + 1)
    .flatMap((event) =>
      WRITTEN.has(event.type)
        ? []
        : [event.type === 'call' ? `call ${event.call.name} ${event.call.status}` : event.type],
    )
}

/** Joins the pieces of each step's text: each must continue where the text ends. */
function joinTexts(
  events: readonly SessionEvent[],
  kind: 'text' | 'reasoning',
): readonly (readonly [string, string])[] {
  const texts = new Map<string, string>()
  for (const event of events) {
    if (event.type === 'step-reset') texts.delete(`${event.message}/${event.step}`)
    if (event.type !== kind) continue
    const key = `${event.message}/${event.step}`
    const text = texts.get(key) ?? ''
    if (event.offset !== text.length) throw new Error(`a piece at ${event.offset} follows ${text.length} characters`)
    texts.set(key, text + event.text)
  }
  return [...texts]
}

const TEXT = 'One moment, I take a picture 📷.\n\nNow I pay and ask.\n\nAll is done.'

function check(played: Awaited<ReturnType<typeof play>>, what: string): void {
  const { events, past, messages, shown, text } = played
  expect({ what, text }).toEqual({ what, text: TEXT })
  expect({ what, shown }).toEqual({ what, shown: messages })
  expect({ what, kinds: listKinds(events) }).toEqual({ what, kinds: listKinds(past) })
  for (const kind of ['text', 'reasoning'] as const) expect(joinTexts(events, kind)).toEqual(joinTexts(past, kind))
}

const ONCE = { camera: 1, note: 1, pay: 1 }

test('a connection that is cut after any one frame', async () => {
  const whole = await play({ cuts: [], restarts: false })
  check(whole, 'no cut')
  expect(whole.effects).toEqual(ONCE)
  const places = Array.from({ length: whole.frames }, (_, index) => index + 1)
  for (const cut of chooseSample(places, { quick: 8, landing: 24 })) {
    const played = await play({ cuts: [cut], restarts: false })
    check(played, `cut after frame ${cut}`)
    expect({ cut, ...played.effects }).toEqual({ cut, ...ONCE })
  }
  expect(complaints).toEqual([])
})

test('a connection that is cut again and again, after any number of frames', async () => {
  for (const step of chooseSample([7, 8, 9, 10, 11, 13, 17], 4)) {
    const cuts = Array.from({ length: 12 }, () => step)
    const played = await play({ cuts, restarts: false })
    check(played, `cut after each ${step} frames`)
    expect({ step, ...played.effects }).toEqual({ step, ...ONCE })
  }
  expect(complaints).toEqual([])
})

test('another server takes over after any one frame', async () => {
  const whole = await play({ cuts: [], restarts: true })
  const places = Array.from({ length: whole.frames }, (_, index) => index + 1)
  for (const cut of chooseSample(places, { quick: 4, landing: 12 })) {
    const played = await play({ cuts: [cut], restarts: true })
    check(played, `server changed after frame ${cut}`)
    for (const [name, count] of Object.entries(played.effects))
      expect(count, `${name}, server changed after frame ${cut}`).toBeLessThanOrEqual(1)
  }
  // A tool that asked died with its server, and its question with it.
  expect(complaints.filter((complaint) => !complaint.includes('no such question is open'))).toEqual([])
})

/** Random numbers of a linear congruential generator: the same for each seed. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test('two devices of one session, each cut again and again at frames of its own', async () => {
  const seeds = Array.from({ length: chooseCount({ quick: 2, landing: 6, deep: 60 }) }, (_, index) => index + 1)
  for (const seed of seeds) {
    const random = createRandom(seed)
    const effects: Effects = { camera: 0, note: 0, pay: 0 }
    const server = await serveAgent({ agent: createHome(effects) })
    const open = () => {
      const wires = createCuttableWorld()
      const client = openSession({
        url: server.url,
        session: 's',
        world: wires.world,
        reconnect: { baseMs: 1, mostMs: 20 },
        tools: { camera: () => `picture ${(effects.camera += 1)}` },
      })
      let left = 6
      const plan = (): void => wires.cutAfter(left-- > 0 ? wires.frames() + 8 + random(12) : Infinity)
      client.on('status', (status) => {
        if (status === 'waiting') counts.cuts += 1
        if (status === 'open') plan()
      })
      client.on('error', ({ message }) => note(message))
      return client
    }
    const [one, two] = [open(), open()]
    actAsPerson(one)
    const { text } = await one.send('A picture, please').answer
    expect({ seed, text, effects }).toEqual({ seed, text: TEXT, effects: ONCE })
    const { messages } = await (await server.host.session('s')).messages()
    for (const client of [one, two]) {
      const { messages: shown } = await until(client, (snapshot) => {
        const answer = snapshot.messages.at(-1)
        return answer?.role === 'assistant' && answer.stop !== undefined
      })
      expect({ seed, shown }).toEqual({ seed, shown: messages })
      client.close()
    }
    counts.plays += 1
    await server.stop()
  }
  expect(complaints.filter((complaint) => !complaint.includes('no such question is open'))).toEqual([])
})
