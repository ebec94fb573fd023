// Calls in the background: a receipt settles them at once, they continue as tasks, and their end is reported exactly once.
import { describe, expect, test } from 'vitest'
import { listUntrusted } from '../messages.ts'
import type { SpecChange } from '../testing/test-session.ts'
import { childTool, clientTool, serverTool, taskTool, TestSession, toOutcome } from '../testing/test-session.ts'
import { RULES } from './spec.ts'

const EXPORT = serverTool('export', { effect: 'once', timeoutMs: 60_000 })
const INDEX = serverTool('index')
const PRINT = clientTool('print', { effect: 'once', timeoutMs: 20_000 })
const MAIL = serverTool('mail', { provenance: { trust: 'untrusted' } })
const READ = serverTool('read')
const TOOLS = [
  EXPORT,
  INDEX,
  PRINT,
  MAIL,
  READ,
  childTool('research'),
  taskTool('tasks.list'),
  taskTool('tasks.read'),
  taskTool('tasks.wait'),
  taskTool('tasks.cancel'),
]
const begin = (name: string, more: object = {}) => ({ name, background: true, ...more })
const wait = (more: object = {}, seconds = 60) => ({
  name: 'tasks.wait',
  operation: { type: 'wait' as const, seconds, ...more },
})
const read = (task: string) => ({ name: 'tasks.read', operation: { type: 'read' as const, task } })
const cancel = (task: string) => ({ name: 'tasks.cancel', operation: { type: 'cancel' as const, task } })
const delegated = () =>
  begin('research', { delegate: { agent: 'helper', task: [{ type: 'text', text: 'Find it.' }], acts: true } })
const LIST = { name: 'tasks.list', operation: { type: 'list' as const } }
const T = 'call_1_0'
const WAKE = `baton.task.${T}`

function opened(change: SpecChange = {}): TestSession {
  return new TestSession({ tools: TOOLS, ...change }).user('go')
}
/** A task runs, and the session is idle. */
function exporting(change: SpecChange = {}): TestSession {
  return opened(change)
    .says({ calls: [begin('export')] })
    .says('It is on its way.')
}
const withdrawn = (session: TestSession) => session.logged('input-withdrawn').map(({ inputId }) => inputId)
const wakes = (session: TestSession) =>
  session.logged('input-accepted').filter(({ inputId }) => inputId.startsWith('baton.task.')).length

test('a receipt settles the call in the record of its answer, the task begins there, and the model goes on', () => {
  const session = opened().says({ calls: [begin('export')] })
  expect(session.factTypes()).toEqual(['step-finished', 'call-settled', 'call-started', 'step-closed', 'model-started'])
  expect(session.fact('call-settled')).toMatchObject({ task: true, tellLate: false, settlement: { type: 'ok' } })
  expect(session.told().at(-1)).toBe(
    `${T} = It runs in the background as task ${T}. You learn its outcome when it ends; do not call it again for that.`,
  )
  expect(session.state.tasks).toMatchObject([{ callId: T, state: 'started', task: { origin: 'call', wake: 'turn' } }])
  expect(session.owes()).toContain(`run-tool:${T}:1`)
  session.says('Bye')
  expect(session.state.phase).toBe('idle')
  expect(session.owes().filter((key) => !key.startsWith('set-timer'))).toEqual([`run-tool:${T}:1`])
})

test('its end begins a turn in the record of its settlement, and the model reads the outcome', () => {
  const session = exporting().returns(T, 'file 7')
  expect(session.factTypes()).toEqual([
    'task-settled',
    'input-accepted',
    'turn-started',
    'inputs-entered',
    'model-started',
  ])
  expect(session.fact('input-accepted')).toMatchObject({
    inputId: WAKE,
    delivery: 'steer',
    ready: true,
    body: { type: 'task', callId: T, name: 'export', outcome: 'ok', text: 'file 7' },
  })
  expect(session.told().at(-1)).toBe(`user: [Task] The tool "export" (${T}) has ended in the background: "file 7"`)
  expect(session.state).toMatchObject({
    tasks: [],
    endedTasks: [{ callId: T, settlement: 'ok', news: 'told' }],
    wakes: 1,
  })
  session.says('File 7 is ready.')
  expect(session.owes()).toEqual([])
})

