// Possible next inputs of an exploration: right, wrong, late, repeated and forged inputs of every kind.
import type { JsonObject } from '../json.ts'
import type { Heard, Input, State } from '../machine/index.ts'
import { detachedCalls } from '../machine/index.ts'
import {
  answerEffect,
  anyCallId,
  approval,
  failure,
  IMAGE,
  modelFailed,
  modelFinished,
  outcome,
  question,
  questionAnswer,
  WORDS,
} from './explore-answers.ts'
import type { World } from './explore-world.ts'
import { liveCalls } from './explore-world.ts'
import type { Random } from './random.ts'

type Chooser = (world: World) => Input | undefined

/** Weights: inputs that advance a conversation are frequent, and disturbing ones frequent enough. */
const CHOICES: readonly (readonly [number, Chooser])[] = [
  [30, answerSomething],
  [6, userInput],
  [5, (world) => clientComes(world)],
  [4, clientResult],
  [3, fireTimer],
  [3, transcript],
  [2, stoppedModel],
  [2, interrupt],
  [1, cancelCall],
  [2, progress],
  [2, approval],
  [5, question],
  [2, (world) => questionAnswer(world)],
  [2, clientGoes],
  [2, claim],
  [2, lateAnswer],
  [2, urgent],
  [1, reached],
  [1, lostWork],
  [1, offerFailed],
  [1, rewind],
  [1, (world) => ({ type: 'set-model', model: world.random.pick(['one', 'two', 'three']) })],
  [1, describeOrRemind],
  [1, withdrawal],
  [1, (world) => ({ type: 'set-settings', settings: world.random.pick([null, { temperature: 1 }]) })],
  [1, pauseOrStop],
  [1, agentChanged],
  [2, clientTools],
  [2, display],
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

function describeOrRemind(world: World): Input {
  const pick = world.random.below(3)
  const { state, records, nowMs } = world
  const [due = { reminder: 'gone', dueMs: 1 }] = state.reminders
  const reminder = ['tea', 'mail', 'bins'][pick] ?? ''
  // Repeats and times that were replaced are among them.
  switch (records.length % 4) {
    case 0: {
      const rule = pick === 0 && { rule: { everyMs: 60_000 } }
      return { type: 'set-reminder', reminder, dueMs: nowMs + 5000, zone: 'UTC', ...rule, event: { name: 'due' } }
    }
    case 1: {
      const dueMs = due.dueMs - (pick === 2 ? 1 : 0)
      const next = 'rule' in due && due.rule && { nextMs: dueMs + 60_000 }
      return { type: 'reminder-due', reminder: due.reminder, dueMs, ...next, told: { due: 'now' } }
    }
    case 2:
      return { type: 'cancel-reminder', reminder }
    default:
      return { type: 'describe', title: ['a trip', null, 't'.repeat(201)][pick] ?? null, meta: { n: 1 } }
  }
}

function answerSomething(world: World): Input | undefined {
  const effects = [...world.running.values()].filter((effect) => effect.type !== 'set-timer')
  return effects.length === 0 ? undefined : answerEffect(world, world.random.pick(effects), false)
}

function userInput(world: World): Input {
  const { random } = world
  // Repeats are among the last hundred: older ids are forgotten eventually, and would be accepted again.
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
    ...(random.chance(0.8) && { heard: played(random) }),
    ...(random.chance(0.1) && { model: 'two', settings: { temperature: 0 } }),
    ...(random.chance(0.3) && { asks: false }),
    ...(random.chance(0.2) && { output: random.pick(OUTPUTS) }),
  }
}

const OUTPUTS: readonly JsonObject[] = [
  { type: 'object', properties: { n: { type: 'number' } } },
  { type: 'object', properties: { t: { type: 'string' } } },
]

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

function display({ random, state }: World): Input {
  const turn = state.counters.turn - random.below(2)
  return { type: 'display-written', turn, ...(random.chance(0.5) && { chars: random.below(60) }) }
}

function played(random: Random): Heard {
  return random.pick<Heard>([
    { type: 'all' },
    { type: 'display' },
    { type: 'reported' },
    { type: 'chars', chars: random.below(60) },
  ])
}

/** One piece of work dies with its process, sometimes long after it ended. */
function lostWork(world: World): Input {
  const { random, state } = world
  const late = random.chance(0.1) ? 1 : 0
  const running = [...liveCalls(state), ...detachedCalls(state)].filter((open) => open.state === 'started')
  if (running.length === 0 || random.chance(0.3))
    return { type: 'work-lost', work: { type: 'model', attempt: state.counters.attempt - late } }
  const { callId, attempt } = random.pick(running)
  return { type: 'work-lost', work: { type: 'tool', callId, attempt: attempt - late } }
}

function interrupt(world: World): Input {
  const { random } = world
  const tasks = random.chance(0.1) && ({ tasks: 'cancel' } as const)
  return { type: 'interrupt', reason: 'barge_in', heard: played(random), ...tasks }
}

