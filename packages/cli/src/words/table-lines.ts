// Formats rows as lines with aligned columns.
import stringWidth from 'string-width'
import { escapeLine } from '../terminal/escape-controls.ts'

const GAP = '  '
const CELL_CHARS = 256

/** The last column is as wide as needed. Cells are cut to 256 characters, without terminal controls. */
export function tableLines(given: readonly (readonly string[])[]): readonly string[] {
  const rows = given.map((cells) => cells.map((cell) => escapeLine(cell.slice(0, CELL_CHARS))))
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => stringWidth(cells[column] ?? ''))))
  return rows.map((cells) =>
    cells
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - stringWidth(cell)))
      .join(GAP)
      .trimEnd(),
  )
}