test('an end enters with the next step of a running turn; ten ends enter together', () => {
  const many = Array.from({ length: 10 }, () => begin('index'))
  const session = opened()
    .says({ calls: many })
    .says({ calls: ['read'] })
  for (const at of many.keys()) session.returns(`call_1_${at}`, `part ${at}`)
  expect(session.state.queue).toHaveLength(10)
  session.returns('call_2_0')
  expect(session.told().filter((line) => line.startsWith('user: [Task]'))).toHaveLength(10)
  expect(session.says('all done').state).toMatchObject({ phase: 'idle', queue: [], wakes: 0 })
})

test('ten tasks that end while idle: the first begins a turn, the others enter with its next step', () => {
  const many = Array.from({ length: 10 }, () => begin('index'))
  const session = opened().says({ calls: many }).says('working')
  for (const at of many.keys()) session.returns(`call_1_${at}`, `part ${at}`)
  expect(session.state.queue).toHaveLength(9)
  session.says({ calls: ['read'] }).returns('call_3_0')
  expect(session.told().filter((line) => line.startsWith('user: [Task]'))).toHaveLength(10)
  expect(session.says('done').state).toMatchObject({ phase: 'idle', wakes: 1 })
})

test('an end in the moment in which the turn ends is told once, whichever comes first', () => {
  const first = opened()
    .says({ calls: [begin('export')] })
    .returns(T, 'x')
  expect(first.factTypes()).toEqual(['task-settled', 'input-accepted'])
  first.says('bye')
  expect(first.factTypes()).toContain('turn-started')
  expect(first.told().at(-1)).toContain('[Task]')
  expect(wakes(exporting().returns(T, 'x'))).toBe(1)
})

test('a session that died with the wake in its queue begins the turn after its restart, and tells it once', () => {
  const session = opened()
    .says({ calls: [begin('export')] })
    .returns(T, 'x')
    .restart()
  expect(session.told().at(-1)).toContain('"x"')
  session.restart()
  expect(session.told().filter((line) => line.includes('[Task]'))).toHaveLength(1)
  session.says('fine').restart()
  expect(session.owes()).toEqual([])
  expect(wakes(session)).toBe(1)
})

test('a once tool that had started is unknown after a restart, and that wakes; a pure one runs again', () => {
  const session = exporting().restart()
  expect(session.fact('task-settled').settlement).toEqual({ type: 'unknown', reason: 'restart' })
  expect(session.told().at(-1)).toContain('has ended in the background (unknown)')
  const pure = opened()
    .says({ calls: [begin('index')] })
    .says('ok')
    .restart()
  expect(pure.state.tasks).toMatchObject([{ attempt: 2, state: 'started' }])
  expect(pure.restart().restart().fact('task-settled').settlement).toMatchObject({ code: 'recovery_exhausted' })
})

test('a task that asks a person does not wait with its receipt, and is decided while the model answers, or idle', () => {
  const session = opened().says({ calls: [begin('export', { approval: true })] })
  expect(session.factTypes()).toEqual([
    'step-finished',
    'call-settled',
    'approval-requested',
    'step-closed',
    'model-started',
  ])
  session.send(session.approval(T, 'approve'))
  expect(session.factTypes()).toEqual(['approval-decided', 'call-started'])
  expect(session.state.phase).toBe('modelling')
  const idle = opened()
    .says({ calls: [begin('export', { approval: true })] })
    .says('ok')
  idle.send(idle.approval(T, 'deny'))
  expect(idle.fact('task-settled').settlement).toMatchObject({ type: 'denied' })
  expect(idle.state.phase).toBe('modelling')
  const expired = opened()
    .says({ calls: [begin('export', { approval: true })] })
    .says('ok')
    .fire(`approval:${T}`)
  expect(expired.told().at(-1)).toContain('not approved in time')
})

test('nobody can be asked: the task is denied, and its model learns it', () => {
  const session = new TestSession({ tools: TOOLS }).user('go', { asks: false })
  session.says({ calls: [begin('export', { approval: true })] })
  expect(session.fact('task-settled').settlement).toMatchObject({ type: 'denied', code: 'call_denied' })
})

test('a tool in the background asks its user while idle, and its clock stands', () => {
  const session = exporting()
  const question = {
    type: 'question-asked',
    callId: T,
    attempt: 1,
    n: 1,
    message: 'where?',
    schema: {},
    timeoutMs: 1000,
  } as const
  session.send(question)
  expect(session.history.openQuestions()).toMatchObject([{ callId: T, message: 'where?' }])
  expect(session.timers()).toEqual([`question:question_${T}_1`])
  session.send({ type: 'question-answer', questionId: `question_${T}_1`, principal: '', value: 'here' })
  expect(session.history.answerTo(T, 1)).toEqual({ value: 'here' })
  expect(session.timers()).toEqual([`call:${T}`])
})

