// The world of one session: its agent with the tools and models that are its own. It knows no actor and no store.
import type { Spec } from '@baton/core/machine'
import type { Work, WorkContext } from '../work/work.ts'
import { createWork } from '../work/work.ts'

export interface SessionWorldInit extends WorkContext {
  /** Ids of the agent's models in the order of fallback. */
  readonly models: readonly string[]
  /** What the machine sees of the agent; another one after a change of its tools. */
  readonly spec: () => Spec
  /** Calls the listener after every change of the tools; one listener at most. */
  readonly onChange: (listener: () => void) => void
  /** Frees what was made for this session alone. Never rejects. */
  readonly dispose: () => Promise<void>
}

export interface SessionWorld extends SessionWorldInit {
  readonly work: Work
}

/** Most sessions that are open do nothing: what only work needs is made for the first of it. */
export function createSessionWorld(init: SessionWorldInit): SessionWorld {
  let work: Work | undefined
  return {
    ...init,
    get work() {
      return (work ??= createWork(init))
    },
  }
}
