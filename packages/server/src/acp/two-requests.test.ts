// Concurrent requests for one session, and sessions that end during them: openings, prompts, permissions and questions,
// client tools and terminals. The test plays the session and the editor.
import type { CallView, FrontSession, SessionEvent } from '@baton/core/internal'
import { BatonError } from '@baton/core'
import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { AcpSession } from './acp-session.ts'
import { AskedPeople } from './asked-people.ts'
import { ClientTools } from './client-tools.ts'
import { createEditor } from './editor.ts'
import { createWorld, PLACE, settle, WIRE } from './played-session.test-kit.ts'

const HELD = new BatonError({ code: 'session_held', message: 'held' })

test('simultaneous requests for a released session reopen it once, with its client attached', async () => {
  const { sessions, done, lose } = createWorld()
  const lost = await lose()
  const reached = await Promise.all(['one', 'two', 'three'].map(() => sessions.reach('s')))
  expect(new Set(reached).size).toBe(1)
  expect(reached[0]).not.toBe(lost)
  expect(done).toEqual(['close', 'open', 'events {"pos":7}'])
})

test('if the session cannot be reopened the request fails, and the others try it once', async () => {
  const { sessions, done, next, lose } = createWorld()
  await lose()
  next(() => Promise.reject(HELD))
  const [first, second, third] = await Promise.allSettled(['one', 'two', 'three'].map(() => sessions.reach('s')))
  expect(first).toMatchObject({ status: 'rejected', reason: { code: 'session_held' } })
  expect([second, third]).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }])
  expect(third).toEqual(second)
  expect(done.filter((what) => what === 'open')).toHaveLength(2)
})

test('a prompt cancelled while its session is being reopened is never sent; others are', async () => {
  const { sessions, next, lose } = createWorld()
  await lose()
  const gate = Promise.withResolvers<void>()
  next(() => gate.promise)
  const controller = new AbortController()
  const reach = (signal?: AbortSignal) => sessions.reachForPrompt('s', sessions.beginPrompt('s', signal))
  const byNotice = reach()
  await settle()
  sessions.cancel('s', 'cancelled')
  const bySignal = reach(controller.signal)
  const stays = reach()
  controller.abort()
  gate.resolve()
  expect(await byNotice).toBeUndefined()
  expect(await bySignal).toBeUndefined()
  expect(await stays).toBe(sessions.find('s'))
})

test('two simultaneous opens of one session run in sequence, and the first one is released', async () => {
  const { sessions, done, next } = createWorld({ sessions: 1 })
  const gate = Promise.withResolvers<void>()
  next(() => gate.promise)
  const [first, second] = [sessions.open('s', PLACE), sessions.open('s', PLACE)]
  await settle()
  expect(done).toEqual(['open'])
  gate.resolve()
  expect(await first).not.toBe(await second)
  expect(done).toEqual(['open', 'close', 'open'])
})

test('a session that is closed and opened at once stays open', async () => {
  const { sessions, holdInterrupts } = createWorld()
  await sessions.open('s', PLACE)
  const gate = Promise.withResolvers<void>()
  holdInterrupts(gate.promise)
  const closed = sessions.close('s')
  const second = await sessions.open('s', PLACE)
  gate.resolve()
  await closed
  expect(sessions.find('s')).toBe(second)
})

test('a prompt that is cancelled while its session is asked for its state is not sent', async () => {
  const { sessions, answer } = createWorld()
  const opened = await sessions.open('s', PLACE)
  await opened.start('now')
  let sent = 0
  answer(async () => ({ type: 'accepted', pos: (sent += 1) }))
  let isCancelled = false
  const prompt = opened.prompt('i1', [], () => isCancelled).catch((thrown: unknown) => thrown)
  isCancelled = true
  expect(await prompt).toMatchObject({ code: 'cancelled' })
  expect([sent, opened.isBusy]).toEqual([0, false])
})

test('a client that goes while a session is being opened leaves none open', async () => {
  const { sessions, done, next } = createWorld()
  const gate = Promise.withResolvers<void>()
  next(() => gate.promise)
  const opening = sessions.open('s', PLACE)
  await settle()
  const left = sessions.leave()
  gate.resolve()
  await Promise.all([opening, left])
  expect(done).toEqual(['open', 'close'])
  expect(sessions.all()).toEqual([])
})

test('a refused prompt makes room for the next one, and a waiting one fails when the session closes', async () => {
  const { sessions, answer, tell } = createWorld({ prompts: 1 })
  const opened = await sessions.open('s', PLACE)
  await opened.start('now')
  answer(async () => ({ type: 'refused', code: 'queue_full', message: 'full' }))
  await expect(opened.prompt('i1', [])).rejects.toMatchObject({ code: 'queue_full' })
  answer(async () => ({ type: 'accepted' }))
  const waiting = opened.prompt('i2', []).catch((thrown: unknown) => thrown)
  expect(() => opened.say('i3', [])).toThrow('1 prompts are already waiting in this session')
  tell(undefined)
  expect(await waiting).toMatchObject({ code: 'session_closed' })
  expect(opened.isBusy).toBe(false)
})