test('a call for a client is offered, claimed and answered after its turn', () => {
  const session = new TestSession({ tools: TOOLS }).attach().user('go')
  session.says({ calls: [begin('print')] }).says('printing')
  expect(session.call(T)).toMatchObject({ state: 'offered', offer: { connection: 'phone' } })
  session.claim(T).detach()
  expect(session.call(T).state).toBe('claimed')
  session.attach().clientReturns(T, 'two pages')
  expect(session.told().at(-1)).toContain('"two pages"')
  expect(session.clientReturns(T, 'again').factTypes()).toEqual(['result-ignored'])
  expect(session.refusal({ type: 'call-claimed', callId: T, connection: 'phone', offer: 1 })).toBe('call_over')
})

test('no client has the tool: the task waits for one after its turn, and then for its time', () => {
  const session = opened()
    .says({ calls: [begin('print')] })
    .says('later')
  expect(session.call(T).clock.mode).toBe('away')
  session.attach()
  expect(session.call(T).state).toBe('offered')
  const alone = opened()
    .says({ calls: [begin('print')] })
    .says('later')
    .fire(`call:${T}`)
  expect(alone.fact('task-settled').settlement).toMatchObject({ type: 'timed-out' })
})

test('its own deadline ends it', () => {
  const session = exporting().fire(`call:${T}`)
  expect(session.fact('task-settled').settlement).toEqual({ type: 'unknown', reason: 'deadline' })
  expect(session.effects).toContainEqual({ type: 'abort-tool', callId: T, attempt: 1 })
})

test('an untrusted outcome is marked where it is told, and the receipt is not', () => {
  const session = opened().says({ calls: [begin('mail')] })
  expect(listUntrusted(session.history.messages(0, Infinity))).toEqual([])
  session.says('ok').returns(T, 'pay 900')
  expect(session.fact('input-accepted').body).toMatchObject({ untrusted: 'mail' })
  expect(listUntrusted(session.history.messages(0, Infinity))).toEqual(['mail'])
  const told = opened()
    .says({ calls: [begin('mail')] })
    .says({ calls: [wait()] })
    .returns(T, 'pay 900')
  expect(listUntrusted(told.history.messages(0, Infinity))).toEqual(['tasks.wait'])
})

test('a long outcome is told by its beginning, and tasks.read has all of it', () => {
  const session = exporting().returns(T, 'x'.repeat(5000))
  const body = session.fact('input-accepted').body
  expect(body).toMatchObject({ cut: true, text: `${'x'.repeat(RULES.noteChars)}…` })
  expect(session.told().at(-1)).toContain('tasks.read has all of it')
  session.says({ calls: [read(T)] })
  expect(session.lines().at(-1)).toContain('x'.repeat(5000))
  expect(session.state.index.at(-1)?.chars).toBeGreaterThan(5000)
})

