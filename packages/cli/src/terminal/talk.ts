// A conversation with a person: messages become turns, commands are performed, Ctrl+C interrupts. It knows neither
// terminals nor hosts.
import type { CallView, EventBody, PendingQuestion, TurnStop, Usage } from '@baton/core/internal'
import { isBatonError, readRequest, readText } from '@baton/core/internal'
import { TASK_INPUT } from '@baton/core/machine'
import { Asides } from './asides.ts'
import type { AskingCall, ChatPartner, ConversationTurn, Person } from './conversation.ts'
import { errorLine } from '../words/error-line.ts'
import type { ChatRoom } from './obey.ts'
import { obey } from './obey.ts'
import type { Questions } from './questions.ts'
import { nameCall } from '../words/name-call.ts'
import type { Screen } from './screen.ts'
import type { ShownCalls } from './shown-calls.ts'
import type { TurnDisplay } from './turn-display.ts'
import { writeInput } from './turn-display.ts'
import { describeUsage } from './usage-line.ts'

export interface TalkOptions {
  readonly partner: ChatPartner
  readonly session: string | undefined
  readonly person: Person
  readonly questions: Questions
  readonly screen: Screen
  readonly display: TurnDisplay
  /** Results of calls, for `/show`. */
  readonly shownCalls: ShownCalls
  readonly nowMs: () => number
  /** Throws the error that fails a turn, instead of showing it and continuing. */
  readonly failsAtOnce: boolean
}

export interface Talk {
  /** Resolves with the exit code. */
  readonly ended: Promise<number>
  /**
   * The first time in a turn, interrupts it; otherwise leaves the chat. `hadText`: only a started line was discarded.
   */
  interrupt(hadText?: boolean): void
  /** How the newest turn ended; `end` before there is one. */
  lastStop(): TurnStop
}

/** Exit code that a shell expects after Ctrl+C. */
const LEFT_IN_A_TURN = 130

interface TalkState extends TalkOptions, ChatRoom {
  turn: 'none' | 'running' | 'interrupted'
  asides: Asides
  /** Whether a turn that the chat does not follow is running. */
  hasAsideTurn: boolean
  /** Open background calls, which outlive their turns. */
  readonly tasks: Set<string>
  /** Ids of open requests that the person has seen. */
  readonly asked: Set<string>
  hasFailed: boolean
  lastStop: TurnStop
  readonly left: PromiseWithResolvers<number>
}

/** @throws BatonError when the session cannot be opened */
export async function startTalk(init: TalkOptions): Promise<Talk> {
  const opened = await openConversation(init.partner, init.session)
  const left = Promise.withResolvers<number>()
  const state: TalkState = {
    ...init,
    ...opened,
    turn: 'none',
    hasAsideTurn: false,
    tasks: new Set(),
    asked: new Set(),
    hasFailed: false,
    lastStop: 'end',
    left,
    approvesAlways: false,
    move: async (session) => {
      const next = await openConversation(init.partner, session)
      await state.conversation.close()
      Object.assign(state, next)
      begin(state)
    },
    follow: (turn) => follow(state, turn),
  }
  const ended = converseUntilLeft(state)
  return { ended, interrupt: (hadText = false) => interrupt(state, hadText), lastStop: () => state.lastStop }
}

async function openConversation(
  partner: ChatPartner,
  session: string | undefined,
): Promise<Pick<TalkState, 'conversation' | 'asides'>> {
  const asides = new Asides()
  return { conversation: await partner.open(session, asides.add), asides }
}

/** Shows what is left of the conversation, and asks what waits. */
function begin(state: TalkState): void {
  const { about, waiting } = state.conversation
  for (const line of about) state.screen.note(line, 'dim')
  for (const { approvalId, call } of waiting?.approvals ?? []) askApproval(state, approvalId, call)
  for (const question of waiting?.questions ?? []) askQuestion(state, question)
}

async function converseUntilLeft(state: TalkState): Promise<number> {
  try {
    return await Promise.race([converse(state), state.left.promise])
  } finally {
    await state.conversation.close()
  }
}

function interrupt(state: TalkState, hadText: boolean): void {
  if (state.turn === 'running') {
    state.turn = 'interrupted'
    // A turn that has just ended needs no interrupt.
    state.conversation.interrupt().catch(() => {})
  } else if (state.turn === 'interrupted') state.left.resolve(LEFT_IN_A_TURN)
  else if (!hadText) {
    state.screen.note('')
    state.left.resolve(0)
  }
}

