// Time that only the test moves. Timers that are due run at once, in the order in which they were started.

export function createTime() {
  let nowMs = Date.UTC(2026, 0, 1)
  const waiting = new Set<{ readonly atMs: number; readonly callback: () => void }>()
  const start = (delayMs: number, callback: () => void) => {
    const timer = { atMs: nowMs + delayMs, callback }
    waiting.add(timer)
    return () => void waiting.delete(timer)
  }
  const pass = (byMs: number): void => {
    nowMs += byMs
    for (const timer of waiting)
      if (timer.atMs <= nowMs) {
        waiting.delete(timer)
        timer.callback()
      }
  }
  return { clock: { nowMs: () => nowMs }, timers: { start }, pass }
}
