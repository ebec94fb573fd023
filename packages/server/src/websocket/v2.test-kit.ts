// An app of version 2 over a real connection, for tests. Every frame of either side is checked against the exported
// schemas.
import type { EventCursor, SessionEvent, SessionEventOf, SessionEventType } from '@baton/core/internal'
import type { AnswerOf, V2ErrorFrame, RequestType, Requests, V2ServerFrame } from '@baton/protocol'
import { CLIENT_FRAME_2_SCHEMA, SERVER_FRAME_2_SCHEMA, SUBPROTOCOL } from '@baton/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { once } from 'node:events'
import { WebSocket } from 'ws'

const ajv = new Ajv2020({ allErrors: false, strict: false })
const isClientFrame = ajv.compile(CLIENT_FRAME_2_SCHEMA)
const isServerFrame = ajv.compile(SERVER_FRAME_2_SCHEMA)

export interface App2Options {
  /** Allows frames of the app that are wrong on purpose. */
  readonly isLoose?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

export class RefusedRequest extends Error {
  readonly frame: V2ErrorFrame

  constructor(frame: V2ErrorFrame) {
    super(`${frame.code}: ${frame.message}`)
    this.frame = frame
  }
}

export async function connectV2App(url: string, { isLoose = false, headers }: App2Options = {}) {
  const socket = new WebSocket(url, SUBPROTOCOL, headers ? { headers } : {})
  const frames: V2ServerFrame[] = []
  const events: SessionEvent[] = []
  let next: EventCursor | undefined
  let wake = new Set<() => void>()
  let requests = 0
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as V2ServerFrame // validated in the next line
    if (!isServerFrame(frame)) throw new Error(`${ajv.errorsText(isServerFrame.errors)}: ${data.toString()}`)
    frames.push(frame)
    if (frame.type === 'events') {
      events.push(...frame.events)
      next = frame.next
    }
    const waiting = wake
    wake = new Set()
    for (const one of waiting) one()
  })
  await once(socket, 'open')
  const ended = once(socket, 'close') as Promise<[number, Buffer]> // as documented by `ws`
  ended.then(() => wake.forEach((one) => one())).catch(() => {})

  const until = async <Found>(find: () => Found | undefined): Promise<Found> => {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      if (socket.readyState === WebSocket.CLOSED) throw new Error('the connection is closed')
      await new Promise<void>((resolve) => void wake.add(resolve))
    }
  }
  const sendText = (text: string): void => socket.send(text)
  const request = async <Type extends RequestType>(
    type: Type,
    given: Requests[Type]['given'],
  ): Promise<AnswerOf<Type>> => {
    const id = `r${++requests}`
    const frame = { id, type, ...given }
    if (!isLoose && !isClientFrame(frame)) throw new Error(ajv.errorsText(isClientFrame.errors))
    sendText(JSON.stringify(frame))
    const answer = await until(() => frames.find((one) => 're' in one && one.re === id))
    if (answer.type === 'error') throw new RefusedRequest(answer)
    const { type: ok, re, ...fields } = answer as { readonly type: string; readonly re: string } // of this request
    if (ok !== 'ok' || re !== id) throw new Error(`an answer of another kind: ${JSON.stringify(answer)}`)
    return fields as AnswerOf<Type> // as the protocol says
  }
  return {
    frames,
    events,
    ended,
    request,
    sendText,
    until,
    cursor: () => next,
    close: () => socket.close(),
    /** Cuts the connection without a close, as a network does. */
    cut: () => socket.terminate(),
    /** The first event of the type that matches, starting at `from`. */
    event: <Type extends SessionEventType>(
      type: Type,
      isIt: (event: SessionEventOf<Type>) => boolean = () => true,
    ): Promise<SessionEventOf<Type>> =>
      until(() => events.find((event): event is SessionEventOf<Type> => event.type === type && isIt(event as never))),
  }
}

export type V2App = Awaited<ReturnType<typeof connectV2App>>

/** The text of each answer, assembled from its pieces: each piece must continue where the text ends. */
export function joinTexts(events: readonly SessionEvent[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const event of events) {
    if (event.type !== 'text' && event.type !== 'step-reset') continue
    const key = `${event.message}/${event.step}`
    const text = texts.get(key) ?? ''
    if (event.type === 'step-reset') texts.delete(key)
    else if (event.offset === text.length) texts.set(key, text + event.text)
    else throw new Error(`a piece at ${event.offset} follows ${text.length} characters`)
  }
  return texts
}
