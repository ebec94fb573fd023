// Calls in the background, as programs, people and models see them.
import type { ModelRequest, SessionEvent } from '@baton/core/internal'
import { tool } from '@baton/core/internal'
import type { ScriptedStep } from '@baton/core/testing'
import { expect } from 'vitest'
import type { ContractWorld, ContractWorldOptions } from './host-kind.ts'
import { act } from './situation-parts.ts'
import type { Situations, Stage } from './situation.ts'

export const callStep = (name: string, args: object = {}): ScriptedStep => ({ calls: [{ name, arguments: args }] })

export function readLast({ messages }: ModelRequest): string {
  const last = messages.at(-1)
  return JSON.stringify(last?.role === 'tool' ? last.parts.map(({ content }) => content) : last?.parts)
}

/** Begins the job once, says that it runs, and tells its outcome. It keeps nothing, as after a restart. */
export function begins(name: string, args: object = {}) {
  return (request: ModelRequest): ScriptedStep => {
    const text = readLast(request)
    if (text.includes('[Task]')) return { text: `Told: ${text}` }
    if (text.includes('runs in the background')) return { text: 'It runs.' }
    return request.messages.some(({ role }) => role === 'tool') ? { text: 'Fine.' } : callStep(name, args)
  }
}

/** A job that ends when the test says so. */
export function createJob(more: Parameters<typeof act>[1] = {}) {
  const started: string[] = []
  let finish: (text: string) => void = () => {}
  const run = act(
    (_, { idempotencyKey }) => {
      started.push(idempotencyKey)
      return new Promise<string>((resolve) => (finish = resolve))
    },
    { name: 'export', effect: 'once', background: true, timeoutMs: 3_600_000, ...more },
  )
  return { started, finish: (text: string) => finish(text), tool: run }
}

type Job = ReturnType<typeof createJob>

async function openWorld({ createWorld }: Stage, job: Job, more: Partial<ContractWorldOptions> = {}) {
  const world = await createWorld({ steps: begins('export'), tools: [job.tool], ...more })
  return { world, time: world.time, session: await world.open() }
}

export const wakesOf = async (world: ContractWorld) =>
  (await world.facts('input-accepted')).filter(({ inputId }) => inputId.startsWith('baton.task.'))
export const answersOf = async (world: ContractWorld) =>
  (await world.facts('turn-finished')).map(({ text }) => text.replaceAll(/call_\w+/g, 'call'))

/** Reads events up to the present. */
async function readEvents(events: AsyncIterable<SessionEvent>): Promise<readonly SessionEvent[]> {
  const seen: SessionEvent[] = []
  for await (const event of events) {
    if (event.type === 'live') break
    seen.push(event)
  }
  return seen
}

