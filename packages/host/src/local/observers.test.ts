// Events for a host's log and observers: model calls with their ids, retries, fallback models, every commit.
import { BatonError, defineAgent, tool } from '@baton/core'
import type { CallView, JsonObject, Logger, Model } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import type { ObservedSession, SessionObserver } from '../observer.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import type { HostOptions } from './host-options.ts'
import { createHost } from './create-host.ts'
import { createManualTime } from './test-world.test-kit.ts'

type Line = { readonly level: string; readonly message: string } & JsonObject

function createNotes(): { readonly lines: Line[]; readonly log: Logger } {
  const lines: Line[] = []
  const note =
    (level: string): Logger['info'] =>
    (message, data = {}) =>
      void lines.push({ ...data, level, message })
  return { lines, log: { info: note('info'), warn: note('warn') } }
}

const overloaded = (data: JsonObject): ScriptedStep => ({
  error: new BatonError({ code: 'model_overloaded', message: 'busy; you said: my secret wish', data }),
})

async function runTurn(models: readonly (readonly ScriptedStep[])[], options: HostOptions): Promise<void> {
  const time = createManualTime()
  const model = models.map((steps, index) => createScriptedModel({ id: `scripted/m${index}`, steps }))
  const agent = defineAgent({ name: 'watched', model, retry: { attempts: 2 } })
  const host = createHost({ environment: time.environment, agent, secrets: ['sk-12345678'], ...options })
  const session = await host.session('s')
  await time.until(session.send('my secret wish').answer.catch(() => {}))
  await host.stop()
}

test('the log and the call’s event say at once that no connected client runs a tool', async () => {
  const { lines, log } = createNotes()
  const time = createManualTime()
  const steps = [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'done' }]
  const tools = ['look', 'listen'].map((name) => tool({ name, description: name, input: { type: 'object' } }))
  const agent = defineAgent({ name: 'watched', model: createScriptedModel({ steps }), tools })
  const host = createHost({ environment: time.environment, agent, log })
  const session = await host.session('s')
  await session.attach({ listen: () => 'quiet' })
  const turn = session.send('go')
  await time.settle()
  const warnings = lines.filter(({ level }) => level === 'warn')
  expect(warnings).toMatchObject([
    {
      message: 'no connected client can run the call, so it waits for one',
      session: 's',
      tool: 'look',
      clients: 1,
      waitsMs: 600_000,
    },
  ])
  const client = await session.attach({ look: () => 'seen' })
  await time.until(turn.answer)
  await client.detach()
  const calls: CallView[] = []
  for await (const event of session.events({ from: 'start' })) {
    if (event.type === 'call') calls.push(event.call)
    if (event.type === 'live') break
  }
  const told = calls.map(({ status, waitsForClient = false }) => `${status} ${waitsForClient}`)
  expect(told).toEqual(['proposed false', 'proposed true', 'waiting false', 'running false', 'settled false'])
  expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
  await host.stop()
})

test('the log does not say that a call waits which fails at once', async () => {
  const { lines, log } = createNotes()
  const time = createManualTime()
  const steps = [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'done' }]
  const look = tool({ name: 'look', description: 'Looks', input: { type: 'object' }, awayMs: 0 })
  const agent = defineAgent({ name: 'watched', model: createScriptedModel({ steps }), tools: [look] })
  const host = createHost({ environment: time.environment, agent, log })
  await time.until((await host.session('s')).send('go').answer)
  expect(lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
    'no connected client can run the call, and it does not wait for one',
  ])
  await host.stop()
})

test('an allowed silence is not a warning', async () => {
  const { lines, log } = createNotes()
  const time = createManualTime()
  const model = createScriptedModel({ steps: [{ text: '' }] })
  const agent = defineAgent({ name: 'quiet', model, emptyAnswer: 'silence' })
  const host = createHost({ environment: time.environment, agent, log })
  expect((await time.until((await host.session('s')).send('go').answer)).stop).toBe('silent')
  expect(lines.filter(({ level }) => level === 'warn')).toEqual([])
  await host.stop()
})

