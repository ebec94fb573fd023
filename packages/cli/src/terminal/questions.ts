// Questions to the person, one at a time, in the order of their calls. A call that has ended needs no answer.
import { setTimeout as wait } from 'node:timers/promises'
import type { AskedFor, JsonValue } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import { askQuestion } from './ask-question.ts'
import type { AskedQuestion } from './ask-question.ts'
import type { ApprovalAnswer, AskedCall, Person, QuestionAnswer } from './conversation.ts'
import { escapeLine } from './escape-controls.ts'
import type { Screen } from './screen.ts'

export interface Questions {
  /** The result of a client tool. @throws Error with the failure described by the person */
  result(call: AskedCall): Promise<string>
  /** `undefined` if the call ended first. */
  approval(call: AskedCall): Promise<ApprovalAnswer | undefined>
  /** The reply to a tool's question; declined if there is no one to ask. `undefined` if the call ended first. */
  question(asked: AskedQuestion): Promise<QuestionAnswer | undefined>
  /** Calls `show` now, or after the open question is answered. */
  whenQuiet(show: () => void): void
  /** Called when the call has ended. */
  settle(callId: string): void
  /**
   * Called when all calls have ended, except for these. Without exceptions it resolves when no question is open and
   * everything is shown.
   */
  settleAll(except?: ReadonlySet<string>): Promise<void>
  /** Resolves when the open questions are answered or have ended; `undefined` if there are none. */
  answered(): Promise<unknown> | undefined
}

const NOBODY = 'this tool must be run by an app or a person, and neither is available'
/** Milliseconds for an answered call to settle, so that this is seen before the next question. */
const SETTLE_MS = 200

interface OpenQuestion {
  readonly controller: AbortController
  /** Resolves when the call has ended, asked or not. */
  readonly ended: PromiseWithResolvers<void>
}

/** A queue that asks one question at a time; other output waits until it is answered. */
function createQuestionQueue() {
  const open = new Map<string, OpenQuestion>()
  /** Questions of a call's tool, which may ask several times. */
  const byCall = new Map<string, readonly string[]>()
  const held: (() => void)[] = []
  let isAsking = false
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()

  const askNow = async <Answer>({ controller }: OpenQuestion, ask: (signal: AbortSignal) => Promise<Answer>) => {
    const { signal } = controller
    if (signal.aborted) return undefined
    isAsking = true
    try {
      return await ask(signal)
    } catch (cause) {
      if (signal.aborted) return undefined
      throw cause
    } finally {
      isAsking = false
      for (const show of held.splice(0)) show()
    }
  }
  /** Resolves with `undefined` if the question is no longer needed. */
  const inTurn = <Answer>(callId: string, ask: (signal: AbortSignal) => Promise<Answer>) => {
    const question = { controller: new AbortController(), ended: Promise.withResolvers<void>() }
    open.set(callId, question)
    waiting += 1
    const asked = last.then(() => askNow(question, ask)).finally(() => void (waiting -= 1))
    const seen = (): Promise<unknown> => Promise.race([question.ended.promise, wait(SETTLE_MS)])
    last = asked.then(seen, seen)
    return asked
  }
  const settle = (callId: string): void => {
    for (const id of [callId, ...(byCall.get(callId) ?? [])]) {
      open.get(id)?.controller.abort()
      open.get(id)?.ended.resolve()
      open.delete(id)
    }
    byCall.delete(callId)
  }

  return {
    inTurn,
    /** The call's question has its own id, and ends with the call. */
    inTurnOf: <Answer>(callId: string, questionId: string, ask: (signal: AbortSignal) => Promise<Answer>) => {
      const id = `${callId} ${questionId}`
      byCall.set(callId, [...(byCall.get(callId) ?? []), id])
      return inTurn(id, ask)
    },
    settle,
    whenQuiet: (show: () => void): void => {
      if (isAsking) held.push(show)
      else show()
    },
    settleAll: async (except: ReadonlySet<string> = new Set()): Promise<void> => {
      const kept = new Set([...except].flatMap((callId) => [callId, ...(byCall.get(callId) ?? [])]))
      for (const callId of [...open.keys(), ...byCall.keys()]) if (!kept.has(callId)) settle(callId)
      if (except.size === 0) await last
    },
    answered: (): Promise<unknown> | undefined => (waiting > 0 ? last : undefined),
  }
}

