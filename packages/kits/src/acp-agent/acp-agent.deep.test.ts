// Another agent as a tool: what a person sees and is asked, what the next call continues, and that nothing hangs when
// it misbehaves.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CallView, SessionEvent } from '@baton/core'
import { createToolContext } from '@baton/core/testing'
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { AcpAgent, AcpAgentOptions } from './index.ts'
import { acpAgent } from './index.ts'

const ODD = fileURLToPath(new URL('odd-agent.test-kit.ts', import.meta.url))
const BATON = fileURLToPath(new URL('../../../cli/bin/baton.mjs', import.meta.url))

let place = ''
let ends: (() => Promise<unknown>)[] = []
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'baton-acp-agent-'))
})
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  ends = []
  rmSync(place, { recursive: true, force: true })
})

const journal = (): readonly { readonly method?: string; readonly params?: { readonly sessionId?: string } }[] =>
  readFileSync(join(place, 'journal'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object)

function openOdd(way: string, options: Partial<AcpAgentOptions> = {}): AcpAgent {
  writeFileSync(join(place, 'journal'), '')
  const args = ['--no-warnings', ODD, way, join(place, 'journal')]
  const agent = acpAgent({ command: process.execPath, args, title: 'Odd', approval: false, ...options })
  ends.push(() => agent.close())
  return agent
}

type Answered = (event: Extract<SessionEvent, { readonly type: 'question-asked' }>) => string | undefined

async function open({ tool }: AcpAgent, answer: Answered = () => undefined, name = 'work') {
  const task = { calls: [{ name: tool.name, arguments: { task: 'Change the notes.' } }] }
  const model = createScriptedModel({
    steps: ({ messages }) => (messages.at(-1)?.role === 'tool' ? { text: 'Done.' } : task),
  })
  const host = createHost({ agent: defineAgent({ name: 'boss', model, tools: [tool] }) })
  ends.push(() => host.stop())
  const session = await host.session(name)
  const seen = { progress: 0, asked: [] as string[], plans: 0 }
  const ask = async (onRunning?: () => Promise<unknown>): Promise<CallView> => {
    let settled: CallView | undefined
    for await (const event of session.send('Go.')) {
      if (event.type === 'call-progress') {
        seen.progress += 1
        if (seen.progress === 1) await onRunning?.()
      }
      if (event.type === 'question-asked') {
        seen.asked.push(event.message)
        const choice = answer(event)
        await session.answer({
          questionId: event.questionId,
          ...(choice === undefined ? { decline: true } : { value: { choice } }),
        })
      }
      if (event.type === 'call' && event.call.result) settled = event.call
    }
    if (!settled) throw new Error('no call was settled')
    return settled
  }
  return { session, ask, seen }
}

/** The odd agent names its sessions after its process. */
async function kill(sessionId: string | undefined): Promise<void> {
  const pid = Number(sessionId?.replace('session-', ''))
  process.kill(pid, 'SIGKILL')
  const isGone = (): boolean => {
    try {
      return !process.kill(pid, 0)
    } catch {
      return true
    }
  }
  await expect.poll(isGone).toBe(true)
}

/** A zombie process does not count. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

const valueOf = ({ result }: CallView): object => {
  if (result?.type !== 'ok') throw new Error(JSON.stringify(result))
  return result.value as object
}
const failureOf = ({ result }: CallView): string =>
  result && 'message' in result ? `${result.type}: ${result.message}` : JSON.stringify(result)

test('its text, its calls and its changes are the result, and its updates are progress', async () => {
  const { ask, seen } = await open(openOdd('works'))
  expect(valueOf(await ask())).toEqual({
    text: 'I look. \n\nIt was prompt 1.',
    stopReason: 'end_turn',
    calls: [{ id: 't1', title: 'Edit notes.md', kind: 'edit', status: 'completed' }],
    diffs: [{ path: '/work/notes.md', oldText: 'a', newText: 'b' }],
    resumed: false,
    truncated: false,
  })
  expect(seen.progress).toBeGreaterThan(0)
})

test('the next call goes on in the same session, also after the program has died', async () => {
  const agent = openOdd('works')
  const { ask } = await open(agent)
  await ask()
  expect(valueOf(await ask())).toMatchObject({ text: 'I look. \n\nIt was prompt 2.', resumed: true })
  const [id] = journal().flatMap(({ method, params }) => (method === 'session/prompt' ? [params?.sessionId] : []))
  await kill(id)
  const again = valueOf(await ask())
  // Earlier text is not repeated.
  expect(again).toMatchObject({ text: 'I look. \n\nIt was prompt 1.', resumed: true })
  expect(journal().map(({ method }) => method)).toContain('session/load')
})

test('an agent that cannot load a session begins a new one, and says so', async () => {
  const { ask } = await open(openOdd('forgets'))
  await ask()
  const [id] = journal().flatMap(({ method, params }) => (method === 'session/prompt' ? [params?.sessionId] : []))
  await kill(id)
  expect(valueOf(await ask())).toMatchObject({ resumed: false })
})

test('an agent that gives two sessions one id cannot mix them up', async () => {
  const agent = openOdd('works')
  const first = await open(agent)
  const second = await open(agent, undefined, 'other')
  expect(valueOf(await first.ask())).toMatchObject({ resumed: false })
  expect(failureOf(await second.ask())).toBe('error: Odd returned the same id for two sessions')
  expect(valueOf(await first.ask())).toMatchObject({ resumed: true })
})

test('calls of two sessions at once share one program, which ends with the agent', async () => {
  const agent = openOdd('many')
  const [one, other] = [await open(agent), await open(agent, undefined, 'other')]
  const calls = await Promise.all([one.ask(), other.ask()])
  expect(calls.map(({ result }) => result?.type)).toEqual(['ok', 'ok'])
  expect(journal().filter(({ method }) => method === 'initialize')).toHaveLength(1)
})

test('a call that is cancelled while another one starts the program opens no session', async () => {
  const { tool } = openOdd('many')
  const cancel = new AbortController()
  const call = async (session: string, signal: AbortSignal) =>
    await tool.execute?.({ task: 'Change the notes.' }, createToolContext({ session, signal }))
  const first = call('one', new AbortController().signal)
  const second = call('other', cancel.signal)
  cancel.abort(new Error('enough'))
  await expect(second).rejects.toThrow('enough')
  expect(await first).toMatchObject({ stopReason: 'end_turn' })
  expect(journal().filter(({ method }) => method === 'session/new')).toHaveLength(1)
})

test('a call that begins before the cancelled one has stopped keeps its answer and its permission requests', async () => {
  const { tool } = openOdd('stops-late')
  const asked: string[] = []
  const call = (session: string, signal = new AbortController().signal): Promise<unknown> => {
    const ask = async ({ message }: { readonly message: string }): Promise<never> => {
      asked.push(message)
      return { choice: 'Allow' } as never // an answer to its schema
    }
    return Promise.resolve(tool.execute?.({ task: 'Go.' }, createToolContext({ session, signal, ask })))
  }
  const prompts = (): number => journal().filter(({ method }) => method === 'session/prompt').length
  const cancel = new AbortController()
  const first = call('one', cancel.signal)
  await expect.poll(prompts).toBe(1)
  cancel.abort(new Error('enough'))
  const second = call('one')
  await expect(first).rejects.toThrow('enough')
  await call('other')
  expect(await second).toMatchObject({ text: 'I begin.Told: yes.', resumed: true })
  expect(asked).toEqual(['Odd asks: Delete the notes\n(delete) /work/notes.md'])
})

test('its sessions get the mode that is named, also after they are loaded', async () => {
  const { ask } = await open(openOdd('works', { mode: 'plan' }))
  await ask()
  const [id] = journal().flatMap(({ method, params }) => (method === 'session/prompt' ? [params?.sessionId] : []))
  await kill(id)
  await ask()
  const modes = journal().flatMap(({ method, params }) => (method === 'session/set_mode' ? [params] : []))
  expect(modes).toEqual([
    { sessionId: id, modeId: 'plan' },
    { sessionId: id, modeId: 'plan' },
  ])
})

test.each([
  ['works', 'Odd has no mode "wild"; its modes are "ask", "plan"'],
  ['forgets', 'Odd has no mode "wild"; it has no modes'],
])('a mode that an agent which %s does not have is an error, and no task begins', async (way, told) => {
  const { ask } = await open(openOdd(way, { mode: 'wild' }))
  expect(failureOf(await ask())).toBe(`error: ${told}`)
  expect(journal().map(({ method }) => method)).not.toContain('session/prompt')
})

test('it is ended at the end of its block', async () => {
  let tool: AcpAgent['tool'] | undefined
  {
    await using agent = openOdd('works')
    tool = agent.tool
  }
  const { ask } = await open({ tool, close: () => Promise.resolve(), [Symbol.asyncDispose]: () => Promise.resolve() })
  expect(failureOf(await ask())).toBe('error: Odd was closed')
})

test.each([
  ['Allow', 'Told: yes.'],
  ['Always', 'Told: always.'],
  [undefined, 'Told: no.'],
])('its permission request is a question; who answers %s is heard', async (choice, told) => {
  const { ask, seen } = await open(openOdd('asks'), () => choice)
  expect(valueOf(await ask())).toMatchObject({ text: told })
  expect(seen.asked).toEqual(['Odd asks: Delete the notes\n(delete) /work/notes.md'])
})

test('what it asks stands in one line each, and looks like nothing that Baton says', async () => {
  const { ask, seen } = await open(openOdd('lies'), (event) => JSON.stringify(event.schema).match(/Allow[^"]*/)?.[0])
  expect(valueOf(await ask())).toMatchObject({ text: 'Told: yes.' })
  const [title, about, ...more] = (seen.asked[0] ?? '').split('\n')
  expect(title).toMatch(/^Odd asks: Read notes\.md \(read\) \/work\/notes\.md deletex+…$/)
  expect([about, more]).toEqual(['(delete) /work/notes.md (read)', []])
})

