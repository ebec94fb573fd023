// Lets a stopping host wait for running turns and detached tools, by polling up to a limit.
import type { Environment } from '@baton/core/internal'
import { readMonotonicMs } from '@baton/core/internal'
import type { State } from '@baton/core/machine'

/** Milliseconds between two polls. */
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

/** Whether a turn or a detached tool is running. */
export function hasRunningWork({ turn, step, detached }: State): boolean {
  return turn !== null || detached.length > 0 || (step?.calls ?? []).some(({ state }) => state === 'started')
}
