// Conversations with a scripted person: turns, commands, interrupts, and exits.
import type { EventBody } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { describe, expect, test } from 'vitest'
import type { ChatPartner, Conversation, OnAside, Person, SessionControls } from './conversation.ts'
import { createEventQueue } from '../places/remote-turns.ts'
import { createQuestions } from './questions.ts'
import { createScreen } from './screen.ts'
import { createShownCalls } from './shown-calls.ts'
import { startTalk } from './talk.ts'
import { createTurnDisplay } from './turn-display.ts'

type Answering = (text: string, turn: ReturnType<typeof createOpenTurn>) => void

function createOpenTurn() {
  const events = createEventQueue()
  const done = Promise.withResolvers<{ readonly outcome: string }>()
  done.promise.catch(() => {})
  return {
    answer: done.promise,
    [Symbol.asyncIterator]: () => events[Symbol.asyncIterator](),
    push: (event: EventBody) => events.push(event),
    end: (outcome: 'answered' | 'interrupted') => {
      const stop = outcome === 'answered' ? 'end' : 'cancelled'
      events.push({ type: 'turn-finished', message: 't1', turn: 1, stop, text: '', usage: {} })
      events.end()
      done.resolve({ outcome })
    },
    fail: (cause: unknown) => {
      events.end()
      done.reject(cause instanceof Error ? cause : new Error(String(cause)))
    },
  }
}

const echo: Answering = (text, turn) => {
  turn.push({ type: 'text', message: 't1', step: 1, offset: 0, text: `you said ${text}` })
  turn.end('answered')
}

interface Place {
  readonly hasControls?: boolean
  readonly failsAtOnce?: boolean
  /** Answers for a typing person. */
  readonly ask?: NonNullable<Person['ask']>
  /** Happens outside of the turn when a message is sent. */
  readonly aside?: EventBody
  /** Why the session refuses every decision and every answer. */
  readonly refusal?: BatonError
}

async function talk(
  lines: readonly string[],
  answering: Answering = echo,
  isTyped = false,
  { hasControls = false, failsAtOnce = false, ask = () => Promise.resolve('n'), aside, refusal }: Place = {},
) {
  const said: string[] = []
  const done: string[] = []
  const waiting = [...lines]
  let running: ReturnType<typeof createOpenTurn> | undefined
  const person: Person = {
    next: () => Promise.resolve(waiting.shift()),
    close: () => {},
    ...(isTyped && { ask }),
  }
  const screen = createScreen({
    writeText: (text) => void said.push(text),
    writeNote: (text) => void said.push(text),
    color: false,
  })
  let tellAside: OnAside = () => {}
  const conversation = (session: string): Conversation => ({
    session,
    about: [],
    resumed: undefined,
    send: (text) => {
      running = createOpenTurn()
      answering(text, running)
      if (aside) queueMicrotask(() => tellAside(aside))
      return running
    },
    interrupt: () => {
      done.push('interrupt')
      running?.end('interrupted')
      return Promise.resolve()
    },
    setModel: (name) =>
      name === 'none'
        ? Promise.reject(new Error('no model is named "none"'))
        : Promise.resolve(`model ${name ?? 'one'}`),
    decide: (approvalId, answer) => {
      done.push(`${approvalId} ${answer}`)
      if (refusal) return Promise.reject(refusal)
      running?.end('answered')
      return Promise.resolve()
    },
    ...(hasControls && {
      controls: {
        retry: () => {
          running = createOpenTurn()
          answering('again', running)
          return Promise.resolve(running)
        },
        undo: () => Promise.reject(new BatonError({ code: 'unknown_input', message: 'nothing was said' })),
        fork: () => Promise.resolve('copy'),
        tools: () => ['look (pure): Looks'],
        status: () => Promise.resolve({ model: 'a/b', context: { used: 5, size: 50 } }),
        usage: () => Promise.resolve({ inputTokens: 3, outputTokens: 2 }),
        answer: ({ questionId, ...answer }) => {
          if (questionId === 'strict' && !done.includes('strict refused')) {
            done.push('strict refused')
            const message = `${questionId}: the answer does not fit: too short`
            return Promise.reject(new BatonError({ code: 'question_refused', message }))
          }
          done.push(`${questionId} ${'value' in answer ? JSON.stringify(answer.value) : answer.reason}`)
          if (refusal) return Promise.reject(refusal)
          running?.end('answered')
          return Promise.resolve()
        },
      } satisfies SessionControls,
    }),
    log: () => Promise.resolve(['the log']),
    close: () => {
      done.push(`close ${session}`)
      return Promise.resolve()
    },
  })
  let sessions = 0
  const partner: ChatPartner = {
    about: [],
    may: [],
    open: (name, onAside) => {
      tellAside = onAside
      return Promise.resolve(conversation(name ?? `new-${++sessions}`))
    },
    close: () => Promise.resolve(),
  }
  const started = await startTalk({
    partner,
    session: 's',
    person,
    questions: createQuestions(person, screen),
    screen,
    display: createTurnDisplay(screen),
    shownCalls: createShownCalls(),
    nowMs: () => 0,
    failsAtOnce,
  })
  return { started, said, done, text: () => said.join('') }
}

