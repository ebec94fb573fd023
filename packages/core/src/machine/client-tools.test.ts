// Tools provided by clients: kept while their client is away, and run only by clients that provide them.
import { describe, expect, test } from 'vitest'
import type { Input } from './input.ts'
import { apply } from './apply.ts'
import { listClientTools } from './clients.ts'
import { initialState } from './state.ts'
import { clientTool, TestSession } from '../testing/test-session.ts'

function names(session: TestSession): readonly string[] {
  return listClientTools(session.state).map((tool) => tool.name)
}

const brought = (name: string) => ({ ...clientTool(name), description: '', inputSchema: {} })

describe('the tools of a client', () => {
  test('stand beside those of another, whose list is not overwritten', () => {
    const session = new TestSession().attach('editor').attach('phone')
    session.brings(['edit'], 'editor').brings(['camera']).brings(['camera', 'mic'])
    expect(names(session)).toEqual(['camera', 'edit', 'mic'])
    expect(names(session.brings([]))).toEqual(['edit'])
  })

  test('of the same name: the newest is told, and those of who is there come first', () => {
    const session = new TestSession().attach('old').attach('new')
    session.brings(['look.at'], 'old', { timeoutMs: 1 }).brings(['look.at'], 'new', { timeoutMs: 2 })
    expect(listClientTools(session.state).map((tool) => tool.timeoutMs)).toEqual([2])
    expect(listClientTools(session.detach('new').state).map((tool) => tool.timeoutMs)).toEqual([1])
  })

  test('run on the client that brought them, not on one that came later', () => {
    const session = new TestSession().attach('editor').brings(['edit'], 'editor').attach('phone').brings(['camera'])
    session.user('go').says({ calls: ['edit', 'camera'] })
    expect(session.call('call_1_0')).toMatchObject({ broughtBy: 'editor', offer: { connection: 'editor' } })
    expect(session.call('call_1_1')).toMatchObject({ broughtBy: 'phone', offer: { connection: 'phone' } })
  })

  test('wait for a client that is gone, and never go to a stranger', () => {
    const session = new TestSession().attach('editor').brings(['edit'], 'editor').attach('phone')
    session
      .user('go')
      .says({ calls: ['edit'] })
      .detach('editor')
    expect(session.call('call_1_0')).toMatchObject({ state: 'ready', clock: { mode: 'away' } })
    session.attach('desk')
    expect(session.call('call_1_0').state).toBe('ready')
    session.attach('editor')
    expect(session.call('call_1_0')).toMatchObject({ state: 'offered', offer: { connection: 'editor' } })
  })

  test('go to another client that brought the same name', () => {
    const session = new TestSession().attach('a').attach('b').brings(['edit'], 'b').brings(['edit'], 'a')
    session.user('go').says({ calls: ['edit'] })
    expect(session.call('call_1_0').offer?.connection).toBe('a')
    expect(session.detach('a').call('call_1_0').offer?.connection).toBe('b')
  })

  test('that it takes away go to another that has them, and end where none has', () => {
    const session = new TestSession().attach('a').attach('b').brings(['edit'], 'b').brings(['edit', 'mark'], 'a')
    session
      .user('go')
      .says({ calls: ['edit', 'mark'] })
      .brings([], 'a')
    expect(session.fact('call-returned')).toEqual({ type: 'call-returned', callId: 'call_1_0', reason: 'detach' })
    expect(session.call('call_1_0').offer?.connection).toBe('b')
    expect(session.fact('call-settled')).toMatchObject({ callId: 'call_1_1', settlement: { code: 'tool_gone' } })
  })

  test('outlive a restart of the host, and are there for calls until their client is back', () => {
    const session = new TestSession().attach('editor').brings(['edit'], 'editor').restart()
    session.user('go').says({ calls: ['edit'] })
    expect(session.call('call_1_0')).toMatchObject({ state: 'ready', broughtBy: 'editor' })
    expect(session.attach('phone').call('call_1_0').state).toBe('ready')
    expect(session.attach('editor').call('call_1_0').state).toBe('offered')
  })

  test('never run in the server, whatever their client says of them', () => {
    const session = new TestSession().attach().brings(['edit'], 'phone', { runs: 'server' })
    session.user('go').says({ calls: ['edit'] })
    expect(session.call('call_1_0')).toMatchObject({ runs: 'client', state: 'offered' })
  })

  test('give way to the agent’s own of the same name', () => {
    const session = new TestSession().attach().brings(['read', 'look'])
    session.user('go').says({ calls: ['read', 'look'] })
    expect(session.state.step?.calls.map((call) => call.broughtBy)).toEqual([undefined, undefined])
    expect(session.call('call_1_0').runs).toBe('server')
  })

  test('are brought by a client that is attached', () => {
    expect(new TestSession().refusal({ type: 'client-tools', connection: 'nobody', tools: [] })).toBe('illegal_input')
  })
})

describe('the list of a client that is gone', () => {
  test('loses the names that a newer client brings', () => {
    const session = new TestSession().attach('app1').brings(['camera', 'mic'], 'app1').detach('app1')
    session.attach('app2').brings(['camera'], 'app2')
    expect(session.facts[0]).toEqual({ type: 'client-tools-dropped', connection: 'app1', names: ['camera'] })
    expect(names(session)).toEqual(['camera', 'mic'])
    session.brings(['camera', 'mic'], 'app2')
    expect(session.state.clientTools).toHaveLength(1)
  })

  test('goes first when there is no room, the oldest before the newer', () => {
    const many = (from: number, count: number) => Array.from({ length: count }, (_, at) => `t${from + at}`)
    const session = new TestSession().attach('a').attach('b').attach('c').attach('d')
    session.brings(many(0, 50), 'a').brings(many(50, 50), 'b').brings(many(100, 20), 'c').detach('a').detach('b')
    session.brings(many(200, 50), 'd')
    expect(session.facts.slice(0, -1)).toEqual([{ type: 'client-tools-dropped', connection: 'a', names: many(0, 50) }])
    const more: Input = { type: 'client-tools', connection: 'd', tools: many(300, 109).map(brought) }
    expect(session.refusal(more)).toBe('rate_limited')
    expect(session.brings(many(300, 108), 'd').fact('client-tools-dropped').connection).toBe('b')
    expect(names(session)).toHaveLength(128)
  })

  test('that goes for want of room ends the calls that waited for it', () => {
    const session = new TestSession().attach('a').attach('b').brings(['edit'], 'a')
    session
      .user('go')
      .says({ calls: ['edit'] })
      .detach('a')
    session.brings(
      Array.from({ length: 128 }, (_, at) => `t${at}`),
      'b',
    )
    expect(session.fact('call-settled').settlement).toMatchObject({ code: 'tool_gone' })
  })
})

describe('an older record of client tools', () => {
  test('sets one list for all clients together, and any client may run them', () => {
    const session = new TestSession()
    session.state = apply(session.state, { type: 'client-tools-set', tools: [brought('camera')] })
    expect(session.state.clientTools).toEqual([{ connection: null, tools: [brought('camera')] }])
    const both = apply(session.state, { type: 'client-tools-set', connection: 'a', tools: [brought('mic')] })
    expect(listClientTools(both).map((tool) => tool.name)).toEqual(['camera', 'mic'])
    expect(apply(both, { type: 'client-tools-set', tools: [] }).clientTools).toHaveLength(1)
    expect(apply(initialState('s'), { type: 'client-tools-set', tools: [] }).clientTools).toEqual([])
  })
})
