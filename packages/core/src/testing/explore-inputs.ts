// What may come next in an exploration: right, wrong, late, repeated and forged inputs of every kind.
import type { ModelPart } from '../agent/model.ts'
import type { ErrorCode } from '../errors.ts'
import type { ContentPart, FinishReason } from '../messages.ts'
import type { AwaitedEffect, CallCheck, Heard, Input, Outcome, State } from '../machine/index.ts'
import { openCalls } from '../machine/index.ts'
import type { World } from './explore-world.ts'
import type { Random } from './random.ts'

type Chooser = (world: World) => Input | undefined

/** Weights: what drives a conversation on comes often, what disturbs it comes often enough. */
const CHOICES: readonly (readonly [number, Chooser])[] = [
  [30, answerSomething],
  [6, userInput],
  [5, clientComes],
  [4, clientResult],
  [3, fireTimer],
  [3, transcript],
  [2, stoppedModel],
  [2, interrupt],
  [2, progress],
  [2, approval],
  [2, clientGoes],
  [2, claim],
  [2, lateAnswer],
  [2, urgent],
  [1, reached],
  [1, lostWork],
  [1, offerFailed],
  [1, rewind],
  [1, (world) => ({ type: 'set-model', model: world.random.pick(['one', 'two', 'three']) })],
  [1, pauseOrStop],
  [1, agentChanged],
  [1, clientTools],
  [1, (world) => ({ type: 'display-written', turn: world.state.counters.turn - world.random.below(2) })],
  [1, wildInput],
]
const TOTAL = CHOICES.reduce((sum, [weight]) => sum + weight, 0)

export function chooseInput(world: World): Input | undefined {
  let left = world.random.below(TOTAL)
  for (const [weight, choose] of CHOICES) {
    left -= weight
    if (left < 0) return choose(world)
  }
  return undefined
}

function answerSomething(world: World): Input | undefined {
  const effects = [...world.running.values()].filter((effect) => effect.type !== 'set-timer')
  return effects.length === 0 ? undefined : answerEffect(world, world.random.pick(effects), false)
}

/** The answer to an effect; a kind one lets the session come to rest. */
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
      return { type: 'tool-result', callId: effect.callId, connection: effect.connection, outcome: outcome(random) }
    case 'ask-approval':
      return kind ? undefined : approval(world)
    default:
      return undefined
  }
}

const WORDS = ['yes', 'a longer answer with several words', 'ünïcode 😀 text', 'x'.repeat(120), '😀😀']

function modelFinished(world: World, attempt: number, kind: boolean): Input {
  const { random } = world
  const finish = kind ? 'end' : finishReason(random)
  const parts: ModelPart[] = []
  if (!kind && random.chance(0.2))
    parts.push({ type: 'reasoning', text: 'hm', state: { provider: 'p', model: 'm', data: 'sig' } })
  if (kind || random.chance(0.7)) parts.push({ type: 'text', text: random.pick(WORDS) })
  else if (random.chance(0.3)) parts.push({ type: 'text', text: ' ' })
  const calls = kind || random.chance(0.35) ? 0 : 1 + random.below(3)
  for (let index = 0; index < calls; index++) parts.push(call(world))
  if (finish === 'pause' && random.chance(0.7))
    parts.push({ type: 'provider', state: { provider: 'p', model: 'm', data: { type: 'search' } } })
  const checks = parts.filter((part) => part.type === 'call').map(() => callCheck(random))
  const textBefore = world.history.turnTexts().join('\n\n')
  const usage = random.chance(0.5) ? { inputTokens: random.below(900), outputTokens: random.below(200) } : {}
  // As an agent with an output schema has it.
  const output =
    calls === 0 && random.chance(0.2) ? { issue: random.chance(0.6) ? 'it does not fit' : null } : undefined
  const said = { attempt, model: 'one-20260101', parts, checks, finish, usage, textBefore }
  return { type: 'model-finished', ...said, ...(output && { output }) }
}

function finishReason(random: Random): FinishReason {
  if (random.chance(0.75)) return random.pick(['end', 'tool-calls'])
  return random.pick(['max-tokens', 'refusal', 'pause', 'context-full', 'malformed-call', 'other'])
}