test('each line is a turn, after the one before', async () => {
  const { started, text, done } = await talk(['one', '  ', 'two', '//three'])
  expect(await started.ended).toBe(0)
  expect(text()).toBe('you said one\nyou said two\nyou said /three\n')
  expect(done).toEqual(['close s'])
})

test('commands are obeyed, and an unknown one lists the known ones', async () => {
  const { started, text, done } = await talk([
    '/model a/b',
    '/model',
    '/model none',
    '/log',
    '/new',
    '/modle',
    '/quit',
    'never',
  ])
  expect(await started.ended).toBe(0)
  expect(text()).toBe(
    'model a/b\nmodel one\nno model is named "none"\nthe log\nnew session new-1\n' +
      'there is no command /modle, did you mean /model? the commands are /model, /retry, /undo, /fork, /show, /tools, /usage, /approve, /new, /log, /help, /quit\n',
  )
  expect(done).toEqual(['close s', 'close new-1'])
})

test('a turn that fails is one line, the next one is answered, and a script hears of it', async () => {
  const failing: Answering = (text, turn) =>
    text === 'one' ? turn.fail(new BatonError({ code: 'model_timeout', message: 'too slow' })) : echo(text, turn)
  const piped = await talk(['one', 'two'], failing)
  expect(await piped.started.ended).toBe(1)
  expect(piped.text()).toMatch(/^✗ model_timeout: too slow \(.+\)\nyou said two\n$/)
  const typed = await talk(['one', 'two'], failing, true)
  expect(await typed.started.ended).toBe(0)
})

test('the first Ctrl+C interrupts the turn, and the conversation continues', async () => {
  const { started, done, text } = await talk(['one', 'two'], (said, turn) => {
    if (said === 'two') echo(said, turn)
  })
  await new Promise((resolve) => void setImmediate(resolve))
  started.interrupt()
  expect(await started.ended).toBe(1)
  expect(done).toEqual(['interrupt', 'close s'])
  expect(text()).toBe('the turn was interrupted\nyou said two\n')
})

test('a second Ctrl+C in a turn that does not end leaves', async () => {
  const { started, done } = await talk(['one'], () => {})
  await new Promise((resolve) => void setImmediate(resolve))
  started.interrupt()
  started.interrupt()
  expect(await started.ended).toBe(130)
  expect(done).toEqual(['interrupt', 'close s'])
})

test('the results of commands and their errors are shown', async () => {
  const lines = ['/retry', '/undo', '/fork', '/tools', '/usage', '/show', '/show x', '/approve', '/quit']
  const { started, text, done } = await talk(lines, echo, false, { hasControls: true })
  expect(await started.ended).toBe(0)
  expect(text().split('\n')).toEqual([
    'you said again',
    'nothing was said',
    'copied to session copy',
    'look (pure): Looks',
    'a/b · 3 tokens in, 2 out · context 10 %',
    'no call has a result yet',
    '/show takes the number of a call, not "x"',
    '/approve takes always or ask',
    '',
  ])
  expect(done).toEqual(['close s', 'close copy'])
})

test('a server out of reach says that it does not offer a command', async () => {
  const { started, text } = await talk(['/retry'])
  await started.ended
  expect(text()).toMatch(/^this chat does not support that command/)
})

test('a tool question is answered by the person, and declined if there is none', async () => {
  const asking: Answering = (_text, turn) => {
    const asked = { questionId: 'q', callId: 'c', message: 'Why?', schema: { type: 'string' }, expiresAtMs: 0 }
    turn.push({ type: 'question-asked', ...asked })
  }
  const typed = await talk(['one'], asking, true, { hasControls: true })
  await typed.started.ended
  expect(typed.done).toEqual(['q "n"', 'close s'])
  const piped = await talk(['one'], asking, false, { hasControls: true })
  await piped.started.ended
  expect(piped.done).toEqual(['q the command declined because there is no one to ask', 'close s'])
})

test('an answer that the session refuses is requested again', async () => {
  const asking: Answering = (_text, turn) => {
    const asked = { questionId: 'strict', callId: 'c', message: 'Why?', schema: { type: 'string' }, expiresAtMs: 0 }
    turn.push({ type: 'question-asked', ...asked })
  }
  const { started, done, text } = await talk(['one'], asking, true, { hasControls: true })
  await started.ended
  expect(done).toEqual(['strict refused', 'strict "n"', 'close s'])
  expect(text()).toContain('the answer does not fit: too short')
})

const CALL = {
  callId: 'c',
  message: 't1',
  step: 1,
  name: 'pay',
  input: { euro: 5 },
  runs: 'server',
  effect: 'once',
  status: 'awaiting-approval',
} as const

