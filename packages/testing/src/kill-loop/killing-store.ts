// A store whose process kills itself by SIGKILL around a chosen record, for tests of servers that die.
import type { Store } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { setTimeout } from 'node:timers/promises'
import type { KillPlan } from './plan.ts'

/** Dies around the append that holds the chosen record: what it holds is then lost, or stored and not known to anybody. */
export function killingAt(store: Store, plan: KillPlan): Store {
  return {
    ...store,
    append: async (session, epoch, afterPos, records) => {
      const isIt = (plan.session ?? session) === session && records.some((record) => fits(record, plan))
      if (isIt && plan.moment === 'before') die()
      const pos = await store.append(session, epoch, afterPos, records)
      if (isIt && plan.moment === 'after') die()
      // The host performs what this record decided, and dies before the next record.
      if (isIt && plan.moment === 'later') void setTimeout(plan.laterMs).then(die)
      return pos
    },
  }
}

function fits({ pos, input }: SessionRecord, { at }: KillPlan): boolean {
  return typeof at === 'number' ? pos === at : input.type === at
}

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal ends the thread before this loop does.
  for (;;);
}
