// A conversation of a soak through a listener in the host's own process.
import type { Agent, EventCursor, Host, Timers, Tool } from '@baton/core/internal'
import type { Listener } from '@baton/runtime'
import { createListener } from '@baton/runtime'
import type { Talk } from './converse.ts'

export interface ListenerTalkOptions {
  readonly host: Pick<Host, 'session'>
  readonly agent: Agent
  readonly timers: Timers
  readonly session: string
  /** Cursor at which an earlier talk of the session ended. */
  readonly cursor: EventCursor | undefined
  readonly onClose: (cursor: EventCursor | undefined) => void
  readonly onError: (code: string) => void
  /** Tools by variant. */
  readonly tools: readonly (readonly Tool[])[]
}

/** Milliseconds between two checks of whether the agent has come to rest. */
const LOOK_MS = 1000

export async function openListenerTalk(init: ListenerTalkOptions): Promise<Talk> {
  const { host, agent, timers, session, cursor, tools } = init
  let failures = 0
  const listener: Listener = createListener(host, agent, { session, ...(cursor && { cursor }) })
  listener.on('error', ({ code }) => {
    failures += 1
    if (!code.startsWith('model_')) init.onError(code)
  })
  await listener.start()
  return {
    push: (speaker, text) => listener.push({ speaker, text }),
    event: ({ name, detail, isInterrupt }) =>
      listener.event({
        type: name,
        detail,
        label: 'Negotiation Event',
        ...(isInterrupt && { urgency: 'interrupt' }),
      }),
    pause: () => listener.pause(),
    stop: () => listener.stop(),
    start: (variant) =>
      listener.start(`You whisper to Ann, in the way number ${variant}.`, tools[variant % tools.length] ?? []),
    rest: async () => {
      const before = failures
      do await new Promise<void>((resolve) => void timers.start(LOOK_MS, resolve))
      while (listener.session.phase !== 'idle')
      return failures === before
    },
    close: async () => {
      init.onClose(listener.cursor)
      await listener.close()
    },
  }
}
