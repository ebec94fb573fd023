// Calls that a model repeats: the same tool with the same arguments gave the same result. The model reads a warning
// after the third, and the fifth call does not run. All is derived from the history, so every host gives the same
// answer, even after a restart.
import type { CallPart, MediaSource, Message, ResultPart, StoredMessage, Tool } from '@baton/core/internal'
import { parseJson, stringifySorted } from '@baton/core/internal'

/** Consecutive identical calls of one tool, with the arguments and result of the newest. */
interface Streak {
  readonly arguments: string
  readonly result: Result
  readonly count: number
}

type Result = ResultPart<MediaSource>

export type Streaks = ReadonlyMap<string, Streak>

const TOLD_AT = 3
const DENIED_AT = 5

/**
 * Counts streaks by tool name, since the user's last input. Calls of other tools do not end a streak: a model may loop over two tools.
 * @param tools tools with `polls` are ignored
 */
export function countRepeats(messages: readonly (Message | StoredMessage)[], tools: readonly Tool[]): Streaks {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const streaks = new Map<string, Streak>()
  const calls = new Map<string, CallPart>()
  for (const { role, parts } of messages.slice(last + 1))
    for (const part of parts)
      if (part.type === 'call') calls.set(part.callId, part)
      else if (role === 'tool' && part.type === 'result') add(streaks, calls.get(part.callId), part)
  for (const { name, polls } of tools) if (polls === true) streaks.delete(name)
  return streaks
}

function add(streaks: Map<string, Streak>, call: CallPart | undefined, result: Result): void {
  const { name, content, isError } = result
  const [said] = content
  // A denied call does not end a streak: the model may try again at once.
  if (!call || (isError && said?.type === 'text' && said.text.startsWith(`Error: ${describeStreak(name)}`))) return
  const before = streaks.get(name)
  const isSame =
    before !== undefined && isSameResult(before.result, result) && isSameArguments(before.arguments, call.arguments)
  streaks.set(name, { arguments: call.arguments, result, count: isSame ? before.count + 1 : 1 })
}

function isSameResult(one: Result, other: Result): boolean {
  if (one.isError !== other.isError || one.content.length !== other.content.length) return false
  return one.content.every((piece, index) => {
    const same = other.content[index]
    // Most results are one text, and differ.
    if (piece.type === 'text' && same?.type === 'text' && piece.text !== same.text) return false
    return JSON.stringify(piece) === JSON.stringify(same)
  })
}

/** Most calls differ in their results and are never parsed here. */
function isSameArguments(one: string, other: string): boolean {
  return one === other || canonical(one) === canonical(other)
}

/** The note that the model reads after the results; undefined if nothing repeats. */
export function describeRepeats(streaks: Streaks): string | undefined {
  const told = [...streaks].filter(([, { count }]) => count >= TOLD_AT)
  if (told.length === 0) return undefined
  const named = told.map(([name, { count }]) => `"${name}" ${count} times`).join(', ')
  return `You have called ${named} with the same arguments, and the result was the same each time. Do something else, or answer from what you have.`
}

/** Why a call does not run; undefined if it may. */
export function denyRepeat(streaks: Streaks, name: string, argumentsText: string): string | undefined {
  const streak = streaks.get(name)
  if (!streak || streak.count < DENIED_AT - 1 || !isSameArguments(streak.arguments, argumentsText)) return undefined
  return `${describeStreak(name)} ${streak.count} times in a row; do something else, or answer`
}

function describeStreak(name: string): string {
  return `the same call of "${name}" gave the same result`
}

function canonical(argumentsText: string): string {
  const parsed = parseJson(argumentsText)
  return parsed.ok ? stringifySorted(parsed.value) : argumentsText
}
