// Transactions of one connection: all or nothing.
import type { DatabaseSync } from 'node:sqlite'

/** Runs `act` in a transaction, durable on return. */
export function inTransaction<Value>(db: DatabaseSync, act: () => Value): Value {
  db.exec('BEGIN IMMEDIATE')
  try {
    const value = act()
    db.exec('COMMIT')
    return value
  } catch (cause) {
    // A failed commit (a full disk) may have ended the transaction already.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw cause
  }
}

/** Runs reads on one snapshot of the database, unaffected by concurrent writes. */
export function inOneMoment<Value>(db: DatabaseSync, act: () => Value): Value {
  if (db.isTransaction) return act()
  db.exec('BEGIN')
  try {
    return act()
  } finally {
    if (db.isTransaction) db.exec('COMMIT')
  }
}
