// A connection of version 2 opens a session, and receives its events.
import type { EventBatch, MessagesPage, FrontSession, SessionDetails } from '@baton/core/internal'
import { BatonError, findSessionIdIssue } from '@baton/core/internal'
import type { AnswerOf, V2ClientFrame, V2Cursor, DeviceOptions, OpenFrom, Requests } from '@baton/protocol'
import { CLOSE_CODES_2, SUBPROTOCOL } from '@baton/protocol'
import { describeThrown } from '@baton/runtime'
import { encodeAppView } from '../shared/app-errors.ts'
import { CLOSE_CODES, waitForReader } from '../shared/socket.ts'
import { openHeldSession } from './open-held-session.ts'
import { attachDevice } from './v2-device.ts'
import { V2Models } from './v2-models.ts'
import { PassedRequests } from './v2-state.ts'
import { listTold, openSpoken, placeOf, tellSpoken } from './v2-spoken-events.ts'
import type { Followed, V2State } from './v2-state.ts'

type OpenGiven = Requests['session.open']['given']
/** `undefined` if a peer answers. */
export type Opened = { readonly answer: AnswerOf<'session.open'>; readonly start: () => void } | undefined

/** @throws BatonError the refusal of the host, the session or the limits */
export async function openFollowed(state: V2State, given: OpenGiven, frame: V2ClientFrame): Promise<Opened> {
  const { init } = state
  if (state.isLinkOver) await leaveLink(state)
  if (state.followed || state.link)
    throw new BatonError({
      code: 'illegal_input',
      message: 'this connection already follows a session',
      hint: 'Send session.close first, or open another connection.',
    })
  const id = given.session ?? init.newId()
  const issue = findSessionIdIssue(id)
  if (issue !== undefined) throw new BatonError({ code: 'invalid_event', message: `a session's id must ${issue}` })
  if (given.existing && init.host.has && !(await init.host.has(id)))
    throw new BatonError({
      code: 'unknown_session',
      message: 'there is no such session: it was deleted, or never created',
      hint: 'Open it without `existing` to create it.',
    })
  const tooMany = init.quotas?.takeSession(init.address ?? '')
  if (tooMany !== undefined)
    throw new BatonError({
      code: 'quota_exceeded',
      message: tooMany.message,
      data: { retryAfterMs: tooMany.retryAfterMs },
    })
  const { title, meta } = given
  const description = { ...(title !== undefined && { title }), ...(meta !== undefined && { meta }) }
  const opened = await openHeldSession(init, id, {
    isGone: state.isGone,
    description,
    existing: given.existing === true,
    protocol: SUBPROTOCOL,
    isPassed: createPassing(state, frame.id),
  })
  if (opened.type === 'elsewhere') {
    state.link = new PassedRequests(opened.link, init.timers)
    state.link.send(frame.id, JSON.stringify({ ...frame, session: id }))
    return undefined
  }
  init.starts?.noteOpened(id)
  try {
    return await follow(state, opened.session, given)
  } catch (cause) {
    await opened.session.close()
    throw cause
  }
}

/** Leaves the peer when it has answered what it was asked. */
export async function leaveLink(state: V2State): Promise<void> {
  await state.link?.leave()
  state.link = undefined
  state.isLinkOver = false
}

/** Filters a peer's frames for the app, and notes when the peer no longer has the session open. */
function createPassing(state: V2State, open: string): (text: string) => boolean {
  const re = `"re":${JSON.stringify(open)}`
  let isOpen = false
  return (text) => {
    if (text.startsWith('{"type":"hello"')) return false
    state.link?.note(text)
    if (text.startsWith(`{"type":"ok",${re}`)) isOpen = true
    const isRefused = !isOpen && text.startsWith(`{"type":"error",${re}`)
    if (isRefused || text.startsWith('{"type":"session.closed"')) state.isLinkOver = true
    return true
  }
}

