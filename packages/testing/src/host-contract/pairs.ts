// Builds rows of a parameter table in which every pair of values occurs at least once: most bugs need two values to
// meet, few need three.

/** Values of each parameter, by name. */
export type Parameters = Readonly<Record<string, readonly string[]>>
export type RowOf<Table extends Parameters> = { readonly [Name in keyof Table]: Table[Name][number] }

/**
 * Covers all pairs except those that no possible row has. Greedy: each row starts with an uncovered pair, and picks for
 * each other parameter the value that covers most of the rest. Deterministic for a given table.
 */
export function coverPairs<const Table extends Parameters>(
  table: Table,
  isPossible: (row: RowOf<Table>) => boolean = () => true,
): readonly RowOf<Table>[] {
  const names = Object.keys(table)
  const possible = listRows(table, names).filter((row) => isPossible(row as RowOf<Table>))
  const all = possible.map((row) => ({ row, pairs: listPairs(row, names) }))
  const left = new Set(all.flatMap(({ pairs }) => pairs))
  const rows: RowOf<Table>[] = []
  while (left.size > 0) {
    let [best] = all
    let most = 0
    for (const one of all) {
      const met = one.pairs.reduce((count, pair) => count + Number(left.has(pair)), 0)
      if (met > most) [best, most] = [one, met]
    }
    if (!best) break
    for (const pair of best.pairs) left.delete(pair)
    rows.push(best.row as RowOf<Table>)
  }
  return rows
}

type Row = Readonly<Record<string, string>>

function listRows(table: Parameters, [name, ...others]: readonly string[]): readonly Row[] {
  if (name === undefined) return [{}]
  const rest = listRows(table, others)
  return (table[name] ?? []).flatMap((value) => rest.map((row) => ({ [name]: value, ...row })))
}

function listPairs(row: Row, names: readonly string[]): readonly string[] {
  return names.flatMap((one, index) =>
    names.slice(index + 1).map((other) => `${one}=${row[one]} ${other}=${row[other]}`),
  )
}