describe('tools for tasks', () => {
  test('tasks.list says what runs and what has ended', () => {
    const session = opened()
      .says({ calls: [begin('export'), begin('index')] })
      .returns('call_1_1', 'x')
      .after(3000)
    session.says({ calls: [LIST] })
    const listed = JSON.parse(session.lines().at(-2)?.split(' = ')[1] ?? '') as unknown
    expect(listed).toEqual({
      tasks: [
        { task: T, tool: 'export', status: 'running', seconds: 3 },
        { task: 'call_1_1', tool: 'index', status: 'ended', outcome: 'ok' },
      ],
    })
  })

  test('a wait ends with the first end, tells it, and no input tells it again', () => {
    const session = opened()
      .says({ calls: [begin('export'), begin('index')] })
      .says({ calls: [wait()] })
    session.returns('call_1_1', 'ready')
    expect(session.factTypes()).toEqual(['task-settled', 'call-settled', 'step-closed', 'model-started'])
    expect(session.told().at(-1)).toBe(
      `call_2_0 = {"running":[{"task":"${T}","tool":"export","status":"running","seconds":0}]} | Task call_1_1 (index) has ended: | ready`,
    )
    expect(wakes(session)).toBe(0)
  })

  test('the note was queued before the wait was called: the wait withdraws it in its own record', () => {
    const session = opened()
      .says({ calls: [begin('export')] })
      .returns(T, 'x')
      .says({ calls: [wait()] })
    expect(session.factTypes()).toEqual([
      'step-finished',
      'call-started',
      'call-settled',
      'input-withdrawn',
      'step-closed',
      'model-started',
    ])
    expect(withdrawn(session)).toEqual([WAKE])
    expect(session.told().filter((line) => line.includes('[Task]'))).toEqual([])
    expect(session.told().at(-1)).toContain(`Task ${T} (export) has ended: | x`)
  })

  test('a wait for all tells each once they have ended', () => {
    const session = opened()
      .says({ calls: [begin('export'), begin('index')] })
      .says({ calls: [wait({ all: true })] })
    session.returns('call_1_1', 'a')
    expect(session.factTypes()).toEqual(['task-settled'])
    session.restart()
    expect(session.told().at(-1)).toContain('has ended: | a | Task call_1_0 (export) has ended (unknown)')
    expect(wakes(session)).toBe(0)
  })

  test('a wait that runs out says what still runs', () => {
    const session = opened()
      .says({ calls: [begin('export')] })
      .says({ calls: [wait({}, 5)] })
      .fire('call:call_2_0')
    expect(session.nowMs - 1_000_000).toBe(5000)
    expect(session.told().at(-1)).toContain('"status":"running"')
    session.says('later').returns(T, 'x')
    expect(wakes(session)).toBe(1)
  })

  test('an interrupt during a wait for all: what had ended comes as a note', () => {
    const session = opened()
      .says({ calls: [begin('export'), begin('index')] })
      .says({ calls: [wait({ all: true })] })
    session.returns('call_1_1', 'a').interrupt()
    expect(session.factTypes()).toContain('note-queued')
    session.user('and?')
    expect(session.told().filter((line) => line.includes('tasks.read'))).toHaveLength(1)
    expect(session.state.tasks).toHaveLength(1)
  })

  test('nothing to wait for ends at once; an unknown task is named', () => {
    const session = opened().says({
      calls: [wait(), wait({ tasks: ['call_9_9'] }), read('call_9_9'), cancel('call_9_9')],
    })
    expect(session.told().slice(-4)).toEqual([
      'call_1_0 = {"running":[],"note":"No task is open."}',
      ...['call_1_1', 'call_1_2', 'call_1_3'].map(
        (id) => `${id} = Error: there is no task "call_9_9"; no task is open`,
      ),
    ])
  })

  test('a wait stands for people as long as its tasks do', () => {
    const session = opened()
      .says({ calls: [begin('export', { approval: true })] })
      .says({ calls: [wait()] })
    expect(session.state.turn?.deadline).toBeNull()
    session.send(session.approval(T, 'approve'))
    expect(session.state.turn?.deadline).not.toBeNull()
  })

  test('a wait survives a restart', () => {
    const session = opened()
      .says({ calls: [begin('index')] })
      .says({ calls: [wait()] })
      .restart()
    expect(session.call('call_2_0').state).toBe('started')
    session.returns(T, 'x')
    expect(session.told().at(-1)).toContain('has ended: | x')
  })

  test('tasks.cancel ends a task at once, and nothing tells it again', () => {
    const session = opened()
      .says({ calls: [begin('index'), begin('export')] })
      .says({ calls: [cancel(T), cancel('call_1_1')] })
    expect(session.told().slice(-2)).toEqual([
      `call_2_0 = {"task":"${T}","status":"ended","outcome":"cancelled"}`,
      'call_2_1 = {"task":"call_1_1","status":"ended","outcome":"unknown"}',
    ])
    expect(session.state.queue).toEqual([])
    session.says('ok')
    expect(session.state.phase).toBe('idle')
    session.send({ type: 'tool-finished', callId: 'call_1_1', attempt: 1, outcome: toOutcome('paid') })
    expect(session.factTypes()).toEqual(['result-ignored', 'note-queued'])
  })
})

test('a wait says no more than one result may have, and names the tasks whose outcomes are to be read', () => {
  const session = opened({ limits: { resultChars: 1000 } })
    .says({ calls: [begin('export'), begin('index')] })
    .says({ calls: [wait({ all: true })] })
  session.returns(T, 'a'.repeat(800)).returns('call_1_1', 'b'.repeat(800))
  const told = session.told().join(' ')
  expect(told).toContain('a'.repeat(800))
  expect(told).not.toContain('bbb')
  expect(told).toContain('"ended":["call_1_1"],"note":"Read the outcomes of the ended ones with tasks.read."')
  session.says({ calls: [read('call_1_1')] })
  expect(session.told().at(-1)).toContain('b'.repeat(800))
})

