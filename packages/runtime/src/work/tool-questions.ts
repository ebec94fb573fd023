// Questions of one session's running tools: each becomes a fact, and its tool waits for the fact that answers it. An
// answer recorded before a restart is returned at once.
import type { Accepted, JsonValue, Refused } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'
import type { History, HostReport, QuestionAnswer } from '@baton/core/machine'
import type { AskedQuestion } from './work.ts'

export interface ToolQuestionsOptions {
  readonly history: () => Pick<History, 'answerTo' | 'openCall'>
  readonly submit: (reports: readonly HostReport[]) => Promise<readonly (Accepted | Refused)[]>
}

interface Waiting {
  readonly callId: string
  readonly n: number
  readonly resolve: (answer: QuestionAnswer | undefined) => void
}

/** Milliseconds to answer if the tool does not set a limit. */
const ANSWER_MS = 600_000

export class ToolQuestions {
  readonly #init: ToolQuestionsOptions
  /** Whether tools wait for an answer. */
  isWaiting = false
  #waiting: readonly Waiting[] = []

  constructor(init: ToolQuestionsOptions) {
    this.#init = init
  }

  /**
   * @throws BatonError `question_declined`, `question_refused` (malformed, too long, or too many questions),
   * `cancelled`
   */
  async ask(callId: string, attempt: number, question: AskedQuestion): Promise<JsonValue> {
    const { n, message, schema, timeoutMs = ANSWER_MS } = checkQuestion(question)
    const recorded = this.#init.history().answerTo(callId, n)
    if (recorded) return takeValue(recorded)
    const asked = { type: 'question-asked', callId, attempt, n, message, schema, timeoutMs } as const
    const [outcome] = await this.#init.submit([asked])
    if (outcome?.type === 'refused') throw new BatonError({ code: outcome.code, message: outcome.message })
    const answer = await this.#wait(callId, n)
    if (answer) return takeValue(answer)
    throw new BatonError({ code: 'cancelled', message: 'the call ended before its question was answered' })
  }

  /** Called after each new record while a tool waits. */
  notice(): void {
    this.#waiting = this.#waiting.filter((one) => !this.#settle(one))
    this.isWaiting = this.#waiting.length > 0
  }

  /** Ends all waits when the session leaves this process. */
  close(): void {
    for (const { resolve } of this.#waiting) resolve(undefined)
    this.#waiting = []
    this.isWaiting = false
  }

  #wait(callId: string, n: number): Promise<QuestionAnswer | undefined> {
    return new Promise((resolve) => {
      const one = { callId, n, resolve }
      if (this.#settle(one)) return
      this.#waiting = [...this.#waiting, one]
      this.isWaiting = true
    })
  }

  #settle({ callId, n, resolve }: Waiting): boolean {
    const history = this.#init.history()
    const answer = history.answerTo(callId, n)
    const call = history.openCall(callId)
    const isOver = !call || call.settled
    if (answer || isOver) resolve(answer)
    return answer !== undefined || isOver
  }
}

function takeValue(answer: QuestionAnswer): JsonValue {
  if ('value' in answer) return answer.value
  const why = {
    person: answer.reason === undefined ? 'the user declined' : `the user declined: ${answer.reason}`,
    expired: 'the user did not answer in time',
    nobody: 'no connected client can ask the user',
  }[answer.declined]
  throw new BatonError({ code: 'question_declined', message: why, data: { declined: answer.declined } })
}

/** Checks a question, which foreign code supplies. @throws BatonError `question_refused` */
function checkQuestion(question: AskedQuestion): AskedQuestion {
  const { message, schema, timeoutMs } = question
  const wrong =
    typeof message !== 'string' || message.trim() === ''
      ? 'message must be non-empty text'
      : !isJsonObject(schema) || schema['type'] !== 'object'
        ? 'schema must be a JSON Schema whose root has the type "object"'
        : timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0)
          ? `timeoutMs must be above 0, not ${String(timeoutMs)}`
          : undefined
  if (wrong === undefined) return question
  throw new BatonError({ code: 'question_refused', message: `the question cannot be asked: ${wrong}` })
}
