// Answers to effects in an exploration: from models, tools, clients and people, right and wrong.
import type { ModelPart } from '../agent/model.ts'
import type { ErrorCode } from '../errors.ts'
import type { FinishReason, StoredPart } from '../messages.ts'
import type { AnswerCheck, AwaitedEffect, CallCheck, Input, Outcome, TaskOperation } from '../machine/index.ts'
import { listClientTools } from '../machine/index.ts'
import type { World } from './explore-world.ts'
import { liveCalls } from './explore-world.ts'
import type { Random } from './random.ts'

/** The answer to an effect; a kind answer lets the session come to rest. */
export function answerEffect(world: World, effect: AwaitedEffect, kind: boolean): Input | undefined {
  const { random } = world
  switch (effect.type) {
    case 'call-model':
      return kind || random.chance(0.85)
        ? modelFinished(world, effect.attempt, kind)
        : modelFailed(random, effect.attempt)
    case 'summarise': {
      const { attempt } = effect
      if (kind || random.chance(0.7))
        return { type: 'summary-finished', attempt, text: random.chance(0.9) ? 'so far' : '', usage: {} }
      return { type: 'summary-failed', attempt, error: failure(random) }
    }
    case 'run-tool':
      return { type: 'tool-finished', callId: effect.callId, attempt: effect.attempt, outcome: outcome(random) }
    case 'offer-call':
      if (!kind && random.chance(0.8) && mayClaim(world, effect.callId))
        return { type: 'call-claimed', callId: effect.callId, connection: effect.connection, offer: effect.offer }
      return { type: 'tool-result', callId: effect.callId, connection: effect.connection, outcome: outcome(random) }
    case 'ask-approval':
      return kind ? undefined : approval(world)
    case 'ask-question':
      return questionAnswer(world, effect.questionId)
    default:
      return undefined
  }
}

/** Whether the call's client claims calls and has not claimed this one. */
function mayClaim({ state }: World, callId: string): boolean {
  const call = liveCalls(state).find((open) => open.callId === callId)
  const client = state.clients.find(({ connection }) => connection === call?.offer?.connection)
  return call?.state === 'offered' && client?.claims === true
}

/** An image as the runtime submits it. */
export const IMAGE: StoredPart = {
  type: 'image',
  mediaType: 'image/png',
  source: { type: 'blob', handle: 'abc', bytes: 2000 },
}

export const WORDS = ['yes', 'a longer answer with several words', 'ünïcode 😀 text', 'x'.repeat(120), '😀😀']

export function modelFinished(world: World, attempt: number, kind: boolean): Input {
  const { random } = world
  const finish = kind ? 'end' : finishReason(random)
  const parts: ModelPart[] = []
  if (!kind && random.chance(0.2))
    parts.push({ type: 'reasoning', text: 'hm', state: { provider: 'p', model: 'm', data: 'sig' } })
  if (kind || random.chance(0.7)) parts.push({ type: 'text', text: random.pick(WORDS) })
  else if (random.chance(0.3)) parts.push({ type: 'text', text: ' ' })
  const calls = kind || random.chance(0.35) ? 0 : 1 + random.below(3)
  for (let index = 0; index < calls; index++) parts.push(call(world))
  if (!kind && random.chance(0.1)) parts.push({ type: 'source', id: 's1', url: 'https://example.org', title: 'A page' })
  if (finish === 'pause' && random.chance(0.7))
    parts.push({ type: 'provider', state: { provider: 'p', model: 'm', data: { type: 'search' } } })
  const checks = parts.flatMap((part) => (part.type === 'call' ? [callOf(world, part.name)] : []))
  const textsBefore = world.history.turnTexts().map(({ text }) => text)
  const textBefore = textsBefore.join('\n\n')
  const usage = random.chance(0.5) ? { inputTokens: random.below(900), outputTokens: random.below(200) } : {}
  // As for an agent with an output schema.
  const output =
    calls === 0 && random.chance(0.2) ? { issue: random.chance(0.6) ? 'it does not fit' : null } : undefined
  const said = { attempt, model: 'one-20260101', parts, checks, finish, usage, textBefore }
  const answer = kind ? undefined : answerCheck(random)
  return { type: 'model-finished', ...said, ...(output && { output }), ...(answer && { answer }) }
}

/** As for an agent with `checkAnswer`. */
function answerCheck(random: Random): AnswerCheck | undefined {
  if (random.chance(0.7)) return undefined
  return random.pick<AnswerCheck>([
    { verdict: 'accept' },
    { verdict: 'again', reason: 'it cites nothing' },
    { verdict: 'ask', reason: 'it is not sure' },
    { verdict: 'ask', reason: 'it is not sure', by: ['ann', 'bob'] },
    { verdict: 'ask', reason: 'it is not sure', by: ['bob'] },
    { verdict: 'failed', message: 'it threw' },
  ])
}

function finishReason(random: Random): FinishReason {
  if (random.chance(0.75)) return random.pick(['end', 'tool-calls'])
  return random.pick(['max-tokens', 'refusal', 'pause', 'context-full', 'malformed-call', 'other'])
}

const ARGUMENTS = ['{}', '{"a":1}', '{"path":"x"}', '{"a":"cut', '[1]', 'nonsense', '']

