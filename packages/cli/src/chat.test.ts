// What `baton chat` writes of a turn, event by event.
import type { TurnEvent } from '@baton/core'
import { expect, test } from 'vitest'
import { tell } from './chat.ts'
import type { Console } from './console.ts'

async function told(events: readonly TurnEvent[]): Promise<readonly string[]> {
  const lines: string[] = []
  const terminal: Console = {
    variables: {},
    folder: '.',
    write: (text) => void lines.push(text),
    note: (line) => void lines.push(line),
    onStop: () => () => {},
  }
  async function* asTheyCome(): AsyncIterable<TurnEvent> {
    yield* events
    await Promise.resolve()
  }
  await tell(asTheyCome(), terminal)
  return lines
}

const superseded = (reason: string): TurnEvent => ({ type: 'attempt-superseded', reason })
const said = (text: string): TurnEvent => ({ type: 'text-delta', text })
const call: TurnEvent = {
  type: 'call-proposed',
  call: { callId: 'c', name: 'look', arguments: '{}', settled: false },
}

test('a retry after which nothing is void says only that there is one, and why', async () => {
  expect(await told([superseded('failed'), superseded('fallback'), superseded('of a later version')])).toEqual([
    'the model is asked again: the last attempt failed',
    'the model is asked again: another model takes over',
    'the model is asked again: of a later version',
  ])
})

test('a retry after text was shown says that this text is void, once', async () => {
  expect(await told([said('Half an'), superseded('failed'), superseded('failed')])).toEqual([
    'Half an',
    '\n',
    'the model is asked again: the last attempt failed; what it said since its last call is void',
    'the model is asked again: the last attempt failed',
  ])
})

test('text before a call stays what it is', async () => {
  expect((await told([said('I look.'), call, superseded('failed')])).at(-1)).toBe(
    'the model is asked again: the last attempt failed',
  )
})
