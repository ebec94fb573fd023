// Reads of a session beside its events: its media, and its current state.
import type { SessionDetails } from '@baton/core/internal'
import { readStart, SessionProjection } from '@baton/core/internal'
import { requestTokens } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { listApprovals, listQuestions } from './approvals.ts'
import { inTime, nameMediaBlob } from '../work/media.ts'

export type ReadEngine = Pick<SessionEngine, 'session' | 'stream' | 'state' | 'history' | 'world'>

/** SHA-256 in hex. */
const HANDLE = /^[0-9a-f]{64}$/

/** The bytes as base64. @throws BatonError `store_failed` */
export async function readMedia(
  { session, world }: Pick<ReadEngine, 'session' | 'world'>,
  handle: string,
): Promise<string | undefined> {
  if (!HANDLE.test(handle)) return undefined
  return await inTime(world.timers, () => world.blobs.get(session, nameMediaBlob(handle)))
}

export function readDetails(engine: ReadEngine): SessionDetails {
  const state = engine.state()
  const history = engine.history()
  const { spec } = engine.world
  const { cursor, activity } = new SessionProjection({ start: readStart(state, history) })
  const models = state.turn?.models ?? spec.models
  const model = state.model ?? spec.models[0] ?? ''
  const { contextTokens: size } = spec.window
  return {
    id: engine.session,
    agent: state.agent,
    principal: { id: state.principal },
    ...(state.title !== null && { title: state.title }),
    meta: state.meta,
    activity,
    model,
    models,
    queued: state.queue.map(({ inputId, delivery }) => ({ inputId, delivery })),
    approvals: listApprovals(engine),
    questions: listQuestions(engine),
    plan: history.plan(),
    context: { used: requestTokens(spec, state), ...(size !== undefined && { size }) },
    lastMs: state.nowMs,
    head: cursor,
  }
}