async function converse(state: TalkState): Promise<number> {
  begin(state)
  if (state.conversation.resumed) await follow(state, state.conversation.resumed)
  for (;;) {
    const said = await nextMessage(state)
    if (said === undefined) return chooseExitCode(state)
    const text = said.trim()
    if (text === '' || !(await comeBack(state))) continue
    if (!text.startsWith('/')) await say(state, said)
    else if (text.startsWith('//')) await say(state, text.slice(1))
    else if (await obey(state, text)) return chooseExitCode(state)
  }
}

/** Returns false if another process has the session and is still using it; then the typed message is not sent. */
async function comeBack(state: TalkState): Promise<boolean> {
  try {
    const back = await state.conversation.reopen?.()
    if (!back) return true
    const left = state.conversation
    state.conversation = back
    await left.close()
    begin(state)
    if (back.resumed) await follow(state, back.resumed)
    return true
  } catch (cause) {
    tellFailure(state, cause)
    return false
  }
}

/** A person has seen the failure; a script needs the exit code. */
function chooseExitCode({ person, hasFailed }: TalkState): number {
  return hasFailed && !person.ask ? 1 : 0
}

async function say(state: TalkState, text: string): Promise<void> {
  let turn: ConversationTurn
  try {
    turn = state.conversation.send(text)
  } catch (cause) {
    tellFailure(state, cause)
    return
  }
  await follow(state, turn)
}

async function follow(state: TalkState, turn: ConversationTurn): Promise<void> {
  state.turn = 'running'
  let usage: Usage | undefined
  // A message may wait for a turn that a task woke, and that turn for the person.
  const stopPassing = state.asides.passTo((event) => tellAside(state, event))
  try {
    for await (const event of turn) {
      show(state, event)
      if (event.type === 'turn-finished') usage = event.usage
    }
    const { outcome } = await turn.answer
    if (outcome !== 'answered' && outcome !== 'tool' && outcome !== 'silent') state.hasFailed = true
    await state.questions.settleAll(state.tasks)
  } catch (cause) {
    await state.questions.settleAll(state.tasks)
    tellFailure(state, cause)
  } finally {
    stopPassing()
    await endTurn(state, usage)
  }
}

async function endTurn(state: TalkState, usage: Usage | undefined): Promise<void> {
  const { screen } = state
  screen.endText()
  if (screen.isTerminal && usage) await showStatus(state, usage)
  if (screen.isTerminal) screen.note('')
  state.turn = 'none'
}

/** Shows asides until the person says something. */
async function nextMessage(state: TalkState): Promise<string | undefined> {
  for (;;) {
    await showAsides(state)
    const { signal } = state.asides.untilShown()
    const said = await state.person.next(signal)
    if (said !== '' || !signal.aborted) return said
  }
}

/** Shows waiting asides until no turn runs and no question is open. */
async function showAsides(state: TalkState): Promise<void> {
  const { asides, questions } = state
  for (;;) {
    const next = asides.take()
    const answered = questions.answered()
    if (next?.event) await showAside(state, next.event)
    else if (next) state.turn = 'none'
    else if (state.turn !== 'none') await asides.next()
    else if (answered) await Promise.race([asides.next(), answered])
    else return
  }
}

async function showAside(state: TalkState, event: EventBody): Promise<void> {
  if (event.type === 'message-entered') state.turn = 'running'
  tellAside(state, event)
  if (event.type === 'turn-finished') await endTurn(state, event.usage)
}

function tellAside(state: TalkState, event: EventBody): void {
  if (event.type === 'message-entered') state.hasAsideTurn = true
  // A late result of a turn that has ended.
  if (event.type === 'call' && !state.hasAsideTurn && !event.call.task) return
  if (event.type === 'message-added' && event.message.role === 'user') {
    const { from, id, name, parts } = event.message
    // The line of its call says that a task has ended.
    if (id.startsWith(TASK_INPUT)) return
    state.screen.brief('›', [name, readText(parts)].filter(Boolean).join(': ') || from, 'dim')
  }
  show(state, event)
  if (event.type !== 'turn-finished') return
  state.hasAsideTurn = false
  state.screen.endText()
}

