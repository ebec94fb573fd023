// Moves committed pages from the write-ahead log into the database, on a connection and a thread of its own, so that no
// commit ever waits for it.
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { WorkerData } from './protocol.ts'

const EVERY_MS = 1000

const { path } = workerData as WorkerData // given by openSqliteStore
const connection = new DatabaseSync(path)
connection.exec('PRAGMA busy_timeout=0')
const timer = setInterval(() => {
  try {
    // Passive: takes what no reader needs and leaves the rest for the next time.
    connection.exec('PRAGMA wal_checkpoint(PASSIVE)')
  } catch {
    // A busy file is tried again in a second.
  }
}, EVERY_MS)
parentPort?.once('message', () => {
  clearInterval(timer)
  connection.close()
  parentPort?.close()
})
