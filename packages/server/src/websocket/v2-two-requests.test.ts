// Each kind of request of version 2 while each other one is under way, over one connection and over two: in order, with
// a break, a failed commit, and the same request again. The expected answers are those of the pages.
import type { SessionEvent, SessionEventOf } from '@baton/core/internal'
import type { RequestType } from '@baton/protocol'
import { REQUESTS } from '@baton/protocol'
import { expect, test } from 'vitest'
import { turnLoop } from './v2-memory-app.test-kit.ts'
import { listAnswerFields, listCodes, listKinds } from './v2-reference-page.test-kit.ts'
import type { Answer, Stage, TwoRequests, TwoRequestsApp } from './v2-two-requests.test-kit.ts'
import { APP_MODEL, openStage, PHONE, startTwoRequests, until } from './v2-two-requests.test-kit.ts'

interface Row {
  readonly given: (stage: Stage, tag: string) => object
  /** Its mark in the log, which is there once if the request was accepted, and at most once whatever happened. */
  readonly mark?: (event: SessionEvent, stage: Stage, tag: string) => boolean
  /** Kinds that may be refused, or change nothing, if this one comes before or beside them. */
  readonly ends?: readonly RequestType[]
  /** Sent by the device that was asked. */
  readonly ofDevice?: true
  /** Its `ok` does not say that it is in the log: the model is asked again if it is lost. */
  readonly mayBeLost?: true
  /** The answer of the same request again; `ok` by default. */
  readonly again?: string
}

const isAdded = (event: SessionEvent, id: string): boolean => event.type === 'message-added' && event.message.id === id
const isCall = (event: SessionEvent, callId: string, status: string): event is SessionEventOf<'call'> =>
  event.type === 'call' && event.call.callId === callId && event.call.status === status
const OF_TURN: readonly RequestType[] = [
  'approval.decide',
  'question.answer',
  'call.claim',
  'call.result',
  'input.withdraw',
  'model.pieces',
  'model.result',
  'turn.interrupt',
]
const ALL = Object.keys(REQUESTS) as readonly RequestType[] // its keys by type
const ON_ANY: readonly RequestType[] = [
  'ping',
  'approval.list',
  'session.list',
  'session.watch',
  'session.delete',
  'session.open',
]
const OF_SESSION = ALL.filter((type) => !ON_ANY.includes(type))

