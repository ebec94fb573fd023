// Mistakes in the children of sessions, as the stores keep them: who acquires one, who lists one, and what a removal takes.
import type { Mutant } from './mutant-list.ts'

const STORES = 'packages/host/src/stores'
const MEMORY = `${STORES}/memory-store.test.ts`
const SQLITE = `${STORES}/sqlite/sqlite-store.test.ts`
const POSTGRES = `${STORES}/postgres/postgres-store.deep.test.ts`

export const STORE_MUTANTS: readonly Mutant[] = [
  {
    name: 'a child is acquired without its root’s epoch (memory)',
    file: `${STORES}/memory-store.ts`,
    from: 'if (root?.epoch !== under.rootEpoch || root.root !== undefined) return',
    to: 'if (root?.root !== undefined) return',
    test: { file: MEMORY },
  },
  {
    name: 'a child is acquired without its root’s epoch (SQLite)',
    file: `${STORES}/sqlite/session-rows.ts`,
    from: 'if (root?.epoch !== under.rootEpoch || root.root !== null) return undefined',
    to: 'if (root?.root !== null) return undefined',
    test: { file: SQLITE },
  },
  {
    name: 'a child is acquired under another child',
    file: `${STORES}/sqlite/session-rows.ts`,
    from: 'root?.epoch !== under.rootEpoch || root.root !== null',
    to: 'root?.epoch !== under.rootEpoch',
    test: { file: SQLITE },
  },
  {
    name: 'a child is acquired while its root changes hands (PostgreSQL)',
    file: `${STORES}/postgres/migrations.ts`,
    from: 'WHERE known.id = p_root FOR SHARE;',
    to: 'WHERE known.id = p_root;',
    test: { file: POSTGRES, name: 'believe to own a root' },
  },
  {
    name: 'a removal leaves the children (memory)',
    file: `${STORES}/memory-store.ts`,
    from: 'if (log.root === root) this.#logs.delete(session)',
    to: 'if (log.root === root) break',
    test: { file: MEMORY },
  },
  {
    name: 'a removal leaves the children (SQLite)',
    file: `${STORES}/sqlite/session-rows.ts`,
    from: 'return row ? [row, ...under] : under',
    to: 'return row ? [row] : under',
    test: { file: SQLITE },
  },
  {
    name: 'a removal leaves children that come while it waits (PostgreSQL)',
    file: `${STORES}/postgres/postgres-store.ts`,
    from: 'await query(`DELETE FROM ${schema}.sessions WHERE id = $1 OR root = $1`, [session])',
    to: 'await query(`DELETE FROM ${schema}.sessions WHERE key = ANY($1)`, [rows.map(({ key }) => key)])',
    test: { file: POSTGRES, name: 'leaves none of them' },
  },
  {
    name: 'a child is recovered by itself (memory)',
    file: `${STORES}/memory-store.ts`,
    from: 'if (log.root !== root || (after',
    to: 'if ((root !== undefined && log.root !== root) || (after',
    test: { file: MEMORY },
  },
  {
    name: 'a child counts as owned (memory)',
    file: `${STORES}/memory-store.ts`,
    from: 'log.isOwned = root === undefined',
    to: 'log.isOwned = true',
    test: { file: MEMORY },
  },
  {
    name: 'a child is in the list of sessions (SQLite)',
    file: `${STORES}/sqlite/session-rows.ts`,
    from: 'WHERE root IS NULL AND id > ?',
    to: 'WHERE id > ?',
    test: { file: SQLITE },
  },
  {
    name: 'a late copy of a child comes back after its root was removed',
    file: `${STORES}/put-by-position.ts`,
    from: 'if (log.missingRoot !== undefined)\n    return conflict',
    to: 'if (log.missingRoot === session)\n    return conflict',
    test: { file: MEMORY },
  },
  {
    name: 'a session of its own becomes a child',
    file: `${STORES}/child-checks.ts`,
    from: "typeof row.root !== 'string' && row.pos >= 0",
    to: "typeof row.root !== 'string' && row.pos > 1e9",
    test: { file: MEMORY },
  },
  {
    name: 'a removal does not wait for what is written to children',
    file: 'packages/host/src/local/store-in-time.ts',
    from: 'if (!writes.isEmpty()) for await',
    to: 'if (writes.isEmpty()) for await',
    test: { file: 'packages/host/src/local/late-writes.test.ts' },
  },
]