const REQUESTS: Readonly<Record<'approval' | 'question', EventBody>> = {
  approval: { type: 'approval-requested', approvalId: 'a', call: CALL, expiresAtMs: 0 },
  question: { type: 'question-asked', questionId: 'q', callId: 'c', message: 'Why?', schema: {}, expiresAtMs: 0 },
}
const DENIALS = { approval: 'a nobody', question: 'q the command declined because there is no one to ask' }

describe.each(['approval', 'question'] as const)('a command with nobody to ask, whose own answer to the %s', (kind) => {
  const place = { hasControls: true, failsAtOnce: true } as const

  test.each([
    ['is interrupted ends as interrupted', 'interrupted', 1, 'cancelled'],
    ['is answered elsewhere succeeds', 'answered', 0, 'end'],
  ] as const)('comes too late because it %s', async (_what, end, code, stop) => {
    const refusal = new BatonError({ code: `${kind}_refused`, message: 'it was withdrawn' })
    const asking: Answering = (_text, turn) => {
      turn.push(REQUESTS[kind])
      // The turn ends after the refusal has arrived.
      setImmediate(() => turn.end(end))
    }
    const { started, done, text } = await talk(['one'], asking, false, { ...place, refusal })
    expect(await started.ended).toBe(code)
    expect([started.lastStop(), done]).toEqual([stop, [DENIALS[kind], 'close s']])
    expect(text()).toContain('✗ it was withdrawn')
  })

  test('cannot be stored fails with that error, and closes the session, though the turn waits on', async () => {
    const refusal = new BatonError({ code: 'store_failed', message: 'the disk is full' })
    const asking: Answering = (_text, turn) => turn.push(REQUESTS[kind])
    const { started, done } = await talk(['one'], asking, false, { ...place, refusal })
    await expect(started.ended).rejects.toMatchObject({ code: 'store_failed' })
    expect(done).toEqual([DENIALS[kind], 'close s'])
  })
})

test('a turn that fails while its approval is open withdraws it, and the next turn is shown', async () => {
  const failing: Answering = (said, turn) => {
    if (said === 'two') return echo(said, turn)
    turn.push(REQUESTS.approval)
    setImmediate(() => turn.fail(new BatonError({ code: 'model_timeout', message: 'too slow' })))
  }
  const ask: Place['ask'] = (_question, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('withdrawn'))))
  const { started, done, text } = await talk(['one', 'two'], failing, true, { ask })
  await started.ended
  expect(done).toEqual(['close s'])
  expect(text()).toContain('you said two')
})

test('an approval is decided by the person, or unasked where they have said so', async () => {
  const asking: Answering = (_text, turn) => {
    turn.push({ type: 'call', call: CALL })
    turn.push({ type: 'approval-requested', approvalId: 'approval_c_1', call: CALL, expiresAtMs: 0 })
  }
  const { started, done, text } = await talk(['one'], asking, true)
  await started.ended
  expect(done).toEqual(['approval_c_1 deny', 'close s'])
  expect(text()).toContain('pay asks for your approval:\n  euro: 5\n')
  const unasked = await talk(['/approve always', 'one'], asking, true)
  await unasked.started.ended
  expect([unasked.done, unasked.text().includes('asks for')]).toEqual([['approval_c_1 approve', 'close s'], false])
})

test('a message that waits for a turn which a task woke: the person is asked what that turn asks', async () => {
  const aside: EventBody = { type: 'approval-requested', approvalId: 'approval_c_1', call: CALL, expiresAtMs: 0 }
  const { started, done, text } = await talk(['one'], () => {}, true, { ask: () => Promise.resolve('y'), aside })
  await started.ended
  expect(done).toEqual(['approval_c_1 approve', 'close s'])
  expect(text()).toContain('pay asks for your approval:')
})

test('an approval of an agent below says whose it is', async () => {
  const path = [{ callId: 'd', agent: 'helper' }]
  const asking: Answering = (_text, turn) => {
    const call = { ...CALL, path }
    turn.push({ type: 'call', call })
    turn.push({ type: 'approval-requested', approvalId: 'approval_c_1', call, expiresAtMs: 0 })
  }
  const { started, done, text } = await talk(['one'], asking, true)
  await started.ended
  expect(done).toEqual(['approval_c_1 deny', 'close s'])
  expect(text()).toContain('helper › pay asks for your approval:')
})

test('an approval of an agent below that is withdrawn is asked no longer', async () => {
  const path = [{ callId: 'd', agent: 'helper' }]
  const asking: Answering = (_text, turn) => {
    const call = { ...CALL, path }
    turn.push({ type: 'approval-requested', approvalId: 'approval_c_1', call, expiresAtMs: 0 })
    turn.push({ type: 'request-withdrawn', requestId: 'approval_c_1', callId: CALL.callId, reason: 'ended', path })
    setImmediate(() => turn.end('answered'))
  }
  const ask: Place['ask'] = (_question, signal) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('withdrawn'))))
  const { started, done } = await talk(['one'], asking, true, { ask })
  await started.ended
  expect(done).toEqual(['close s'])
})