export function createQuestions(person: Person, screen: Screen): Questions {
  const { inTurn, inTurnOf, settle, settleAll, answered, whenQuiet } = createQuestionQueue()
  return {
    result: async (call) => {
      const { ask } = person
      if (!ask) throw new Error(NOBODY)
      const said = await inTurn(call.callId, async (signal) => {
        screen.note(`${escapeLine(call.name)} is yours to run:`, 'bold')
        for (const line of shown(call.arguments)) screen.note(`  ${line}`)
        return await ask('result, or /fail why: ', signal)
      })
      if (said === undefined) throw new Error('the call has ended')
      const failed = /^\/fail\b\s*(.*)$/s.exec(said)
      if (failed) throw new Error(failed[1] || 'the person reported a failure')
      return said
    },
    approval: async (call) => {
      const { ask } = person
      if (!ask) {
        const denied = `${escapeLine(call.name)} needs an approval and was denied, because there is no one to ask`
        // A policy that asks is asked again, whatever was approved.
        const chat = call.asked ? '' : ', and in a chat a line /approve always before the message'
        screen.note(`${denied}; approvalPolicy of the agent can allow it${chat}`, 'bad')
        return 'nobody'
      }
      return await inTurn(call.callId, (signal) => askApproval(call, screen, (question) => ask(question, signal)))
    },
    question: async (asked) => {
      const { ask } = person
      if (!ask) {
        screen.note("a tool's question was declined, because there is no one to ask", 'bad')
        return {
          questionId: asked.questionId,
          decline: true,
          reason: 'the command declined because there is no one to ask',
        }
      }
      const { callId, questionId } = asked
      return await inTurnOf(callId, questionId, async (signal) => {
        const value = await askQuestion(asked, screen, (question) => ask(question, signal))
        return value === undefined ? { questionId, decline: true } : { questionId, value }
      })
    },
    whenQuiet,
    settle,
    settleAll,
    answered,
  }
}

async function askApproval(
  call: AskedCall,
  screen: Screen,
  ask: (question: string) => Promise<string>,
): Promise<ApprovalAnswer> {
  screen.note(`${escapeLine(call.name)} asks for your approval:`, 'bold')
  for (const line of shown(call.arguments)) screen.note(`  ${line}`)
  if (call.asked) for (const line of explainAsked(call.asked, call.arguments)) screen.note(escapeLine(line), 'bad')
  const question = call.asked ? 'run it? y/n: ' : 'run it? y/n/always: '
  for (;;) {
    const said = (await ask(question)).trim().toLowerCase()
    if (said === 'y' || said === 'yes') return 'approve'
    if (said === 'n' || said === 'no') return 'deny'
    if (call.asked) continue
    if (said === 'always' || said === '/approve always') return 'always'
  }
}

/** Characters shown of a copied text. */
const COPY_CHARS = 120

function explainAsked({ message, destination, each, copied = [] }: AskedFor, argumentsText: string): readonly string[] {
  const parsed = parseJson(argumentsText)
  const lines = copied.flatMap(({ path, from, to, tool }) => {
    const text = parsed.ok ? readPointer(parsed.value, path) : undefined
    if (typeof text !== 'string') return []
    const words = text.slice(from, to)
    const shownWords = words.length > COPY_CHARS ? `${words.slice(0, COPY_CHARS)}…` : words
    return [`${path.slice(1)} contains text from ${tool}: ${JSON.stringify(shownWords)}`]
  })
  const stands =
    destination === undefined || each ? [] : [`Your approval also covers later calls of this tool to ${destination}.`]
  return [message, ...lines, ...stands]
}

function readPointer(value: JsonValue, path: string): JsonValue | undefined {
  const names = path.split('/').slice(1)
  return names.reduce<JsonValue | undefined>((found, name) => {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(found)) return (found as readonly JsonValue[])[Number(key)]
    return isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined
  }, value)
}

/** One line per argument, which cannot look like two, because the person deciding must see all of them. */
function shown(argumentsText: string): readonly string[] {
  return listArguments(argumentsText).map(escapeLine)
}

function listArguments(argumentsText: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(argumentsText)
    if (typeof value !== 'object' || value === null) return [argumentsText]
    const lines = Object.entries(value).map(([name, each]) => `${name}: ${JSON.stringify(each)}`)
    return lines.length === 0 ? ['without arguments'] : lines
  } catch {
    return [argumentsText]
  }
}