const ROWS: { readonly [Type in RequestType]: Row } = {
  ping: { given: () => ({}) },
  'session.open': { given: ({ session }) => ({ session, messages: 5 }) },
  'session.close': { given: () => ({}), ends: [...OF_SESSION, 'session.open'] },
  'session.info': { given: () => ({}) },
  'session.messages': { given: () => ({ limit: 5 }) },
  'session.describe': { given: (_, tag) => ({ title: `title of ${tag}` }) },
  'session.configure': { given: () => ({ settings: { temperature: 0.5 } }) },
  'session.control': {
    given: () => ({ action: 'pause' }),
    mark: (event) => event.type === 'session' && event.activity === 'paused',
    ends: ['session.control', 'model.pieces', 'model.result', 'input.rewind', 'turn.interrupt'],
    again: 'illegal_input',
  },
  'session.fork': { given: () => ({ before: 't1' }) },
  'session.list': { given: () => ({}) },
  'session.watch': { given: () => ({}) },
  'session.delete': { given: ({ session }) => ({ session }), ends: ALL },
  'input.send': {
    given: (_, tag) => ({ input: `said-${tag}`, content: 'And now?' }),
    mark: (event, _, tag) => isAdded(event, `said-${tag}`),
  },
  'input.hear': {
    given: (_, tag) => ({ input: `heard-${tag}`, speaker: 'Ann', text: 'Look there.' }),
    mark: (event, _, tag) => isAdded(event, `heard-${tag}`),
  },
  'input.notify': {
    given: (_, tag) => ({ input: `noted-${tag}`, name: 'bell' }),
    mark: (event, _, tag) => isAdded(event, `noted-${tag}`),
  },
  'input.withdraw': {
    given: () => ({ input: 'later' }),
    mark: (event) => event.type === 'message-withdrawn' && event.message === 'later',
    again: 'unknown_input',
    ends: ['input.withdraw'],
  },
  'input.rewind': {
    given: (_, tag) => ({ input: `again-${tag}`, message: 'go', replace: 'Hi', interrupt: true }),
    mark: (event, _, tag) => isAdded(event, `again-${tag}`),
    ends: [...OF_TURN, 'input.rewind', 'call.cancel'],
  },
  'turn.interrupt': {
    given: () => ({ turn: 't2' }),
    mark: (event) => event.type === 'turn-finished' && event.message === 't2',
    ends: OF_TURN,
  },
  'speech.played': { given: () => ({ message: 't1', chars: 3 }) },
  'call.tasks': { given: () => ({}) },
  'call.cancel': {
    given: ({ ids }) => ({ callId: ids.task }),
    mark: (event, { ids }) => isCall(event, ids.task, 'settled'),
    again: 'call_over',
    ends: ['call.cancel'],
  },
  'approval.list': { given: () => ({}) },
  'approval.decide': {
    given: ({ ids }) => ({ approvalId: ids.approval, decision: 'approve' }),
    mark: (event) => event.type === 'approval-decided',
    again: 'approval_refused',
    ends: ['approval.decide', 'input.withdraw'],
  },
  'question.answer': {
    given: ({ ids }) => ({ questionId: ids.question, value: { card: 'red' } }),
    mark: (event) => event.type === 'question-answered',
    again: 'question_refused',
    ends: ['question.answer', 'input.withdraw'],
  },
  'device.attach': { given: () => PHONE, ofDevice: true, ends: ['model.pieces', 'model.result'] },
  'device.release': {
    given: () => ({}),
    ofDevice: true,
    again: 'illegal_input',
    ends: ['call.claim', 'call.result', 'device.release', 'model.pieces', 'model.result'],
  },
  'call.claim': {
    given: ({ ids }) => ({ callId: ids.call }),
    mark: (event, { ids }) => isCall(event, ids.call, 'running') && !event.call.waitsForClient,
    ofDevice: true,
  },
  'call.result': {
    given: ({ ids }) => ({ callId: ids.call, outcome: { output: 'a hall' } }),
    mark: (event, { ids }) => isCall(event, ids.call, 'settled'),
    ofDevice: true,
    ends: ['call.claim', 'input.withdraw', 'call.result'],
  },
  'model.pieces': {
    given: ({ ids }) => ({ run: ids.run, pieces: [{ type: 'text-delta', text: 'Once.' }] }),
    ofDevice: true,
  },
  'model.result': {
    given: ({ ids }) => ({
      run: ids.run,
      outcome: { answer: { parts: [{ type: 'text', text: 'Once.' }], finish: 'end', usage: {}, model: APP_MODEL } },
    }),
    mark: (event) => event.type === 'turn-finished' && event.message === 't2',
    mayBeLost: true,
    ofDevice: true,
    ends: ['model.pieces', 'model.result', 'turn.interrupt', 'input.withdraw', 'call.cancel'],
  },
}

/** Kinds that end nothing of others: all of them are sent together. */
const HARMLESS = ALL.filter((type) => ROWS[type].ends === undefined)
/** Requests beside the first: all the harmless ones at once, those that end little of others, or one that ends more. */
const MILD: readonly RequestType[] = ['approval.decide', 'question.answer', 'call.result', 'device.attach']
const OTHERS: readonly (readonly RequestType[])[] = [
  HARMLESS,
  MILD,
  ...ALL.flatMap((type) => (HARMLESS.includes(type) || MILD.includes(type) ? [] : [[type]])),
]

interface Sent {
  readonly app: TwoRequestsApp
  readonly type: RequestType
  readonly tag: string
  readonly id: string
  /** Whether the same request was sent before. */
  readonly isAgain: boolean
  /** Whether it is `session.open` over a connection that follows a session. */
  readonly isOpen: boolean
}

/** Sends requests of one stage, and notes them. */
class Play {
  readonly world: TwoRequests
  readonly stage: Stage
  readonly sent: Sent[] = []
  phone: TwoRequestsApp

  constructor(world: TwoRequests, stage: Stage) {
    this.world = world
    this.stage = stage
    this.phone = stage.phone
  }

  send(type: RequestType, tag: string, app: TwoRequestsApp): void {
    const { given } = ROWS[type]
    const isAgain = this.sent.some((one) => one.type === type && one.tag === tag)
    const isOpen = type === 'session.open' && app.asked().length > 0
    this.sent.push({ app, type, tag, id: app.send(type, given(this.stage, tag)), isAgain, isOpen })
  }

