// Reads a session: its events from any position, its media, and its current state.
import type { EventCursor, EventsOptions, SessionDetails } from '@baton/core/internal'
import { BatonError, readStart, SessionProjection } from '@baton/core/internal'
import { requestTokens } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { listApprovals, listQuestions } from './approvals.ts'
import { inTime, nameMediaBlob } from '../work/media.ts'
import { EventReader } from './reader.ts'

export type ReadEngine = Pick<SessionEngine, 'session' | 'stream' | 'state' | 'history' | 'world'>

export interface EventReading extends Pick<EventsOptions, 'from' | 'delivery'> {
  /** Whether to emit `live` where the past ends. */
  readonly tellsLive?: boolean
  readonly onEnd?: (reader: EventReader) => void
}

/** @throws BatonError `invalid_event` */
export function openEvents(
  engine: Pick<ReadEngine, 'session' | 'stream' | 'state' | 'history'>,
  { from = 'now', delivery, tellsLive, onEnd }: EventReading,
): EventReader {
  const { session, stream } = engine
  const headPos = engine.state().pos
  const more = { delivery, onEnd, ...(tellsLive && { headPos }) }
  const since = engine.history().lastTurn()?.pos
  // Before its first turn a session has nothing newer than now.
  if (from === 'now' || (from === 'turn' && since === undefined)) return new EventReader(stream, more)
  const cursor: EventCursor =
    from === 'start' ? { pos: 0 } : from === 'turn' ? { pos: since ?? 0, since: since ?? 0 } : from
  // While the session is being opened again, readers know more than its state.
  checkPlace(cursor, Math.max(headPos, stream.nextPos - 1), session)
  return new EventReader(stream, { from: cursor, ...more })
}

function checkPlace({ pos, since = 0 }: EventCursor, headPos: number, session: string): void {
  if (pos <= headPos + 1 && since <= pos) return
  throw new BatonError({
    code: 'invalid_event',
    message: `session ${session} has no place ${pos} (since ${since}); its newest record is ${headPos}`,
    hint: 'Pass the unchanged cursor of an event of this session.',
  })
}

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