function call(world: World): ModelPart {
  const { random, spec, state } = world
  const all = [...spec.tools, ...listClientTools(state)]
  // Half of the time picks a tool that a present client can run: offers and claims would be rare otherwise.
  const ofClients =
    state.clients.length > 0 && random.chance(0.5) ? spec.tools.filter(({ runs }) => runs === 'client') : []
  const names = (ofClients.length > 0 ? ofClients : all).map((tool) => tool.name)
  const name = random.chance(0.95) ? random.pick(names) : 'no.such.tool'
  return {
    type: 'call',
    name,
    arguments: random.chance(0.8) ? random.pick(ARGUMENTS.slice(0, 3)) : random.pick(ARGUMENTS),
  }
}

/** A share of the calls runs in the background, where the agent has tools for that. */
function callOf(world: World, name: string): CallCheck {
  const { random, spec } = world
  const check = callCheck(random)
  const tool = spec.tools.find((other) => other.name === name)
  if (tool?.runs === 'machine') return { ...check, ...(random.chance(0.95) && { operation: operation(world, name) }) }
  const isOffered = spec.tools.some(({ runs }) => runs === 'machine')
  return isOffered && random.chance(0.35) ? { ...check, background: true } : check
}

function operation(world: World, name: string): TaskOperation {
  const { random, state } = world
  const known = [...state.tasks, ...state.endedTasks].map(({ callId }) => callId)
  const task = known.length > 0 && random.chance(0.95) ? random.pick(known) : 'call_99_0'
  switch (name) {
    case 'tasks.read':
      return { type: 'read', task }
    case 'tasks.wait':
      return {
        type: 'wait',
        seconds: random.pick([1, 5]),
        ...(random.chance(0.3) && { tasks: [task] }),
        ...(random.chance(0.5) && { all: true }),
      }
    case 'tasks.cancel':
      return { type: 'cancel', task }
    default:
      return { type: 'list' }
  }
}

function callCheck(random: Random): CallCheck {
  return {
    argumentsHash: `hash${random.below(3)}`,
    ...(random.chance(0.1) && { invalid: 'path must be a string' }),
    ...(random.chance(0.25) && { asks: true }),
    ...(random.chance(0.05) && { denied: 'not in this house' }),
  }
}

const CODES: readonly ErrorCode[] = [
  'model_overloaded',
  'model_auth_failed',
  'context_overflow',
  'model_timeout',
  'model_cut_off',
  'model_invalid_request',
  'model_content_refused',
  'model_request_too_large',
]

export function failure(random: Random): {
  code: ErrorCode
  message: string
  retryable: boolean
  retryAfterMs?: number
} {
  const retryAfterMs = random.pick([100, 2000, 90_000])
  return {
    code: random.pick(CODES),
    message: 'failed',
    retryable: random.chance(0.6),
    ...(random.chance(0.3) && { retryAfterMs }),
  }
}

export function modelFailed(random: Random, attempt: number): Input {
  return { type: 'model-failed', attempt, error: failure(random) }
}

export function outcome(random: Random): Outcome {
  if (random.chance(0.2))
    return { type: 'error', code: 'tool_failed', message: random.pick(['broken', '', 'b'.repeat(900)]) }
  if (random.chance(0.1)) return { type: 'ok', content: [{ type: 'text', text: 'see' }, IMAGE] }
  return {
    type: 'ok',
    content: [{ type: 'text', text: random.pick(['', 'done', 'y'.repeat(90), 'z'.repeat(900), 'cut \ud83d']) }],
  }
}

export function approval(world: World): Input {
  const { random, state } = world
  const waiting = liveCalls(state).find((candidate) => candidate.state === 'awaiting-approval')
  const open = waiting ?? liveCalls(state)[0]
  const decision = random.pick(['approve', 'approve', 'deny', 'edit'] as const)
  const stale = `approval_${anyCallId(world)}_${1 + random.below(3)}`
  return {
    type: 'approval',
    approvalId: open?.approval && random.chance(0.8) ? open.approval.id : stale,
    principal: 'ann',
    decision,
    ...(decision === 'approve' && open?.answer && { answer: world.history.turnTexts().at(-1)?.text ?? '' }),
    ...(random.chance(0.1) && { remember: random.pick(['tool', 'arguments'] as const) }),
    ...(decision === 'edit' && {
      edited: { arguments: '{"a":2}', check: { ...callCheck(random), argumentsHash: 'hashE' } },
    }),
  }
}

/** A question of a tool: a new one, a repeated one, or one of an ended attempt. */
export function question(world: World): Input | undefined {
  const { random, state } = world
  const running = liveCalls(state).filter((open) => open.state === 'started')
  const open = running.length > 0 ? random.pick(running) : liveCalls(state)[0]
  if (!open) return undefined
  const n = Math.max(1, open.questions.length + random.below(2))
  const attempt = open.attempt - (random.chance(0.1) ? 1 : 0)
  const timeoutMs = random.pick([100, 4000])
  return { type: 'question-asked', callId: open.callId, attempt, n, message: 'which?', schema: {}, timeoutMs }
}

export function questionAnswer(world: World, id?: string): Input {
  const { random, state } = world
  const open = liveCalls(state).flatMap(({ questions }) => questions.filter(({ deadline }) => deadline !== null))
  const late = random.chance(0.1) ? undefined : open[0]?.id
  const questionId = id ?? late ?? `question_${anyCallId(world)}_1`
  const said = { type: 'question-answer', questionId, principal: 'ann' } as const
  return random.chance(0.6) ? { ...said, value: 'this one' } : { ...said, decline: true }
}

export function anyCallId(world: World): string {
  const { random, state } = world
  const ids = [
    ...liveCalls(state).map((open) => open.callId),
    ...state.recentCalls.slice(-5).map((closed) => closed.callId),
  ]
  return ids.length > 0 && random.chance(0.95) ? random.pick(ids) : 'call_99_0'
}