test('a waiting prompt fails when its client disconnects, and a chosen mode stays', async () => {
  const { sessions, meta } = createWorld()
  const opened = await sessions.open('s', PLACE)
  await opened.start('now')
  await opened.setMode('read')
  const waiting = opened.prompt('i1', []).catch((thrown: unknown) => thrown)
  await settle()
  await opened.leave()
  expect(await waiting).toMatchObject({ code: 'session_closed' })
  expect(meta()).toEqual({ cwd: '/work', mode: 'read' })
  expect((await sessions.open('s', PLACE)).mode).toBe('read')
})

test('a turn that does not end is abandoned after five seconds, and its prompt counts as cancelled', async () => {
  const { sessions, pass } = createWorld()
  const opened = await sessions.open('s', PLACE)
  await opened.start('now')
  const waiting = opened.prompt('i1', [])
  await settle()
  const ended = sessions.close('s')
  await settle()
  pass()
  await ended
  expect(await waiting).toEqual({ stop: 'cancelled' })
})

const CALL = {
  callId: 'c1',
  name: 'pay',
  input: {},
  runs: 'client',
  status: 'waiting',
  holder: 'acp-1',
} as unknown as CallView
const asked = (call: Partial<CallView>) => ({ type: 'call', call: { ...CALL, ...call } }) as unknown as SessionEvent

test('all requests of a call to a person are withdrawn when it has ended, and none is sent twice', async () => {
  const signals: AbortSignal[] = []
  const ask = (_what: unknown, signal: AbortSignal) => {
    signals.push(signal)
    return new Promise<never>(() => {})
  }
  const call = { ...CALL, approvalId: 'a1' }
  const session = {
    approvals: async () => [call],
    questions: async () => [{ questionId: 'q1', callId: 'c1', message: '', schema: {} }],
  }
  const people = new AskedPeople({
    principal: { id: 'local' },
    session: session as unknown as FrontSession, // the parts in use
    wire: { ...WIRE, askPermission: ask, askForm: ask },
    log: { info: () => {}, warn: () => {} },
    allows: () => false,
  })
  await people.askAgain()
  people.take({ type: 'approval-requested', approvalId: 'a1', call } as unknown as SessionEvent)
  people.take({ type: 'question-asked', questionId: 'q1', callId: 'c1' } as unknown as SessionEvent)
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false])
  people.take(asked({ status: 'settled' }))
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
})

test('two questions of one call are both shown, and one that is answered elsewhere is withdrawn alone', async () => {
  const shown: { readonly message: string; readonly signal: AbortSignal }[] = []
  const people = new AskedPeople({
    principal: { id: 'local' },
    session: {} as FrontSession, // nothing is answered here
    wire: {
      ...WIRE,
      askForm: ({ message }, signal) => {
        shown.push({ message, signal })
        return new Promise<never>(() => {})
      },
    },
    log: { info: () => {}, warn: () => {} },
    allows: () => false,
  })
  for (const id of ['q1', 'q2'])
    people.take({ type: 'question-asked', questionId: id, callId: 'c1', message: id } as unknown as SessionEvent)
  people.take({ type: 'question-answered', questionId: 'q1', callId: 'c1' } as unknown as SessionEvent)
  expect(shown.map(({ message, signal }) => [message, signal.aborted])).toEqual([
    ['q1', true],
    ['q2', false],
  ])
})

test('an ended client tool call that is offered again runs again, and a running one does not start twice', async () => {
  const done: string[] = []
  const lease = {
    connection: 'acp-1',
    claim: async (id: string) => void done.push(`claim ${id}`),
    result: async (id: string) => void done.push(`result ${id}`),
  }
  const answers: PromiseWithResolvers<never>[] = []
  const tools = await ClientTools.open({
    session: { client: async () => lease, onClientsGone: () => () => {} } as unknown as FrontSession, // likewise
    client: 'acp-1',
    runs: undefined,
    callTool: () => {
      const answer = Promise.withResolvers<never>()
      answers.push(answer)
      return answer.promise
    },
    timers: { start: () => () => {} },
    log: { info: () => {}, warn: () => {} },
  })
  tools.take(asked({}))
  tools.take(asked({}))
  await settle()
  expect(done).toEqual(['claim c1'])
  tools.take(asked({ status: 'settled' }))
  answers[0]?.resolve({ type: 'ok', content: [] } as never)
  await settle()
  expect(done).toEqual(['claim c1', 'result c1'])
  tools.take(asked({}))
  await settle()
  answers[1]?.resolve({ type: 'ok', content: [] } as never)
  await settle()
  expect(done).toEqual(['claim c1', 'result c1', 'claim c1', 'result c1'])
})