  sendAll(types: readonly RequestType[], app: TwoRequestsApp): void {
    for (const type of types) {
      const isOpening = type === 'session.open' && app !== this.phone
      const sender = isOpening ? this.world.connect() : app
      this.send(type, 'b', ROWS[type].ofDevice ? this.phone : sender)
    }
  }

  async reopen(app: TwoRequestsApp, device: object): Promise<TwoRequestsApp> {
    const { session } = this.stage
    const next = this.world.connect()
    await next.answer(next.send('session.open', { session, existing: true, from: app.next(), device }))
    return next
  }
}

type Situation = (play: Play, first: RequestType, others: readonly RequestType[]) => Promise<void>

const overOne: Situation = async (play, first, others) => {
  play.world.hold()
  play.send(first, 'a', play.phone)
  await turnLoop(2)
  play.sendAll(others, play.phone)
}

const overTwo: Situation = async (play, first, others) => {
  play.world.hold()
  play.send(first, 'a', play.phone)
  await turnLoop(2)
  play.sendAll(others, play.stage.desk)
}

const failsOnce: Situation = async (play, first, others) => {
  play.world.hold()
  play.world.failNext()
  play.send(first, 'a', play.phone)
  await turnLoop(2)
  play.sendAll(others, play.stage.desk)
}

const sendsTwice: Situation = async (play, first, others) => {
  play.world.hold()
  play.send(first, 'a', play.phone)
  play.sendAll(others, play.stage.desk)
  play.send(first, 'a', ROWS[first].ofDevice || first === 'session.open' ? play.phone : play.stage.desk)
}

const breaks: Situation = async (play, first, others) => {
  play.world.hold()
  play.send(first, 'a', play.phone)
  await turnLoop(2)
  play.sendAll(
    others.filter((type) => !ROWS[type].ofDevice),
    play.stage.desk,
  )
  play.phone.drop()
  play.world.go()
  play.phone = await play.reopen(play.phone, PHONE)
  play.send(first, 'a', play.phone)
}

const IN_ORDER: readonly Situation[] = [overOne, overTwo]
const SITUATIONS: readonly (readonly [string, Situation])[] = [
  ['over one connection, each request is answered, and those accepted are in the log', overOne],
  ['over two connections likewise', overTwo],
  ['a request whose commit fails is not lost, nor is another one', failsOnce],
  ['a request that is sent twice is done once', sendsTwice],
  ['a request whose connection breaks is done once when it is sent again', breaks],
]

test('each kind of request has a row, and the page lists it', () => {
  expect(Object.keys(ROWS).toSorted()).toEqual(ALL.toSorted())
  expect(listKinds().toSorted()).toEqual(ALL.toSorted())
})

test('requests of one id have an answer each', async () => {
  const world = startTwoRequests()
  const stage = await openStage(world, 's', 'calling')
  const before = stage.phone.answers().length
  world.hold()
  for (const type of HARMLESS) stage.phone.send(type, ROWS[type].given(stage, 'a'), 'same')
  world.go()
  const answers = await until(() => {
    const told = stage.phone.answers().slice(before)
    return told.length >= HARMLESS.length ? told : undefined
  }, 'the answers')
  await turnLoop(5)
  expect(
    stage.phone
      .answers()
      .slice(before)
      .map(({ re }) => re),
  ).toEqual(HARMLESS.map(() => 'same'))
  expect(answers.filter(({ type }) => type === 'error')).toMatchObject([{ code: 'illegal_input' }])
  await world.stop()
})

const isModel = (type: RequestType): boolean => type.startsWith('model.')
const ONLY_CALLING: readonly RequestType[] = ['approval.decide', 'question.answer', 'call.claim', 'call.result']

test.each(SITUATIONS)('%s', async (_name, situation) => {
  const wrong = await Promise.all(ALL.map((first) => playWithAll(first, situation)))
  expect(wrong.flat()).toEqual([])
})

/** Requests that leave a trace in the log meet those that end something, in order. */
function findOthers(first: RequestType, situation: Situation): readonly (readonly RequestType[])[] {
  const isTraced = ROWS[first].mark !== undefined || ROWS[first].ends !== undefined
  return isTraced && IN_ORDER.includes(situation) ? OTHERS : [HARMLESS, MILD]
}

