// A process over a shared store, for tests that kill it: it writes to its own sessions, takes over those of dead
// processes, and prints what the store has acknowledged.
import { randomUUID } from 'node:crypto'
import type { SessionRecord } from '@baton/core/machine'
import { isBatonError } from '@baton/core'
import { openSharedSqliteStore } from './shared-sqlite-store.ts'

/** Lines of the output, as JSON. */
export type Said =
  | { readonly type: 'open' }
  | { readonly type: 'owned'; readonly session: string }
  | { readonly type: 'kept'; readonly session: string; readonly texts: readonly string[] }
  | { readonly type: 'failed'; readonly session: string; readonly code: string; readonly message: string }
  | { readonly type: 'done' }

/** Milliseconds between two looks for sessions of dead processes. */
const RECOVER_MS = 100

function say(said: Said): void {
  process.stdout.write(`${JSON.stringify(said)}\n`)
}

function createRecord(pos: number, epoch: number, text: string): SessionRecord {
  const input = { type: 'user-input', inputId: `input-${pos}` } as const
  return { version: 1, pos, nowMs: pos, epoch, input, facts: [{ type: 'note-queued', note: pos, text }] }
}

async function run(path: string, name: string): Promise<void> {
  // A busy machine may need long to start the next holder.
  const store = await openSharedSqliteStore(path, { leaseMs: 60_000, waitMs: 60_000 })
  say({ type: 'open' })
  const owner = randomUUID()
  let isStopping = false
  process.stdin.once('data', () => (isStopping = true))
  const writing = new Map<string, Promise<void>>()
  const write = async (session: string): Promise<void> => {
    const owned = await store.acquire(session, owner)
    if (owned.type !== 'acquired') return void writing.delete(session)
    say({ type: 'owned', session })
    let { pos } = owned
    for (let count = 0; !isStopping; count++) {
      const texts = Array.from({ length: 1 + (count % 3) }, (_, index) => `${name}/${count}/${index}`)
      const records = texts.map((text, index) => createRecord(pos + 1 + index, owned.epoch, text))
      pos = await store.append(session, owned.epoch, pos, records)
      say({ type: 'kept', session, texts })
      // Writes blobs next to its log, as a session does.
      if (count % 50 === 0) await store.blobs.put(session, `blob-${name}-${count}`, 'x'.repeat(10_000))
    }
    await store.release(session, owned.epoch, 'work')
  }
  const begin = (session: string): void => {
    const work = write(session).catch((cause: unknown) => {
      const code = isBatonError(cause) ? cause.code : 'unknown'
      say({ type: 'failed', session, code, message: String(cause) })
    })
    writing.set(session, work)
  }
  begin(`of-${name}`)
  while (!isStopping) {
    for await (const { session } of store.listRecoverable()) if (!writing.has(session)) begin(session)
    await store.renew(owner)
    await new Promise((resolve) => setTimeout(resolve, RECOVER_MS))
  }
  await Promise.all(writing.values())
  await store.close()
  say({ type: 'done' })
  process.stdin.destroy()
}

const [, , path, name] = process.argv
if (path !== undefined && name !== undefined) await run(path, name)