function cancelCall(world: World): Input {
  const { random, state } = world
  const callId = state.tasks.length > 0 && random.chance(0.8) ? random.pick(state.tasks).callId : anyCallId(world)
  return { type: 'cancel-call', callId, principal: 'ann' }
}

export function clientComes(world: World, claims = world.random.chance(0.5)): Input {
  world.serial += 1
  const { random } = world
  const again = random.chance(0.1) ? world.state.clients[random.below(world.state.clients.length)] : undefined
  return {
    type: 'client-attached',
    connection: again?.connection ?? `conn-${world.serial}`,
    principal: random.chance(0.9) ? 'ann' : 'bob',
    sequential: !claims && random.chance(0.5),
    claims,
    reportsPlayback: claims,
    asks: random.chance(0.7),
    ...((again?.lease ?? random.chance(0.2)) && { leaseMs: random.pick([500, 3000]) }),
  }
}

function clientGoes(world: World): Input | undefined {
  const client = world.state.clients.length > 0 ? world.random.pick(world.state.clients) : undefined
  return client && { type: 'client-detached', connection: client.connection }
}

function clientResult(world: World): Input | undefined {
  const { random, state } = world
  const connection =
    state.clients.length > 0 && random.chance(0.95) ? random.pick(state.clients).connection : 'conn-forged'
  return { type: 'tool-result', callId: anyCallId(world), connection, outcome: outcome(random) }
}

function claim(world: World): Input | undefined {
  const all = liveCalls(world.state).filter((open) => open.offer)
  const unclaimed = all.filter(({ state }) => state === 'offered')
  const offers = unclaimed.length > 0 && world.random.chance(0.8) ? unclaimed : all
  if (offers.length === 0) return { type: 'call-claimed', callId: anyCallId(world), connection: 'conn-1', offer: 1 }
  const open = world.random.pick(offers)
  const offer = (open.offer?.number ?? 0) - (world.random.chance(0.1) ? 1 : 0)
  return { type: 'call-claimed', callId: open.callId, connection: open.offer?.connection ?? '', offer }
}

function reached(world: World): Input | undefined {
  const open = liveCalls(world.state).find((candidate) => candidate.clock.mode === 'waiting')
  if (!open) return { type: 'call-reached', callId: anyCallId(world), offer: world.state.counters.offer }
  return { type: 'call-reached', callId: open.callId, offer: open.offer?.number ?? 0 }
}

function offerFailed(world: World): Input | undefined {
  const open = liveCalls(world.state).find(
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

/** A late answer of aborted or already answered work. */
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

function withdrawal({ random, state }: World): Input {
  const waiting = state.queue.map(({ inputId }) => inputId)
  return { type: 'withdraw', target: random.pick(waiting.length > 0 ? [...waiting, 'nobody’s'] : ['nobody’s']) }
}

/** A rewind to an entry of the window, or to a missing entry. */
export function rewind(world: World): Input | undefined {
  const { random, state } = world
  const exchanges = state.index.map((entry) => entry.exchange)
  if (exchanges.length === 0) return undefined
  world.serial += 1
  const exchange = random.chance(0.9) ? random.pick(exchanges) : 999
  const entries = state.index.filter((entry) => entry.exchange === exchange)
  const how = random.pick(['again', 'replace', 'away'] as const)
  return {
    type: 'rewind',
    inputId: `in-${world.serial}`,
    exchange,
    again: how === 'again',
    ...(random.chance(0.5) && { interrupt: true }),
    ...(random.chance(0.4) && entries.length > 0 && { fromEntry: random.pick(entries).entry }),
    ...(how === 'replace' && { replace: { parts: [{ type: 'text', text: random.pick(['instead', ' ']) }] } }),
  }
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
  const { random, state } = world
  const names = random.pick([['camera.take'], ['camera.take', 'mic.open'], ['look', 'mic.open'], [], MANY])
  const connection = state.clients.length > 0 ? random.pick(state.clients).connection : 'conn-none'
  const tools = names.map((name) => ({
    name,
    effect: random.pick(['pure', 'once'] as const),
    runs: 'client' as const,
    timeoutMs: 2000,
    parallel: true,
    onInterrupt: 'cancel' as const,
    description: '',
    inputSchema: { type: 'object' },
  }))
  return { type: 'client-tools', connection, tools }
}

/** Two such lists are more than a session accepts. */
const MANY = Array.from({ length: 70 }, (_, at) => `many.${at}`)

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
    { type: 'model-used', callId: 'call_none', attempt: 1, model: 'x', usage: { inputTokens: 1, costMicros: 1 } },
    { type: 'client-detached', connection: 'conn-none' },
    { type: 'user-input', inputId: `wild-${world.nowMs}`, parts: [] },
  ])
}
