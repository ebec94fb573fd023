// Rows as lines with columns below each other.
import stringWidth from 'string-width'

const GAP = '  '

/** The last column is as wide as it likes. */
export function tableLines(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => stringWidth(cells[column] ?? ''))))
  return rows.map((cells) =>
    cells
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - stringWidth(cell)))
      .join(GAP)
      .trimEnd(),
  )
}