/** Plays a situation with each other kind, and returns what is wrong. */
async function playWithAll(first: RequestType, situation: Situation): Promise<readonly string[]> {
  const world = startTwoRequests()
  const wrong: string[] = []
  for (const others of findOthers(first, situation)) {
    const at = [first, ...(others.length === 1 ? others : [])].some(isModel) ? 'writing' : 'calling'
    const play = new Play(world, await openStage(world, others.join(), at))
    await situation(
      play,
      first,
      others.filter((type) => at === 'writing' || !isModel(type)),
    )
    const issues = await check(play, at)
    if (issues.length > 0) wrong.push(`${first} and ${others.join(', ')}: ${issues.join('; ')}`)
  }
  await world.stop()
  return wrong
}

async function check(play: Play, at: 'calling' | 'writing'): Promise<readonly string[]> {
  const issues: string[] = []
  const ok: Sent[] = []
  play.world.go()
  for (const one of play.sent) {
    const answer = await one.app.answer(one.id)
    if (answer.type === 'ok' && !('ignored' in answer)) ok.push(one)
    issues.push(...checkAnswer(play, one, answer, at))
  }
  for (const app of new Set(play.sent.map(({ app }) => app))) {
    const answered = app.answers().map(({ re }) => re ?? 'none')
    if (!app.closed() && answered.toSorted().join() !== app.asked().toSorted().join())
      issues.push(`asked ${app.asked().join()}, answered ${answered.join()}`)
  }
  issues.push(...(await checkLog(play, ok)))
  return issues
}

function endedBy(play: Play, one: Sent): boolean {
  return play.sent.some((other) => {
    if (other === one || (other.type === one.type && other.tag === one.tag)) return false
    if (other.type === 'session.close' && other.app !== one.app) return false
    return ROWS[other.type].ends?.includes(one.type)
  })
}

function checkAnswer(play: Play, one: Sent, answer: Answer, at: 'calling' | 'writing'): readonly string[] {
  const { type, isAgain, isOpen, app } = one
  if (answer.type === 'error') {
    if (answer.code === 'gone' && app.closed()) return []
    if (!listCodes(type).includes(answer.code)) return [`${type}: the page does not list ${answer.code}`]
    const isFirst = !isAgain || answer.code !== ROWS[type].again
    const isElsewhere = at === 'writing' && ONLY_CALLING.includes(type)
    return isFirst && !isOpen && !isElsewhere && !endedBy(play, one)
      ? [`${type}: ${answer.code}: ${answer.message}`]
      : []
  }
  const listed = listAnswerFields(type)
  const { type: _type, re: _re, ...fields } = answer
  const missing = listed.filter((name) => !name.endsWith('?') && !(name in fields))
  const strange = Object.keys(fields).filter((name) => !listed.includes(name) && !listed.includes(`${name}?`))
  return [...missing.map((name) => `${type}: no ${name}`), ...strange.map((name) => `${type}: ${name} of another kind`)]
}

/** Reads the log again: each accepted request is in it once, and its followers have read the same. */
async function checkLog(play: Play, ok: readonly Sent[]): Promise<readonly string[]> {
  if (play.sent.some(({ type }) => type === 'session.delete')) return []
  const { stage } = play
  const reader = play.world.connect()
  const opened = await reader.answer(
    reader.send('session.open', { session: stage.session, existing: true, from: 'start' }),
  )
  if (opened.type === 'error') return [`the session is gone: ${opened.code}`]
  await until(() => reader.events().find(({ type }) => type === 'live'), 'live')
  await turnLoop(5)
  const issues: string[] = []
  const marks = new Map(play.sent.map(({ type, tag }) => [`${type} ${tag}`, { type, tag }]))
  for (const [name, { type, tag }] of marks) {
    const { mark, mayBeLost } = ROWS[type]
    if (!mark) continue
    const times = reader.events().filter((event) => mark(event, stage, tag)).length
    const accepted = ok.find((one) => one.type === type && one.tag === tag)
    if (times > 1) issues.push(`${name}: ${times} times in the log`)
    if (accepted && !mayBeLost && times === 0 && !endedBy(play, accepted))
      issues.push(`${name}: accepted, and not in the log`)
    const told = stage.desk.events().filter((event) => mark(event, stage, tag)).length
    if (isFollowing(play) && told !== times) issues.push(`${name}: ${times} times in the log, told ${told} times`)
  }
  reader.drop()
  stage.desk.drop()
  play.phone.drop()
  return issues
}

/** Whether the desk still follows the session. */
function isFollowing({ stage: { desk }, sent }: Play): boolean {
  const isLeft = sent.some(({ app, type }) => app === desk && type === 'session.close')
  return !isLeft && !desk.closed() && !desk.frames().some(({ type }) => type === 'session.closed')
}