test('what it has started ends with it, also where that ignores it', async () => {
  const agent = openOdd('stays')
  const { ask } = await open(agent)
  await ask()
  const child = join(place, 'journal.child')
  await expect.poll(() => existsSync(child)).toBe(true)
  const pid = Number(readFileSync(child, 'utf8'))
  await agent.close()
  // An orphaned process lingers until the system has noticed.
  await expect.poll(() => isRunning(pid)).toBe(false)
})

test.each([
  ['hangs', 'an agent that stops when it is told to'],
  ['ignores-cancel', 'an agent that does not stop, and is ended'],
])('an interrupt settles the call: %s, %s', async (way) => {
  const { ask, session } = await open(openOdd(way))
  await ask(async () => await session.interrupt()).catch(() => {})
  // The next message ends its grace period.
  const next = session.send('And now?')
  const settled = async () => {
    const message = (await session.messages()).messages.find(({ role }) => role === 'assistant')
    return message?.role === 'assistant' ? message.steps[0]?.calls[0]?.result?.type : undefined
  }
  await expect.poll(settled).toBe('unknown')
  await expect.poll(() => journal().some(({ method }) => method === 'session/cancel')).toBe(true)
  await session.interrupt()
  await next.answer.catch(() => {})
})

test('a time-out settles an agent that never answers', async () => {
  const { ask } = await open(openOdd('hangs', { timeoutMs: 1_500 }))
  expect(failureOf(await ask())).toMatch(/^unknown: /)
})

