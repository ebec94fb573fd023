// Calls that a model repeats: the same tool with the same arguments gave the same result. The model reads a warning after the third, and
// the fifth call does not run. All is read from the history, so every host gives the same answer, also after a restart.
import type { CallPart, MediaSource, Message, ResultPart, StoredMessage, Tool } from '@baton/core'
import { parseJson, stringifySorted } from '@baton/core'

/** Calls of one tool in a row that were the same. */
interface Streak {
  readonly arguments: string
  readonly result: string
  readonly count: number
}

export type Streaks = ReadonlyMap<string, Streak>

const TOLD_AT = 3
const DENIED_AT = 5

/**
 * Counted by tool name, since the user's last input. Calls of other tools do not end a streak: a model may loop over two tools.
 * @param tools tools with `polls` are left out
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

function add(
  streaks: Map<string, Streak>,
  call: CallPart | undefined,
  { name, content, isError }: ResultPart<MediaSource>,
): void {
  const [said] = content
  // A denied call does not end a streak: the model may try again at once.
  if (!call || (isError && said?.type === 'text' && said.text.startsWith(`Error: ${describeStreak(name)}`))) return
  const given = canonical(call.arguments)
  const result = JSON.stringify([isError, content])
  const before = streaks.get(name)
  const isSame = before?.arguments === given && before.result === result
  streaks.set(name, { arguments: given, result, count: isSame ? before.count + 1 : 1 })
}

/** The note for the model beside the results; undefined if nothing repeats. */
export function describeRepeats(streaks: Streaks): string | undefined {
  const told = [...streaks].filter(([, { count }]) => count >= TOLD_AT)
  if (told.length === 0) return undefined
  const named = told.map(([name, { count }]) => `"${name}" ${count} times`).join(', ')
  return `You have called ${named} with the same arguments, and the result was the same each time. Do something else, or answer from what you have.`
}

/** Why a call does not run; undefined when it may. */
export function denyRepeat(streaks: Streaks, name: string, argumentsText: string): string | undefined {
  const streak = streaks.get(name)
  if (!streak || streak.count < DENIED_AT - 1 || streak.arguments !== canonical(argumentsText)) return undefined
  return `${describeStreak(name)} ${streak.count} times in a row; do something else, or answer`
}

function describeStreak(name: string): string {
  return `the same call of "${name}" gave the same result`
}

function canonical(argumentsText: string): string {
  const parsed = parseJson(argumentsText)
  return parsed.ok ? stringifySorted(parsed.value) : argumentsText
}
