// Shows a session's approvals and questions to the client, and applies its answers. A request that was answered
// elsewhere, or whose call has ended, is withdrawn.
import type { Logger, PendingQuestion, Principal, Session, SessionEvent } from '@baton/core'
import { isBatonError } from '@baton/core'
import { readRequest } from '@baton/core/internal'
import { describeThrown } from '@baton/runtime'
import { nameAgents } from '../shared/calls-below.ts'
import { ownerDecides } from '../shared/owner-decides.ts'
import type { AskedCall, PermissionAsked } from './permissions.ts'
import { listChoices, readDecision } from './permissions.ts'
import { readAnswer } from './question-form.ts'
import type { Wire, WireQuestion } from './wire.ts'

export interface AskedPeopleOptions {
  /** The session's owner, whose editor it is. */
  readonly principal: Principal
  readonly session: Session
  readonly wire: Wire
  readonly log: Logger
  /** Whether to grant approvals that no policy requires without asking. */
  readonly allows: () => boolean
}

type Question = WireQuestion & Pick<PendingQuestion, 'path'>

interface Asked {
  readonly callId: string
  readonly gone: AbortController
}

export class AskedPeople {
  readonly #init: AskedPeopleOptions
  /** Open requests by the id of the approval or question. */
  readonly #asked = new Map<string, Asked>()

  constructor(init: AskedPeopleOptions) {
    this.#init = init
  }

  /** Shows requests opened before this client connected. Never rejects. */
  async askAgain(): Promise<void> {
    const { session, log } = this.#init
    try {
      for (const call of await session.approvals()) this.#askApprovalOnce(call.approvalId, call)
      for (const question of await session.questions()) this.#askQuestionOnce(question.questionId, question)
    } catch (cause) {
      log.warn('open approvals and questions could not be shown', { cause: describeThrown(cause) })
    }
  }

  take(event: SessionEvent): void {
    const change = readRequest(event)
    if (change?.type === 'approval') this.#askApprovalOnce(change.id, change.asked.call)
    else if (change?.type === 'question') this.#askQuestionOnce(change.id, change.asked)
    else if (change) this.#forget(change.id)
    else if (event.type === 'call' && event.call.status === 'settled') {
      for (const [id, { callId }] of this.#asked) if (callId === event.call.callId) this.#forget(id)
    } else if (event.type === 'turn-finished') this.leave()
  }

  /** Withdraws all requests. */
  leave(): void {
    for (const id of this.#asked.keys()) this.#forget(id)
  }

  #askQuestionOnce(questionId: string, { callId: own, message: said, schema, path }: Question): void {
    // The editor knows the delegated call, and not the call below that asks.
    const callId = path?.[0]?.callId ?? own
    const message = path ? nameAgents(path, said) : said
    this.#ask(questionId, callId, (signal) => this.#askQuestion(questionId, { callId, message, schema }, signal))
  }

  /** A call that others decide is only shown. */
  #askApprovalOnce(approvalId: string, call: AskedCall): void {
    if (!ownerDecides(this.#init.principal, call)) return
    this.#ask(approvalId, call.callId, (signal) => this.#askApproval(approvalId, call, signal))
  }

  #forget(id: string): void {
    this.#asked.get(id)?.gone.abort()
    this.#asked.delete(id)
  }

  #ask(id: string, callId: string, ask: (signal: AbortSignal) => Promise<void>): void {
    if (this.#asked.has(id)) return
    const gone = new AbortController()
    this.#asked.set(id, { callId, gone })
    ask(gone.signal).catch((cause: unknown) => {
      if (gone.signal.aborted || this.#init.wire.gone.aborted) return
      this.#init.log.warn('a person could not be asked', { callId, cause: describeThrown(cause) })
    })
  }

  async #askApproval(approvalId: string, call: AskedCall, signal: AbortSignal): Promise<void> {
    const { session, wire, allows } = this.#init
    if (allows() && call.asked === undefined) {
      await obey(session.decide({ approvalId, decision: 'approve' }))
      return
    }
    const asked: PermissionAsked = { approvalId, call, choices: listChoices(call) }
    const answer = await wire.askPermission(asked, signal).catch((cause: unknown) => this.#noAnswer(cause, signal))
    if (signal.aborted) return
    const decision = readDecision(asked, answer)
    try {
      await session.decide(decision)
    } catch (cause) {
      // An edit that does not fit would leave the request open with nothing to answer it, so it is denied.
      if (isBatonError(cause) && cause.code === 'invalid_arguments')
        await obey(
          session.decide({
            approvalId,
            decision: 'deny',
            reason: `the changed input was refused: ${cause.message}`.slice(0, 1000),
          }),
        )
      else if (!isLate(cause)) throw cause
    }
  }

  async #askQuestion(questionId: string, question: WireQuestion, signal: AbortSignal): Promise<void> {
    const { session, wire } = this.#init
    if (!wire.askForm) {
      const reason = 'this editor cannot show questions'
      await obey(session.answer({ questionId, decline: true, reason }))
      return
    }
    const answer = await wire.askForm(question, signal).catch((cause: unknown) => this.#noAnswer(cause, signal))
    if (signal.aborted) return
    try {
      await session.answer(readAnswer(questionId, question.schema, answer))
    } catch (cause) {
      if (isLate(cause) && (await session.questions()).every((open) => open.questionId !== questionId)) return
      if (!isBatonError(cause)) throw cause
      const reason = `the answer was refused: ${cause.message}`.slice(0, 1000)
      await obey(session.answer({ questionId, decline: true, reason }))
    }
  }

  /**
   * Counts a refused request as dismissed. Throws if the connection has ended, so that the request stays open for the
   * next client that loads the session.
   */
  #noAnswer(cause: unknown, signal: AbortSignal): undefined {
    const { wire, log } = this.#init
    if (wire.gone.aborted) throw cause
    if (!signal.aborted) log.info('a client did not answer a request', { cause: describeThrown(cause) })
    return undefined
  }
}

/** Whether the request was decided elsewhere, or the call has ended. */
function isLate(cause: unknown): boolean {
  return isBatonError(cause) && (cause.code === 'approval_refused' || cause.code === 'question_refused')
}

async function obey(decided: Promise<unknown>): Promise<void> {
  await decided.catch((cause: unknown) => {
    if (!isLate(cause)) throw cause
  })
}