const READER_SITUATIONS: Situations = {
  'events show a task as it is, across turns, and the message of its end; a reload shows the same': async (stage) => {
    const job = createJob()
    const { time, session } = await openWorld(stage, job)
    await time.until(session.send('Export it.').answer)
    await time.settle()
    job.finish('file 7')
    await time.settle()
    const seen = (await readEvents(session.events({ from: 'start' }))).flatMap((event) => {
      if (event.type === 'call') return `${event.call.message} ${event.call.status} ${event.call.task ?? ''}`.trim()
      return event.type === 'message-added' && event.message.role === 'user' ? event.message.from : []
    })
    expect(seen).toEqual(['user', 't1 proposed', 't1 running running', 't1 settled settled', 'event'])
    const { messages } = await session.messages()
    const [call] = messages.flatMap((one) => (one.role === 'assistant' ? one.steps.flatMap(({ calls }) => calls) : []))
    expect(call).toMatchObject({ name: 'export', status: 'settled', task: 'settled', result: { type: 'ok' } })
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
  },
  'a reader that returns in a later turn reads how a task of an earlier one ends, also behind a page of messages':
    async (stage) => {
      const job = createJob()
      const { time, session } = await openWorld(stage, job)
      await time.until(session.send('Export it.').answer)
      await time.until(session.send('And now?').answer)
      const { next } = await session.messages({ limit: 1 })
      const cursors = [next, (await session.info()).head]
      for (const event of await readEvents(session.events({ from: 'start' })))
        if ('turn' in event && event.turn === 2) cursors.push(event.cursor)
      job.finish('file 7')
      await time.settle()
      expect(cursors.length).toBeGreaterThan(2)
      for (const from of [...cursors, 'turn'] as const) {
        const ends = (await readEvents(session.events({ from }))).flatMap((event) =>
          event.type === 'call' && event.call.task === 'settled' ? [event.call.result] : [],
        )
        // The newest turn is that of the wake, which begins with the record of the end.
        expect(ends).toEqual([{ type: 'ok', content: [{ type: 'text', text: 'file 7' }] }])
      }
    },
  'a page of older messages shows how a call in the background ended in a later turn': async (stage) => {
    const job = createJob()
    const { time, session } = await openWorld(stage, job)
    await time.until(session.send('Export it.').answer)
    await time.until(session.send('And now?', { inputId: 'later' }).answer)
    const older = async () => JSON.stringify((await session.messages({ before: 'later' })).messages)
    expect(await older()).toContain('"task":"running"')
    job.finish('file 7')
    await time.settle()
    const shown = await older()
    expect(shown).toContain('"task":"settled"')
    expect(shown).toContain('file 7')
  },
  'a session that is read from its middle shows a task of an earlier turn': async (stage) => {
    const job = createJob()
    const { time, session } = await openWorld(stage, job)
    await time.until(session.send('Export it.').answer)
    await time.until(session.send('Hello?').answer)
    const seen: unknown[] = []
    const reading = (async () => {
      for await (const event of session.events({ from: 'now' })) {
        if (event.type !== 'call') continue
        seen.push(event.call)
        break
      }
    })()
    await time.settle()
    job.finish('x')
    await time.until(reading)
    expect(seen).toMatchObject([{ message: 't1', step: 1, name: 'export', status: 'settled', task: 'settled' }])
    await time.pass(5000) // the turn that the task has woken ends
  },
}

const FLAG = 'run_in_background'
const COUNTED = { type: 'object', properties: { n: { type: 'number' } }, additionalProperties: false } as const

const CHOICE_SITUATIONS: Situations = {
  'the model chooses the background by an argument, which the tool does not get': async ({ createWorld }) => {
    const got: unknown[] = []
    const gate = Promise.withResolvers<void>()
    const add = tool({
      name: 'add',
      description: 'Adds',
      input: COUNTED,
      effect: 'pure',
      background: 'model',
      execute: async (given) => {
        if (got.push(given) === 1) await gate.promise
        return `got ${got.length}`
      },
    })
    expect(add.inputSchema).toMatchObject({ properties: { [FLAG]: { type: 'boolean' } } })
    const script = [
      callStep('add', { n: 1, [FLAG]: true }),
      { text: 'runs' },
      { text: 'told' },
      callStep('add', { n: 2, [FLAG]: false }),
      callStep('add', { n: 3 }),
    ]
    const world = await createWorld({ steps: (_, at) => script[at] ?? { text: 'end' }, tools: [add] })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    gate.resolve()
    await world.time.settle()
    await world.time.until(session.send('and more').answer)
    expect(got).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
    expect(await session.tasks()).toHaveLength(1)
    const offered = world.model.requests[0]?.tools.map(({ name }) => name)
    expect(offered).toEqual(['add', 'tasks.list', 'tasks.read', 'tasks.wait', 'tasks.cancel'])
  },
  'a call whose model chooses comes to a client without the argument, whichever it chose': async ({ createWorld }) => {
    const script = [
      callStep('print', { n: 1, [FLAG]: true }),
      { text: 'runs' },
      { text: 'told' },
      callStep('print', { n: 2, [FLAG]: false }),
    ]
    const print = tool({ name: 'print', description: 'Prints', input: COUNTED, background: 'model' })
    const world = await createWorld({ steps: (_, at) => script[at] ?? { text: 'end' }, tools: [print] })
    const session = await world.open()
    const got: unknown[] = []
    await session.attach({ print: (given: unknown) => `page ${got.push(given)}` } as never)
    await world.time.until(session.send('go').answer)
    await world.time.settle()
    await world.time.until(session.send('and more').answer)
    expect(got).toEqual([{ n: 1 }, { n: 2 }])
    const inputs = (await readEvents(session.events({ from: 'start' }))).flatMap((event) =>
      event.type === 'call' ? [JSON.stringify(event.call.input)] : [],
    )
    expect(new Set(inputs)).toEqual(new Set(['{"n":1}', '{"n":2}']))
    // The model reads its own words again.
    expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain(FLAG)
  },
}

