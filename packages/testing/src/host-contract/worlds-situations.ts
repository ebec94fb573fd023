// A session's world while it is open: another agent, tools that come and go, changes by a single step.
import type { StepChange, Tool, ToolSource } from '@baton/core/internal'
import { defineAgent } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect } from 'vitest'
import { act, listCalls, never, resultsTold, textsTold } from './situation-parts.ts'
import type { Situations } from './situation.ts'
import { forEachRow } from './situation.ts'

/** A source whose tools a test changes. */
function createSource(name: string, tools: readonly Tool[]) {
  const listeners = new Set<() => void>()
  const state = { tools, closed: 0 }
  const source: ToolSource = {
    name,
    list: () => Promise.resolve(state.tools),
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: async () => void (state.closed += 1),
  }
  const change = (next: readonly Tool[]): void => {
    state.tools = next
    for (const listener of listeners) listener()
  }
  return { source, change, state, listeners }
}

export const WORLD_SITUATIONS: Situations = {
  'a handle that names another agent changes it while the session is open; calls of tools that are gone settle':
    async ({ createWorld }) => {
      const world = await createWorld({
        tools: [act(never, { name: 'old', parallel: false }), act(() => 'new', { name: 'later', parallel: false })],
        steps: [listCalls('old', 'later'), { text: 'done' }],
      })
      const session = await world.open()
      const turn = session.send('go')
      await world.time.settle()
      const next = createScriptedModel({ steps: [{ text: 'next' }] })
      const other = defineAgent({ name: 'tested', model: [world.model, next], tools: [] })
      const again = await world.time.until(world.host.session(world.session, { agent: other }))
      await world.time.until(turn.answer)
      const [running, waiting] = resultsTold(world.model)
      expect(running?.text).toMatch(/tool_result_timeout/)
      expect(waiting?.text).toMatch(/was removed while its call was open/)
      expect(await world.facts('agent-changed')).toHaveLength(1)
      await again.close()
      // The same definition, recreated, changes nothing.
      await world.time.until(
        world.host.session(world.session, { agent: defineAgent({ ...other, model: other.models }) }),
      )
      expect(await world.facts('agent-changed')).toHaveLength(1)
    },
  'tools of a source come and go in a living session': async ({ createWorld }) => {
    const { source, change, state, listeners } = createSource('editor', [act(() => 'one', { name: 'one' })])
    const world = await createWorld({
      sources: [source],
      steps: [listCalls('one'), { text: 'a' }, listCalls('two', 'one'), { text: 'b' }],
    })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    expect(resultsTold(world.model)).toEqual([{ isError: false, text: 'one' }])
    change([act(() => 'two', { name: 'two' })])
    await world.time.settle()
    await world.time.until(session.send('go').answer)
    expect(resultsTold(world.model)).toEqual([
      { isError: false, text: 'two' },
      { isError: true, text: 'Error: there is no tool "one"' },
    ])
    expect(world.model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ['one'],
      ['one'],
      ['two'],
      ['two'],
    ])
    await session.close()
    await world.time.until(world.host.stop())
    expect([state.closed, listeners.size]).toEqual([1, 0])
  },
  'a source that fails or hangs has no tools, and the session opens all the same': async ({ createWorld }) => {
    const broken: ToolSource = { name: 'broken', list: () => Promise.reject(new Error('no such program')) }
    const hanging: ToolSource = { name: 'hanging', list: never }
    const odd: ToolSource = { name: 'odd', list: () => Promise.resolve('nonsense' as never) }
    const world = await createWorld({ sources: [broken, hanging, odd], steps: [{ text: 'done' }] })
    const session = await world.open()
    expect((await world.time.until(session.send('go').answer)).text).toBe('done')
    expect(world.warnings).toHaveLength(3)
    expect(new Set(world.warnings)).toEqual(new Set(['a tool source lists no tools']))
  },
  'what a source lists that is no tool is left out and logged, at the opening and later': async ({ createWorld }) => {
    const good = act(() => 'good', { name: 'good' })
    const bad = [null, 5, { name: 'x' }, { ...good, name: '' }, { ...good, effect: 'sometimes' }] as unknown as Tool[]
    const { source, change } = createSource('editor', [...bad, good])
    const world = await createWorld({ sources: [source], steps: [{ text: 'a' }, listCalls('good'), { text: 'b' }] })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    change([good, ...bad])
    await world.time.settle()
    expect((await world.time.until(session.send('go').answer)).text).toBe('b')
    expect(world.model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ['good'],
      ['good'],
      ['good'],
    ])
    expect(world.warnings).toEqual([
      'a tool source listed something that is not a tool',
      'a tool source listed something that is not a tool',
    ])
  },
  'an agent that differs by a policy or an execute alone is taken': async ({ createWorld }) => {
    const make = (said: string) => act(() => said, { effect: 'once' })
    const world = await createWorld({
      tools: [make('first')],
      steps: [listCalls('act'), { text: 'a' }, listCalls('act'), { text: 'b' }, listCalls('act'), { text: 'c' }],
    })
    const base = { name: 'tested', model: world.model }
    const ask = async (agent?: Parameters<typeof defineAgent>[0]) => {
      const init = agent && { agent: defineAgent(agent) }
      const session = await world.time.until(world.host.session(world.session, init))
      await world.time.until(session.send('go').answer)
      return resultsTold(world.model)[0]?.text
    }
    expect(await ask()).toBe('first')
    expect(await ask({ ...base, tools: [make('second')] })).toBe('second')
    expect(await ask({ ...base, tools: [make('third')], approvalPolicy: () => 'deny' })).toMatch(/a policy denies/)
    expect(await world.facts('agent-changed')).toHaveLength(0)
  },
  'a call that waits is validated again when its source has another tool of that name': async ({ createWorld }) => {
    const runs: unknown[] = []
    const make = (required: readonly string[]) => {
      const input = { type: 'object', properties: { to: { type: 'string' } }, required } as const
      return act((given) => void runs.push(given), { name: 'mail', approval: true, input, inputSchema: input })
    }
    const { source, change } = createSource('editor', [make([])])
    const world = await createWorld({ sources: [source], steps: [listCalls('mail'), { text: 'done' }] })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    change([make(['to'])])
    await world.time.settle()
    const [approval] = await session.approvals()
    await session.decide({ approvalId: approval?.approvalId ?? '', decision: 'approve' })
    await world.time.until(turn.answer)
    expect(runs).toEqual([])
    expect(resultsTold(world.model)).toMatchObject([{ isError: true, text: expect.stringMatching(/'to'/) as string }])
  },
  ...forEachRow<['first' | 'prefix', readonly string[]]>(
    'of two tools of one name, the policy "%s" decides which is kept',
    [
      ['first', ['look']],
      ['prefix', ['look', 'editor.look']],
    ],
    async ({ createWorld }, [collisions, names]) => {
      const { source } = createSource('editor', [act(() => 'theirs', { name: 'look' })])
      const own = act(() => 'ours', { name: 'look' })
      const world = await createWorld({
        tools: [own],
        sources: [source],
        collisions,
        steps: [listCalls('look'), { text: 'x' }],
      })
      const session = await world.open()
      await world.time.until(session.send('go').answer)
      expect(world.model.requests[0]?.tools.map(({ name }) => name)).toEqual(names)
      expect(resultsTold(world.model)).toEqual([{ isError: false, text: 'ours' }])
    },
  ),
  'two tools of one name are refused by default, with both places': async ({ createWorld }) => {
    const { source } = createSource('editor', [act(() => 'theirs', { name: 'look' })])
    const world = await createWorld({ tools: [act(() => 'ours', { name: 'look' })], sources: [source], steps: [] })
    await expect(world.open()).rejects.toMatchObject({
      code: 'invalid_agent',
      message: expect.stringMatching(/"editor" and the agent itself both have a tool named "look"/),
    })
  },
  'a step is prepared: other tools, model, instructions; a call of a tool that is not in force is denied': async ({
    createWorld,
  }) => {
    const other = createScriptedModel({ id: 'other/model', steps: () => listCalls('hidden') })
    const ran: string[] = []
    const hidden = act(() => void ran.push('hidden'), { name: 'hidden' })
    const steps: unknown[] = []
    const last = createScriptedModel({ id: 'last/model', steps: () => ({ text: 'done' }) })
    const world = await createWorld({
      tools: [hidden, act(() => 'ok')],
      models: [last, other],
      steps: [],
      prepareStep: (step) => {
        steps.push(step)
        return step.step === 1 ? { tools: ['act'], model: 'other/model', instructions: 'Be brief.' } : undefined
      },
    })
    const session = await world.open()
    expect((await world.time.until(session.send('go').answer)).text).toBe('done')
    expect(ran).toEqual([])
    expect(other.requests[0]).toMatchObject({ instructions: 'Be brief.', tools: [{ name: 'act' }] })
    expect(steps).toMatchObject([
      { session: world.session, step: 1, stepNumber: 0, rounds: 0, model: 'last/model', tools: ['hidden', 'act'] },
      { step: 2, stepNumber: 1, rounds: 1, tools: ['hidden', 'act'] },
    ])
    expect(resultsTold(last)[0]?.text).toBe('Error: the tool "hidden" is not offered in this step')
  },
  'what prepareStep gives is checked, and what it is given is a copy': async ({ createWorld }) => {
    for (const change of [
      { toolz: ['act'] },
      { tools: 5 },
      { tools: ['nope'] },
      { settings: { temperature: Number.NaN } },
      'x',
    ]) {
      const world = await createWorld({ steps: [{ text: 'x' }], prepareStep: () => change as never })
      const turn = (await world.open()).send('go')
      await expect(world.time.until(turn.answer)).rejects.toMatchObject({
        code: 'prepare_step_failed',
        message: expect.stringMatching(/^prepareStep of agent "tested" failed: /) as string,
      })
    }
    const world = await createWorld({
      steps: () => ({ text: 'x' }),
      prepareStep: ({ messages }) => {
        for (const { parts } of messages) for (const part of parts) Object.assign(part, { text: 'changed' })
        return { tools: ['result.read'] }
      },
    })
    const session = await world.open()
    await world.time.until(session.send('one').answer)
    await world.time.until(session.send('two').answer)
    expect(textsTold(world.model, 'user')).toEqual(['one', 'two'])
    expect(world.warnings).toEqual([])
  },
  'a prepared step says which of its names is wrong': async ({ createWorld }) => {
    const wrong: readonly [StepChange, string][] = [
      [{ tools: ['acts'] }, 'it names the tool "acts", which agent "tested" does not have; did you mean "act"?'],
      [
        { toolChoice: { type: 'tool', name: 'act' }, tools: ['result.read'] },
        'its toolChoice is "act", which its tools do not include',
      ],
      [{ activeTools: ['act'] } as object, 'it returned a field "activeTools"; Baton names it "tools"'],
      [{ messages: [] }, 'its field "messages" must have at least one message'],
      [{ model: 5 as never }, 'its field "model" must be the id of a model or a model of Baton, not 5'],
    ]
    for (const [change, why] of wrong) {
      const world = await createWorld({ tools: [act(() => 'ok')], steps: [{ text: 'x' }], prepareStep: () => change })
      await expect(world.time.until((await world.open()).send('go').answer)).rejects.toMatchObject({
        code: 'prepare_step_failed',
        message: `prepareStep of agent "tested" failed: ${why}`,
      })
    }
  },
  'a prepared step counts from 0 in each turn': async ({ createWorld }) => {
    const numbers: unknown[] = []
    const world = await createWorld({
      tools: [act(() => 'ok')],
      steps: [listCalls('act'), { text: 'one' }, listCalls('act'), { text: 'two' }],
      prepareStep: ({ stepNumber, rounds, step }) => void numbers.push([stepNumber, rounds, step]),
    })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    await world.time.until(session.send('again').answer)
    expect(numbers).toEqual([
      [0, 0, 1],
      [1, 1, 2],
      [0, 0, 3],
      [1, 1, 4],
    ])
  },
  'a prepared step may ask a model of its own with messages of its own, and the session keeps what was said': async ({
    createWorld,
  }) => {
    const brief = createScriptedModel({ id: 'brief/model', steps: () => ({ text: 'short' }) })
    const world = await createWorld({
      steps: [{ text: 'long' }],
      prepareStep: ({ messages }) => (messages.length < 3 ? undefined : { model: brief, messages: messages.slice(-1) }),
    })
    const session = await world.open()
    await world.time.until(session.send('one').answer)
    expect((await world.time.until(session.send('two').answer)).text).toBe('short')
    expect(textsTold(brief, 'user')).toEqual(['two'])
    expect((await session.messages()).messages).toHaveLength(4)
  },
  'another agent’s name is in the log, so that the session is found by it': async ({ createWorld }) => {
    const world = await createWorld({ steps: [] })
    await world.open()
    const agent = defineAgent({ name: 'other', model: world.model })
    await world.time.until(world.host.session(world.session, { agent }))
    expect(await world.facts('agent-changed')).toMatchObject([{ agent: 'other' }])
  },
  'a stranger is refused before its agent is taken': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'I am good' }] })
    const session = await world.open()
    const model = createScriptedModel({ steps: [{ text: 'I am evil' }] })
    const agent = defineAgent({ name: 'evil', model })
    const strange = world.host.session(world.session, { principal: { id: 'mallory' }, agent })
    await expect(world.time.until(strange)).rejects.toMatchObject({ code: 'unauthorized' })
    expect((await world.time.until(session.send('go').answer)).text).toBe('I am good')
  },
  'a prepared step that throws or hangs fails as a model call does, and says why': async ({ createWorld }) => {
    for (const prepareStep of [() => Promise.reject(new Error('no plan')), never] as const) {
      const world = await createWorld({ steps: [{ text: 'x' }], prepareStep })
      const session = await world.open()
      await expect(world.time.until(session.send('go').answer)).rejects.toThrow(/no plan|timed out after 30000 ms/)
    }
  },
}