const ARGUMENTS = ['{}', '{"a":1}', '{"path":"x"}', '{"a":"cut', '[1]', 'nonsense', '']

function call(world: World): ModelPart {
  const { random } = world
  const names = [...world.spec.tools.map((tool) => tool.name), ...world.state.clientTools.map((tool) => tool.name)]
  const name = random.chance(0.95) ? random.pick(names) : 'no.such.tool'
  return {
    type: 'call',
    name,
    arguments: random.chance(0.8) ? random.pick(ARGUMENTS.slice(0, 3)) : random.pick(ARGUMENTS),
  }
}

function callCheck(random: Random): CallCheck {
  return {
    argumentsHash: `hash${random.below(3)}`,
    ...(random.chance(0.1) && { invalid: 'path must be a string' }),
    ...(random.chance(0.25) && { approval: { tokenHash: 'token' } }),
  }
}

const CODES: readonly ErrorCode[] = [
  'model_overloaded',
  'model_auth_failed',
  'context_overflow',
  'model_timeout',
  'model_cut_off',
]

function failure(random: Random): { code: ErrorCode; message: string; retryable: boolean; retryAfterMs?: number } {
  const retryAfterMs = random.pick([100, 2000, 90_000])
  return {
    code: random.pick(CODES),
    message: 'failed',
    retryable: random.chance(0.6),
    ...(random.chance(0.3) && { retryAfterMs }),
  }
}

function modelFailed(random: Random, attempt: number): Input {
  return { type: 'model-failed', attempt, error: failure(random) }
}

function outcome(random: Random): Outcome {
  if (random.chance(0.2))
    return { type: 'error', code: 'tool_failed', message: random.pick(['broken', '', 'b'.repeat(900)]) }
  return {
    type: 'ok',
    content: [{ type: 'text', text: random.pick(['', 'done', 'y'.repeat(90), 'z'.repeat(900), 'cut \ud83d']) }],
  }
}

const IMAGE: ContentPart = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'aa' } }

function userInput(world: World): Input {
  const { random } = world
  // Repeats are of the last hundred: older ids are forgotten some day, and then taken anew.
  const fresh = random.chance(0.9)
  if (fresh) world.serial += 1
  const delivery = random.pick(['queue', 'queue', 'steer', 'interrupt'] as const)
  const text = random.chance(0.02) ? 'w'.repeat(70_000) : random.pick(WORDS)
  return {
    type: 'user-input',
    inputId: `in-${fresh ? world.serial : Math.max(0, world.serial - random.below(100))}`,
    parts: random.chance(0.1)
      ? [{ type: 'text', text: ' ' }, IMAGE, { type: 'text', text: '\ude00' }]
      : [{ type: 'text', text }],
    delivery,
    ...(random.chance(0.8) && { heard: heard(random) }),
    ...(random.chance(0.1) && { model: 'two', settings: { temperature: 0 } }),
  }
}

function transcript(world: World): Input {
  world.serial += 1
  const text = world.random.pick(['hello', 'two\n[Transcript] boss: lines', ' ', 'v'.repeat(3000)])
  return { type: 'transcript', inputId: `in-${world.serial}`, speaker: 'ann', text }
}

function urgent(world: World): Input {
  world.serial += 1
  const delivery = world.random.pick(['steer', 'interrupt', 'queue'] as const)
  return {
    type: 'urgent-event',
    inputId: `in-${world.serial}`,
    name: 'offer',
    detail: { price: 1 },
    message: 'now',
    delivery,
  }
}

function heard(random: Random): Heard {
  return random.pick<Heard>([{ type: 'all' }, { type: 'display' }, { type: 'chars', chars: random.below(60) }])
}

/** One piece of work dies with its process; sometimes one that is long over. */
function lostWork(world: World): Input {
  const { random, state } = world
  const late = random.chance(0.1) ? 1 : 0
  const running = openCalls(state).filter((open) => open.state === 'started')
  if (running.length === 0 || random.chance(0.3))
    return { type: 'work-lost', work: { type: 'model', attempt: state.counters.attempt - late } }
  const { callId, attempt } = random.pick(running)
  return { type: 'work-lost', work: { type: 'tool', callId, attempt: attempt - late } }
}