/** Says and cancels, while a task runs. */
const CONTROL_SITUATIONS: Situations = {
  'a person cancels a task, and a second cancel is over': async (stage) => {
    const job = createJob()
    const { time, session } = await openWorld(stage, job)
    await time.until(session.send('go').answer)
    await time.settle()
    const [{ callId } = { callId: '' }] = await session.tasks()
    await session.cancel(callId)
    expect(await session.tasks()).toMatchObject([{ status: 'settled', result: { type: 'unknown' } }])
    await expect(session.cancel(callId)).rejects.toMatchObject({ code: 'call_over' })
    await expect(session.send('x', { inputId: `baton.task.${callId}` }).answer).rejects.toMatchObject({
      code: 'illegal_input',
    })
  },
  'person and model cancel a task at once: one end, and the other learns of it': async (stage) => {
    const job = createJob()
    let callId = ''
    const steps = (request: ModelRequest): ScriptedStep =>
      readLast(request).includes('cancel it') ? callStep('tasks.cancel', { task: callId }) : begins('export')(request)
    const { world, time, session } = await openWorld(stage, job, { steps })
    await time.until(session.send('go').answer)
    await time.settle()
    callId = (await session.tasks())[0]?.callId ?? ''
    await session.cancel(callId)
    await time.until(session.send('cancel it').answer)
    expect(await world.facts('task-settled')).toHaveLength(1)
    expect(JSON.stringify(world.model.requests.at(-1)?.messages.at(-1))).toContain('ended')
    expect(await wakesOf(world)).toEqual([])
  },
  'an interrupt keeps tasks unless it says otherwise': async (stage) => {
    const job = createJob()
    const { time, session } = await openWorld(stage, job)
    await time.until(session.send('go').answer)
    await session.interrupt()
    expect((await session.info()).tasks).toHaveLength(1)
    await session.interrupt({ tasks: 'cancel' })
    expect((await session.info()).tasks).toEqual([])
  },
  'a tool that an interrupt sends to the background goes on, and its end wakes the session': async (stage) => {
    const job = createJob({ background: false, onInterrupt: 'background' })
    const { world, time, session } = await openWorld(stage, job)
    session.send('go').answer.catch(() => {})
    await time.settle()
    await session.interrupt()
    await time.until(session.send('Hello?').answer)
    expect(await session.tasks()).toMatchObject([{ status: 'running' }])
    job.finish('file 7')
    await time.settle()
    expect(job.started).toHaveLength(1)
    expect(await wakesOf(world)).toHaveLength(1)
  },
  'a rewind to before its call cancels a task, and nobody is told': async (stage) => {
    const job = createJob()
    const steps = (request: ModelRequest): ScriptedStep =>
      readLast(request).includes('Never mind') ? { text: 'Fine.' } : begins('export')(request)
    const { world, time, session } = await openWorld(stage, job, { steps })
    await time.until(session.send('go', { inputId: 'one' }).answer)
    await time.settle()
    await session.rewind({ message: 'one', replace: 'Never mind.' })
    await time.settle()
    job.finish('too late')
    await time.settle()
    expect((await session.info()).tasks).toEqual([])
    expect(await wakesOf(world)).toEqual([])
  },
  'a stop ends a task, and the model reads that with the next input': async (stage) => {
    const job = createJob()
    const { world, time, session } = await openWorld(stage, job)
    await time.until(session.send('go').answer)
    await time.settle()
    await session.submit({ type: 'stop' })
    expect((await session.info()).tasks).toEqual([])
    await session.submit({ type: 'start' })
    await time.until(session.send('Hello?').answer)
    expect(await wakesOf(world)).toEqual([])
    expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain('has ended in the background (unknown)')
  },
  'an end in a paused session waits for its continue': async (stage) => {
    const job = createJob()
    const { world, time, session } = await openWorld(stage, job)
    await time.until(session.send('go').answer)
    await time.settle()
    await session.submit({ type: 'pause' })
    job.finish('file 7')
    await time.settle()
    expect(await answersOf(world)).toEqual(['It runs.'])
    expect(await wakesOf(world)).toHaveLength(1)
    await session.submit({ type: 'continue' })
    await time.settle()
    expect((await answersOf(world))[1]).toContain('file 7')
  },
}

