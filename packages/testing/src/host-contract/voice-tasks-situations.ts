// Tasks that end while people speak: behind apps of version 1, which do one thing after another, and in a room.
import { tool } from '@baton/core/internal'
import type { ModelRequest } from '@baton/core/internal'
import type { ScriptedStep } from '@baton/core/testing'
import { createMemorySocket, DEFAULT_CONNECTION_LIMITS, openV1Connection } from '@baton/server/internal'
import { expect } from 'vitest'
import type { V1AppOptions } from '../v1-app/v1-app.ts'
import { connectV1App } from '../v1-app/v1-app.ts'
import type { ContractWorld } from './host-kind.ts'
import { textsTold } from './situation-parts.ts'
import type { Situations } from './situation.ts'
import { answersOf, begins, callStep, createJob, readLast, wakesOf } from './tasks-situations.ts'

const NO_LOG = { info: () => {}, warn: () => {} }

/** Connects an app of version 1 to the world's session, through the front and a socket in memory. */
async function connectVoice(world: ContractWorld, parts: Pick<V1AppOptions, 'runCall' | 'speak'>) {
  const { host, session, time } = world
  const openSocket: V1AppOptions['openSocket'] = () => {
    const memory = createMemorySocket()
    let tell = (_text: string): void => {}
    const send = (text: string): boolean => {
      if (!memory.socket.send(text)) return false
      tell(text)
      return true
    }
    let ids = 0
    openV1Connection({
      clock: time.clock,
      timers: time.timers,
      newId: () => `frame-${(ids += 1)}`,
      socket: { ...memory.socket, send },
      connection: 'app',
      host,
      principal: { id: 'anonymous' },
      log: NO_LOG,
      limits: DEFAULT_CONNECTION_LIMITS,
      isDraining: () => false,
    })
    return {
      opened: Promise.resolve(),
      send: memory.deliver,
      onText: (listener) => (tell = listener),
      onClose: () => {},
      close: memory.drop,
    }
  }
  let sent = 0
  const newId = (): string => `sent-${(sent += 1)}`
  // Without moving the time: over a service, an opening session shows no sign of it, and the front gives it seconds.
  return await connectV1App({ url: 'memory', session, openSocket, newId, ...parts })
}

const EMPTY = { type: 'object', properties: {} } as const

export const VOICE_TASK_SITUATIONS: Situations = {
  'a task that ends while somebody speaks in the room is read with what they say, in one turn': async (stage) => {
    const job = createJob()
    const batch = { silenceMs: 60_000, ageMs: 600_000 }
    const world = await stage.createWorld({ steps: begins('export'), tools: [job.tool], batch })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    await world.time.settle()
    await session.submit({ type: 'transcript', inputId: 't', speaker: 'ann', text: 'hold on' })
    job.finish('file 7')
    await world.time.settle()
    expect(await wakesOf(world)).toHaveLength(1)
    expect(await answersOf(world)).toEqual(['It runs.'])
    await world.time.pass(60_000)
    expect(await answersOf(world)).toHaveLength(2)
    expect(textsTold(world.model, 'user').slice(1).join('\n')).toMatch(/ann: hold on[^]*\[Task\][^]*file 7/)
  },
  'a task that ends while an app speaks begins a turn, and its answer is said after what the app says': async (
    stage,
  ) => {
    const job = createJob()
    const world = await stage.createWorld({ steps: begins('export'), tools: [job.tool] })
    const { time } = world
    const said: string[] = []
    const speak = async (text: string): Promise<void> => {
      said.push(`begins ${text.includes('file 7') ? 'its end' : text}`)
      await time.wait(40_000)
      said.push('ends')
    }
    const app = await connectVoice(world, { runCall: () => 'ok', speak })
    const idle = app.say('Export it.')
    await time.pass(10_000)
    expect(said).toEqual(['begins It runs.'])
    job.finish('file 7')
    await time.settle()
    expect(await answersOf(world)).toEqual(['It runs.', expect.stringContaining('file 7')])
    expect(said).toEqual(['begins It runs.'])
    await time.pass(100_000)
    await idle
    expect(said).toEqual(['begins It runs.', 'ends', 'begins its end', 'ends'])
    app.close()
  },
  'calls of an app that works one by one wait behind a task, whose deadline settles it': async ({ createWorld }) => {
    const place = tool({
      name: 'place',
      description: 'p',
      input: EMPTY,
      effect: 'once',
      background: true,
      timeoutMs: 40_000,
    })
    const status = tool({ name: 'status', description: 's', input: EMPTY, effect: 'pure' })
    const steps = (request: ModelRequest): ScriptedStep => {
      const text = readLast(request)
      if (text.includes('"Where?"')) return callStep('place')
      if (text.includes('"How is it?"')) return callStep('status')
      return text.includes('runs in the background') ? { text: 'I look.' } : { text: 'It is well.' }
    }
    const world = await createWorld({ tools: [place, status], steps })
    const { time } = world
    const ran: string[] = []
    const runCall = async (name: string): Promise<string> => {
      ran.push(name)
      if (name === 'place') await time.wait(50_000)
      return `done ${name}`
    }
    const app = await connectVoice(world, { runCall })
    const first = app.say('Where?')
    await time.settle()
    const second = app.say('How is it?')
    await time.pass(30_000)
    const session = await world.open()
    expect(ran).toEqual(['place'])
    expect(await session.tasks()).toMatchObject([{ name: 'place', status: 'running', task: 'running' }])
    expect((await world.facts('call-clock-set')).at(-1)).toMatchObject({ mode: 'waiting' })
    await time.pass(15_000)
    expect(await session.tasks()).toMatchObject([{ status: 'settled', result: { type: 'unknown' } }])
    expect(ran).toEqual(['place'])
    await time.pass(10_000)
    await time.until(Promise.all([first, second]))
    expect(ran).toEqual(['place', 'status'])
    // The late result changes nothing, and the wait has cost the other call none of its time.
    expect(await world.facts('task-settled')).toHaveLength(1)
    const settled = (await world.facts('call-settled')).at(-1)
    expect(settled).toMatchObject({ settlement: { type: 'ok', content: [{ text: 'done status' }] } })
    expect((await answersOf(world)).at(-1)).toBe('It is well.')
    app.close()
  },
}
