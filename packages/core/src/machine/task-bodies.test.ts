// The texts that a session keeps of its tasks: what people, `tasks.read` and the events show of them.
import { expect, test } from 'vitest'
import { clientTool, serverTool, taskTool, TestSession } from '../testing/test-session.ts'
import type { CallCheck, InputOf } from './input.ts'
import { RULES } from './spec.ts'
import { readGiven } from './task-bodies.ts'

const TOOLS = [
  serverTool('export', { onInterrupt: 'background' }),
  serverTool('index', { onInterrupt: 'background' }),
  serverTool('read'),
  clientTool('print'),
  taskTool('tasks.wait'),
]
const [FIRST, SECOND] = ['call_1_0', 'call_1_1']
const BEGIN = { name: 'export', background: true } as const
const WAIT = { name: 'tasks.wait', operation: { type: 'wait', seconds: 60, all: true } } as const

const open = (): TestSession => new TestSession({ tools: TOOLS }).user('go')

/** The model's answer, with more about each of its calls. */
function answered(session: TestSession, calls: Parameters<TestSession['answer']>[0], more: Partial<CallCheck>) {
  const answer = session.answer(calls)
  return session.send({ ...answer, checks: answer.checks.map((check) => ({ ...check, ...more })) })
}

function asks(callId: string, message: string): InputOf<'question-asked'> {
  return { type: 'question-asked', callId, attempt: 1, n: 1, message, schema: {}, timeoutMs: 1000 }
}

test('the argument that sends a call to the background is not its tool’s', () => {
  const text = '{"run_in_background":true,"n":1}'
  const calls = [{ ...BEGIN, name: 'print', arguments: text }]
  const session = answered(open(), { calls }, { chooses: true })
  expect(session.history.tasks()).toMatchObject([{ callId: FIRST, name: 'print', arguments: '{"n":1}', questions: [] }])
  expect(session.history.openCall(FIRST)).toEqual({
    callId: FIRST,
    name: 'print',
    arguments: '{"n":1}',
    settled: false,
  })
  // A tool with an argument of that name keeps it, and so does text that is no object.
  expect(readGiven(text)).toBe(text)
  expect(['[1]', '{"n":'].map((given) => readGiven(given, true))).toEqual(['[1]', '{"n":'])
})

test('a task keeps its description for people', () => {
  const about = { title: 'Export the list' }
  const session = answered(open(), { calls: [BEGIN, 'read'] }, { about })
  expect(session.history.tasks()).toMatchObject([{ callId: FIRST, about }])
  expect(session.history.openCall(FIRST)).toMatchObject({ about })
  const plain = open().says({ calls: [BEGIN] })
  expect(plain.history.tasks()[0]).not.toHaveProperty('about')
  expect(plain.history.tasks()[0]).not.toHaveProperty('isEdited')
})

test('a task has the arguments of the person who changed them, before or after it went to the background', () => {
  const edited = { arguments: '{"n":2}', check: { argumentsHash: 'hash of {"n":2}' } }
  const before = open().says({ calls: [{ name: 'export', approval: true, arguments: '{"n":1}' }] })
  before
    .send(before.approval(FIRST, 'edit', { edited }))
    .interrupt()
    .user('wait', { delivery: 'interrupt' })
  const after = open().says({ calls: [{ ...BEGIN, approval: true, arguments: '{"n":1}' }] })
  expect(after.history.tasks()).toMatchObject([{ arguments: '{"n":1}' }])
  after.send(after.approval(FIRST, 'edit', { edited }))
  for (const session of [before, after])
    expect(session.history.tasks()).toMatchObject([{ callId: FIRST, arguments: '{"n":2}', isEdited: true }])
})

test('a task keeps its own questions and their answers, and an ended one has none', () => {
  const session = open().says({ calls: ['export', 'index'] })
  session.send(asks(FIRST, 'where?')).send(asks(SECOND, 'when?'))
  session.user('later', { delivery: 'interrupt' })
  const list = () =>
    session.history.tasks().map(({ callId, questions }) => [callId, questions.map(({ message }) => message)])
  expect(list()).toEqual([
    [FIRST, ['where?']],
    [SECOND, ['when?']],
  ])
  session.send({ ...asks(FIRST, 'really?'), n: 2 })
  session.send({ type: 'question-answer', questionId: `question_${FIRST}_1`, principal: '', value: 'here' })
  expect(list()[0]).toEqual([FIRST, ['where?', 'really?']])
  expect(session.history.answerTo(FIRST, 1)).toEqual({ value: 'here' })
  expect(session.history.answerTo(FIRST, 2)).toBeUndefined()
  expect(session.history.openQuestions().map(({ message }) => message)).toEqual(['really?', 'when?'])
  session.returns(FIRST, 'file 7')
  expect(list()).toEqual([
    [SECOND, ['when?']],
    [FIRST, []],
  ])
})

test('of ended tasks, only the newest are kept', () => {
  const session = open()
  const begun: string[] = []
  while (begun.length <= RULES.endedTasks) {
    session.says({ calls: [BEGIN] })
    const [task] = session.state.tasks
    begun.push(task?.callId ?? '')
    session.returns(task?.callId ?? '', 'x').says('Fine.')
    if (session.state.turn) session.says('Fine too.')
    session.user('once more')
  }
  session.says({ calls: [BEGIN] })
  const kept = session.history.tasks().map(({ callId }) => callId)
  expect(kept).toHaveLength(RULES.endedTasks + 1)
  expect(kept.slice(0, -1)).toEqual(begun.slice(-RULES.endedTasks))
  expect(session.state.endedTasks.map(({ callId }) => callId)).toEqual(begun.slice(-RULES.endedTasks))
  expect(
    session.history
      .tasks()
      .map(({ ended }) => ended === undefined)
      .indexOf(true),
  ).toBe(RULES.endedTasks)
  expect(session.history.openCall(kept[0] ?? '')).toMatchObject({ settled: true })
  expect(session.history.openCall(begun[0] ?? '')).toBeUndefined()
})

test('a rewind forgets the ended tasks of what it removes, and keeps the others', () => {
  const session = open()
    .says({ calls: [BEGIN] })
    .says('Fine.')
    .returns(FIRST, 'x')
    .says('File 7.')
    .user('again')
  const { exchange } = session.state.counters
  session.says({ calls: [BEGIN] }).says('Fine.')
  const second = session.state.tasks[0]?.callId ?? ''
  session.returns(second, 'y').says('File 8.')
  expect(session.history.tasks().map(({ callId }) => callId)).toEqual([FIRST, second])
  session.send({ type: 'rewind', inputId: 'r', exchange, again: false })
  expect(session.history.tasks().map(({ callId }) => callId)).toEqual([FIRST])
})

test('a wait tells each outcome with its kind and its detail, and nothing of tasks that are unknown', () => {
  const session = open().says({ calls: [BEGIN, { ...BEGIN, name: 'index' }] })
  session.says({ calls: [WAIT] }).returns(FIRST, 'file 7')
  session.send({ type: 'cancel-call', callId: SECOND, principal: '' })
  const told = session.told().at(-1) ?? ''
  expect(told).toContain(`Task ${FIRST} (export) has ended:`)
  expect(told).toContain('file 7')
  expect(told).toContain(`Task ${SECOND} (index) has ended (`)
})