export const TASK_SITUATIONS: Situations = {
  'a call in the background is answered by a receipt, its turn ends, and its outcome wakes the session': async (
    stage,
  ) => {
    const job = createJob()
    const { world, time, session } = await openWorld(stage, job)
    expect(await time.until(session.send('Export it.').answer)).toMatchObject({ stop: 'end', text: 'It runs.' })
    await time.settle()
    const [task] = await session.tasks()
    expect(task).toMatchObject({
      name: 'export',
      status: 'running',
      task: 'running',
      message: 't1',
      step: 1,
      input: {},
    })
    expect((await session.info()).tasks).toEqual([task])
    expect((await session.info()).activity).toBe('idle')
    job.finish('file 7')
    await time.settle()
    expect(await answersOf(world)).toEqual(['It runs.', expect.stringContaining('file 7')])
    expect(await session.tasks()).toMatchObject([
      { name: 'export', status: 'settled', task: 'settled', result: { type: 'ok', content: [{ text: 'file 7' }] } },
    ])
    expect((await session.info()).tasks).toEqual([])
    expect(job.started).toHaveLength(1)
  },
  'a task that ends while a turn runs is read by the next step of that turn, and begins none': async (stage) => {
    const job = createJob()
    const gate = Promise.withResolvers<string>()
    const look = act(() => gate.promise, { name: 'look' })
    const steps = (request: ModelRequest): ScriptedStep =>
      readLast(request).includes('Look.') ? callStep('look') : begins('export')(request)
    const { world, time, session } = await openWorld(stage, job, { steps, tools: [job.tool, look] })
    await time.until(session.send('go').answer)
    const turn = session.send('Look.')
    await time.settle()
    job.finish('file 7')
    await time.settle()
    gate.resolve('a tree')
    expect((await time.until(turn.answer)).text).toContain('file 7')
    expect(await answersOf(world)).toHaveLength(2)
    expect(await wakesOf(world)).toHaveLength(1)
  },
  'a model waits for its task, and nothing tells it twice': async (stage) => {
    const job = createJob()
    const steps = (request: ModelRequest): ScriptedStep => {
      const text = readLast(request)
      if (text.includes('runs in the background')) return callStep('tasks.wait', { seconds: 600 })
      return text.includes('has ended') ? { text: `Told: ${text}` } : callStep('export')
    }
    const { world, time, session } = await openWorld(stage, job, { steps })
    const turn = session.send('go')
    await time.settle()
    job.finish('file 7')
    expect((await time.until(turn.answer)).text).toContain('file 7')
    expect(await wakesOf(world)).toEqual([])
  },
  'an end that waits to be read is withdrawn when the model waits for it': async (stage) => {
    const job = createJob()
    const steps = (request: ModelRequest): ScriptedStep => {
      if (!readLast(request).includes('Wait.')) return begins('export')(request)
      return { pieces: ['Let me see.'], pieceMs: 5000, ...callStep('tasks.wait') }
    }
    const { world, time, session } = await openWorld(stage, job, { steps })
    await time.until(session.send('go').answer)
    const turn = session.send('Wait.')
    await time.settle()
    job.finish('file 7')
    await time.settle()
    await time.until(turn.answer)
    expect(JSON.stringify(world.model.requests.at(-1)?.messages.at(-1))).toContain('file 7')
    expect(await world.facts('input-withdrawn')).toHaveLength(1)
    expect(await answersOf(world)).toHaveLength(2)
  },
  'ten tasks end at once: one turn begins, and all are read': async ({ createWorld }) => {
    const gate = Promise.withResolvers<void>()
    const run = act(
      async (_, { callId }) => {
        await gate.promise
        return `file of ${callId}`
      },
      { name: 'export', background: true },
    )
    const all: ScriptedStep = { calls: Array.from({ length: 10 }, () => ({ name: 'export', arguments: {} })) }
    const steps = (request: ModelRequest): ScriptedStep =>
      readLast(request).includes('Export all.') ? all : begins('export')(request)
    const world = await createWorld({ steps, tools: [run] })
    const session = await world.open()
    await world.time.until(session.send('Export all.').answer)
    await world.time.settle()
    gate.resolve()
    await world.time.settle()
    expect(await wakesOf(world)).toHaveLength(10)
    expect((await session.info()).activity).toBe('idle')
    const told = JSON.stringify(world.model.requests.at(-1)?.messages)
    for (const { callId } of await session.tasks()) expect(told).toContain(`file of ${callId}`)
    // How many enter together depends on how fast the host is.
    expect((await answersOf(world)).length).toBeLessThanOrEqual(11)
  },
  'an interrupt while a wake is answered: its end was read, and is not told again': async (stage) => {
    const job = createJob()
    const steps = (request: ModelRequest): ScriptedStep =>
      readLast(request).includes('[Task]')
        ? { text: 'Your file is', hangs: 'until-aborted' }
        : readLast(request).includes('Stop.')
          ? { text: 'I stop.' }
          : begins('export')(request)
    const { world, time, session } = await openWorld(stage, job, { steps })
    await time.until(session.send('go').answer)
    await time.settle()
    job.finish('file 7')
    await time.settle()
    await session.interrupt()
    await time.settle()
    expect((await time.until(session.send('Stop.').answer)).text).toBe('I stop.')
    expect(await wakesOf(world)).toHaveLength(1)
    expect(JSON.stringify(world.model.requests.at(-1)?.messages).split('file 7')).toHaveLength(2)
  },
  'tasks may begin as many turns in a row as the limit says, and a further end waits for somebody': async (stage) => {
    const job = createJob()
    const steps = (request: ModelRequest): ScriptedStep => {
      const text = readLast(request)
      return text.includes('runs in the background') ? { text: 'It runs.' } : callStep('export')
    }
    const { world, time, session } = await openWorld(stage, job, { steps, limits: { wakes: 2 } })
    await time.until(session.send('go').answer)
    for (const file of ['file 1', 'file 2', 'file 3']) {
      await time.settle()
      job.finish(file)
    }
    await time.settle()
    expect(job.started).toHaveLength(3)
    expect(await world.facts('wakes-held')).toMatchObject([{ used: 2, max: 2 }])
    await time.until(session.send('Well?').answer)
    expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain('file 3')
  },
  'a task asks for its approval and its question after its turn has ended': async (stage) => {
    const ask = act(
      async (_, context) => JSON.stringify(await context.ask({ message: 'Which?', schema: { type: 'object' } })),
      { name: 'export', effect: 'once', background: true, approval: true } as never,
    )
    const world = await stage.createWorld({ steps: begins('export'), tools: [ask] })
    const { time } = world
    const session = await world.open()
    expect((await time.until(session.send('go').answer)).text).toBe('It runs.')
    const [asked] = await session.approvals()
    expect(asked).toMatchObject({ name: 'export' })
    expect(await session.tasks()).toMatchObject([{ status: 'awaiting-approval' }])
    await session.decide({ approvalId: asked?.approvalId ?? '', decision: 'approve' })
    await time.settle()
    const [question] = await session.questions()
    expect(question).toMatchObject({ message: 'Which?' })
    await session.answer({ questionId: question?.questionId ?? '', value: { file: 7 } })
    await time.settle()
    expect((await answersOf(world))[1]).toContain('file')
    expect(await wakesOf(world)).toHaveLength(1)
  },
  'an app runs a call in the background after its turn has ended': async ({ createWorld }) => {
    const input = { type: 'object', properties: {} } as const
    const print = tool({ name: 'print', description: 'Prints', input, background: true, timeoutMs: 600_000 })
    const world = await createWorld({ steps: begins('print'), tools: [print] })
    const session = await world.open()
    await world.time.until(session.send('Print.').answer)
    expect(await session.tasks()).toMatchObject([{ waitsForClient: true }])
    await session.attach({ print: () => 'two pages' } as never)
    await world.time.settle()
    expect(await session.tasks()).toMatchObject([{ runs: 'client', status: 'settled', result: { type: 'ok' } }])
    expect(await wakesOf(world)).toHaveLength(1)
  },
  'a task has the time of its tool, and times out': async (stage) => {
    const job = createJob({ timeoutMs: 10_000, effect: 'pure' })
    const { world, time, session } = await openWorld(stage, job)
    await time.until(session.send('go').answer)
    await time.pass(15_000)
    expect(await session.tasks()).toMatchObject([{ status: 'settled', result: { type: 'timed-out' } }])
    expect(await wakesOf(world)).toHaveLength(1)
  },
  'a session with a task goes on without a handle, and its end is stored': async (stage) => {
    const job = createJob()
    const { world, time, session } = await openWorld(stage, job)
    await time.until(session.send('go').answer)
    await time.settle()
    await session.close()
    await time.pass(600_000)
    job.finish('file 7')
    await time.settle()
    expect(await answersOf(world)).toHaveLength(2)
    expect(await wakesOf(world)).toHaveLength(1)
  },
  ...READER_SITUATIONS,
  ...CHOICE_SITUATIONS,
  ...CONTROL_SITUATIONS,
}

async function restart(world: ContractWorld, init: ContractWorldOptions): Promise<ContractWorld> {
  if (!world.restart) throw new Error('hosts of this kind outlive their processes')
  return await world.restart(init)
}

/** For hosts whose sessions live in a process. */
export const RESTARTED_TASK_SITUATIONS: Situations = Object.fromEntries(
  (['once', 'idempotent'] as const).map((effect) => [
    `a task of a tool that is ${effect} ends once and wakes once over a restart`,
    async (stage: Stage) => {
      const job = createJob({ effect })
      const { world, time, session } = await openWorld(stage, job)
      await time.until(session.send('go').answer)
      await time.settle()
      const after = await restart(world, { steps: begins('export'), tools: [job.tool] })
      const again = await after.open()
      await after.time.settle()
      job.finish('file 7')
      await after.time.settle()
      expect(job.started).toHaveLength(effect === 'once' ? 1 : 2)
      expect(new Set(job.started).size).toBe(1)
      expect(await again.tasks()).toMatchObject([
        { status: 'settled', result: { type: effect === 'once' ? 'unknown' : 'ok' } },
      ])
      expect(await wakesOf(after)).toHaveLength(1)
      expect(await answersOf(after)).toHaveLength(2)
    },
  ]),
)