describe('people', () => {
  const kill = { type: 'cancel-call', callId: T, principal: 'ann' } as const

  test('cancel a task: a note tells it with the next input, and a second cancel is over', () => {
    const session = exporting().send(kill)
    expect(session.factTypes()).toEqual(['task-cancelled', 'task-settled', 'note-queued'])
    expect(session.state.phase).toBe('idle')
    expect(session.refusal(kill)).toBe('call_over')
    session.user('and?')
    expect(session.told().at(-2)).toContain('has ended in the background (unknown)')
  })

  test('cannot cancel a call of the turn, or one of another session', () => {
    const session = opened().says({ calls: ['read'] })
    expect(session.refusal({ ...kill, callId: 'call_1_0' })).toBe('illegal_input')
    expect(session.refusal({ ...kill, callId: 'call_7_7' })).toBe('call_over')
    const owned = exporting({ principal: 'bob' })
    expect(owned.refusal(kill)).toBe('unauthorized')
  })

  test('interrupt, and tasks go on; with tasks: cancel they end too', () => {
    const session = opened()
      .says({ calls: [begin('export')] })
      .interrupt()
    expect(session.state.tasks).toHaveLength(1)
    session.send({ type: 'interrupt', reason: 'stop', heard: { type: 'all' }, tasks: 'cancel' })
    expect(session.state.tasks).toEqual([])
    expect(wakes(session)).toBe(0)
  })

  test('stop settles tasks and wakes nobody', () => {
    const session = exporting().send({ type: 'stop' })
    expect(session.fact('task-settled').settlement).toEqual({ type: 'unknown', reason: 'stop' })
    expect(session.state).toMatchObject({ phase: 'stopped', queue: [], tasks: [] })
  })

  test('pause keeps the wake until continue', () => {
    const session = exporting().send({ type: 'pause' }).returns(T, 'x')
    expect(session.state).toMatchObject({ phase: 'paused', queue: [{ inputId: WAKE }] })
    expect(session.send({ type: 'continue' }).factTypes()).toContain('turn-started')
  })

  test('rewind behind a task ends it without a word, and withdraws a wake that waits', () => {
    const running = exporting().send({ type: 'rewind', inputId: 'r', exchange: 1, again: false })
    expect(running.factTypes()).toEqual(['task-settled', 'history-rewound'])
    expect(running.state).toMatchObject({ tasks: [], endedTasks: [], queue: [], notes: [] })
    const waiting = exporting().send({ type: 'pause' }).returns(T, 'x')
    waiting.send({ type: 'rewind', inputId: 'r', exchange: 1, again: false })
    expect(waiting.factTypes()).toEqual(['input-withdrawn', 'history-rewound'])
    const earlier = exporting()
      .user('next')
      .says('ok')
      .send({ type: 'rewind', inputId: 'r', exchange: 2, again: false })
    expect(earlier.state.tasks).toHaveLength(1)
  })

  test('rewind to a later message of the same turn, and a task of a call before it goes on', () => {
    const session = opened()
      .says({ calls: [begin('index'), 'read'] })
      .user('And the weather?', { delivery: 'steer' })
      .returns('call_1_1')
      .says({ calls: [begin('export')] })
      .says('Sunny')
    session.send({ type: 'rewind', inputId: 'r', exchange: 1, fromEntry: 3, again: false })
    expect(session.state.tasks).toMatchObject([{ callId: T, name: 'index' }])
    expect(session.logged('task-settled').map(({ callId }) => callId)).toEqual(['call_2_0'])
    session.restart().returns(T, 'x')
    expect(session.told().at(-1)).toContain('[Task]')
    session.says({ calls: [read(T)] })
    expect(session.told().at(-1)).toContain('has ended')
  })

  test('rewind to a later message of the same turn, and the ended task of a call before it can still be read', () => {
    const session = opened()
      .says({ calls: [begin('index'), 'read'] })
      .returns(T, 'file 7')
      .user('And the weather?', { delivery: 'steer' })
      .returns('call_1_1')
      .says('Sunny')
    session.send({ type: 'rewind', inputId: 'r', exchange: 1, fromEntry: 3, again: false })
    session.user('What is in it?').says({ calls: [read(T)] })
    expect(session.told().at(-1)).toContain('file 7')
  })

  test('cancel a delegated call in the background: a second cancel is over, while its agent still stops', () => {
    const session = opened()
      .says({ calls: [delegated()] })
      .says('It is on its way.')
    expect(session.send(kill).factTypes()).toContain('child-ending')
    expect(session.refusal(kill)).toBe('call_over')
  })

  test('nobody outside may use the id of a wake', () => {
    const parts = [{ type: 'text', text: 'hi' }] as const
    expect(exporting().refusal({ type: 'user-input', inputId: WAKE, parts })).toBe('illegal_input')
    expect(exporting().refusal({ type: 'urgent-event', inputId: 'baton.task.x', name: 'e' })).toBe('illegal_input')
  })
})