/** An editor whose terminal ends when the test says so. */
function createTerminal() {
  const asked: string[] = []
  const made = Promise.withResolvers<object>()
  const exit = Promise.withResolvers<object>()
  const timers = new Set<() => void>()
  const answers: Readonly<Record<string, () => unknown>> = {
    'terminal/create': () => made.promise,
    'terminal/wait_for_exit': () => exit.promise,
    'terminal/output': () => ({ output: 'out', truncated: false }),
  }
  const { runCommand } = createEditor({
    client: {
      request: async (method: string) => {
        asked.push(method)
        return await answers[method]?.()
      },
    } as never, // the parts in use
    session: 's',
    capabilities: { terminal: true },
    fileMs: 1000,
    timers: {
      start: (_ms, callback) => {
        timers.add(callback)
        return () => void timers.delete(callback)
      },
    },
    onTerminal: async () => {},
  })
  const user = new AbortController()
  const command = {
    callId: 'c1',
    command: 'ls',
    args: [],
    cwd: '/',
    timeoutMs: 5,
    outputBytes: 10,
    signal: user.signal,
  }
  const ended = runCommand?.(command).catch((thrown: unknown) => thrown)
  return { asked, made, exit, timers, user, ended }
}

test.each([
  ['is cancelled before its terminal is there', true],
  ['is cancelled while it runs', false],
])('a command that %s is killed, and its terminal is released', async (_when, isEarly) => {
  const { asked, made, user, ended, timers } = createTerminal()
  if (isEarly) user.abort()
  made.resolve({ terminalId: 't' })
  await settle()
  user.abort()
  expect(await ended).toMatchObject({ code: 'cancelled' })
  expect([asked.filter((method) => method === 'terminal/kill').length, asked.at(-1)]).toEqual([1, 'terminal/release'])
  expect([timers.size, getEventListeners(user.signal, 'abort')]).toEqual([0, []])
})

test.each([
  ['was given up', 'tool_failed'],
  ['was cancelled', 'cancelled'],
])('the terminal of a command that %s before it was there is killed and released', async (why, code) => {
  const { asked, made, user, ended, timers } = createTerminal()
  if (why === 'was cancelled') user.abort()
  else for (const fire of timers) fire()
  expect(await ended).toMatchObject({ code })
  made.resolve({ terminalId: 't' })
  await settle()
  expect(asked).toEqual(['terminal/create', 'terminal/kill', 'terminal/release'])
  expect([timers.size, getEventListeners(user.signal, 'abort')]).toEqual([0, []])
})

test('a command that runs too long is killed and says so; a finished one keeps no listeners', async () => {
  const { asked, made, exit, user, ended, timers } = createTerminal()
  made.resolve({ terminalId: 't' })
  await settle()
  for (const fire of timers) fire()
  expect(asked.at(-1)).toBe('terminal/kill')
  exit.resolve({ exitCode: null, signal: 'SIGTERM' })
  expect(await ended).toMatchObject({ timedOut: true, output: 'out' })
  expect(getEventListeners(user.signal, 'abort')).toEqual([])
  const before = asked.length
  user.abort()
  await settle()
  expect(asked).toHaveLength(before)
  expect(asked.at(-1)).toBe('terminal/release')
})

test('a session whose client has disconnected receives no further events', async () => {
  const { createSession, parts } = createWorld()
  const never = new Promise<never>(() => {})
  const session = new AcpSession({
    session: createSession(),
    place: { session: 's', ...PLACE, editor: {} },
    parts,
    wire: { ...WIRE, tell: () => never },
    mode: { current: 'ask' },
    thinking: 'default',
    terminals: new Map(),
  })
  const told = session.tell({ type: 'state', state: 'idle' }).catch((thrown: unknown) => thrown)
  await session.leave()
  expect(await told).toMatchObject({ code: 'session_closed' })
})

test('updates that were sent are not kept', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void // what the flag exposes
  const sent: WeakRef<object>[] = []
  const { createSession, parts } = createWorld()
  const session = new AcpSession({
    session: createSession(),
    place: { session: 's', ...PLACE, editor: {} },
    parts,
    wire: {
      ...WIRE,
      tell: async () => {
        const answer = {}
        sent.push(new WeakRef(answer))
        return answer as unknown as undefined // a value that can be watched
      },
    },
    mode: { current: 'ask' },
    thinking: 'default',
    terminals: new Map(),
  })
  for (let count = 0; count < 100; count += 1) await session.tell({ type: 'state', state: 'idle' })
  // A value stays for the rest of the job that looked at it, and code under way may hold one a little longer.
  const countKept = (): number => {
    collectGarbage()
    return sent.slice(0, -1).filter((answer) => answer.deref() !== undefined).length
  }
  await expect.poll(countKept).toBe(0)
  await session.leave()
})
