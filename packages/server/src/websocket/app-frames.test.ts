// An idle connection is reported after its time, whatever the wall clock says.
import { expect, test } from 'vitest'
import { IdleWatch } from './app-frames.ts'

const IDLE_MS = 1000

function start() {
  const state = { wallMs: 0, nowMs: 0, isBusy: false, idle: 0 }
  let due: { readonly atMs: number; readonly callback: () => void } | undefined
  const watch = new IdleWatch({
    clock: { nowMs: () => state.wallMs, monotonicMs: () => state.nowMs },
    timers: {
      start: (delayMs, callback) => {
        due = { atMs: state.nowMs + delayMs, callback }
        return () => (due = undefined)
      },
    },
    idleMs: IDLE_MS,
    isBusy: () => state.isBusy,
    onIdle: () => (state.idle += 1),
  })
  const pass = (ms: number): void => {
    state.nowMs += ms
    state.wallMs += ms
    if (due && due.atMs <= state.nowMs) due.callback()
  }
  return { state, watch, pass }
}

test('it reports idleness once after its time', () => {
  const { state, watch, pass } = start()
  pass(IDLE_MS - 1)
  watch.touch()
  pass(1)
  expect(state.idle).toBe(0)
  pass(IDLE_MS - 1)
  expect(state.idle).toBe(1)
})

test('busy time counts as activity', () => {
  const { state, pass } = start()
  state.isBusy = true
  pass(IDLE_MS)
  state.isBusy = false
  expect(state.idle).toBe(0)
  pass(IDLE_MS)
  expect(state.idle).toBe(1)
})

test.each([
  ['back', -86_400_000],
  ['forward', 86_400_000],
])('a clock that is set %s by a day changes nothing', (_, stepMs) => {
  const { state, watch, pass } = start()
  pass(100)
  state.wallMs += stepMs
  watch.touch()
  pass(IDLE_MS - 100)
  expect(state.idle).toBe(0)
  state.wallMs -= stepMs
  pass(100)
  expect(state.idle).toBe(1)
})
