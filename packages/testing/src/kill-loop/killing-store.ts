// A store whose process kills itself with SIGKILL around a chosen record, for tests of dying servers.
import type { Store } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { setTimeout } from 'node:timers/promises'
import type { KillPlan } from './plan.ts'

/**
 * Kills the process around the write of the chosen record, which is then either lost, or stored without an
 * acknowledgement.
 */
export function killingAt<Killing extends Pick<Store, 'append' | 'put'>>(store: Killing, plan: KillPlan): Killing {
  let writes = 0
  const around = async <Value>(
    session: string,
    records: readonly SessionRecord[],
    write: () => Promise<Value>,
  ): Promise<Value> => {
    writes += 1
    const isIt = (plan.session ?? session) === session && records.some((record) => fits(record, plan, writes))
    if (isIt && plan.moment === 'before') die()
    const written = await write()
    if (isIt && plan.moment === 'after') die()
    // This record's effects are performed, and the process dies before the next record.
    if (isIt && plan.moment === 'later') void setTimeout(plan.laterMs).then(die)
    return written
  }
  return {
    ...store,
    append: (session, epoch, afterPos, records) =>
      around(session, records, () => store.append(session, epoch, afterPos, records)),
    put: (session, records, under) => around(session, records, () => store.put(session, records, under)),
  }
}

function fits({ pos, input }: SessionRecord, { at }: KillPlan, writes: number): boolean {
  if (typeof at === 'object') return at.write === writes
  return typeof at === 'number' ? pos === at : input.type === at
}

/** Kills this process immediately with SIGKILL. */
export function die(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal ends the thread before this loop does.
  for (;;);
}
