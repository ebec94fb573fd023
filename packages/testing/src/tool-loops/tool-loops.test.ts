// A model that repeats the same call again and again: the results it reads, the calls that run, and exemptions.
import type { ModelRequest, Tool } from '@baton/core'
import { createHost, createMemoryStore, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { expect, test } from 'vitest'

const call = (name: string, input: object = {}) => ({ calls: [{ name, arguments: { ...input } }] })
const DONE = { text: 'Done.' }

interface Played {
  readonly ran: number
  readonly results: readonly string[]
  /** Note at the end of the user's side of each request. */
  readonly notes: readonly (string | undefined)[]
}

function createStatusTool(
  answer: (run: number) => unknown,
  options: Partial<Tool> = {},
): { readonly tool: Tool; ran: number } {
  const counted = { ran: 0, tool: undefined as unknown as Tool }
  counted.tool = tool({
    name: 'status',
    description: 'The state of the build',
    input: { type: 'object' },
    effect: 'pure',
    ...(options.polls !== undefined && { polls: options.polls }),
    execute: () => answer((counted.ran += 1)),
  })
  return counted
}

async function play(steps: readonly object[], status: { readonly tool: Tool; readonly ran: number }): Promise<Played> {
  const model = createScriptedModel({ steps: [...steps, DONE] as Parameters<typeof createScriptedModel>[0]['steps'] })
  const other = tool({
    name: 'other',
    description: 'Another',
    input: { type: 'object' },
    effect: 'pure',
    execute: () => 'x',
  })
  const host = createHost({
    agent: defineAgent({ name: 'builder', model, tools: [status.tool, other] }),
    store: createMemoryStore(),
  })
  const session = await host.session('one')
  const results: string[] = []
  for await (const event of session.send('Is it built?'))
    if (event.type === 'call' && event.call.result && event.call.name === 'status')
      results.push(
        'message' in event.call.result
          ? `${event.call.result.type}: ${event.call.result.message}`
          : event.call.result.type,
      )
  await host.stop()
  return { ran: status.ran, results, notes: model.requests.map(readNote) }
}

function readNote({ messages }: ModelRequest): string | undefined {
  const last = messages.at(-1)
  const [part] = last?.role === 'user' && messages.length > 1 ? last.parts : []
  return part?.type === 'text' ? part.text : undefined
}

test('the same call with the same result: the model is told at three, and the fifth does not run', async () => {
  const { ran, results, notes } = await play(
    Array.from({ length: 6 }, () => call('status', { id: 1, of: 'x' })),
    createStatusTool(() => 'running'),
  )
  expect(ran).toBe(4)
  expect(results).toEqual([
    'ok',
    'ok',
    'ok',
    'ok',
    expect.stringContaining('denied: the same call of "status" gave the same result 4 times in a row') as string,
    expect.stringContaining('denied') as string,
  ])
  expect(notes.slice(0, 3)).toEqual([undefined, undefined, undefined])
  expect(notes[3]).toContain('You have called "status" 3 times with the same arguments')
  expect(notes[4]).toContain('"status" 4 times')
})

test('the order of the arguments is no difference, and other calls in between do not help', async () => {
  const steps = [call('status', { a: 1, b: 2 }), call('other'), call('status', { b: 2, a: 1 }), call('other')]
  const { ran, notes } = await play(
    [...steps, ...steps, call('status', { a: 1, b: 2 })],
    createStatusTool(() => 'running'),
  )
  expect(ran).toBe(4)
  expect(notes.some((note) => note?.includes('"status" 3 times'))).toBe(true)
})

test('another result, or other arguments, begin anew', async () => {
  const changing = await play(
    Array.from({ length: 8 }, () => call('status')),
    createStatusTool((run) => `${Math.ceil(run / 2)} %`),
  )
  expect(changing.ran).toBe(8)
  expect(changing.notes.every((note) => note === undefined)).toBe(true)
  const steps = Array.from({ length: 8 }, (_, index) => call('status', { page: index }))
  expect(
    (
      await play(
        steps,
        createStatusTool(() => 'running'),
      )
    ).ran,
  ).toBe(8)
})

test('a tool that polls may be called as often as it likes', async () => {
  const { ran, notes } = await play(
    Array.from({ length: 8 }, () => call('status')),
    createStatusTool(() => 'running', { polls: true }),
  )
  expect(ran).toBe(8)
  expect(notes.every((note) => note === undefined)).toBe(true)
})

test('what the user says next begins anew', async () => {
  const status = createStatusTool(() => 'running')
  const again = Array.from({ length: 3 }, () => call('status'))
  const model = createScriptedModel({ steps: [...again, DONE, ...again, DONE] })
  const host = createHost({ agent: defineAgent({ name: 'builder', model, tools: [status.tool] }) })
  const session = await host.session('one')
  await session.send('Is it built?').answer
  await session.send('And now?').answer
  await host.stop()
  expect(status.ran).toBe(6)
})
