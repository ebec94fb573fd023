// Interrupts in every phase of a session, with every way to report how much of the answer was heard.
import { BatonError } from '@baton/core/internal'
import type { Heard, Tool } from '@baton/core/internal'
import type { Played } from '@baton/core/machine'
import type { ScriptedStep } from '@baton/core/testing'
import { expect } from 'vitest'
import type { ContractWorldOptions } from './host-kind.ts'
import { act, connectApp, listCalls, createClientTool, never, resultsTold, textsTold } from './situation-parts.ts'
import type { Situations, Stage } from './situation.ts'
import { forEachRow } from './situation.ts'

interface Interrupted {
  /** Virtual milliseconds from the input to the interrupt. */
  readonly afterMs: number
  readonly heard?: Played
  readonly init: ContractWorldOptions
}

/** Interrupts the first turn, then sends a second input; returns what the model read then. */
async function interruptAt({ createWorld }: Stage, { afterMs, heard, init }: Interrupted) {
  const world = await createWorld(init)
  const session = await world.open()
  const turn = session.send('go')
  turn.answer.catch(() => {})
  await world.time.pass(afterMs)
  await session.interrupt(heard && { heard })
  const { outcome } = await world.time.until(turn.answer)
  const after = await world.time.until(session.send('next').answer)
  expect(after.text).toBe('after')
  expect(session.phase).toBe('idle')
  return { world, outcome, told: textsTold(world.model, 'assistant') }
}

const SPEAKS: ScriptedStep = { pieces: ['One ', 'two ', 'three'], pieceMs: 100 }
const AFTER: ScriptedStep = { text: 'after' }
const MARKED = 'The **first** train leaves at 9.40. It’s [slow](https://a.test), sadly.'

function createSignal() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

function calling(tool: Tool): ContractWorldOptions {
  return { tools: [tool], steps: [{ text: 'Look: ', ...listCalls('act') }, AFTER, AFTER] }
}

