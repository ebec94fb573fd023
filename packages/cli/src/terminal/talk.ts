// A conversation with a person: messages become turns, commands are performed, Ctrl+C interrupts. It knows neither
// terminals nor hosts.
import type { RequestChange, TurnStop, Usage } from '@baton/core/internal'
import { isBatonError, readRequest } from '@baton/core/internal'
import type { ChatPartner, ConversationTurn, Person } from './conversation.ts'
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
  /** Called for each turn. */
  readonly createDisplay: () => TurnDisplay
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
  hasFailed: boolean
  lastStop: TurnStop
  readonly left: PromiseWithResolvers<number>
}

/** @throws BatonError when the session cannot be opened */
export async function startTalk(init: TalkOptions): Promise<Talk> {
  const conversation = await init.partner.open(init.session)
  const left = Promise.withResolvers<number>()
  const state: TalkState = {
    ...init,
    conversation,
    turn: 'none',
    hasFailed: false,
    lastStop: 'end',
    left,
    approvesAlways: false,
    move: async (session) => {
      const next = await init.partner.open(session)
      await state.conversation.close()
      state.conversation = next
    },
    follow: (turn) => follow(state, turn),
  }
  const ended = converseUntilLeft(state)
  return { ended, interrupt: (hadText = false) => interrupt(state, hadText), lastStop: () => state.lastStop }
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
  const { person, screen } = state
  for (const line of state.conversation.about) screen.note(line, 'dim')
  if (state.conversation.resumed) await follow(state, state.conversation.resumed)
  for (;;) {
    const said = await person.next()
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
    for (const line of back.about) state.screen.note(line, 'dim')
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
  const { screen, questions } = state
  const display = state.createDisplay()
  state.turn = 'running'
  let usage: Usage | undefined
  try {
    for await (const event of turn) {
      const atMs = state.nowMs()
      questions.whenQuiet(() => display.show(event, atMs))
      if (event.type === 'turn-finished') state.lastStop = event.stop
      if (event.type === 'call' && event.call.result) questions.settle(event.call.callId)
      const change = readRequest(event)
      if (change?.type === 'approval')
        approve(state, change.asked, (callId) => display.restartClock(callId, state.nowMs())).catch((cause: unknown) =>
          tellUnanswered(state, cause),
        )
      if (event.type === 'request-withdrawn') questions.settle(event.callId)
      if (change?.type === 'question') {
        const message = nameCall({ name: change.asked.message, ...change.asked })
        answerQuestion(state, { ...change.asked, message }).catch((cause: unknown) => tellUnanswered(state, cause))
      }
      if (event.type === 'turn-finished') usage = event.usage
    }
    const { outcome } = await turn.answer
    if (outcome !== 'answered' && outcome !== 'tool' && outcome !== 'silent') state.hasFailed = true
    await questions.settleAll()
  } catch (cause) {
    await questions.settleAll()
    tellFailure(state, cause)
  } finally {
    screen.endText()
    if (screen.isTerminal && usage) await showStatus(state, usage)
    if (screen.isTerminal) screen.note('')
    state.turn = 'none'
  }
}

type Asked<Type extends RequestChange['type']> = Extract<
  RequestChange,
  { readonly type: Type; readonly asked: unknown }
>['asked']

async function approve(
  state: TalkState,
  { approvalId, call }: Asked<'approval'>,
  restartClock: (callId: string) => void,
): Promise<void> {
  const { callId, asked } = call
  const name = nameCall(call)
  // A blanket approval was given without knowing what the model would read.
  const answer =
    state.approvesAlways && !asked
      ? 'approve'
      : await state.questions.approval({ callId, name, arguments: writeInput(call), ...(asked && { asked }) })
  restartClock(callId)
  if (answer !== undefined) await state.conversation.decide(approvalId, answer)
}

/** Asks again until the answer is valid, because the tool waits for it. */
async function answerQuestion(
  { questions, conversation, screen, person }: TalkState,
  asked: Asked<'question'>,
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
