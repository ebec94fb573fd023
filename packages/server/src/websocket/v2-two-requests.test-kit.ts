// Two requests of version 2 at one session, over a store that waits when the test says so: its gate decides what is
// still under way. The connections have no network.
import type { SessionEvent } from '@baton/core/internal'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { clientModel } from '@baton/models/client'
import type { RequestType, V2ClientFrame, V2ServerFrame } from '@baton/protocol'
import { createGatedStore } from '../shared/gated-store.test-kit.ts'
import type { createMemorySocket } from './memory-socket.ts'
import { openMemoryConnections, turnLoop } from './v2-memory-app.test-kit.ts'

export const APP_MODEL = 'device/tiny'
const DEADLINE_MS = 180_000

export async function until<Found>(find: () => Found | undefined, what: string): Promise<Found> {
  const untilMs = Date.now() + DEADLINE_MS
  for (;;) {
    const found = find()
    if (found !== undefined) return found
    if (Date.now() > untilMs) throw new Error(`nothing came of it in time: ${what}`)
    await turnLoop(1)
  }
}

const nothing = { type: 'object', properties: {} } as const
const TOOLS = [
  tool({ name: 'camera', description: 'Takes a picture', input: nothing, effect: 'once' }),
  tool({ name: 'pay', description: 'Pays', input: nothing, effect: 'once', approval: true, execute: () => 'paid' }),
  tool({
    name: 'choose',
    description: 'Asks for a card',
    input: nothing,
    effect: 'once',
    execute: async (_, { ask }) =>
      await ask({ message: 'Which?', schema: { type: 'object', properties: { card: { type: 'string' } } } }),
  }),
  tool({
    name: 'export',
    description: 'Takes long',
    input: nothing,
    effect: 'once',
    background: true,
    timeoutMs: 3_600_000,
    execute: () => new Promise<string>(() => {}),
  }),
]

export function startTwoRequests() {
  const gated = createGatedStore()
  const scripted = createScriptedModel({
    steps: ({ messages }) => {
      const last = messages.at(-1)
      const said = last?.role === 'user' && last.parts[0]?.type === 'text' ? last.parts[0].text : ''
      return said === 'call' ? { calls: TOOLS.map(({ name }) => ({ name, arguments: {} })) } : { text: 'Hello!' }
    },
  })
  const inApp = clientModel({ id: APP_MODEL, contextTokens: 4096, waitMs: 3_600_000 })
  const agent = defineAgent({ name: 'home', model: [scripted, inApp], tools: TOOLS })
  const allow = { models: 'any', temperature: true } as const
  const { open, stop } = openMemoryConnections(agent, gated.store, { allow, clientModels: [inApp] })
  return { ...gated, connect: () => createApp(open()), stop }
}

export type TwoRequests = ReturnType<typeof startTwoRequests>
export type Answer = Extract<V2ServerFrame, { readonly type: 'ok' | 'error' }> & { readonly re?: string }

function createApp(memory: ReturnType<typeof createMemorySocket>) {
  let ids = 0
  let read = 0
  const frames: V2ServerFrame[] = []
  const told = (): readonly V2ServerFrame[] => {
    for (; read < memory.sent.length; read++) frames.push(JSON.parse(memory.sent[read] ?? '') as V2ServerFrame)
    return frames
  }
  const asked: string[] = []
  const send = (type: RequestType, given: object, id = `r${++ids}`): string => {
    asked.push(id)
    memory.deliver(JSON.stringify({ id, type, ...given } as V2ClientFrame))
    return id
  }
  const answers = (): readonly Answer[] =>
    told().filter((frame): frame is Answer => frame.type === 'ok' || frame.type === 'error')
  const answer = (id: string): Promise<Answer> =>
    until(() => answers().find(({ re }) => re === id) ?? ended(), `an answer to ${id}`)
  const ended = (): Answer | undefined =>
    memory.closed() && ({ type: 'error', code: 'gone', message: 'the connection is over' } as Answer)
  const events = (): readonly SessionEvent[] => told().flatMap((frame) => (frame.type === 'events' ? frame.events : []))
  return {
    send,
    answer,
    request: async (type: RequestType, given: object) => {
      const answered = await answer(send(type, given))
      if (answered.type === 'error') throw new Error(`${type}: ${answered.code}: ${answered.message}`)
      return answered as { readonly [field: string]: unknown }
    },
    asked: (): readonly string[] => asked,
    answers,
    frames: told,
    events,
    next: () =>
      told().reduce<object | undefined>((last, frame) => ('next' in frame ? (frame.next as object) : last), undefined),
    closed: memory.closed,
    drop: memory.drop,
  }
}

export type TwoRequestsApp = ReturnType<typeof createApp>

/** A session with much that is open when two requests meet. */
export interface Stage {
  readonly session: string
  readonly phone: TwoRequestsApp
  readonly desk: TwoRequestsApp
  readonly ids: {
    readonly call: string
    readonly approval: string
    readonly question: string
    readonly run: string
    readonly task: string
  }
}

/** The device of the app that runs calls and models. */
export const PHONE = { name: 'phone', runs: ['camera'], models: [APP_MODEL] }

/**
 * One answer is over, and the next one waits: for calls, an approval and a question (`calling`), or for the model of
 * the app (`writing`). One more input waits.
 */
export async function openStage(world: TwoRequests, session: string, at: 'calling' | 'writing'): Promise<Stage> {
  const [phone, desk] = [world.connect(), world.connect()]
  await phone.request('session.open', { session, device: PHONE })
  await desk.request('session.open', { session, from: 'start', device: { name: 'desk', runs: [] } })
  await phone.request('input.send', { input: 'first', content: 'Hi' })
  await until(() => phone.events().find(({ type }) => type === 'turn-finished'), 'the first answer')
  const model = at === 'writing' ? { model: APP_MODEL } : {}
  await phone.request('input.send', { input: 'go', content: 'call', ...model })
  const run = at === 'writing' ? await until(() => findRun(phone), 'the run of the model') : 'none'
  if (at === 'calling') await until(() => findAsked(phone.events(), 'question-asked'), 'the question')
  const call = at === 'calling' ? await until(() => findOffer(phone.events()), 'the offer') : 'call_9_9'
  await phone.request('input.send', { input: 'later', content: 'Hi again' })
  const approval = findAsked(phone.events(), 'approval-requested') ?? 'none'
  const question = findAsked(phone.events(), 'question-asked') ?? 'none'
  const task = at === 'calling' ? await until(() => findTask(phone.events()), 'the task') : 'call_9_9'
  return { session, phone, desk, ids: { call, approval, question, run, task } }
}

function findRun(app: TwoRequestsApp): string | undefined {
  for (const frame of app.frames()) if (frame.type === 'model.run') return frame.run
  return undefined
}

function findOffer(events: readonly SessionEvent[]): string | undefined {
  for (const event of events) if (event.type === 'call' && event.call.status === 'waiting') return event.call.callId
  return undefined
}

function findTask(events: readonly SessionEvent[]): string | undefined {
  for (const event of events) if (event.type === 'call' && event.call.task) return event.call.callId
  return undefined
}

function findAsked(events: readonly SessionEvent[], type: 'approval-requested' | 'question-asked'): string | undefined {
  for (const event of events) {
    if (event.type === 'approval-requested' && type === event.type) return event.approvalId
    if (event.type === 'question-asked' && type === event.type) return event.questionId
  }
  return undefined
}