async function follow(state: V2State, session: FrontSession, given: OpenGiven): Promise<Opened> {
  const { messages: limit, from } = given
  const page: MessagesPage | undefined = limit === undefined ? undefined : await session.messages({ limit })
  const info = await session.info()
  const start = from ?? page?.next ?? 'turn'
  const { speech: _spoken, ...cursor } = findStart(session, info, start)
  const { speech } = given
  const spoken = speech ? await openSpoken(session, info, { start, cursor, isOnly: speech === 'only' }) : undefined
  const events = session.events({ from: cursor, children: given.children === true })
  const followed: Followed = { session, events, activity: info.activity, device: undefined, models: undefined, spoken }
  try {
    if (given.device) await takeDevice(state, followed, given.device)
  } catch (cause) {
    events.leave()
    throw cause
  }
  state.followed = followed
  const { device } = followed
  return {
    answer: {
      session: session.id,
      info,
      ...(page && { messages: page.messages.map(encodeAppView), more: page.more }),
      next: spoken ? placeOf(spoken) : cursor,
      ...(device && { leaseMs: device.leaseMs }),
    },
    start: () => void tellEvents(state, followed),
  }
}

/** For a session without a turn, `turn` means its start. */
function findStart(session: FrontSession, { head }: SessionDetails, from: OpenFrom): V2Cursor {
  if (typeof from === 'object') return from
  if (from === 'now') return head
  const pos = from === 'turn' ? session.lastTurn()?.pos : undefined
  return pos === undefined ? { pos: 0 } : { pos, since: pos }
}

/** @throws BatonError when the session refuses the device */
export async function takeDevice(
  state: V2State,
  followed: Followed,
  { name, models = [], ...more }: DeviceOptions,
): Promise<void> {
  const { init } = state
  const { session } = followed
  const before = followed.device
  const running = openModels(state, session, models)
  const device = await attachDevice({
    ...init,
    session,
    client: { ...more, client: name },
    isActive: () => followed.activity === 'running' || followed.activity === 'waiting',
  }).catch((cause: unknown) => {
    running?.leave()
    throw cause
  })
  followed.models?.leave()
  followed.models = running
  if (before && before.name !== name) await before.release()
  else before?.leave()
  followed.device = device
  state.forgetDevice?.()
  state.forgetDevice = init.deviceNames.take(session.id, device, () => {
    device.leave()
    init.socket.close(CLOSE_CODES_2.deviceTaken, 'another connection has attached a device of this name')
  })
}

/** @throws BatonError as `new V2Models` does */
function openModels({ init, writer }: V2State, { id }: FrontSession, names: readonly string[]): V2Models | undefined {
  if (Array.isArray(names) && names.length === 0) return undefined
  const { clientModels: known = [], newId } = init
  return new V2Models({ session: id, known, newId, write: (frame) => writer.write(frame) }, names)
}

/** Never rejects. */
async function tellEvents(state: V2State, followed: Followed): Promise<void> {
  const { session, events } = followed
  const { log, connection, socket } = state.init
  try {
    for (let batch = await events.nextBatch(); batch; batch = await events.nextBatch()) {
      noteActivity(followed, batch)
      if (followed.spoken) tellSpoken(state.writer, followed.spoken, batch)
      else state.writer.writeEvents(listTold(batch))
      if (!(await waitForRoom(state))) {
        socket.close(CLOSE_CODES.tooSlow, 'the connection reads too slowly')
        return
      }
    }
  } catch (cause) {
    log.warn('a connection lost its session', { connection, session: session.id, cause: describeThrown(cause) })
  }
  if (state.followed !== followed) return // the app has left it
  state.writer.write({ type: 'session.closed', session: session.id })
  await leaveFollowed(state)
}

function noteActivity(followed: Followed, { events }: EventBatch): void {
  for (const event of events)
    if (event.type === 'session' && event.activity && !event.path) {
      followed.activity = event.activity
      if (event.activity === 'running') void followed.device?.wake()
    }
}

/** Returns false if the reader has stalled. */
export async function waitForRoom({ init, isGone }: V2State): Promise<boolean> {
  const { socket, limits, timers } = init
  return await waitForReader(socket, { timers, waitingBytes: limits.outgoingBytes / 2, isOver: isGone })
}

/** Leaves the session. The device's lease keeps running, because it may reconnect. */
export async function leaveFollowed(state: V2State): Promise<void> {
  const { followed } = state
  if (!followed) return
  state.followed = undefined
  state.forgetDevice?.()
  state.forgetDevice = undefined
  followed.device?.leave()
  followed.models?.leave()
  followed.events.leave()
  await followed.session.close()
}
