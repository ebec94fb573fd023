// A host that stops lets running turns end, and the tools that interrupted ones left behind: it looks again and again, for so long at most.
import type { Environment } from '@baton/core'
import { readMonotonicMs } from '@baton/core'
import type { State } from '@baton/core/machine'

/** Milliseconds between two looks at whether the running turns have ended. */
const LOOK_MS = 20

export async function waitForTurns(
  { clock, timers }: Pick<Environment, 'clock' | 'timers'>,
  drainMs: number,
  isBusy: () => boolean,
): Promise<void> {
  const untilMs = readMonotonicMs(clock) + drainMs
  while (isBusy() && readMonotonicMs(clock) < untilMs)
    await new Promise<void>((resolve) => void timers.start(LOOK_MS, resolve))
}

/** Whether a turn runs, or a tool that an interrupted turn left behind. */
export function hasRunningWork({ turn, step, detached }: State): boolean {
  return turn !== null || detached.length > 0 || (step?.calls ?? []).some(({ state }) => state === 'started')
}
