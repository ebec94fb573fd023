// Sends a call's progress to a client that asked for it: at most 50 notes a second, the newest ones.
import type { JsonValue, Timers } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type { ServerContext } from '@modelcontextprotocol/server'
import type { LiveCall } from './live-call.ts'

/** Milliseconds between two notes; the client gets the newest of several. */
const PAUSE_MS = 20
const WORDS = 1_000

/** `end` sends the newest note if it was not sent yet. */
export function relayProgress(live: LiveCall, context: ServerContext, timers: Timers): { end(): Promise<void> } {
  const token = context.mcpReq._meta?.progressToken
  if (token === undefined) return { end: () => Promise.resolve() }
  let told = 0
  let last = -1
  let isOver = false
  const tell = async (): Promise<void> => {
    const { count, note } = live.progress
    if (count === told) return
    told = count
    const read = readNote(note, last + 1)
    // MCP requires progress to increase.
    if (read.progress <= last) return
    last = read.progress
    const params = { progressToken: token, ...read }
    await context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {}) // the client has disconnected
  }
  const run = async (): Promise<void> => {
    while (!isOver && !live.result) {
      await tell()
      await new Promise<void>((resolve) => void timers.start(PAUSE_MS, resolve, { isBackground: true }))
      if (live.progress.count === told && !isOver) await live.changed()
    }
  }
  const running = run()
  return {
    end: async () => {
      isOver = true
      await tell()
      void running // ends at the next change
    },
  }
}

interface Note {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** Tools report `{ progress, total, message }`, a string, or any other JSON. */
function readNote(note: JsonValue, next: number): Note {
  if (typeof note === 'string') return { progress: next, message: note.slice(0, WORDS) }
  if (!isJsonObject(note)) return { progress: next, message: JSON.stringify(note).slice(0, WORDS) }
  const { progress, total, message } = note
  return {
    progress: typeof progress === 'number' && Number.isFinite(progress) ? progress : next,
    ...(typeof total === 'number' && Number.isFinite(total) && { total }),
    ...(typeof message === 'string'
      ? { message: message.slice(0, WORDS) }
      : progress === undefined && { message: JSON.stringify(note).slice(0, WORDS) }),
  }
}
