// The runs behind the pictures in the docs show what the pages say about them.
import { expect, test } from 'vitest'
import { playReconnectedCall } from './reconnected-call.ts'
import { playRestartedTurn } from './restarted-turn.ts'

test('a turn is one trace across a restart, with a client tool and an approval', async () => {
  const { spans, text } = await playRestartedTurn()
  expect(text).toMatch(/Your room is booked\.$/)
  expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1)
  const turns = spans.filter(({ name }) => name.startsWith('invoke_agent'))
  expect(turns.map(({ events }) => events.map(({ name }) => name))).toEqual([['baton.host_restarted']])
  const outcomes = spans.map(({ name, attributes }) => `${name}: ${String(attributes['baton.outcome'] as string)}`)
  for (const outcome of [
    'execute_tool device.place: ok',
    'execute_tool rooms.book: ok',
    'approval rooms.book: approve',
  ])
    expect(outcomes.filter((other) => other === outcome)).toHaveLength(1)
})

test('a client runs a tool once, while it is offline, and its result settles the call after it is back', async () => {
  const moments = await playReconnectedCall()
  const find = (text: RegExp): readonly number[] => moments.filter((one) => text.test(one.text)).map(({ atMs }) => atMs)
  const [ran = -1, ...again] = find(/has run/)
  expect(again).toEqual([])
  expect(ran).toBeGreaterThan(find(/^waiting$/)[0] ?? Infinity)
  expect(ran).toBeLessThan(find(/^open$/)[0] ?? -1)
  expect(find(/: settled$/)).toEqual([expect.any(Number)])
  expect(find(/Yes, it is locked/)[0]).toBeGreaterThan(find(/: settled$/)[0] ?? Infinity)
})
