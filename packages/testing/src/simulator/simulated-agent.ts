// The agent of the simulation: well-behaved and misbehaving tools of every effect class, and a model that says
// anything.
import type {
  Agent,
  ApprovalPolicy,
  ImagePart,
  Model,
  Message,
  ModelAnswer,
  ModelPart,
  Tool,
  ToolContext,
} from '@baton/core/internal'
import { BatonError, defineAgent, delegate, findDelegate, tool } from '@baton/core/internal'
import type { ErrorCode } from '@baton/core/internal'
import type { Random } from '@baton/core/testing'
import type { ModelWatch, SaidSink } from './model-watch.ts'
import type { SimulatedProcess } from './process.ts'

/** Real events of the simulated world, whatever the log says: starts of each call's tool. */
export type Effects = Map<string, { readonly tool: string; starts: number }>

/** Calls `onEffect` when a call's tool begins, on a host or a client. */
export function createEffects(onEffect: (callId: string, tool: string) => void): Effects {
  const effects: Effects = new Map()
  const set = effects.set.bind(effects)
  effects.set = (callId, effect) => {
    const { starts = 0 } = effects.get(callId) ?? {}
    set(callId, effect)
    if (effect.starts > starts) onEffect(callId, effect.tool)
    return effects
  }
  return effects
}

export interface AgentParts {
  readonly process: SimulatedProcess
  readonly random: Random
  readonly effects: Effects
  readonly onFault: (fault: string) => void
  /** While false, models and tools behave well. */
  readonly faulty: () => boolean
  readonly watch: Pick<ModelWatch, 'begin'>
  /** Whether the agent has tools that call other agents. */
  readonly delegates?: boolean
  /** Whether its model may run calls in the background. */
  readonly tasks?: boolean
  /** Whether it has a tool that two other people decide. */
  readonly office?: boolean
}

export const SIMULATED_PICTURE: ImagePart = {
  type: 'image',
  mediaType: 'image/png',
  source: { type: 'base64', data: 'c2ltdWxhdGVk' },
}

const INPUT = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const

/** A tool that two of three people approve, and not the session's owner. */
export const SIGNED_TOOL = 'pay.signed'
export const SIGNERS = ['mia', 'bob', 'cara'] as const

/** Client tools of every simulated agent. */
export const CLIENT_TOOLS = ['phone.look', 'phone.spawn', 'phone.pay', 'phone.cancel'] as const
/** A client tool of the agents below the first one, which runs on devices that name it. */
export const BELOW_TOOL = 'phone.below'
/** Their tools that call other agents, and their names. */
export const HELPERS: ReadonlySet<string> = new Set(['helper', 'helper2'])

export function createSimulatedAgent(parts: AgentParts): Agent {
  return defineAgent({
    ...shareParts(parts),
    name: 'simulated',
    tools: [
      ...simulatedTools(parts),
      ...signedTools(parts),
      ...(parts.delegates ? [callAgent(createHelper(parts), parts)] : []),
    ],
  })
}

/** The agent, and all agents below it. */
export function listSimulatedAgents(first: Agent): readonly Agent[] {
  const agents = [first]
  for (const agent of agents)
    for (const { delegation } of agent.tools ?? []) {
      const below = delegation && findDelegate(delegation)
      if (below && !agents.some(({ name }) => name === below.name)) agents.push(below)
    }
  return agents
}

/** Calls an agent that may call itself. */
function createHelper(parts: AgentParts): Agent {
  const tools = [
    ...simulatedTools(parts),
    tool({ name: BELOW_TOOL, description: BELOW_TOOL, input: INPUT, timeoutMs: 5000, awayMs: 3000 }),
    tool({
      name: 'read.page',
      description: 'read.page',
      input: INPUT,
      effect: 'pure',
      trust: 'untrusted',
      timeoutMs: 4000,
      execute: (_, context) => act(parts, 'read.page', context),
    }),
  ]
  const shared = shareParts(parts)
  const second: Agent = defineAgent({
    ...shared,
    name: 'helper2',
    tools: [
      ...tools,
      delegate({ agent: () => second, name: 'helper2', description: 'helps', input: INPUT, prompt: sayTask }),
    ],
  })
  return defineAgent({ ...shared, name: 'helper', tools: [...tools, callAgent(second, parts)] })
}