function interrupt(world: World): Input {
  return { type: 'interrupt', reason: 'barge_in', heard: heard(world.random) }
}

function clientComes(world: World): Input {
  world.serial += 1
  const protocol = world.random.pick([1, 2] as const)
  const connection = world.random.chance(0.9)
    ? `conn-${world.serial}`
    : (world.state.clients[0]?.connection ?? 'conn-0')
  const principal = world.random.chance(0.9) ? 'ann' : 'bob'
  return {
    type: 'client-attached',
    connection,
    protocol,
    principal,
    sequential: protocol === 1 && world.random.chance(0.5),
  }
}

function clientGoes(world: World): Input | undefined {
  const client = world.state.clients.length > 0 ? world.random.pick(world.state.clients) : undefined
  return client && { type: 'client-detached', connection: client.connection }
}

function anyCallId(world: World): string {
  const { random, state } = world
  const ids = [
    ...openCalls(state).map((open) => open.callId),
    ...state.recentCalls.slice(-5).map((closed) => closed.callId),
  ]
  return ids.length > 0 && random.chance(0.95) ? random.pick(ids) : 'call_99_0'
}

function clientResult(world: World): Input | undefined {
  const { random, state } = world
  const connection =
    state.clients.length > 0 && random.chance(0.95) ? random.pick(state.clients).connection : 'conn-forged'
  return { type: 'tool-result', callId: anyCallId(world), connection, outcome: outcome(random) }
}

function claim(world: World): Input | undefined {
  const offers = openCalls(world.state).filter((open) => open.offer)
  if (offers.length === 0) return { type: 'call-claimed', callId: anyCallId(world), connection: 'conn-1', offer: 1 }
  const open = world.random.pick(offers)
  const offer = (open.offer?.number ?? 0) - (world.random.chance(0.1) ? 1 : 0)
  return { type: 'call-claimed', callId: open.callId, connection: open.offer?.connection ?? '', offer }
}

function reached(world: World): Input | undefined {
  const open = openCalls(world.state).find((candidate) => candidate.clock.mode === 'waiting')
  if (!open) return { type: 'call-reached', callId: anyCallId(world), offer: world.state.counters.offer }
  return { type: 'call-reached', callId: open.callId, offer: open.offer?.number ?? 0 }
}

function offerFailed(world: World): Input | undefined {
  const open = openCalls(world.state).find(
    (candidate) => candidate.state === 'offered' || candidate.state === 'claimed',
  )
  if (!open) return { type: 'offer-failed', callId: anyCallId(world), offer: world.state.counters.offer }
  return { type: 'offer-failed', callId: open.callId, offer: open.offer?.number ?? 0 }
}

function stoppedModel(world: World): Input | undefined {
  const attempt = world.aborted.at(-1)
  if (attempt === undefined) return undefined
  if (world.random.chance(0.5)) return { type: 'model-stopped', attempt, text: world.random.pick(['', ...WORDS]) }
  return world.random.chance(0.5) ? modelFinished(world, attempt, false) : modelFailed(world.random, attempt)
}

function progress(world: World): Input | undefined {
  const attempt = world.state.attempt
  if (!attempt) return { type: 'attempt-progress', attempt: world.state.counters.attempt, offset: 0, text: 'late' }
  const offset = attempt.progressChars + (world.random.chance(0.1) ? 3 : 0)
  return { type: 'attempt-progress', attempt: attempt.attempt, offset, text: world.random.pick([' ', ...WORDS]) }
}

/** Something that was aborted or answered long ago answers after all. */
function lateAnswer(world: World): Input | undefined {
  if (world.zombies.length === 0) return undefined
  const effect = world.random.pick(world.zombies)
  return effect.type === 'set-timer'
    ? { type: 'timer-fired', timer: effect.timer, generation: effect.generation }
    : answerEffect(world, effect, false)
}

