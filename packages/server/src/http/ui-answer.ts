// Turns the session events of one answer into a UI message stream. Pure. It may start where a page already has part of
// the answer, because a page that submits a result or a decision continues the message it has.
import type { CallView, JsonObject, Principal, SessionEvent, SessionEventOf, TurnStop } from '@baton/core/internal'
import { encodeAppError } from '../shared/app-errors.ts'
import { showEndBelow, showTitle } from '../shared/calls-below.ts'
import { ownerDecides } from '../shared/owner-decides.ts'
import type { UiChunk, UiFinish } from './ui-chunks.ts'
import { UI_FINAL_STATES } from './ui-chunks.ts'
import type { LinkMedia } from './ui-messages.ts'
import { AWAITING_OTHERS, showContent, writeOthersRequest, writeUserParts } from './ui-messages.ts'

export interface UiAnswerOptions {
  /** The session's owner, whose page it is. */
  readonly principal: Principal
  /** The part that the page has, if any. */
  readonly known?: KnownAnswer
  /**
   * Whether the page may run this client tool call now. Called for calls that wait for a client, or that were sent to
   * the page before.
   */
  readonly mayRun: (call: CallView) => boolean
  readonly linkMedia: LinkMedia
}

/** The part of an answer that a page has. */
export interface KnownAnswer {
  readonly id: string
  readonly steps: number
  /** States of its calls by id. */
  readonly calls: ReadonlyMap<string, string>
  /** Calls that another client runs. */
  readonly elsewhere: ReadonlySet<string>
  /** The newest request for approval that the page knows, by call. */
  readonly approvals: ReadonlyMap<string, KnownApproval>
  /** Calls that ended differently from the page's view, because another page was faster. */
  readonly endedOtherwise?: ReadonlySet<string>
}

/** `isApproved`: the page's decision, which may be too late. */
export interface KnownApproval {
  readonly id: string
  readonly isApproved?: boolean
}

type Block = 'text' | 'reasoning'

export class UiAnswer {
  readonly #init: UiAnswerOptions
  #message: string | undefined
  #steps = 0
  #step: number | undefined
  #isStepOpen = false
  /** Whether the past of the answer has been read. */
  #isLive = false
  #block: Block | undefined
  #blocks = 0
  readonly #calls = new Map<string, CallView>()
  /** Calls whose input was sent, and whether the page was to run them. */
  readonly #told = new Map<string, boolean>()
  /** Newest request for approval by call. The denial of such a call is shown as one. */
  readonly #asked = new Map<string, string>()
  /** Requests for approval that wait for others than the page's user, by call. */
  readonly #others = new Map<string, string>()
  /** Questions of agents below that the page was shown. */
  readonly #questions = new Set<string>()
  /** User messages that wait until the model reads them. */
  readonly #waiting = new Map<string, SessionEventOf<'message-added'>['message']>()
  #ended = false
  #chunks: UiChunk[] = []

  constructor(init: UiAnswerOptions) {
    this.#init = init
  }

  /** Whether the turn has ended and `finish` was sent. */
  get ended(): boolean {
    return this.#ended
  }