function callAgent(agent: Agent, { tasks }: AgentParts): Tool {
  const chosen = tasks && ({ background: 'model', onInterrupt: 'background' } as const)
  return delegate({ agent, description: 'helps', input: INPUT, prompt: sayTask, timeoutMs: 15_000, ...chosen })
}

function sayTask(input: unknown): string {
  return `do ${JSON.stringify(input)}`
}

function shareParts(parts: AgentParts) {
  return {
    instructions: 'Simulate.',
    model: [createSimulatedModel('sim/one', parts), createSimulatedModel('sim/two', parts)],
    approvalPolicy: decideByPolicy,
    limits: {
      turnMs: 60_000,
      awayMs: 20_000,
      approvalMs: 10_000,
      toolRounds: 4,
      callsPerTurn: 8,
      parallelCalls: 3,
      ...(parts.tasks && { tasks: 4, wakes: 3 }),
      ...(parts.delegates && { children: 2, treeSessions: 6, turnTokens: 4000 }),
    },
    window: { exchanges: 6 },
    retry: { attempts: 2 },
  }
}

/** Four is never allowed, even if a person edited it; two of a file needs approval. */
const decideByPolicy: ApprovalPolicy = ({ tool: { name }, input }) => {
  const { n } = input as { readonly n: number } // it matches the schema of all tools
  if (n === 4) return { deny: 'four is too much' }
  return name === 'put.file' && n === 2 ? 'ask' : undefined
}

function simulatedTools(parts: AgentParts): readonly Tool[] {
  const chosen = parts.tasks && ({ background: 'model' } as const)
  const make = (name: string, effect: Tool['effect'], more: Partial<Tool> = {}): Tool => ({
    ...tool({
      name,
      description: name,
      input: INPUT,
      effect,
      timeoutMs: 4000,
      ...(more.parallel !== false && chosen),
      execute: (_, context) => act(parts, name, context),
    }),
    ...more,
  })
  const client = (name: string, effect: Tool['effect']): Tool =>
    tool({ name, description: name, input: INPUT, effect, timeoutMs: 5000, ...chosen })
  return [
    make('read.file', 'pure'),
    make('put.file', 'idempotent'),
    make('pay', 'once'),
    make('pay.asked', 'once', { approval: true }),
    make('alone', 'pure', { parallel: false }),
    make('ask.user', 'idempotent'),
    make('ask.pay', 'once'),
    client('phone.look', 'pure'),
    client('phone.spawn', 'once'),
    tool({
      name: 'phone.pay',
      description: 'phone.pay',
      input: INPUT,
      timeoutMs: 5000,
      awayMs: 3000,
      ...chosen,
      fallback: (_, context) => act(parts, 'phone.pay', context),
    }),
    client('phone.cancel', 'idempotent'),
  ]
}

function signedTools(parts: AgentParts): readonly Tool[] {
  if (!parts.office) return []
  const name = SIGNED_TOOL
  const execute: Tool['execute'] = (_, context) => act(parts, name, context)
  const deciders = { people: [...SIGNERS, 'ann'], needed: 2, notAsker: true } as const
  return [tool({ name, description: name, input: INPUT, timeoutMs: 4000, approval: true, deciders, execute })]
}

