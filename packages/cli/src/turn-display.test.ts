// What `baton chat` writes of a turn, event by event.
import type { TurnEvent } from '@baton/core'
import { expect, test } from 'vitest'
import { createScreen } from './screen.ts'
import { createTurnDisplay } from './turn-display.ts'

/** What is written, piece by piece, elsewhere than on a terminal. */
function told(events: readonly TurnEvent[]): readonly string[] {
  const pieces: string[] = []
  const write = (text: string): void => void pieces.push(text)
  const screen = createScreen({ writeText: write, writeNote: (text) => write(text.trimEnd()), color: false })
  const display = createTurnDisplay(screen)
  for (const [index, event] of events.entries()) display.show(event, index * 12)
  return pieces
}

const superseded = (reason: string): TurnEvent => ({ type: 'attempt-superseded', reason })
const said = (text: string): TurnEvent => ({ type: 'text-delta', text })
const call: TurnEvent = {
  type: 'call-proposed',
  call: { callId: 'c', name: 'look', arguments: '{}', settled: false },
}

test('a retry after which nothing is void says only that there is one, and why', () => {
  expect(told([superseded('failed'), superseded('fallback'), superseded('of a later version')])).toEqual([
    'the model is asked again: the last attempt failed',
    'the model is asked again: another model takes over',
    'the model is asked again: of a later version',
  ])
})

test('a retry after text was shown says that this text is void, once', () => {
  expect(told([said('Half an'), superseded('failed'), superseded('failed')])).toEqual([
    'Half an',
    '\n',
    'the model is asked again: the last attempt failed; what it said since its last call is void',
    'the model is asked again: the last attempt failed',
  ])
})

test('text before a call stays what it is', () => {
  expect(told([said('I look.'), call, superseded('failed')]).at(-1)).toBe(
    'the model is asked again: the last attempt failed',
  )
})

test('a call is shown with its arguments, and how it ended with its time', () => {
  const error = { type: 'error', code: 'tool_failed', message: 'no such\n file' } as const
  expect(
    told([
      call,
      { type: 'call-settled', callId: 'c', settlement: { type: 'ok', content: [] } },
      call,
      { type: 'call-settled', callId: 'c', settlement: error },
    ]),
  ).toEqual(['> look {}', '✓ look 12 ms', '> look {}', '✗ look 12 ms: no such file'])
})