  /**
   * Whether only the page or its user can continue: a client tool or an approval waits, and nothing else is running.
   */
  get waitsForPage(): boolean {
    // A task holds up no answer.
    const open = [...this.#calls.values()].filter(({ status, task }) => status !== 'settled' && !task)
    const hasOwn = open.some(({ callId }) => this.#told.get(callId) === true)
    // A page submits its results after the response has ended, so they must not wait for a call held by another page.
    const isElsewhere = (call: CallView): boolean => hasOwn && call.runs === 'client' && call.status === 'running'
    const ofPage = open.filter((call) => this.#isOfPage(call))
    const ofOthers = this.#others.size > 0 ? this.#ofOthers : []
    const asking = [...ofPage, ...ofOthers]
    const waits = (call: CallView): boolean => isElsewhere(call) || ofOthers.includes(call) || waitsBelow(call, asking)
    return ofPage.length > 0 && open.every((call) => ofPage.includes(call) || waits(call))
  }

  /** Calls that the page is to run. */
  get ownCalls(): readonly CallView[] {
    return [...this.#calls.values()].filter(({ callId, status }) => status !== 'settled' && this.#told.get(callId))
  }

  take(event: SessionEvent): readonly UiChunk[] {
    this.#chunks = []
    this.#takeEvent(event)
    return this.#chunks
  }

  /** Ends the response; the answer continues when the page has submitted what it waits for. */
  pause(): readonly UiChunk[] {
    this.#chunks = []
    // A page sends its decisions when all calls of its last step have an output: a delegated one gets its result later.
    for (const call of this.#delegated) this.#tellChild(call, 'final')
    for (const call of this.#ofOthers) this.#tellOthers(call, 'final')
    this.#closeStep()
    this.#tell({ type: 'finish', finishReason: 'tool-calls' })
    return this.#chunks
  }

  /** Calls that wait for the decision of others. */
  get #ofOthers(): readonly CallView[] {
    return [...this.#calls.values()].filter(
      ({ callId, status }) => status === 'awaiting-approval' && this.#others.has(callId),
    )
  }

  /** Open calls that other agents do. */
  get #delegated(): readonly CallView[] {
    return [...this.#calls.values()].filter(({ child, status }) => child && status !== 'settled')
  }

  #isOfPage({ callId, status }: CallView): boolean {
    // The page's own decision is on its way.
    const decided = this.#init.known?.approvals.get(callId)
    if (this.#others.has(callId)) return false
    const isDecided = decided?.isApproved !== undefined && decided.id === this.#asked.get(callId)
    return (status === 'awaiting-approval' && !isDecided) || this.#told.get(callId) === true
  }

  #tell(...chunks: readonly UiChunk[]): void {
    this.#chunks.push(...chunks)
  }

  /** Whether the page already has this step, except for results. */
  get #isKnownStep(): boolean {
    return this.#steps <= (this.#init.known?.steps ?? 0)
  }

  #takeEvent(event: SessionEvent): void {
    switch (event.type) {
      case 'message-added':
        if (event.message.role === 'user') this.#waiting.set(event.message.id, event.message)
        else this.#start(event.message.id, event.message.turn)
        break
      case 'message-entered':
        this.#enter(event.message)
        break
      case 'step-started':
        this.#startStep(event.step)
        break
      case 'text':
      case 'reasoning':
        this.#write(event)
        break
      case 'call-writing':
        this.#writeInput(event)
        break
      case 'step-reset':
        this.#block = undefined
        if (!this.#isKnownStep) this.#tell({ type: 'reset-step' })
        break
      case 'sources':
        if (!this.#isKnownStep) this.#tellSources(event)
        break
      case 'step-finished':
        this.#closeBlock()
        break
      case 'step-closed':
        this.#closeStep()
        break
      case 'turn-finished':
        this.#finish(event)
        break
      default:
        this.#takeCallEvent(event)
    }
  }

  #takeCallEvent(event: SessionEvent): void {
    switch (event.type) {
      case 'call':
        this.#takeCall(event.call)
        break
      case 'call-progress':
        this.#tell({ type: 'data-progress', data: { callId: event.callId, note: event.note }, transient: true })
        break
      case 'approval-requested':
        this.#showRequest(event)
        break
      case 'approval-given':
        if (event.principal.id === this.#init.principal.id) this.#others.set(event.callId, event.approvalId)
        break
      case 'approval-decided':
        this.#showDecision(event)
        break
      case 'question-asked': {
        const { questionId, callId, message, schema, expiresAtMs, path } = event
        const data = { questionId, callId, message, schema, expiresAtMs, ...showPath(path) }
        if (path) this.#questions.add(questionId)
        this.#tell({ type: 'data-question', id: questionId, data })
        break
      }
      case 'question-answered': {
        const { questionId, callId } = event
        this.#questions.delete(questionId)
        const answer = 'value' in event ? { value: event.value ?? null } : { declined: event.declined ?? 'nobody' }
        this.#tell({ type: 'data-question', id: questionId, data: { questionId, callId, ...answer } })
        break
      }
      case 'request-withdrawn': {
        const { requestId: questionId, callId, reason } = event
        const declined = reason === 'expired' ? reason : 'nobody'
        if (this.#questions.delete(questionId))
          this.#tell({ type: 'data-question', id: questionId, data: { questionId, callId, declined } })
        break
      }
      default:
        this.#takeSessionEvent(event)
    }
  }

  #showRequest(event: SessionEventOf<'approval-requested'>): void {
    const { approvalId, call, expiresAtMs } = event
    this.#takeCall(call)
    if (!ownerDecides(this.#init.principal, call)) {
      this.#others.set(call.callId, approvalId)
      this.#tell(writeOthersRequest({ ...call, approvalId, expiresAtMs }))
      this.#tellOthers(call)
      return
    }
    this.#others.delete(call.callId)
    this.#asked.set(call.callId, approvalId)
    const known = this.#init.known
    const state = known?.calls.get(call.callId)
    const isKnown = state?.startsWith('approval-') === true && known?.approvals.get(call.callId)?.id === approvalId
    // A page that has all its results would submit them repeatedly: the approval does not count as open there while
    // another client is said to run the call.
    if (state === 'approval-requested' && known?.elsewhere.has(call.callId)) this.#tellInput(call, false)
    else if (isKnown || UI_FINAL_STATES.has(state ?? '')) return
    const { asked, path } = call
    const title = showTitle(call)
    const reason = asked && { asked: asked as unknown as JsonObject } // plain data
    const descriptor = { expiresAtMs, ...(title !== undefined && { title }), ...reason, ...showPath(path) }
    this.#tell({
      type: 'tool-approval-request',
      approvalId,
      toolCallId: call.callId,
      approvalDescriptor: descriptor,
    })
  }

  #showDecision(event: SessionEventOf<'approval-decided'>): void {
    const { approvalId, callId, decision, reason, note, principal } = event
    if (this.#others.get(callId) === approvalId && !this.#asked.has(callId)) {
      const said = { ...(reason !== undefined && { reason }), ...(note !== undefined && { note }) }
      const data = { approvalId, callId, decision, principal: { id: principal.id }, ...said }
      this.#tell({ type: 'data-approval', id: approvalId, data })
      return
    }
    const known = this.#init.known
    const approved = decision !== 'deny'
    const own = known?.approvals.get(callId)
    const isSaid = own?.id === approvalId && own.isApproved === approved
    const isKnown = isSaid || UI_FINAL_STATES.has(known?.calls.get(callId) ?? '')
    const why = reason !== undefined && { reason }
    if (!isKnown) this.#tell({ type: 'tool-approval-response', approvalId, approved, ...why })
  }

  #takeSessionEvent(event: SessionEvent): void {
    switch (event.type) {
      case 'live':
        this.#isLive = true
        for (const call of this.#delegated) if (this.#init.known?.calls.has(call.callId)) this.#tellChild(call)
        break
      case 'session':
        if (event.plan) this.#tell({ type: 'data-plan', id: 'plan', data: event.plan })
        if (event.title !== undefined) this.#tell({ type: 'data-title', data: event.title, transient: true })
        break
      case 'limit': {
        const { limit, used, max, reached } = event
        const counts = { ...(used !== undefined && { used }), ...(max !== undefined && { max }) }
        this.#tell({ type: 'data-limit', id: `limit-${limit}`, data: { limit, reached, ...counts } })
        break
      }
      case 'compacted':
        this.#tell({ type: 'data-compacted', data: { how: event.how }, transient: true })
        break
      case 'content-left-out':
        // Has an id, because a page that continues its answer gets it again.
        this.#tell({
          type: 'data-left-out',
          id: `left-out-${event.cursor.pos}`,
          data: { messages: event.messages, reason: event.reason },
        })
        break
      default:
        break // withdrawals and rewinds end a turn, or are not part of an answer
    }
  }