function fireTimer(world: World): Input | undefined {
  const timers = [...world.running.values()].filter((effect) => effect.type === 'set-timer')
  if (timers.length === 0) return undefined
  const timer = world.random.pick(timers)
  world.nowMs = Math.max(world.nowMs, timer.atMs)
  return { type: 'timer-fired', timer: timer.timer, generation: timer.generation }
}

function approval(world: World): Input | undefined {
  const { random, state } = world
  const waiting = openCalls(state).find((candidate) => candidate.state === 'awaiting-approval')
  const open = waiting ?? openCalls(state)[0]
  if (!open) return forgedApproval(world)
  const decision = random.pick(['approve', 'approve', 'deny', 'edit'] as const)
  const forged = random.chance(0.2)
  return {
    type: 'approval',
    callId: open.callId,
    approvalId: forged && random.chance(0.5) ? 'approval_old' : (open.approval?.id ?? ''),
    tokenHash: forged && random.chance(0.5) ? 'wrong' : 'token',
    argumentsHash: forged ? 'other' : open.argumentsHash,
    principal: 'ann',
    decision,
    ...(decision === 'edit' && {
      edited: {
        arguments: '{"a":2}',
        check: { argumentsHash: 'hashE', ...(random.chance(0.7) && { approval: { tokenHash: 'token' } }) },
      },
    }),
  }
}

function forgedApproval(world: World): Input {
  const callId = anyCallId(world)
  const approvalId = `approval_${callId}_1`
  return {
    type: 'approval',
    callId,
    approvalId,
    tokenHash: 'token',
    argumentsHash: 'hash0',
    principal: 'ann',
    decision: 'approve',
  }
}

function rewind(world: World): Input | undefined {
  const { random, state } = world
  const exchanges = state.index.map((entry) => entry.exchange)
  if (exchanges.length === 0) return undefined
  world.serial += 1
  const exchange = random.chance(0.9) ? random.pick(exchanges) : 999
  return { type: 'rewind', inputId: `in-${world.serial}`, exchange, again: random.chance(0.5) }
}

function pauseOrStop(world: World): Input {
  const phase: State['phase'] = world.state.phase
  if (phase === 'paused') return { type: world.random.chance(0.8) ? 'continue' : 'stop' }
  if (phase === 'stopped') return { type: 'start' }
  return { type: world.random.chance(0.7) ? 'pause' : 'stop' }
}

function agentChanged(world: World): Input {
  const { spec, random } = world
  const gone = random.pick(spec.tools.map((tool) => tool.name))
  const tools = spec.tools.length > 5 ? spec.tools.filter((tool) => tool.name !== gone) : spec.tools
  world.spec = { ...spec, tools, hash: tools === spec.tools ? spec.hash : `${spec.hash}-${gone}` }
  return { type: 'agent-changed' }
}

function clientTools(world: World): Input {
  const tool = {
    name: 'camera.take',
    effect: 'pure',
    runs: 'client',
    timeoutMs: 2000,
    parallel: true,
    onInterrupt: 'cancel',
  } as const
  const tools = world.random.chance(0.5)
    ? [{ ...tool, description: 'takes a picture', inputSchema: { type: 'object' } }]
    : []
  return { type: 'client-tools', tools }
}

/** Commands that the state may not allow, so that refusals are explored too. */
function wildInput(world: World): Input {
  return world.random.pick<Input>([
    { type: 'pause' },
    { type: 'stop' },
    { type: 'continue' },
    { type: 'start' },
    {
      type: 'model-finished',
      attempt: 9999,
      model: 'x',
      parts: [],
      checks: [],
      finish: 'end',
      usage: {},
      textBefore: '',
    },
    { type: 'model-failed', attempt: 9999, error: failure(world.random) },
    { type: 'model-stopped', attempt: 9999, text: '' },
    { type: 'summary-finished', attempt: 9999, text: 'x', usage: {} },
    { type: 'summary-failed', attempt: 9999, error: failure(world.random) },
    { type: 'client-detached', connection: 'conn-none' },
    { type: 'user-input', inputId: `wild-${world.nowMs}`, parts: [] },
  ])
}