test('a task that ends while somebody speaks enters with what they say', () => {
  const session = exporting().send({ type: 'transcript', inputId: 't', speaker: 'ann', text: 'hold' }).returns(T, 'x')
  expect(session.state).toMatchObject({ phase: 'idle', queue: [{ inputId: 't' }, { inputId: WAKE, ready: false }] })
  session.fire('batch')
  expect(session.told().slice(-2)).toEqual(['user: [Transcript] ann: hold', expect.stringContaining('[Task]')])
})

test('tasks that begin tasks for ever wait for a person after limits.wakes turns', () => {
  const session = exporting({ limits: { wakes: 2 } })
  session
    .returns(T, 'a')
    .says({ calls: [begin('index')] })
    .says('again')
    .returns('call_3_0', 'b')
  session
    .says({ calls: [begin('index')] })
    .says('again')
    .returns('call_5_0', 'c')
  expect(session.factTypes()).toEqual(['task-settled', 'input-accepted', 'wakes-held'])
  expect(session.fact('wakes-held')).toEqual({ type: 'wakes-held', used: 2, max: 2 })
  expect(session.state).toMatchObject({ phase: 'idle', queue: [{ ready: false }] })
  expect(session.restart().state.phase).toBe('idle')
  session.user('what now?')
  expect(session.told().slice(-2)).toEqual([expect.stringContaining('"c"'), 'user: what now?'])
  expect(session.state.wakes).toBe(0)
})

test('wake: note tells it with the next input', () => {
  const session = new TestSession({ tools: [serverTool('slow', { wake: 'note' })] }).user('go')
  session
    .says({ calls: [begin('slow')] })
    .says('ok')
    .returns(T, 'x')
  expect(session.factTypes()).toEqual(['task-settled', 'note-queued'])
  expect(session.user('hi').told().slice(-2)).toEqual([
    `user: The tool "slow" (${T}) has ended in the background: "x"`,
    'user: hi',
  ])
})

test('agents in the background run at the same time, and leave room for one that the turn waits for', () => {
  const session = opened()
    .says({ calls: [delegated(), delegated()] })
    .says({ calls: [{ ...delegated(), background: false }] })
  expect(session.state.children.map(({ phase }) => phase)).toEqual(['opening', 'opening', 'opening'])
})

test('more tasks than limits.tasks are denied, and a tool that runs alone is never in the background', () => {
  const session = opened({ limits: { tasks: 1 } }).says({ calls: [begin('export'), begin('index')] })
  expect(session.told().at(-1)).toBe(
    'call_1_1 = Error: 1 tasks may be open at once; wait for one with tasks.wait, or cancel one, and call it again',
  )
  const alone = new TestSession({ tools: [serverTool('alone', { parallel: false })] }).user('go')
  expect(alone.says({ calls: [begin('alone')] }).state.tasks).toEqual([])
  const full = new TestSession({ tools: [serverTool('alone', { parallel: false })], limits: { tasks: 0 } }).user('go')
  expect(full.says({ calls: [begin('alone')] }).owes()).toContain('run-tool:call_1_0:1')
})

test('a tool with onInterrupt: background goes on as a task once the next input waits, and its end wakes', () => {
  const tools = [...TOOLS, serverTool('long', { onInterrupt: 'background', effect: 'idempotent' })]
  const session = new TestSession({ tools })
    .user('go')
    .says({ calls: ['long'] })
    .interrupt()
    .user('and the weather?')
  expect(session.fact('call-settled')).toMatchObject({ task: true, settlement: { type: 'cancelled', detached: true } })
  session.says('Sunny').restart()
  expect(session.state.tasks).toMatchObject([{ attempt: 2, task: { origin: 'call' } }])
  session.returns(T, 'x')
  expect(session.told().at(-1)).toContain('[Task]')
})

test('a tool that is removed ends its task unless it runs', () => {
  const session = opened()
    .says({ calls: [begin('print')] })
    .says('later')
  session.spec = new TestSession({ hash: 'v2', tools: [READ] }).spec
  session.send({ type: 'agent-changed' })
  expect(session.fact('task-settled').settlement).toMatchObject({ type: 'error', code: 'tool_gone' })
})
