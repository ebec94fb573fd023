// The tables of the session machine as Markdown: a diagram of the session's phases, phases × inputs, and calls ×
// events.
import type { CallCell, CallEvent, Cell, InputType, Phase } from '@baton/core/machine'
import { CALL_STATES, CALL_TABLE, PHASES, SESSION_TABLE } from '@baton/core/machine'
import { withGeneratedPart } from './generated-part.ts'

/** The page docs/architecture.md with its tables from the code; the rest of the page is written by hand. */
export function architecturePage(): string {
  return withGeneratedPart('docs/architecture.md', 'state tables', stateTables())
}

export function stateTables(): string {
  return [
    '### Phases of a session',
    'An arrow says which inputs may lead there. Restarts, stale answers and inputs that leave the phase as it is are left out.',
    phaseDiagram(),
    '### What an input does in each phase',
    'The possible next phases; `·`: the input is accepted and the phase stays; `quiet`: it came too late to matter; in italics: the code of the refusal.',
    sessionTable(),
    '### What becomes of a call in each of its states',
    '`·`: nothing changes. If a tool of effect class `once` differs, its outcome is listed first.',
    callTable(),
  ].join('\n\n')
}

// SESSION_TABLE and CALL_TABLE are records over closed unions: their keys are exactly those unions.
const INPUTS = Object.keys(SESSION_TABLE) as InputType[]
const EVENTS = Object.keys(CALL_TABLE) as CallEvent[]

function phaseDiagram(): string {
  const edges = new Map<string, InputType[]>()
  for (const input of INPUTS) {
    if (input === 'host-restarted') continue
    for (const phase of PHASES)
      for (const to of targets(SESSION_TABLE[input][phase]).filter((target) => target !== phase)) {
        const edge = `${phase} --> ${to}`
        edges.set(edge, [...(edges.get(edge) ?? []), input])
      }
  }
  const lines = [...edges].map(([edge, inputs]) => `    ${edge}: ${inputs.join(', ')}`)
  return ['```mermaid', 'stateDiagram-v2', '    [*] --> idle', ...lines, '```'].join('\n')
}

function targets(cell: Cell): readonly Phase[] {
  return 'to' in cell ? cell.to : []
}

function sessionTable(): string {
  const rows = INPUTS.map((input) => [
    `\`${input}\``,
    ...PHASES.map((phase) => sessionCell(phase, SESSION_TABLE[input][phase])),
  ])
  return table(['input', ...PHASES], rows)
}

function sessionCell(phase: Phase, cell: Cell): string {
  if ('refuse' in cell) return `_${cell.refuse}_`
  if ('quiet' in cell) return 'quiet'
  return cell.to.map((to) => (to === phase ? '·' : to)).join(', ')
}

function callTable(): string {
  const rows = EVENTS.map((event) => [event, ...CALL_STATES.map((state) => callCell(CALL_TABLE[event][state]))])
  return table(['event', ...CALL_STATES], rows)
}

function callCell({ once, repeatable }: CallCell): string {
  const shown = (outcome: string): string => (outcome === 'stay' ? '·' : outcome.replace(/^settle-/, ''))
  return once === repeatable ? shown(once) : `${shown(once)} / ${shown(repeatable)}`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
