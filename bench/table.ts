// The table of a run, as Markdown.
import type { Measured } from './measure.ts'

const COLUMNS = ['scenario', 'client', 'unit', 'median', 'least to most', 'ratio'] as const

export function buildHead(): string {
  return line(COLUMNS) + line(COLUMNS.map(() => '---'))
}

export interface RowLabels {
  readonly name: string
  readonly label: string
}

export function buildRows({ name, label }: RowLabels, measured: readonly Measured[]): string {
  return measured
    .map(({ client, median, least, most, ratio }) =>
      line([name, client, label, digits(median), `${digits(least)} to ${digits(most)}`, ratio.toFixed(2)]),
    )
    .join('')
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`
}

function digits(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3)
}