  #start(id: string, turn: number): void {
    this.#message = id
    this.#tell({ type: 'start', messageId: id, messageMetadata: { turn } })
  }

  /** Adds a message that the model reads in the middle of its answer. */
  #enter(id: string): void {
    const message = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (this.#message === undefined || message?.role !== 'user' || this.#isKnownStep) return
    this.#tell({ type: 'steering-message', id, parts: writeUserParts(message.parts, this.#init.linkMedia) })
  }

  #startStep(step: number): void {
    // The same step again: its earlier text is void, and the page has its beginning.
    if (this.#step === step) return
    this.#closeStep()
    this.#step = step
    this.#steps += 1
    this.#isStepOpen = true
    if (!this.#isKnownStep) this.#tell({ type: 'start-step' })
  }

  #write({ type, text }: SessionEventOf<'text' | 'reasoning'>): void {
    if (this.#isKnownStep) return
    if (this.#block !== type) {
      this.#closeBlock()
      this.#block = type
      this.#blocks += 1
      this.#tell({ type: `${type}-start`, id: this.#blockId })
    }
    this.#tell({ type: `${type}-delta`, id: this.#blockId, delta: text })
  }

  get #blockId(): string {
    return `${this.#steps}-${this.#blocks}`
  }

  #closeBlock(): void {
    if (this.#block !== undefined) this.#tell({ type: `${this.#block}-end`, id: this.#blockId })
    this.#block = undefined
  }

  #closeStep(): void {
    this.#closeBlock()
    if (this.#isStepOpen && !this.#isKnownStep) this.#tell({ type: 'finish-step' })
    this.#isStepOpen = false
  }

  #writeInput({ callId, name, offset, text }: SessionEventOf<'call-writing'>): void {
    if (this.#isKnownStep) return
    this.#closeBlock()
    if (offset === 0) this.#tell({ type: 'tool-input-start', toolCallId: callId, toolName: name })
    if (text !== '') this.#tell({ type: 'tool-input-delta', toolCallId: callId, inputTextDelta: text })
  }

  #takeCall(call: CallView): void {
    this.#closeBlock()
    const before = this.#calls.get(call.callId)
    this.#calls.set(call.callId, call)
    const known = this.#init.known?.calls.get(call.callId)
    // The output of a delegated call in the page may be that of a pause.
    const isFinal = UI_FINAL_STATES.has(known ?? '') && !call.child && !call.task && !this.#others.has(call.callId)
    // Unanswered calls that the page has are its own, and are not sent again.
    if (!this.#told.has(call.callId) && known !== undefined)
      this.#told.set(
        call.callId,
        !isFinal && !call.task && call.runs === 'client' && this.#init.known?.elsewhere.has(call.callId) !== true,
      )
    const isEdited = call.inputEdited === true && before?.inputEdited !== true && known === undefined
    const isNew = !this.#told.has(call.callId) || (!isFinal && !this.#told.get(call.callId) && this.#isForPage(call))
    if (isNew || isEdited) this.#tellInput(call)
    const isChanged = call.child?.status !== before?.child?.status
    if (call.task === 'running' && before?.task !== 'running') this.#tellTask(call)
    if (isChanged && call.status !== 'settled' && (this.#isLive || known === undefined)) this.#tellChild(call)
    const isSaid = isFinal && this.#init.known?.endedOtherwise?.has(call.callId) !== true
    if (call.status === 'settled' && before?.status !== 'settled' && !isSaid) this.#tellResult(call)
  }

  /** Shows how the other agent fares. */
  #tellChild({ callId: toolCallId, child }: CallView, how?: 'final'): void {
    if (!child || !this.#told.has(toolCallId)) return
    const { agent, status } = child
    const output = { agent, status }
    this.#tell({ type: 'tool-output-available', toolCallId, output, ...(how !== 'final' && { preliminary: true }) })
  }

  #tellOthers({ callId: toolCallId, task }: CallView, how?: 'final'): void {
    if (task || !this.#told.has(toolCallId)) return
    const output = { ...AWAITING_OTHERS }
    this.#tell({ type: 'tool-output-available', toolCallId, output, ...(how !== 'final' && { preliminary: true }) })
  }

  /** Shows that it runs in the background. `final`: the answer ends first, and the page need not wait. */
  #tellTask({ callId: toolCallId, status }: CallView, how?: 'final'): void {
    if (!this.#told.has(toolCallId) || this.#told.get(toolCallId) === true) return
    const output = { task: toolCallId, status: status === 'awaiting-approval' ? status : 'running' }
    this.#tell({ type: 'tool-output-available', toolCallId, output, ...(how !== 'final' && { preliminary: true }) })
  }

  #isForPage(call: CallView): boolean {
    const isOffered = call.status === 'waiting' || call.status === 'running'
    // A page sends results with its newest step, and a task ends after that.
    return call.runs === 'client' && isOffered && !call.task && this.#init.mayRun(call)
  }

  /** Sends a client tool call once it was offered to a client: until then a page must not run it. */
  #tellInput(call: CallView, isElsewhere = true): void {
    if (call.runs === 'client' && call.status === 'proposed') return
    const { callId: toolCallId, name: toolName, input } = call
    const title = showTitle(call)
    const runsHere = this.#isForPage(call)
    this.#told.set(toolCallId, runsHere)
    this.#tell({
      type: 'tool-input-available',
      toolCallId,
      toolName,
      input,
      providerExecuted: isElsewhere && !runsHere,
      ...(title !== undefined && { title }),
    })
  }

  #tellResult(call: CallView): void {
    const { callId: toolCallId, result } = call
    const end = showEndBelow(call)
    if (!result) return
    if (result.type === 'ok') {
      const output = result.value ?? showContent(result.content, this.#init.linkMedia)
      this.#tell({ type: 'tool-output-available', toolCallId, output })
    } else if (result.type === 'denied' && this.#asked.has(toolCallId))
      this.#tell({ type: 'tool-output-denied', toolCallId })
    else if (end !== undefined) this.#tell({ type: 'tool-output-available', toolCallId, output: end })
    else this.#tell({ type: 'tool-output-error', toolCallId, errorText: result.message })
  }

  #tellSources({ sources }: SessionEventOf<'sources'>): void {
    for (const { id: sourceId, url, title, mediaType } of sources)
      if (url !== undefined) this.#tell({ type: 'source-url', sourceId, url, ...(title !== undefined && { title }) })
      else
        this.#tell({
          type: 'source-document',
          sourceId,
          mediaType: mediaType ?? 'text/plain',
          title: title ?? 'a document',
        })
  }

  #finish({ stop, usage, error, cursor }: SessionEventOf<'turn-finished'>): void {
    this.#closeStep()
    this.#ended = true
    for (const call of this.#calls.values())
      if (call.task === 'running' && call.message === this.#message) this.#tellTask(call, 'final')
    if (error) this.#tell({ type: 'error', errorText: encodeAppError(error).message })
    this.#tell({ type: 'finish', finishReason: FINISHES[stop], messageMetadata: { stop, usage, cursor } })
  }
}

/** Whether a delegated call waits with what its agent asks of the page, and nothing else below it runs. */
function waitsBelow({ callId, child }: CallView, ofPage: readonly CallView[]): boolean {
  const asking = ofPage.filter(({ path }) => path?.[0]?.callId === callId)
  // A page returns results after its response has ended, so a client's call does not wait for others.
  return asking.some(({ runs }) => child?.status === 'waiting' || runs === 'client')
}

function showPath(path: CallView['path']): { readonly path?: { callId: string; agent: string }[] } {
  return path ? { path: path.map(({ callId, agent }) => ({ callId, agent })) } : {}
}

const FINISHES: Readonly<Record<TurnStop, UiFinish>> = {
  end: 'stop',
  tool: 'tool-calls',
  silent: 'stop',
  'max-tokens': 'length',
  limit: 'other',
  refused: 'content-filter',
  cancelled: 'interrupted',
  stopped: 'interrupted',
  failed: 'error',
}