/** A tool's execution: its effect happens immediately, then it returns, throws, is late, or never returns. */
async function act(parts: AgentParts, name: string, context: ToolContext): Promise<unknown> {
  const { process, random } = parts
  await process.point('tool, before its effect')
  const effect = parts.effects.get(context.callId) ?? { tool: name, starts: 0 }
  parts.effects.set(context.callId, { ...effect, starts: effect.starts + 1 })
  await process.point('tool, after its effect')
  if (random.chance(0.2)) context.plan([{ content: `${name} is at work`, status: 'in_progress' }])
  if (name.startsWith('ask.')) await askUser(parts, context)
  await process.wait(random.below(800))
  if (parts.faulty() && random.chance(0.35)) return misbehave(parts)
  if (random.chance(0.1)) return { content: [{ type: 'text', text: 'seen' }, SIMULATED_PICTURE] }
  return { did: name, starts: parts.effects.get(context.callId)?.starts }
}

const ANSWER = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } as const

/** Asks one or more questions. Without an answer, the tool continues or fails. */
async function askUser({ random }: AgentParts, context: ToolContext): Promise<void> {
  for (let questions = 1 + random.below(2); questions > 0; questions--) {
    const asked = context.ask({ message: 'May I go on?', schema: ANSWER, timeoutMs: random.pick([3000, 20_000]) })
    if (random.chance(0.5)) await asked.catch(() => {})
    else await asked
  }
}

async function misbehave({ process, random, onFault }: AgentParts): Promise<unknown> {
  const kind = random.pick(['throws', 'late', 'hangs', 'large', 'large', 'not-json'])
  onFault(`tool-${kind}`)
  if (kind === 'throws') throw new Error('the simulated tool failed')
  if (kind === 'hangs') return await new Promise(() => {})
  if (kind === 'large') return 'x'.repeat(40_000)
  if (kind === 'not-json') return () => {}
  await process.wait(4000 + random.below(3000))
  return 'late'
}

const MODEL_ERRORS: readonly (readonly [ErrorCode, boolean])[] = [
  ['model_auth_failed', false],
  ['model_rate_limited', true],
  ['model_overloaded', true],
  ['context_overflow', false],
  ['model_invalid_request', false],
  ['model_content_refused', false],
  ['model_request_too_large', false],
  ['model_network_failed', true],
  ['model_timeout', true],
  ['model_malformed_answer', true],
  ['model_cut_off', true],
  ['model_provider_failed', true],
]
/** Some pieces split a surrogate pair, as some servers do. */
const WORDS = ['Well, ', 'this is ', 'an answer ', 'with emoji 😀 ', 'and more.', 'cut \ud83d', '\ude00 off']

function createSimulatedModel(id: string, parts: AgentParts): Model {
  const { process, random, onFault, watch } = parts
  const run: Model['run'] = async (...asked) => {
    const told = watch.begin(process, id, asked[0], asked[2])
    try {
      return await speak(told, ...asked)
    } finally {
      told.end()
    }
  }
  const speak = async (told: SaidSink, ...[request, sink, signal]: Parameters<Model['run']>): Promise<ModelAnswer> => {
    await process.point('model, before the request')
    const said: string[] = []
    for (let piece = random.below(5); piece > 0; piece--) {
      await process.wait(random.below(400))
      await process.point('model, between pieces')
      if (signal.aborted && random.chance(0.8)) throw new BatonError({ code: 'cancelled', message: 'aborted' })
      const text = random.pick(WORDS)
      said.push(text)
      told.said(text)
      sink({ type: 'text-delta', text })
    }
    if (parts.faulty() && random.chance(0.2)) await failSomehow()
    await process.point('model, at its end')
    const tools = request.toolChoice.type === 'none' ? [] : request.tools.map((declared) => declared.name)
    const { messages } = request
    return readAnswer(parts, { id, said: said.join(''), tools, handle: handleIn(messages), task: taskIn(messages) })
  }
  const failSomehow = async (): Promise<never> => {
    if (random.chance(0.2)) {
      onFault('model-hangs')
      return await new Promise(() => {})
    }
    const [code, retryable] = random.pick(MODEL_ERRORS)
    onFault(code)
    throw new BatonError({
      code,
      message: `simulated ${code}`,
      retryable,
      data: random.chance(0.3) ? { retryAfterMs: 1000 } : {},
    })
  }
  return { id, provider: 'simulated', capabilities: { tools: 'native', images: true }, run }
}

