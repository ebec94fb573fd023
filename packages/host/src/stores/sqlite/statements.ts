// Statements prepared once per connection.
import type { DatabaseSync, StatementSync } from 'node:sqlite'

export function prepareStatements<Name extends string>(
  db: DatabaseSync,
  texts: Readonly<Record<Name, string>>,
): Readonly<Record<Name, StatementSync>> {
  const prepared = Object.entries<string>(texts).map(([name, text]) => [name, db.prepare(text)])
  return Object.fromEntries(prepared) as Record<Name, StatementSync> // the same names
}