test.each([
  ['dies', /^error: Odd exited with code 3$/],
  ['floods', 'error: Odd sent more updates than allowed for one answer and was stopped'],
  ['long-line', /^error: Odd (?:did not answer: .+|was killed by SIGTERM|exited with code 1)$/],
  ['refuses', 'error: Odd did not answer: no \u001b[31mcredits\u001b[0m'],
  ['old', 'error: Odd speaks version 0 of the Agent Client Protocol, not 1'],
])('an agent that %s is an error of the call, and the turn goes on', async (way, said) => {
  const { ask } = await open(openOdd(way))
  expect(failureOf(await ask())).toMatch(said)
})

test('updates that cannot be read do not end the answer', async () => {
  const { ask } = await open(openOdd('malformed'))
  expect(valueOf(await ask())).toMatchObject({ text: expect.stringContaining('Still here.') })
})

test('an answer to nothing that was asked is not printed', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  ends.push(() => Promise.resolve(printed.mockRestore()))
  const { ask } = await open(openOdd('strays'))
  expect(valueOf(await ask())).toMatchObject({ text: 'Still here.' })
  expect(printed.mock.calls).toEqual([])
})

test('a line that is not a message does not end the answer', async () => {
  const { ask } = await open(openOdd('nonsense'))
  expect(valueOf(await ask())).toMatchObject({ text: 'Still here.' })
})

