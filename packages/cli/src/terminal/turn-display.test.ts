// Output of `baton chat` for a turn, event by event.
import type { CallResult, EventBody, StepResetReason } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { createScreen } from './screen.ts'
import { createTurnDisplay } from './turn-display.ts'

/** Returns the pieces written when the output is not a terminal. */
function told(events: readonly EventBody[]): readonly string[] {
  const pieces: string[] = []
  const write = (text: string): void => void pieces.push(text)
  const screen = createScreen({ writeText: write, writeNote: (text) => write(text.trimEnd()), color: false })
  const display = createTurnDisplay(screen)
  for (const [index, event] of events.entries()) display.show(event, index * 12)
  return pieces
}

const STEP = { message: 't1', step: 1 } as const
const reset = (reason: StepResetReason): EventBody => ({ type: 'step-reset', ...STEP, reason })
const said = (text: string): EventBody => ({ type: 'text', ...STEP, offset: 0, text })
const call = (callId: string, result?: CallResult): EventBody => {
  const view = { callId, ...STEP, name: 'look', input: {}, runs: 'server', effect: 'pure' } as const
  return { type: 'call', call: result ? { ...view, status: 'settled', result } : { ...view, status: 'running' } }
}

test('a retry without discarded text only gives its reason', () => {
  expect(told([reset('failed'), reset('empty'), reset('gave-up')])).toEqual([
    'retrying the model: the last attempt failed',
    'retrying the model: its answer was empty',
  ])
})

test('an answer that is not accepted is discarded, and its retry is shown', () => {
  expect(told([said('Perhaps.'), reset('refused')])).toEqual([
    'Perhaps.',
    '\n',
    'retrying the model: its answer was not accepted; its text since its last call is discarded',
  ])
})

test('a retry after text was shown says that this text is void, once', () => {
  expect(told([said('Half an'), reset('failed'), reset('failed')])).toEqual([
    'Half an',
    '\n',
    'retrying the model: the last attempt failed; its text since its last call is discarded',
    'retrying the model: the last attempt failed',
  ])
})

test('text before a call stays what it is', () => {
  expect(told([said('I look.'), call('c'), reset('failed')]).at(-1)).toBe('retrying the model: the last attempt failed')
})

test('a call is shown with its arguments, and how it ended with its time', () => {
  const error = { type: 'error', code: 'tool_failed', message: 'no such\n file' } as const
  expect(told([call('c'), call('c', { type: 'ok', content: [] }), call('d'), call('d', error)])).toEqual([
    '> look {}',
    '✓ look 12 ms',
    '> look {}',
    '✗ look 12 ms: no such file',
  ])
})

test('another model that takes over is named, with why', () => {
  const error = { code: 'model_overloaded', message: 'busy' } as const
  expect(
    told([
      said('Half'),
      { type: 'step-reset', ...STEP, reason: 'fallback', error },
      { type: 'step-started', ...STEP, attempt: 2, model: 'openai/gpt-5.6' },
    ]).at(-1),
  ).toBe('retrying the model: openai/gpt-5.6 takes over (busy); its text since its last call is discarded')
})

test('a reached limit is shown', () => {
  expect(told([{ type: 'limit', limit: 'output', used: 512, reached: true }])).toEqual([
    'the answer was cut at the maximum number of output tokens',
  ])
  expect(told([{ type: 'limit', limit: 'tokens', used: 8, max: 10, reached: false }])).toEqual([])
})