/** Shows an event, and asks what it requests. */
function show(state: TalkState, event: EventBody): void {
  const { questions, display, tasks } = state
  const atMs = state.nowMs()
  questions.whenQuiet(() => display.show(event, atMs))
  if (event.type === 'turn-finished') state.lastStop = event.stop
  if (event.type === 'call') {
    const { callId, task, result, path } = event.call
    if (task === 'running' || (!result && isOfTask(state, path))) tasks.add(callId)
    else tasks.delete(callId)
    if (result) questions.settle(callId)
  }
  const change = readRequest(event)
  if (change?.type === 'approval') askApproval(state, change.id, change.asked.call)
  else if (change?.type === 'question') askQuestion(state, change.asked)
  else if (change?.type === 'over') state.asked.delete(change.id)
  if (event.type === 'request-withdrawn') questions.settle(event.callId)
}

type Path = NonNullable<CallView['path']>

function askApproval(state: TalkState, approvalId: string, call: AskingCall): void {
  if (!isNew(state, approvalId, call)) return
  const restartClock = (): void => state.display.restartClock(call.callId, state.nowMs())
  approve(state, { approvalId, call }, restartClock).catch((cause: unknown) => tellUnanswered(state, cause))
}

function askQuestion(state: TalkState, asked: PendingQuestion): void {
  if (!isNew(state, asked.questionId, asked)) return
  const message = nameCall({ name: asked.message, ...asked })
  answerQuestion(state, { ...asked, message }).catch((cause: unknown) => tellUnanswered(state, cause))
}

/** Whether the person was not asked yet. Requests of calls in the background stay when a turn ends. */
function isNew(
  state: TalkState,
  id: string,
  { callId, path }: { readonly callId: string; readonly path?: Path },
): boolean {
  if (isOfTask(state, path)) state.tasks.add(callId)
  return state.asked.size < state.asked.add(id).size
}

function isOfTask({ tasks }: TalkState, path: Path = []): boolean {
  return path.some(({ callId }) => tasks.has(callId))
}

async function approve(
  state: TalkState,
  { approvalId, call }: { readonly approvalId: string; readonly call: AskingCall },
  restartClock: () => void,
): Promise<void> {
  const { callId, asked } = call
  const name = nameCall(call)
  // A blanket approval was given without knowing what the model would read.
  const answer =
    state.approvesAlways && !asked
      ? 'approve'
      : await state.questions.approval({ callId, name, arguments: writeInput(call), ...(asked && { asked }) })
  restartClock()
  if (answer !== undefined) await state.conversation.decide(approvalId, answer)
}

/** Asks again until the answer is valid, because the tool waits for it. */
async function answerQuestion(
  { questions, conversation, screen, person }: TalkState,
  asked: PendingQuestion,
): Promise<void> {
  for (;;) {
    const answer = await questions.question(asked)
    if (!answer) return
    try {
      await conversation.controls?.answer(answer)
      return
    } catch (cause) {
      const isMisfit =
        isBatonError(cause) && cause.code === 'question_refused' && cause.message.includes('does not fit')
      if (!isMisfit || !person.ask) throw cause
      screen.note(`✗ ${errorLine(cause)}`, 'bad')
    }
  }
}

/** Shows one dim line below the answer, if the model has reported its usage. */
async function showStatus({ conversation, screen }: TalkState, usage: Usage): Promise<void> {
  if (usage.inputTokens === undefined && usage.outputTokens === undefined) return
  try {
    const status = await conversation.controls?.status()
    if (status) screen.note(describeUsage({ usage, ...status }), 'dim')
  } catch {
    // The status may be readable again after the next turn.
  }
}

/** Codes for an answer whose request was withdrawn, expired, or was answered elsewhere. */
const TOO_LATE: ReadonlySet<unknown> = new Set(['approval_refused', 'question_refused'])

/** Handles the failure of an answer. Never throws, because nothing waits for answers. */
function tellUnanswered(state: TalkState, cause: unknown): void {
  // The end of the turn decides whether it failed.
  if (isBatonError(cause) && TOO_LATE.has(cause.code)) state.screen.note(`✗ ${errorLine(cause)}`, 'bad')
  else if (state.failsAtOnce) state.left.reject(cause)
  else tellFailure(state, cause)
}

/** @throws the cause, if the first failure ends the conversation */
function tellFailure(state: TalkState, cause: unknown): void {
  if (state.failsAtOnce) throw cause
  state.hasFailed = true
  state.screen.note(`✗ ${errorLine(cause)}`, 'bad')
}
