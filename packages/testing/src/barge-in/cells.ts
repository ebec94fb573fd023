// Moments at which a user interrupts the voice: after each played word, in each phase of a tool.

/** The tool at the interrupt, and who runs it. */
export type ToolKind = 'cancel' | 'finish' | 'detach' | 'once' | 'approval' | 'client'

/** In turn order. `writing`: the model writes the step with this number. `claimed`: the client has started. */
export type Phase = 'writing-1' | 'approving' | 'offered' | 'claimed' | 'running' | 'writing-2' | 'idle'

export interface Cell {
  readonly tool: ToolKind
  readonly phase: Phase
  /** Words of the step that the model has written, while it writes. */
  readonly written: number
  /** Words of the answer that were played. */
  readonly played: number
}

/** The model's words before and after the call, without punctuation marks. */
export const STEPS = ['I will look. Then I book.', 'It is done now. Enjoy it.'] as const
export const ANSWER = STEPS.join('\n\n')
const STEP_WORDS = 6

/** Milliseconds between two words of the model, and for a run of the tool. */
export const WORD_MS = 100
export const TOOL_MS = 1000

const SERVER_TOOLS = ['cancel', 'finish', 'detach', 'once'] as const

export function listCells(): readonly Cell[] {
  const cells: Cell[] = []
  const add = (tool: ToolKind, phase: Phase, written: number, most: number): void => {
    for (let played = 0; played <= most; played++) cells.push({ tool, phase, written, played })
  }
  for (let written = 1; written < STEP_WORDS; written++) add('cancel', 'writing-1', written, written)
  for (const tool of SERVER_TOOLS) add(tool, 'running', 0, STEP_WORDS)
  add('approval', 'approving', 0, STEP_WORDS)
  add('client', 'offered', 0, STEP_WORDS)
  add('client', 'claimed', 0, STEP_WORDS)
  for (let written = 0; written < STEP_WORDS; written++) add('cancel', 'writing-2', written, STEP_WORDS + written)
  add('detach', 'idle', 0, 2 * STEP_WORDS)
  return cells
}

export function nameCell({ tool, phase, written, played }: Cell): string {
  const where = phase.startsWith('writing') ? `${phase} after ${written} words` : `${phase} (${tool})`
  return `${where}, ${played} words played`
}

/** Milliseconds from the question to the interrupt. */
export function findMoment({ phase, written }: Cell): number {
  const called = STEP_WORDS * WORD_MS
  switch (phase) {
    case 'writing-1':
      return written * WORD_MS + WORD_MS / 2
    case 'writing-2':
      return called + TOOL_MS + written * WORD_MS + WORD_MS / 2
    case 'idle':
      return 2 * called + TOOL_MS + 1000
    default:
      return called + TOOL_MS / 2
  }
}

/** The played part of the answer, up to the end of a sentence if all of its words were played. */
export function findPlayed(played: number): string {
  const words = [...ANSWER.matchAll(/\w+\W*/g)]
  const last = words[played - 1]
  if (!last) return ''
  const whole = ANSWER.slice(0, last.index + last[0].length).trimEnd()
  return /[.]$/.test(whole) ? whole : ANSWER.slice(0, last.index + (/^\w+/.exec(last[0])?.[0].length ?? 0))
}
