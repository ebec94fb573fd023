// Live event streams. Each counts against its caller's quota, is written as fast as it is read, and ends when the caller
// leaves or the caller's identity expires.
import { describeThrown } from '@baton/runtime'
import { startExpiry } from '../shared/server-world.ts'
import { answerEvents } from './event-response.ts'
import type { Call, HandlerParts } from './handler-parts.ts'

export interface LiveSource<Item> {
  /** The next items; undefined at the end. */
  readonly next: () => Promise<readonly Item[] | undefined>
  /** Encodes an item as one event. */
  readonly encode: (item: Item) => string
  /** Ends `next`. */
  readonly leave: () => void
  /** Called when the response has ended. */
  readonly onEnd?: () => Promise<void>
}

/** @throws BatonError `quota_exceeded`, `server_draining`, after leaving the source */
export function answerLive<Item>(
  { world, limits, quotas }: HandlerParts,
  call: Call,
  { next, encode, leave, onEnd }: LiveSource<Item>,
): Response {
  let release: () => void
  try {
    release = quotas.holdStream(call.reader)
  } catch (cause) {
    leave()
    throw cause
  }
  return answerEvents({
    ...limits,
    timers: world.timers,
    headers: {},
    run: async (writer) => {
      writer.left.then(leave).catch(() => {})
      // The client authenticates again when it reconnects.
      const stopExpiry = startExpiry(world, call.expiresAtMs, leave)
      try {
        for (let items = await next(); items; items = await next())
          for (const item of items) {
            writer.write(encode(item))
            const room = writer.waitForRoom()
            if (room) await room
          }
      } catch (cause) {
        const { pathname } = call.url
        world.log.warn('an event stream was interrupted', { address: pathname, cause: describeThrown(cause) })
      } finally {
        stopExpiry()
        release()
        await onEnd?.()
      }
    },
  })
}
