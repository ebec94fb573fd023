// Compares two outlines of a conversation line by line: the recorded one and the replayed one.
import type { Settlement } from '@baton/core/machine'
import type { OutlinedCall, OutlinedTurn } from './session-outline.ts'

export interface ReplayDifference {
  readonly turn: number
  /** Place in the turn, such as `step 2, look`. */
  readonly place: string
  readonly recorded: string
  readonly now: string
}

/** UTF-16 units of a text shown in a difference. */
const SHOWN_CHARS = 200

/** Compares a turn. With `results`, values returned by tools are compared too, not only how their calls ended. */
export function compareTurns(
  recorded: OutlinedTurn,
  now: OutlinedTurn | undefined,
  results: boolean,
): ReplayDifference[] {
  const one = listLines(recorded, results)
  const other = now ? listLines(now, results) : new Map<string, string>()
  const { turn } = recorded
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((place): ReplayDifference[] => {
    const before = one.get(place) ?? 'nothing'
    const after = other.get(place) ?? 'nothing'
    return isSame(before, after) ? [] : [{ turn, place, recorded: before, now: after }]
  })
}

function isSame(before: string, after: string): boolean {
  if (before === after || before === WORLD || before === EXPIRED) return true
  // Without a recorded decision, the replay denies.
  return before === REQUESTED && after.startsWith(REQUESTED)
}

/** A call's end that depended on the environment: its result was late, or its process died. */
const WORLD = 'decided by the environment'
const EXPIRED = 'denied, approval_expired'
const REQUESTED = 'requested'

function listLines({ steps, end }: OutlinedTurn, results: boolean): Map<string, string> {
  const lines = new Map<string, string>()
  for (const [index, { calls, refusedOutput }] of steps.entries()) {
    for (const [number, call] of calls.entries()) {
      const place = `step ${index + 1}, call ${number + 1}, ${call.name}`
      lines.set(`${place}, approval`, describeApproval(call))
      lines.set(place, describeSettlement(call.settlement, results))
    }
    lines.set(`step ${index + 1}, output`, refusedOutput === undefined ? 'fits' : `does not fit: ${refusedOutput}`)
  }
  lines.set('end', end ? `${end.outcome}${end.error ? `, ${end.error.code}` : ''}` : 'nothing')
  lines.set('answer', end ? show(end.text) : 'nothing')
  return lines
}

function describeApproval({ asks, decision }: OutlinedCall): string {
  if (!asks) return 'not requested'
  return `${REQUESTED}${decision ? `: ${decision.decision}` : ''}`
}

function describeSettlement(settlement: Settlement | undefined, results: boolean): string {
  switch (settlement?.type) {
    case undefined:
      return 'nothing'
    case 'ok':
      return results ? `ok: ${show(JSON.stringify(settlement.value ?? settlement.content))}` : 'ok'
    case 'error':
    case 'denied':
      return `${settlement.type}, ${settlement.code}`
    default:
      return WORLD
  }
}

function show(text: string): string {
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS).toWellFormed()}…`
}
