// Calls that a model makes again and again: the same tool with the same arguments gave the same result. It is told the third time,
// and the fifth call does not run. Read from the history, so that it is the same on every host and after a restart.
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
 * By tool name, since the user last said something. Other tools' calls in between do not end a streak: a model may loop over two of them.
 * @param tools those that say `polls` are left out
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
  // A denied call ends no streak: the model may try again at once.
  if (!call || (isError && said?.type === 'text' && said.text.startsWith(`Error: ${describeStreak(name)}`))) return
  const given = canonical(call.arguments)
  const result = JSON.stringify([isError, content])
  const before = streaks.get(name)
  const isSame = before?.arguments === given && before.result === result
  streaks.set(name, { arguments: given, result, count: isSame ? before.count + 1 : 1 })
}

/** What the model is told beside the results; undefined where nothing repeats. */
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
