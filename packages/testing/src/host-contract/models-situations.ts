// Model calls through the Session API: interrupts, retries, fallback, and models that hang, throw or ignore their
// signal.
import type { Model, SessionEvent } from '@baton/core'
import { BatonError } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect } from 'vitest'
import { act, listCalls, never, textsTold } from './situation-parts.ts'
import type { Situations } from './situation.ts'
import { forEachRow } from './situation.ts'

const overloaded = new BatonError({ code: 'model_overloaded', message: 'busy', retryable: true })

export const MODEL_SITUATIONS: Situations = {
  'an interrupt while the model speaks keeps what it had said': async ({ createWorld }) => {
    const pieces = ['One ', 'two ', 'three ', 'four']
    const world = await createWorld({ steps: [{ pieces, pieceMs: 100 }, { text: 'fine' }] })
    const session = await world.open()
    const turn = session.send('count')
    await world.time.pass(250)
    await session.interrupt()
    expect(await turn.answer).toMatchObject({ outcome: 'interrupted', text: 'One two ' })
    await world.time.until(session.send('go on').answer)
    expect(textsTold(world.model, 'assistant')).toEqual(['One two '])
  },
  'a fallback that is not configured fails when it is asked, and keeps the first model from nothing': async ({
    createWorld,
  }) => {
    const first = createScriptedModel({
      id: 'first/model',
      steps: [{ text: 'fine' }, { error: new BatonError({ code: 'model_not_found', message: 'gone' }) }],
    })
    const modelOf = (id: string): Model => {
      throw new BatonError({ code: 'model_not_configured', message: `${id} has no key` })
    }
    const world = await createWorld({ models: [first, 'second/model'], steps: [], catalog: { modelOf } })
    const session = await world.open()
    expect((await world.time.until(session.send('one').answer)).text).toBe('fine')
    const failed = await world.time.until(session.send('two').answer.catch((cause: unknown) => cause))
    expect(failed).toMatchObject({ code: 'model_not_configured' })
  },
  'a model that ignores its signal does not hold up an interrupt': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'Well, ', hangs: 'for-ever' }, { text: 'fine' }] })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    await session.interrupt()
    await world.time.settle()
    expect(session.phase).toBe('idle')
    expect((await turn.answer).outcome).toBe('interrupted')
    expect((await world.time.until(session.send('again').answer)).text).toBe('fine')
  },
  'an interrupt that is committed together with its turn ends it at once, and no model is called': async ({
    createWorld,
  }) => {
    const world = await createWorld({ steps: [{ text: 'never asked' }] })
    const session = await world.open()
    const before = session.submit({ type: 'set-model', model: 'scripted/model' })
    const turn = session.send('go')
    await Promise.all([before, session.interrupt()])
    await world.time.settle()
    expect(session.phase).toBe('idle')
    expect((await turn.answer).outcome).toBe('interrupted')
    expect(world.model.requests).toHaveLength(0)
  },
  'a model that hangs for ever ends with the time of the turn': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ hangs: 'for-ever' }], limits: { turnMs: 30_000 } })
    const session = await world.open()
    const turn = session.send('go')
    await expect(world.time.until(turn.answer)).rejects.toMatchObject({ code: 'turn_time_exceeded' })
    expect(session.phase).toBe('idle')
  },
  'a model that says nothing in the time for its first word fails its turn': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ hangs: 'until-aborted' }], limits: { firstWordMs: 20_000 } })
    const session = await world.open()
    const turn = session.send('go')
    await expect(world.time.until(turn.answer)).rejects.toMatchObject({ code: 'model_timeout' })
    expect(session.phase).toBe('idle')
  },
  'an answer that grows over its bound while it is streamed fails its turn': async ({ createWorld }) => {
    const steps = () => ({ pieces: ['One ', 'two ', 'three '], pieceMs: 10, hangs: 'until-aborted' as const })
    const world = await createWorld({ steps, limits: { answerChars: 10 } })
    const session = await world.open()
    const turn = session.send('go')
    await expect(world.time.until(turn.answer)).rejects.toMatchObject({ code: 'model_answer_too_large' })
    expect(session.phase).toBe('idle')
  },
  'a model that fails is asked again after a pause that grows, then the turn fails with its code': async ({
    createWorld,
  }) => {
    const world = await createWorld({ steps: () => ({ error: overloaded }), retry: { attempts: 3, baseMs: 1000 } })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    expect(world.model.requests).toHaveLength(1)
    await world.time.pass(1000)
    expect(world.model.requests).toHaveLength(2)
    await world.time.pass(400)
    expect(world.model.requests).toHaveLength(2)
    await expect(world.time.until(turn.answer)).rejects.toMatchObject({ code: 'model_overloaded', message: 'busy' })
    expect(world.model.requests).toHaveLength(3)
  },
  'text of a failed attempt is superseded, and only the new one is the answer': async ({ createWorld }) => {
    const steps = [{ text: 'Half an ans', error: overloaded }, { text: 'A whole answer' }]
    const world = await createWorld({ steps })
    const session = await world.open()
    const turn = session.send('go')
    const answer = await world.time.until(turn.answer)
    expect(answer.text).toBe('A whole answer')
    const events = []
    for await (const event of turn) events.push(event.type)
    expect(events.filter((type) => /^(text|step-reset|turn-finished)$/.test(type))).toEqual([
      'text',
      'step-reset',
      'text',
      'turn-finished',
    ])
  },
  'whoever reads a turn that fails gets its end, and then its error': async ({ createWorld }) => {
    const error = new BatonError({ code: 'model_auth_failed', message: 'no key', retryable: false })
    const world = await createWorld({ steps: () => ({ error }) })
    const session = await world.open()
    const turn = session.send('go')
    const events: SessionEvent[] = []
    const read = async (): Promise<void> => {
      for await (const event of turn) events.push(event)
    }
    await expect(world.time.until(read())).rejects.toMatchObject({ code: 'model_auth_failed' })
    await expect(turn.answer).rejects.toMatchObject({ code: 'model_auth_failed' })
    expect(events.at(-1)).toMatchObject({
      type: 'turn-finished',
      stop: 'failed',
      error: { code: 'model_auth_failed', message: 'no key' },
    })
  },
  'the second model answers where the first cannot': async ({ createWorld }) => {
    const refuses = createScriptedModel({
      id: 'one/refuses',
      steps: () => ({ error: new BatonError({ code: 'model_auth_failed', message: 'no key', retryable: false }) }),
    })
    const answers = createScriptedModel({ id: 'two/answers', steps: [{ text: 'from two' }] })
    const world = await createWorld({ steps: [], models: [refuses, answers] })
    const session = await world.open()
    expect((await world.time.until(session.send('go').answer)).text).toBe('from two')
    expect(await world.facts('attempt-superseded')).toMatchObject([{ reason: 'fallback' }])
  },
  ...forEachRow<[string, Model['run'], string, string?]>(
    'a model that %s fails its turn, with a code',
    [
      [
        'throws before it begins',
        () => {
          throw new Error('not even a promise')
        },
        'not even a promise',
      ],
      [
        'throws nothing',
        () => {
          throw undefined
        },
        'the model did not say why it failed',
      ],
      [
        'throws what cannot be shown',
        () => Promise.reject(Object.assign(Object.create(null), { a: 1n })),
        'the model did not say why it failed',
      ],
      [
        'answers with nothing',
        () => Promise.resolve(undefined as never),
        'the model returned an invalid answer: it must be an object, not undefined',
        'model_malformed_answer',
      ],
    ],
    async ({ createWorld }, [, run, message, code = 'model_provider_failed']) => {
      const model: Model = { id: 'odd/model', provider: 'odd', capabilities: { tools: 'native', images: true }, run }
      const world = await createWorld({ steps: [], models: model })
      const session = await world.open()
      await expect(world.time.until(session.send('go').answer)).rejects.toMatchObject({
        code,
        message,
      })
      expect(session.phase).toBe('idle')
    },
  ),
  ...forEachRow<[string, readonly (number | undefined)[], number | undefined]>(
    'the cost of a turn is %s',
    [
      ['the sum of its steps', [3, 4], 7],
      ['not known when that of one step is not', [undefined, 4], undefined],
    ],
    async ({ createWorld }, [, costs, expected]) => {
      let asked = 0
      const priceOf = (): number | undefined => costs[asked++]
      const world = await createWorld({
        tools: [act(() => 'x')],
        steps: [listCalls('act'), { text: 'ok' }],
        catalog: { priceOf },
      })
      const session = await world.open()
      expect((await world.time.until(session.send('go').answer)).usage.costMicros).toBe(expected)
    },
  ),
  'a model that nobody knows is refused, and the next turn works': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'known' }] })
    const session = await world.open()
    await expect(session.send('go', { model: 'no/such' }).answer).rejects.toMatchObject({ code: 'unknown_model' })
    const set = await session.submit({ type: 'set-model', model: 'no/such' })
    expect(set).toMatchObject({ type: 'refused', code: 'unknown_model' })
    expect((await world.time.until(session.send('go').answer)).text).toBe('known')
    expect(await world.facts('attempt-superseded')).toEqual([])
  },
  'a stream of a hundred thousand pieces at once is one whole answer': async ({ createWorld }) => {
    const pieces = Array.from({ length: 100_000 }, (_, index) => `${index} `)
    const run: Model['run'] = (_, sink) => {
      for (const text of pieces) sink({ type: 'text-delta', text })
      const answer = { parts: [{ type: 'text', text: pieces.join('') }], finish: 'end', usage: {}, model: 'm' } as const
      return Promise.resolve(answer)
    }
    const model: Model = { id: 'fast/model', provider: 'fast', capabilities: { tools: 'native', images: true }, run }
    const world = await createWorld({ steps: [], models: model })
    const session = await world.open()
    const turn = session.send('go')
    expect((await world.time.until(turn.answer)).text).toBe(pieces.join(''))
    let read = ''
    let events = 0
    for await (const event of turn) {
      events += 1
      if (event.type === 'text') read += event.text
    }
    expect(read).toBe(pieces.join(''))
    expect(events).toBeLessThan(10)
  },
  'what a model says after it was stopped reaches nobody': async ({ createWorld }) => {
    const sinks: Parameters<Model['run']>[1][] = []
    const run: Model['run'] = (_, sink) => {
      sinks.push(sink)
      sink({ type: 'text-delta', text: 'in time' })
      return never()
    }
    const model: Model = { id: 'late/model', provider: 'late', capabilities: { tools: 'native', images: true }, run }
    const world = await createWorld({ steps: [], models: model })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    const text: string[] = []
    const reader = session.events()[Symbol.asyncIterator]()
    await session.interrupt()
    await turn.answer
    sinks[0]?.({ type: 'text-delta', text: 'too late' })
    await session.close()
    for (let next = await reader.next(); next.done !== true; next = await reader.next())
      if (next.value.type === 'text') text.push(next.value.text)
    expect(text).toEqual([])
  },
  'when the rounds are used up the model answers without tools': async ({ createWorld }) => {
    const world = await createWorld({
      tools: [act(() => 1)],
      limits: { toolRounds: 2 },
      steps: (request) => (request.toolChoice.type === 'none' ? { text: 'that is all' } : listCalls('act')),
    })
    const session = await world.open()
    expect((await world.time.until(session.send('go').answer)).text).toBe('that is all')
    expect(world.model.requests).toHaveLength(3)
    expect(world.model.requests[2]?.tools.map(({ name }) => name)).toEqual(['act'])
  },
  ...forEachRow(
    '%s among a model’s counts is dropped, and what is replayed is what was lived',
    [
      ['NaN', Number.NaN],
      ['Infinity', Number.POSITIVE_INFINITY],
      ['-1', -1],
      ['a word', 'many' as never],
    ],
    async ({ createWorld }, [, count]) => {
      const usage = { inputTokens: count, outputTokens: 7, reasoningTokens: undefined as never, odd: count }
      const run = () =>
        Promise.resolve({ parts: [{ type: 'text', text: 'fine' }], finish: 'end', usage, model: 'm' } as const)
      const model: Model = { id: 'odd/model', provider: 'odd', capabilities: { tools: 'native', images: true }, run }
      const world = await createWorld({ steps: [], models: model })
      const session = await world.open()
      expect((await world.time.until(session.send('go').answer)).usage).toEqual({ outputTokens: 7 })
      expect((await world.facts('step-finished')).map((fact) => fact.usage)).toEqual([{ outputTokens: 7 }])
      const records = await world.records()
      expect(JSON.parse(JSON.stringify(records))).toEqual(records)
    },
  ),
  ...forEachRow(
    'a wait of %s that a model asks for is no wait of its own',
    [[Number.NaN], [Number.POSITIVE_INFINITY], [-5]],
    async ({ createWorld }, [retryAfterMs]) => {
      const busy = new BatonError({ code: 'model_overloaded', message: 'busy', data: { retryAfterMs } })
      const world = await createWorld({
        steps: [{ error: busy }, { text: 'fine' }],
        retry: { attempts: 2, baseMs: 1000 },
      })
      const session = await world.open()
      expect((await world.time.until(session.send('go').answer)).text).toBe('fine')
      expect(world.time.nowMs()).toBeLessThan(10 ** 12 + 3000)
      const records = await world.records()
      expect(JSON.parse(JSON.stringify(records))).toEqual(records)
    },
  ),
  'a summary is asked for with what was said and called, and stands in its place': async ({ createWorld }) => {
    const window = { contextTokens: 4000, reserveTokens: 500, actAtTokens: 1200, keepExchanges: 1, summarise: true }
    const world = await createWorld({
      window: window as never, // the contract's own field is narrower
      tools: [act(() => 'seen')],
      steps: ({ instructions, messages }) => {
        if (instructions.startsWith('Summarise')) return { text: 'The user asked, and act was called.' }
        return messages.at(-1)?.role === 'user' ? listCalls('act') : { text: 'words '.repeat(300) }
      },
    })
    const session = await world.open()
    for (const text of ['first', 'second', 'third', 'fourth']) await world.time.until(session.send(text).answer)
    const [summary] = world.model.requests.filter(({ instructions }) => instructions.startsWith('Summarise'))
    expect(summary).toMatchObject({ tools: [], toolChoice: { type: 'none' }, settings: { maxOutputTokens: 512 } })
    expect(JSON.stringify(summary?.messages)).toContain(
      'user: first\\n\\nassistant: [calls act {}]\\n\\ntool: [act gave seen]',
    )
    expect((await world.facts('summary-finished')).length).toBeGreaterThan(0)
    const [told = ''] = textsTold(world.model, 'user')
    expect(told).toContain('The user asked, and act was called.')
    expect(told).not.toContain('first')
  },
  'turns go to the next candidate at once while the first one is left alone, and the last one is always asked': async ({
    createWorld,
  }) => {
    const error = new BatonError({ code: 'model_overloaded', message: 'busy', retryable: true })
    const failing = (id: string) => createScriptedModel({ id, steps: () => ({ error }) })
    const first = failing('first')
    const spare = createScriptedModel({ id: 'spare', steps: () => ({ text: 'spare' }) })
    const world = await createWorld({ steps: [], models: [first, spare] })
    const session = await world.open()
    for (let turn = 0; turn < 4; turn++) expect((await world.time.until(session.send('go').answer)).text).toBe('spare')
    expect(first.requests).toHaveLength(5)
    const alone = failing('alone')
    const lonely = await createWorld({ steps: [], models: alone })
    const other = await lonely.open()
    for (let turn = 0; turn < 3; turn++)
      await expect(lonely.time.until(other.send('go').answer)).rejects.toMatchObject({ code: 'model_overloaded' })
    expect(alone.requests).toHaveLength(9)
  },
}