test('the log has each model call, its retry and the model that takes over, with status and request id, without content', async () => {
  const { lines, log } = createNotes()
  const failure = overloaded({ status: 529, requestId: 'req-1 sk-12345678' })
  await runTurn([[failure, failure], [{ text: 'a secret answer', usage: { inputTokens: 3, outputTokens: 2 } }]], {
    log,
  })
  const told = lines.map(({ level, message, model, code, status, requestId, from, to }) =>
    Object.values({ level, message, model, code, status, requestId, from, to })
      .filter((field) => field !== undefined)
      .map((field) => (typeof field === 'string' ? field : JSON.stringify(field)))
      .join(' | '),
  )
  expect(told).toEqual([
    'warn | a model call failed | scripted/m0 | model_overloaded | 529 | req-1 [redacted]',
    'warn | a model call is retried | scripted/m0 | model_overloaded',
    'warn | a model call failed | scripted/m0 | model_overloaded | 529 | req-1 [redacted]',
    'warn | a model call is retried | scripted/m0 | model_overloaded',
    'warn | another model takes over | scripted/m0 | scripted/m1',
    'info | a model answered | scripted/m1',
  ])
  expect(lines.at(-1)).toMatchObject({ finish: 'end', inputTokens: 3, outputTokens: 2, attempt: 3 })
  expect(JSON.stringify(lines)).not.toContain('secret')
})

test('the provider’s id of a request that was answered is in the log', async () => {
  const { lines, log } = createNotes()
  const model = createScriptedModel({ steps: [{ text: 'hello' }] })
  const identified: typeof model = {
    ...model,
    run: async (...asked) => ({ ...(await model.run(...asked)), requestId: 'req-7' }),
  }
  const time = createManualTime()
  const host = createHost({ environment: time.environment, agent: defineAgent({ name: 'a', model: identified }), log })
  await time.until((await host.session('s')).send('hi').answer)
  await host.stop()
  expect(lines).toMatchObject([{ message: 'a model answered', requestId: 'req-7' }])
})

test('a logger or an observer that throws changes nothing for the session', async () => {
  const fail = (): never => {
    throw new Error('broken')
  }
  const heard: number[] = []
  const observers: readonly SessionObserver[] = [
    { onRecord: fail, onLive: fail, onClose: fail },
    { onRecord: ({ pos }) => void heard.push(pos) },
  ]
  await runTurn([[{ text: 'fine' }]], { log: { info: fail, warn: fail }, observers })
  expect(heard.length).toBeGreaterThan(2)
})

test('an observer hears each record once, in order, and none that was committed before its host', async () => {
  const time = createManualTime()
  const store = createMemoryStore()
  const heard: number[][] = []
  const live: string[] = []
  for (let host = 0; host < 2; host++) {
    const own: number[] = []
    heard.push(own)
    const observer: SessionObserver = {
      onRecord: ({ pos }, session) => {
        own.push(session.state().pos >= pos ? pos : -1)
      },
      onLive: (frame) => void live.push(frame.type),
      onClose: ({ id }) => void live.push(`close ${id}`),
    }
    const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps: [{ text: 'one' }] }) })
    const made = createHost({ environment: time.environment, store, agent, observers: [observer] })
    await time.until((await made.session('s')).send('hi').answer)
    await made.stop()
  }
  const [first = [], second = []] = heard
  expect([...first, ...second]).toEqual([...first, ...second].map((_, index) => index))
  expect(second.length).toBeGreaterThan(1)
  expect(live).toEqual(['text-delta', 'close s', 'text-delta', 'close s'])
})

test('an observer hears that a session closed before it hears of its next opening', async () => {
  const time = createManualTime()
  const timers = time.environment.timers
  const scripted = createScriptedModel({ steps: () => ({ text: 'late', pieceMs: 2000 }), timers })
  const { signal } = new AbortController()
  const model: Model = { ...scripted, run: (request, sink) => scripted.run(request, sink, signal) } // ignores its own
  const opened: ObservedSession[] = []
  const told = new Set<string>()
  const note = (what: string, session: ObservedSession): void => {
    if (!opened.includes(session)) opened.push(session)
    told.add(`${what} of opening ${opened.indexOf(session) + 1}`)
  }
  const observer: SessionObserver = {
    onRecord: (_, observed) => note('records', observed),
    onClose: (observed) => note('close', observed),
  }
  const agent = defineAgent({ name: 'watched', model })
  const host = createHost({ environment: time.environment, agent, observers: [observer], lingerMs: 0 })
  const session = await host.session('s')
  const turn = session.send('go')
  await time.pass(500)
  await session.interrupt()
  expect(await time.until(turn.answer)).toMatchObject({ outcome: 'interrupted' })
  await session.close()
  const next = await time.until(host.session('s'))
  next.send('again').answer.catch(() => {})
  await time.pass(10_000)
  expect([...told]).toEqual(['records of opening 1', 'close of opening 1', 'records of opening 2'])
})
