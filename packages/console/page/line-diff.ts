// Differences between two texts, line by line, with the unchanged middle left out. The comparison is that of `diff`.
import { diffArrays } from 'diff'

export interface DiffLine {
  /** `gap`: unchanged lines that are left out; `text` says how many. */
  readonly type: 'same' | 'added' | 'removed' | 'gap'
  readonly text: string
}

/** Lines around a change that stay. */
const AROUND = 3
/** Changed lines up to which a comparison looks for the smallest difference. */
const CHANGES_MAX = 4000

/** Returns undefined if the texts are too different to compare. */
export function diffLines(before: string, after: string): readonly DiffLine[] | undefined {
  const lines = compareLines(before.split('\n'), after.split('\n'))
  return lines && withoutMiddle(lines)
}

/** All lines of both, in order. */
export function compareLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] | undefined {
  const changes = diffArrays([...before], [...after], { maxEditLength: CHANGES_MAX })
  return changes?.flatMap(({ added, removed, value }) =>
    value.map((text): DiffLine => ({ type: added ? 'added' : removed ? 'removed' : 'same', text })),
  )
}

function withoutMiddle(lines: readonly DiffLine[]): readonly DiffLine[] {
  const near = new Set<number>()
  for (const [index, { type }] of lines.entries())
    if (type !== 'same') for (let at = index - AROUND; at <= index + AROUND; at += 1) near.add(at)
  const kept: DiffLine[] = []
  let left = 0
  const closeGap = (): void => {
    if (left > 0) kept.push({ type: 'gap', text: `${left} unchanged ${left === 1 ? 'line' : 'lines'}` })
    left = 0
  }
  for (const [index, line] of lines.entries()) {
    if (!near.has(index)) {
      left += 1
      continue
    }
    closeGap()
    kept.push(line)
  }
  closeGap()
  return kept
}

/** A line of each text, next to each other. */
export interface DiffPair {
  readonly left?: DiffLine
  readonly right?: DiffLine
}

export function pairLines(lines: readonly DiffLine[]): readonly DiffPair[] {
  const pairs: DiffPair[] = []
  let removed: DiffLine[] = []
  const flush = (): void => {
    for (const left of removed) pairs.push({ left })
    removed = []
  }
  for (const line of lines) {
    if (line.type === 'removed') removed.push(line)
    else if (line.type === 'added') {
      const left = removed.shift()
      pairs.push(left ? { left, right: line } : { right: line })
    } else {
      flush()
      pairs.push({ left: line, right: line })
    }
  }
  flush()
  return pairs
}
