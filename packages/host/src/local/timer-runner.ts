// Runs the machine's timers on the injected ones.
import type { Environment } from '@baton/core'
import type { Effect, Input } from '@baton/core/machine'

type SetTimer = Extract<Effect, { readonly type: 'set-timer' }>

export interface TimerRunner {
  set(effect: SetTimer): void
  clear(timer: string, generation: number): void
  close(): void
}

export function createTimerRunner(environment: Environment, submit: (input: Input) => Promise<unknown>): TimerRunner {
  const running = new Map<string, () => void>()

  const set = (effect: SetTimer): void => {
    const { timer, generation, atMs } = effect
    const key = `${timer}:${generation}`
    const cancel = environment.timers.start(Math.max(0, atMs - environment.clock.nowMs()), () => {
      running.delete(key)
      // A system timer takes no more than 24 days and may fire early: then it is set again.
      if (environment.clock.nowMs() < atMs) set(effect)
      // A session that died needs no timers: its successor sets them anew.
      else submit({ type: 'timer-fired', timer, generation }).catch(() => {})
    })
    running.set(key, cancel)
  }

  return {
    set,
    clear: (timer, generation) => {
      const key = `${timer}:${generation}`
      running.get(key)?.()
      running.delete(key)
    },
    close: () => {
      for (const cancel of running.values()) cancel()
      running.clear()
    },
  }
}