export const INTERRUPT_SITUATIONS: Situations = {
  'the next model call waits until the aborted one has ended, whatever the interrupt waits for': async ({
    createWorld,
  }) => {
    // It notices an abort only with its next piece.
    const world = await createWorld({ steps: [{ text: 'One two three', pieceMs: 2500 }, AFTER] })
    const running = { now: 0, most: 0 }
    const { run } = world.model
    Object.assign(world.model, {
      run: async (...given: Parameters<typeof run>) => {
        running.now += 1
        running.most = Math.max(running.most, running.now)
        return await run(...given).finally(() => (running.now -= 1))
      },
    })
    const session = await world.open()
    session.send('go').answer.catch(() => {})
    await world.time.pass(2600)
    await session.interrupt()
    expect((await world.time.until(session.send('next').answer)).text).toBe('after')
    expect(running).toEqual({ now: 0, most: 1 })
  },
  'a signal ends the turn that it was sent with, and what was said stays': async ({ createWorld }) => {
    const world = await createWorld({ steps: [SPEAKS, AFTER] })
    const session = await world.open()
    const { signal, abort } = createSignal()
    const turn = session.send('go', { signal })
    await world.time.pass(250)
    abort()
    expect(await world.time.until(turn.answer)).toMatchObject({ stop: 'cancelled', text: 'One two ' })
    expect((await world.time.until(session.send('next', { signal: createSignal().signal }).answer)).text).toBe('after')
  },
  'a signal takes back an input that waits, and the running turn goes on': async ({ createWorld }) => {
    const world = await createWorld({ steps: [SPEAKS, AFTER] })
    const session = await world.open()
    const { signal, abort } = createSignal()
    const running = session.send('go')
    const waiting = session.send('and then?', { signal })
    await world.time.pass(150)
    abort()
    await expect(waiting.answer).rejects.toMatchObject({ code: 'cancelled' })
    expect(await world.time.until(running.answer)).toMatchObject({ stop: 'end', text: 'One two three' })
    expect(textsTold(world.model, 'user')).toEqual(['go'])
  },
  'a signal that aborts after its turn ends no later one, and one that was aborted before sends nothing': async (
    stage,
  ) => {
    const world = await stage.createWorld({ steps: [AFTER, SPEAKS] })
    const session = await world.open()
    const { signal, abort } = createSignal()
    await world.time.until(session.send('go', { signal }).answer)
    const next = session.send('next')
    await world.time.pass(150)
    abort()
    expect(await world.time.until(next.answer)).toMatchObject({ stop: 'end' })
    await expect(session.send('too late', { signal }).answer).rejects.toMatchObject({ code: 'cancelled' })
    await expect(session.send('no signal', { signal: 5 as never }).answer).rejects.toThrow('must be an AbortSignal')
    expect(world.model.requests).toHaveLength(2)
  },
  ...forEachRow<[string, Played | undefined, string]>(
    'the answer of an interrupted turn holds what was said, of which the user heard %s',
    [
      ['all', undefined, 'Look: \n\nOne two '],
      ['only the first step', { type: 'chars', chars: 4 }, 'Look'],
      ['a part of the second step', { type: 'chars', chars: 10 }, 'Look: \n\nOn'],
      ['nothing', { type: 'chars', chars: 0 }, ''],
    ],
    async ({ createWorld }, [, heard, text]) => {
      const world = await createWorld({
        ...calling(act(() => 'seen')),
        steps: [{ text: 'Look: ', ...listCalls('act') }, SPEAKS],
      })
      const session = await world.open()
      const turn = session.send('go')
      await world.time.pass(250)
      await session.interrupt(heard && { heard })
      expect(await world.time.until(turn.answer)).toMatchObject({ stop: 'cancelled', text })
      expect(await world.time.until(session.turn(turn.id).answer)).toMatchObject({ stop: 'cancelled', text })
      const ends: string[] = []
      for await (const event of session.events({ from: 'start' })) {
        if (event.type === 'live') break
        if (event.type === 'step-finished') ends.push(event.finish)
        if (event.type === 'turn-finished') ends.push(event.text)
      }
      const isKept = text.includes('O')
      expect(ends).toEqual(['tool-calls', ...(isKept ? ['interrupted'] : []), text])
    },
  ),
  'a reader that comes in the midst of a turn is told all that an interrupted turn has said': async ({
    createWorld,
  }) => {
    const world = await createWorld({ ...calling(act(never)) })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    const events = session.events({ from: 'now' })
    await session.interrupt()
    await world.time.until(turn.answer)
    for await (const event of events) {
      if (event.type !== 'turn-finished') continue
      expect(event.text).toBe('Look: ')
      break
    }
  },
  ...forEachRow<[string, Played, readonly string[]]>(
    'an interrupt while the model speaks, of which the user heard %s',
    [
      ['all', { type: 'all' }, ['One two ']],
      ['five characters', { type: 'chars', chars: 5 }, ['One t']],
      ['more than was said', { type: 'chars', chars: 500 }, ['One two ']],
      ['nothing', { type: 'chars', chars: 0 }, []],
      ['what was displayed, which is nothing', { type: 'display' }, []],
    ],
    async (stage, [, heard, told]) => {
      const interrupted = await interruptAt(stage, { afterMs: 250, heard, init: { steps: [SPEAKS, AFTER] } })
      expect(interrupted).toMatchObject({ outcome: 'interrupted', told })
    },
  ),
  ...forEachRow<[string, Played, readonly string[]]>(
    'an interrupt after the answer, of which the user heard %s, cuts what the model is told',
    [
      ['all', { type: 'all' }, ['One two three']],
      ['five characters', { type: 'chars', chars: 5 }, ['One t']],
      ['nothing', { type: 'chars', chars: 0 }, []],
      ['what was displayed, which is nothing', { type: 'display' }, []],
    ],
    async (stage, [, heard, told]) => {
      const interrupted = await interruptAt(stage, { afterMs: 1000, heard, init: { steps: [SPEAKS, AFTER] } })
      expect(interrupted).toMatchObject({ outcome: 'answered', told })
    },
  ),
  'an answer that was displayed before the interrupt was heard': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'all of it' }, AFTER] })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    await session.submit({ type: 'display-written', turn: 1 })
    await session.interrupt({ heard: { type: 'display' } })
    await world.time.until(session.send('next').answer)
    expect(textsTold(world.model, 'assistant')).toEqual(['all of it'])
  },
  ...forEachRow<[string, Heard, string]>(
    'an interrupt after an answer with marks, of which the user heard %s',
    [
      ['none', { type: 'none' }, ''],
      ['three words', { type: 'words', words: 3 }, 'The **first** train'],
      ['no word', { type: 'words', words: 0 }, ''],
      ['more words than it has', { type: 'words', words: 99 }, MARKED],
      ['the first sentence', { type: 'sentence', index: 0 }, 'The **first** train leaves at 9.40.'],
      ['two words of the second', { type: 'sentence', index: 1, words: 2 }, `${MARKED.slice(0, 35)} It’s [slow`],
      ['the second sentence of this answer', { type: 'sentence', index: 1, message: 't1' }, MARKED],
      ['so many characters of this answer', { type: 'chars', chars: 9, message: 't1' }, 'The **fir'],
    ],
    async ({ createWorld }, [, heard, text]) => {
      const world = await createWorld({ steps: [{ text: MARKED }, AFTER] })
      const session = await world.open()
      await world.time.until(session.send('go').answer)
      await session.interrupt({ heard })
      await world.time.until(session.send('next').answer)
      expect(textsTold(world.model, 'assistant')).toEqual(text === '' ? [] : [text])
    },
  ),
  'an interrupt by an input counts words while the model writes, over two steps': async ({ createWorld }) => {
    const world = await createWorld({
      ...calling(act(() => 'seen')),
      steps: [{ text: 'Look there: ', ...listCalls('act') }, SPEAKS, AFTER],
    })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.pass(250)
    const next = session.send('stop', { delivery: 'interrupt', heard: { type: 'words', words: 3 } })
    expect(await world.time.until(turn.answer)).toMatchObject({ stop: 'cancelled', text: 'Look there: \n\nOne' })
    await world.time.until(next.answer)
    expect(textsTold(world.model, 'assistant')).toEqual(['Look there: [call]', 'One'])
  },
  'of a newer answer nothing was heard while a voice still says an older one': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'Old words.' }, SPEAKS, AFTER] })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    const turn = session.send('more')
    await world.time.pass(250)
    await session.interrupt({ heard: { type: 'sentence', index: 0, message: 't1' } })
    await world.time.until(turn.answer)
    await world.time.until(session.send('next').answer)
    expect(textsTold(world.model, 'assistant')).toEqual(['Old words.'])
  },
  'an interrupt that says again what was heard cuts no more, whether or not anything of that sentence is left': async ({
    createWorld,
  }) => {
    const world = await createWorld({ steps: [{ text: 'One two. Three four. Five', hangs: 'until-aborted' }, AFTER] })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.pass(1000)
    const heard: Heard = { type: 'sentence', index: 1, words: 1, message: 't1' }
    await session.interrupt({ heard })
    expect((await world.time.until(turn.answer)).text).toBe('One two. Three')
    await session.interrupt({ heard })
    await session.interrupt({ heard: { type: 'sentence', index: 2, message: 't1' } })
    await world.time.until(session.send('next', { delivery: 'interrupt', heard }).answer)
    expect(textsTold(world.model, 'assistant')).toEqual(['One two. Three'])
  },
  'what was heard of an answer that is not there is refused, and nothing is cut': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'All of it.' }, AFTER] })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    const wrong: readonly Heard[] = [
      { type: 'sentence', index: 4 },
      { type: 'chars', chars: 2, message: 't9' },
      { type: 'words', words: 1, message: 'x' },
    ]
    for (const heard of wrong) {
      const refused = { code: 'invalid_event' }
      await expect(session.interrupt({ heard })).rejects.toMatchObject(refused)
      await expect(session.notify({ name: 'x', delivery: 'interrupt', heard })).rejects.toMatchObject(refused)
      await expect(session.send('x', { delivery: 'interrupt', heard }).answer).rejects.toMatchObject(refused)
    }
    await world.time.until(session.send('next').answer)
    expect(textsTold(world.model, 'assistant')).toEqual(['All of it.'])
  },
  ...forEachRow<[string, readonly (number | undefined)[], readonly string[]]>(
    'an interrupt of a program while a voice has %s',
    [
      ['played a part', [0, 4], ['One ']],
      ['only begun', [0], []],
      ['played more, and a late report says less', [8, 4], ['One two ']],
      ['reported nothing', [], ['One two ']],
      ['got all of it without a report of its own', [4, undefined], ['One two ']],
    ],
    async ({ createWorld }, [, reports, told]) => {
      const world = await createWorld({ steps: [SPEAKS, AFTER] })
      const session = await world.open()
      const voice = connectApp(session, { connection: 'voice' })
      const turn = session.send('go')
      await world.time.pass(250)
      for (const chars of reports) expect((await voice.display(1, chars)).type).toBe('accepted')
      await session.interrupt()
      await world.time.until(turn.answer)
      await world.time.until(session.send('next').answer)
      expect(textsTold(world.model, 'assistant')).toEqual(told)
    },
  ),
  'an urgent event that interrupts keeps what the voice has reported': async ({ createWorld }) => {
    const world = await createWorld({ steps: [SPEAKS, AFTER] })
    const session = await world.open()
    session.send('go').answer.catch(() => {})
    await world.time.pass(250)
    await connectApp(session, { connection: 'voice' }).display(1, 4)
    await session.notify({ name: 'door', delivery: 'interrupt' })
    await world.time.pass(2000)
    expect(textsTold(world.model, 'assistant')).toEqual(['One '])
  },
  'a tool that goes on after an interrupt: the next input is answered at once, and a note tells the outcome': async ({
    createWorld,
  }) => {
    const booked = Promise.withResolvers<string>()
    let runs = 0
    const book = act(
      () => {
        runs += 1
        return booked.promise
      },
      { effect: 'once', onInterrupt: 'detach', timeoutMs: 60_000 },
    )
    const world = await createWorld(calling(book))
    const session = await world.open()
    const turn = session.send('go')
    await world.time.pass(1000)
    const next = session.send('and the weather?', { delivery: 'interrupt' })
    expect((await world.time.until(turn.answer)).stop).toBe('cancelled')
    expect((await world.time.until(next.answer)).text).toBe('after')
    expect(resultsTold(world.model)).toEqual([
      { isError: false, text: 'Still running. The user spoke meanwhile; a note will report the outcome.' },
    ])
    booked.resolve('table 4')
    await world.time.pass(1000)
    await world.time.until(session.send('thanks').answer)
    expect(textsTold(world.model, 'user')).toEqual([
      'go',
      'and the weather?',
      expect.stringContaining('has ended: "table 4"'),
    ])
    expect(await world.facts('call-settled')).toMatchObject([{ settlement: { type: 'cancelled', detached: true } }])
    expect(runs).toBe(1)
  },
  'a tool that goes on after an interrupt ends at the end of its time, and is told so': async ({ createWorld }) => {
    const book = act(never, { effect: 'once', onInterrupt: 'detach', timeoutMs: 20_000 })
    const world = await createWorld(calling(book))
    const session = await world.open()
    session.send('go').answer.catch(() => {})
    await world.time.pass(1000)
    await world.time.until(session.send('next', { delivery: 'interrupt' }).answer)
    await world.time.pass(25_000)
    await world.time.until(session.send('more').answer)
    expect(textsTold(world.model, 'user').at(-1)).toContain('did not end in its time: it may have had its effect')
  },
  'an interrupt before the first word leaves nothing of the answer': async (stage) => {
    const interrupted = await interruptAt(stage, { afterMs: 50, init: { steps: [SPEAKS, AFTER] } })
    expect(interrupted).toMatchObject({ outcome: 'interrupted', told: [] })
  },
  ...forEachRow<[string, Partial<Tool>, string]>(
    'an interrupt while a %s tool runs',
    [
      ['pure', { effect: 'pure' }, 'cancelled'],
      ['finishing', { effect: 'idempotent', onInterrupt: 'finish' }, 'timed-out'],
      ['once', { effect: 'once', onInterrupt: 'cancel' }, 'unknown'],
    ],
    async (stage, [, more, settled]) => {
      const init = calling(act(never, { ...more, timeoutMs: 1000 }))
      const { world, outcome } = await interruptAt(stage, { afterMs: 10, init })
      expect(outcome).toBe('interrupted')
      const settlements = (await world.facts('call-settled')).map(({ settlement }) => settlement.type)
      expect(settlements).toEqual([settled])
    },
  ),
  'an interrupt while a call waits for a client, for a person or for another call settles it': async (stage) => {
    const waiting = [
      createClientTool('act'),
      act(() => 'never', { approval: true }),
      act(never, { parallel: false, timeoutMs: 60_000 }),
    ]
    for (const tool of waiting) {
      const { world, outcome } = await interruptAt(stage, { afterMs: 10, init: calling(tool) })
      expect(outcome).toBe('interrupted')
      expect(resultsTold(world.model)).toMatchObject([{ isError: true }])
      expect(await world.facts('call-settled')).toHaveLength(1)
    }
  },
  'an interrupt between two attempts ends the wait': async (stage) => {
    const busy = new BatonError({ code: 'model_overloaded', message: 'busy', retryable: true })
    const init: ContractWorldOptions = { steps: [{ error: busy }, AFTER], retry: { attempts: 3, baseMs: 60_000 } }
    const { world, outcome } = await interruptAt(stage, { afterMs: 100, init })
    expect(outcome).toBe('interrupted')
    expect(world.model.requests).toHaveLength(2)
  },
  'an interrupt of a paused turn ends it, and what waited goes on after the pause': async ({ createWorld }) => {
    const world = await createWorld({ steps: [SPEAKS, AFTER] })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.pass(150)
    await session.submit({ type: 'pause' })
    await session.interrupt()
    await session.submit({ type: 'continue' })
    expect((await world.time.until(turn.answer)).outcome).toBe('interrupted')
    expect((await world.time.until(session.send('next').answer)).text).toBe('after')
  },
  'an interrupt when nothing was ever said changes nothing': async ({ createWorld }) => {
    const world = await createWorld({ steps: [AFTER] })
    const session = await world.open()
    await session.interrupt()
    expect((await world.time.until(session.send('go').answer)).text).toBe('after')
  },
  'a second interrupt while the first one waits for the model changes nothing': async ({ createWorld }) => {
    const world = await createWorld({ steps: [SPEAKS, AFTER] })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.pass(250)
    await Promise.all([session.interrupt(), session.interrupt({ heard: { type: 'chars', chars: 0 } })])
    expect((await world.time.until(turn.answer)).outcome).toBe('interrupted')
    await world.time.until(session.send('next').answer)
    expect(textsTold(world.model, 'assistant')).toEqual(['One two '])
  },
  'an interrupt while the history is summarised ends the turn, and the next one goes on': async ({ createWorld }) => {
    const world = await createWorld({
      window: { contextTokens: 4000, reserveTokens: 500, actAtTokens: 1200, summarise: true } as never,
      steps: (request) =>
        request.toolChoice.type === 'none' && request.tools.length === 0 && request.instructions.startsWith('Summarise')
          ? { text: 'in short', pieceMs: 500 }
          : { text: 'words '.repeat(300) },
    })
    const session = await world.open()
    for (let turn = 0; turn < 4; turn++) {
      const sent = session.send('tell me more')
      await world.time.pass(100)
      if (session.phase === 'summarising') await session.interrupt()
      expect(['answered', 'interrupted']).toContain((await world.time.until(sent.answer)).outcome)
    }
    expect((await world.facts('summary-started')).length).toBeGreaterThan(0)
  },
}