test('the error names a program that does not exist', async () => {
  const agent = acpAgent({ command: join(place, 'none'), title: 'None', approval: false })
  const { ask } = await open(agent)
  expect(failureOf(await ask())).toMatch(/^error: None could not be started: spawn .+ ENOENT$/)
})

test('a program that ends before it speaks the protocol is told, and where to see why', async () => {
  const args = ['-e', 'console.error("no key"); process.exit(4)']
  const { ask } = await open(acpAgent({ command: process.execPath, args, title: 'Mute', approval: false }))
  expect(failureOf(await ask())).toBe(
    'error: Mute exited with code 4; it had not yet spoken the Agent Client Protocol: run its command in a terminal to see why',
  )
})

test('the error names a folder that does not exist', async () => {
  const cwd = join(place, 'none')
  const agent = acpAgent({ command: process.execPath, title: 'Node', approval: false, cwd })
  const { ask } = await open(agent)
  expect(failureOf(await ask())).toBe(`error: Node could not be started: the folder ${cwd} does not exist`)
})

test('another Baton works as a tool, and its approval is asked here', async () => {
  const core = JSON.stringify(new URL('../../../core/src/', import.meta.url).href)
  writeFileSync(
    join(place, 'inner.ts'),
    `import { defineAgent, tool } from ${core.slice(0, -1)}index.ts"
import { createScriptedModel } from ${core.slice(0, -1)}testing/index.ts"
const mail = tool({ name: 'mail.send', description: 'Sends', input: { type: 'object' }, approval: true, execute: () => 'sent' })
const model = createScriptedModel({ steps: ({ messages }) => messages.at(-1)?.role === 'tool' ? { text: 'I sent it.' } : { calls: [{ name: 'mail.send', arguments: {} }] } })
export default defineAgent({ name: 'inner', model, tools: [mail] })
`,
  )
  const args = ['--no-warnings', BATON, 'acp', '--agent', join(place, 'inner.ts'), '--store', 'memory:']
  const agent = acpAgent({
    command: process.execPath,
    args,
    title: 'Inner',
    approval: false,
    cwd: place,
    env: { XDG_DATA_HOME: place, XDG_CONFIG_HOME: place },
  })
  ends.push(() => agent.close())
  const { ask, seen } = await open(agent, (event) => {
    const { properties } = event.schema as {
      readonly properties?: { readonly choice?: { readonly enum?: readonly string[] } }
    }
    return properties?.choice?.enum?.[0]
  })
  expect(valueOf(await ask())).toMatchObject({
    text: 'I sent it.',
    stopReason: 'end_turn',
    calls: [{ status: 'completed' }],
  })
  expect(seen.asked).toHaveLength(1)
  expect(seen.asked[0]).toContain('mail.send')
})

test('options are checked', () => {
  expect(() => acpAgent({ command: ' ' })).toThrow('command must name a program')
  expect(() => acpAgent({ command: 'x', arg: [] } as unknown as AcpAgentOptions)).toThrow('arg')
  expect(() => acpAgent({ cmd: 'x' } as unknown as AcpAgentOptions)).toThrow('it is called "command" here')
  expect(() => acpAgent({ command: 'x', args: [1] } as unknown as AcpAgentOptions)).toThrow(
    'args must contain only strings',
  )
  expect(() => acpAgent({ command: 'x', env: { A: 1 } } as unknown as AcpAgentOptions)).toThrow('env must contain only')
})

test('its updates are progress four times a second at most', async () => {
  let nowMs = 0
  const still = await open(openOdd('chatters', { clock: { nowMs: () => nowMs, monotonicMs: () => nowMs } }))
  await still.ask()
  expect(still.seen.progress).toBe(1)
  const ticking = await open(openOdd('chatters', { clock: { nowMs: () => nowMs, monotonicMs: () => (nowMs += 25) } }))
  await ticking.ask()
  // 200 updates in 5 seconds.
  expect(ticking.seen.progress).toBeGreaterThan(10)
  expect(ticking.seen.progress).toBeLessThanOrEqual(20 + 2)
})
