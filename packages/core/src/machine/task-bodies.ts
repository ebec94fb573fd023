// Tasks with their texts: arguments, questions, and outcomes until a model has read them. State has only their sizes.
import type { JsonObject } from '../json.ts'
import { isJsonObject, parseJson } from '../json.ts'
import type { FactOf } from './fact.ts'
import type { AskedQuestion, OpenBody, OpenCall, SettledCall } from './render.ts'
import { answerIn } from './render.ts'
import { renderSettlement, text } from './render.ts'
import { RULES } from './spec.ts'
import type { Rewound } from './step-place.ts'
import { isRemoved } from './step-place.ts'

export interface TaskBody {
  readonly callId: string
  readonly name: string
  readonly step: number
  readonly exchange: number
  readonly entry?: number
  /** JSON text, as edited by a person if one did. */
  readonly arguments: string
  readonly isEdited?: true
  /** The description for people. */
  readonly about?: JsonObject
  readonly questions: readonly AskedQuestion[]
  /** Position of the record that began the turn of its call. */
  readonly since: number
  /** Present once it has settled. */
  readonly ended?: SettledCall
}

/** Argument of a call: it runs in the background. */
export const BACKGROUND_FLAG = 'run_in_background'

/** The arguments that a tool gets, from the text of its call. */
export function readGiven(text: string, chooses?: true): string {
  if (!chooses) return text
  const parsed = parseJson(text)
  if (!parsed.ok || !isJsonObject(parsed.value)) return text
  const { [BACKGROUND_FLAG]: _, ...given } = parsed.value
  return JSON.stringify(given)
}

type Tasks = Map<string, TaskBody>

interface BegunTask extends Required<Pick<TaskBody, 'callId' | 'since' | 'entry'>> {}
interface EndedTask extends Required<Pick<TaskBody, 'callId' | 'ended'>> {}

/** Keeps the call of the open step, which a receipt settles. */
export function beginTask(tasks: Tasks, open: OpenBody | null, { callId, since, entry }: BegunTask): void {
  const part = open?.parts.find((one) => one.type === 'call' && one.callId === callId)
  if (!open || part?.type !== 'call') return
  const { about, chooses } = open.described.find((one) => one.callId === callId) ?? {}
  const edited = open.edited.get(callId)
  const questions = [...open.questions.values()].filter((asked) => asked.callId === callId)
  tasks.set(callId, {
    callId,
    name: part.name,
    step: open.step,
    exchange: open.exchange,
    entry,
    arguments: edited ?? readGiven(part.arguments, chooses),
    ...(edited !== undefined && { isEdited: true }),
    ...(about && { about }),
    questions,
    since,
  })
}

export function editTask(tasks: Tasks, { callId, edited }: FactOf<'approval-decided'>): void {
  const task = tasks.get(callId)
  if (task && edited) tasks.set(callId, { ...task, arguments: edited.arguments, isEdited: true })
}

/** Returns whether the question is a task's. */
export function noteTaskQuestion(tasks: Tasks, fact: FactOf<'question-asked' | 'question-answered'>): boolean {
  const task = tasks.get(fact.callId)
  if (!task) return false
  if (fact.type === 'question-asked') {
    const { callId, questionId, n, message, schema, expiresAtMs } = fact
    const asked = { callId, questionId, n, message, schema, expiresAtMs }
    tasks.set(callId, { ...task, questions: [...task.questions, asked] })
  } else {
    const answer = answerIn(fact)
    const questions = task.questions.map((asked) =>
      asked.questionId === fact.questionId ? { ...asked, answer } : asked,
    )
    tasks.set(fact.callId, { ...task, questions })
  }
  return true
}

/** Moves the task behind the others, and drops the oldest ended ones. */
export function endTask(tasks: Tasks, { callId, ended }: EndedTask): void {
  const task = tasks.get(callId)
  if (!task) return
  tasks.delete(callId)
  tasks.set(callId, { ...task, questions: [], ended })
  const all = [...tasks.values()].filter((one) => one.ended)
  for (const { callId: oldest } of all.slice(0, Math.max(0, all.length - RULES.endedTasks))) tasks.delete(oldest)
}

/** Open tasks of removed steps were ended before. */
export function forgetTasks(tasks: Tasks, rewound: Rewound): void {
  for (const task of tasks.values()) if (task.ended && isRemoved(task, rewound)) tasks.delete(task.callId)
}

export function openTask(tasks: ReadonlyMap<string, TaskBody>, callId: string): OpenCall | undefined {
  const task = tasks.get(callId)
  if (!task) return undefined
  const { name, about, ended } = task
  return { callId, name, arguments: task.arguments, settled: ended !== undefined, ...(about && { about }) }
}

/** Adds the outcomes of tasks to what a call says. */
export function addTold(
  tasks: ReadonlyMap<string, TaskBody>,
  call: SettledCall,
  told: readonly string[] = [],
): SettledCall {
  const { settlement } = call
  if (settlement.type !== 'ok' || told.length === 0) return call
  const outcomes = told.flatMap((callId) => {
    const { name, ended } = tasks.get(callId) ?? {}
    if (!ended || name === undefined) return []
    const { type } = ended.settlement
    const head = `Task ${callId} (${name}) has ended${type === 'ok' ? '' : ` (${type})`}:`
    const detail = ended.detail === undefined ? [] : [text(ended.detail)]
    return [text(head), ...renderSettlement(ended.settlement), ...detail]
  })
  return { ...call, settlement: { ...settlement, content: [...settlement.content, ...outcomes] } }
}
