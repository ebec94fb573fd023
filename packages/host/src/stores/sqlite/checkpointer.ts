// Copies committed pages from the write-ahead log into the database, on its own connection and thread, so that commits
// never wait for it. It runs on request; checkpoints.ts decides when.
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { CheckpointReply, CheckpointRequest } from './protocol.ts'

/** Milliseconds a reader may delay a full checkpoint. */
const BUSY_MS = 200

const { path, logBytes } = workerData as { readonly path: string; readonly logBytes: number } // passed by startStoreThread
const connection = new DatabaseSync(path)
connection.exec(`PRAGMA busy_timeout=${BUSY_MS}; PRAGMA journal_size_limit=${logBytes}`)
const pageBytes = Number(connection.prepare('PRAGMA page_size').get()?.['page_size'])

parentPort?.on('message', (request: CheckpointRequest | 'stop') => {
  if (request === 'stop') {
    connection.close()
    parentPort?.unref() // this was all that kept the thread alive; Deno's port has no `close`
    return
  }
  parentPort?.postMessage(checkpoint(request))
})

/** A busy or full file is retried next time. */
function checkpoint({ mode }: CheckpointRequest): CheckpointReply {
  try {
    const row = connection.prepare(`PRAGMA wal_checkpoint(${mode})`).get()
    const pages = Math.max(0, Number(row?.['log']))
    const back = Math.max(0, Number(row?.['checkpointed']))
    return { restBytes: (pages - back) * pageBytes, logBytes: pages * pageBytes }
  } catch {
    return { restBytes: 0, logBytes: 0 }
  }
}