interface Said {
  readonly id: string
  readonly said: string
  readonly tools: readonly string[]
  readonly handle: string | undefined
  /** The newest task in the model's messages. */
  readonly task: string | undefined
}

function readAnswer(parts: AgentParts, said: Said): ModelAnswer {
  const { random } = parts
  const answer: ModelPart[] = said.said === '' ? [] : [{ type: 'text', text: said.said }]
  const calls = said.tools.length > 0 && random.chance(0.6) ? 1 + random.below(3) : 0
  for (let call = 0; call < calls; call++) answer.push(inBackground(parts, findCall(random, said)))
  const finish = calls > 0 ? 'tool-calls' : 'end'
  return {
    parts: answer,
    finish: parts.faulty() && random.chance(0.05) ? 'max-tokens' : finish,
    usage: parts.delegates ? { inputTokens: 100 + random.below(300), outputTokens: random.below(100) } : {},
    model: said.id,
  }
}

/** In a world without faults nothing new begins there, so that sessions come to rest. */
function inBackground({ tasks, random, faulty }: AgentParts, part: ModelPart): ModelPart {
  if (!tasks || part.type !== 'call' || part.name.startsWith('tasks.') || !faulty() || random.chance(0.65)) return part
  return { ...part, arguments: part.arguments.replace(/^\{"n":(\d)/, '{"run_in_background":true,"n":$1') }
}

function findCall(random: Random, { tools, handle, task }: Said): ModelPart {
  const ofTasks = tools.filter((name) => name.startsWith('tasks.'))
  if (ofTasks.length > 0 && random.chance(0.2)) return askOfTasks(random, random.pick(ofTasks), task)
  const helpers = tools.filter((name) => HELPERS.has(name))
  if (tools.includes(SIGNED_TOOL) && random.chance(0.2))
    return { type: 'call', name: SIGNED_TOOL, arguments: '{"n":1}' }
  if (helpers.length > 0 && random.chance(0.25))
    return { type: 'call', name: random.pick(helpers), arguments: random.pick(['{"n":1}', '{"n":1}', '{"n":4}']) }
  if (handle !== undefined && random.chance(0.6))
    return { type: 'call', name: 'result.read', arguments: JSON.stringify({ handle, offset: 12_288 }) }
  const given = random.pick([
    '{"n":1}',
    '{"n":1}',
    '{"n":2}',
    '{"n":2}',
    '{"n":4}',
    '{"n":"wrong"}',
    '{"n":',
    '{"n":1,"t":"\ud83d"}',
  ])
  return { type: 'call', name: random.pick([...tools, 'no.such']), arguments: given }
}

function askOfTasks(random: Random, name: string, task = 'call_9_9'): ModelPart {
  const given = {
    'tasks.wait': random.pick([{ seconds: 2 }, { seconds: 5, all: true }, { tasks: [task] }]),
    'tasks.read': { task },
    'tasks.cancel': { task },
  }[name]
  return { type: 'call', name, arguments: JSON.stringify(given ?? {}) }
}

function taskIn(messages: readonly Message[]): string | undefined {
  const receipts = messages.flatMap((message) =>
    message.role === 'tool' ? message.parts.flatMap((part) => part.content) : [],
  )
  const texts = receipts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.map((text) => / as task (\S+)\./.exec(text)?.[1]).findLast((task) => task !== undefined)
}

/** The handle of a long result that the model was shown. */
function handleIn(messages: readonly Message[]): string | undefined {
  const told = messages.flatMap((message) =>
    message.role === 'tool' ? message.parts.flatMap((part) => part.content) : [],
  )
  const texts = told.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.map((text) => /"handle":"([^"]+)"/.exec(text)?.[1]).findLast((handle) => handle !== undefined)
}
