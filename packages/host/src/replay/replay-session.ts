// Replays an exported session: today's agent gets the recorded model answers, and every difference is reported. Its
// tools return their recorded results unless they are set to run.
import type {
  Agent,
  Decision,
  FrontSession,
  JsonObject,
  LeaseClient,
  Model,
  PrepareStep,
  RequestChange,
  SessionEvent,
  Tool,
} from '@baton/core/internal'
import { BatonError, frontOf, isErrorCode, isJsonObject, parseJson, readRequest, tool } from '@baton/core/internal'
import type { FactOf, Outcome, SessionRecord } from '@baton/core/machine'
import { createNodeEnvironment } from '../environment.ts'
import { createHost } from '../local/create-host.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import { importSession } from '../stores/transfer.ts'
import type { ReplayDifference, OutlinedCall, OutlinedTurn, SessionOutline } from './session-outline.ts'
import { compareTurns, outlineSession, readInputs } from './session-outline.ts'

export interface ReplaySessionOptions {
  readonly agent: Agent
  /** Lines of an export, as `exportSession` returns them. */
  readonly lines: AsyncIterable<string> | Iterable<string>
  /**
   * Which server tools run. Default: `none`, so all return their recorded results. `pure` runs tools without effects,
   * `all` also those with effects. Results of tools that ran are compared.
   */
  readonly run?: 'none' | 'pure' | 'all'
  /** Passed to tools that run. */
  readonly services?: unknown
}

export type { ReplayDifference }

/** Findings of `replaySession`. An agent that behaves as recorded has no `differences`. */
export interface ReplayReport {
  readonly session: string
  /** Number of turns compared. */
  readonly turns: number
  readonly differences: readonly ReplayDifference[]
  /** Parts that were not compared, and why. */
  readonly notes: readonly string[]
}

/** Milliseconds that a turn may take before the replay's client counts as gone: the most that a session allows. */
const LEASE_MS = 3_600_000

/** Progress of the replay. */
interface Place {
  readonly turn: OutlinedTurn
  /** Steps of it answered so far. */
  steps: number
}

/**
 * Replays a session turn by turn, without network, up to where it was interrupted, paused or rewound.
 * @throws BatonError `log_damaged`, `log_version_unknown`, `invalid_option` for lines that are not an export
 */
export async function replaySession(options: ReplaySessionOptions): Promise<ReplayReport> {
  const { lines, run = 'none' } = options
  const source = createMemoryStore()
  const session = await importSession(source, lines)
  const records: SessionRecord[] = []
  for await (const record of source.read(session, 0)) records.push(record)
  const outline = outlineSession(records)
  const store = createMemoryStore({ leaseMs: Infinity })
  const place: { current: Place | undefined } = { current: undefined }
  const held: { session: FrontSession | undefined } = { session: undefined }
  const model = createReplayedModel(place, held)
  const agent = createReplayedAgent(options, { outline, records, place, model })
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('a replay has no network')) })
  const host = createHost({ agent, store, environment, modelOf: () => model, services: options.services })
  try {
    held.session = frontOf(await host.session(session, { principal: { id: outline.principal } }))
    for (const name of await source.blobs.names(session))
      await store.blobs.put(session, name, (await source.blobs.get(session, name)) ?? '')
    const client = await held.session.client({ client: 'replay', asks: false, leaseMs: LEASE_MS })
    for (const turn of outline.turns) {
      await client.renew()
      place.current = { turn, steps: 0 }
      await playTurn({ session: held.session, client, place: place.current })
    }
  } finally {
    await host.stop()
  }
  const now: SessionRecord[] = []
  for await (const record of store.read(session, 0)) now.push(record)
  const replayed = outlineSession(now)
  const differences = outline.turns.flatMap((turn, index) => compareTurns(turn, replayed.turns[index], run !== 'none'))
  const notes =
    outline.cutBy === undefined
      ? []
      : [`${outline.cutBy}: only the turns before it (${outline.turns.length}) were compared`]
  return { session, turns: outline.turns.length, differences, notes }
}

/** The recording of this call, which the replay's model has just made. */
function findRecorded(place: Place | undefined, callId: string): OutlinedCall | undefined {
  const index = Number(/_(\d+)$/.exec(callId)?.[1])
  return place?.turn.steps[place.steps - 1]?.calls[index]
}

interface Playing {
  readonly session: FrontSession
  /** Runs client tools, and cannot be asked: the recording says whether a person could be. */
  readonly client: LeaseClient
  readonly place: Place
}

/**
 * Sends the recorded inputs and repeats what people and clients did. The log says how the turn ended.
 * @throws BatonError if the inputs are refused
 */
async function playTurn(playing: Playing): Promise<void> {
  const { session, place } = playing
  const { inputs, output } = place.turn
  const sent = session.send(readInputs(inputs), { asks: canAsk(place.turn, inputs), ...(output && { output }) })
  let hasEnded = false
  try {
    for await (const event of sent) {
      hasEnded ||= event.type === 'turn-finished'
      await repeatReply(playing, event).catch(ignore)
    }
  } catch (cause) {
    // A failed turn throws its error after its last event.
    if (!hasEnded) throw cause
  }
}

function canAsk({ hasAsker }: OutlinedTurn, inputs: OutlinedTurn['inputs']): boolean {
  return hasAsker || inputs.some(({ asks }) => asks !== false)
}

/** Rejects if what it replies to is void by now. */
async function repeatReply(playing: Playing, event: SessionEvent): Promise<void> {
  const change = readRequest(event)
  if (change?.type === 'question') await repeatAnswer(playing, change)
  else if (change?.type === 'approval') await repeatDecision(playing, change)
  else if (event.type === 'call' && event.call.status === 'waiting') {
    const { callId } = event.call
    await playing.client.claim(callId)
    await playing.client.result(callId, readOutcome(findRecorded(playing.place, callId)))
  }
}

function ignore(): void {}

/** Declines a question that has no recorded answer, or to which the recorded one does not fit. */
async function repeatAnswer({ session, place }: Playing, { id: questionId, callId }: RequestChange): Promise<void> {
  const n = Number(/_(\d+)$/.exec(questionId)?.[1])
  const recorded = findRecorded(place, callId)?.answers.get(n)
  const decline = { questionId, decline: true } as const
  if (recorded && 'value' in recorded)
    await session.answer({ questionId, value: recorded.value }).catch(() => session.answer(decline))
  else await session.answer(decline)
}

/** Denies a request that has no recorded decision, or for which the recorded one is refused. */
async function repeatDecision(
  { session, place }: Playing,
  { id: approvalId, asked: { call } }: Extract<RequestChange, { readonly type: 'approval' }>,
): Promise<void> {
  const deny = async (): Promise<unknown> => {
    const [principal] = call.asked?.by ?? []
    return await session.decide({ approvalId, decision: 'deny' }, { ...(principal && { principal }) })
  }
  const recorded = findRecorded(place, call.callId)?.decision
  if (!recorded) await deny()
  else {
    const { principal: id } = recorded
    // Sessions without an owner have decisions without a name.
    const by = id === '' ? {} : { principal: { id } }
    await session.decide(readDecision(approvalId, recorded), by).catch(deny)
  }
}

function readDecision(approvalId: string, recorded: FactOf<'approval-decided'>): Decision {
  const { decision, reason, remember, edited } = recorded
  const given = { approvalId, ...(reason !== undefined && { reason }) }
  const input = edited && parseJson(edited.arguments)
  if (decision === 'edit' && input?.ok && isJsonObject(input.value))
    return { ...given, decision, input: input.value, ...(remember === 'arguments' && { remember }) }
  return { ...given, decision: decision === 'edit' ? 'approve' : decision, ...(remember && { remember }) }
}

/** A model that repeats the recorded answers. Inputs that arrived during the turn are sent again before the answer. */
function createReplayedModel(
  place: { readonly current: Place | undefined },
  held: { readonly session: FrontSession | undefined },
): Model {
  const run: Model['run'] = async (_, sink) => {
    const { current } = place
    const step = current?.turn.steps[current.steps]
    const failure = current?.turn.failure
    if (current) current.steps += 1
    if (!step && failure)
      throw new BatonError({
        code: isErrorCode(failure.code) ? failure.code : 'internal',
        message: failure.message,
        retryable: false,
      })
    if (!step)
      throw new BatonError({
        code: 'replay_mismatch',
        message: 'the model was called more often than in the recording',
        retryable: false,
      })
    if (current && step.steered.length > 0)
      await held.session?.submit({
        type: 'user-input',
        inputId: `steered-${current.turn.turn}-${current.steps}`,
        parts: [{ type: 'text', text: readInputs(step.steered) }],
        delivery: 'steer',
        asks: canAsk(current.turn, step.steered),
      })
    for (const part of step.answer.parts) if (part.type === 'text') sink({ type: 'text-delta', text: part.text })
    return step.answer
  }
  const capabilities = { tools: 'native', output: 'native', images: true, network: false } as const
  return { id: 'replay/model', provider: 'replay', capabilities, run }
}

interface Replaying {
  readonly outline: SessionOutline
  readonly records: readonly SessionRecord[]
  readonly place: { readonly current: Place | undefined }
  readonly model: Model
}

/** The agent with the replay's model, and with tools that return their recorded results. */
function createReplayedAgent(
  { agent, run = 'none' }: ReplaySessionOptions,
  { outline, records, place, model }: Replaying,
): Agent {
  const repeat = (each: Tool): Tool => {
    const runs = run === 'all' || (run === 'pure' && each.effect === 'pure')
    if (runs || (!each.execute && !each.delegation)) return each
    // A recorded result was checked, and a recorded failure was retried.
    const { output: _output, retry: _retry, delegation: _delegation, ...rest } = each
    return { ...rest, execute: (_, { callId }) => repeatResult(findRecorded(place.current, callId)) }
  }
  const own = agent.tools.map(repeat)
  const known = new Set(own.map(({ name }) => name))
  const brought = listBrought(records).filter(({ name }) => !known.has(name))
  for (const { name } of brought) known.add(name)
  // Tools of sources come from outside, which a replay does not reach.
  const used = new Set(
    outline.turns.flatMap(({ steps }) => steps.flatMap(({ calls }) => calls.map(({ name }) => name))),
  )
  const foreign =
    agent.sources.length === 0 || run === 'all'
      ? []
      : [...used].filter((name) => !known.has(name) && name !== 'result.read')
  const execute = repeat(
    tool({ name: 'repeated', description: '', input: { type: 'object' }, effect: 'pure', execute: () => '' }),
  ).execute
  const stubs = foreign.map((name) => ({
    ...tool({ name, description: name, input: { type: 'object' }, effect: 'pure', execute: () => '' }),
    execute,
  }))
  return {
    ...agent,
    ...(agent.prepareStep && { prepareStep: repeatModel(agent.prepareStep, { agent, place, model }) }),
    models: [model.id],
    tools: [...own, ...brought, ...(stubs as readonly Tool[])], // each has the `execute` of a tool
    sources: run === 'all' ? agent.sources : [],
    window: { ...agent.window, summarise: false },
  }
}

/** Tools that clients declared, as client tools of the agent. */
function listBrought(records: readonly SessionRecord[]): readonly Tool[] {
  const tools = new Map<string, Tool>()
  for (const { facts } of records)
    for (const fact of facts)
      if (fact.type === 'client-tools-set')
        for (const { name, description, inputSchema, effect } of fact.tools)
          tools.set(name, tool({ name, description, input: inputSchema as JsonObject, effect })) // declared as an object
  return [...tools.values()]
}

/** Passes `prepareStep` the name of the recorded model, and calls no model that it chooses. */
function repeatModel(
  prepareStep: PrepareStep,
  { agent, place, model }: { readonly agent: Agent } & Pick<Replaying, 'place' | 'model'>,
): PrepareStep {
  const [first = model] = agent.models
  const own = typeof first === 'string' ? first : first.id
  return async (step) => {
    const { turn, steps = 0 } = place.current ?? {}
    const said = [...(turn?.inputs ?? []), ...(turn?.steps.slice(0, steps).flatMap(({ steered }) => steered) ?? [])]
    const told = said.findLast((input) => input.model !== undefined)?.model ?? turn?.model ?? own
    const change = await prepareStep({ ...step, model: told })
    return typeof change?.model === 'object' ? { ...change, model } : change
  }
}

/** @throws BatonError with the code of the recorded failure; `tool_failed` if the recorded call returned nothing */
function repeatResult(recorded: OutlinedCall | undefined): unknown {
  const outcome = readOutcome(recorded)
  if (outcome.type === 'ok') return outcome.value ?? { content: outcome.content }
  throw new BatonError(outcome)
}

function readOutcome(recorded: OutlinedCall | undefined): Outcome {
  const settlement = recorded?.settlement
  if (settlement?.type === 'ok') {
    const { content, ...value } = settlement
    return {
      ...value,
      content: content.map((part) => (part.type === 'text' ? part : { type: 'text', text: `[${part.type}]` })),
    }
  }
  const code = settlement?.type === 'error' ? settlement.code : 'tool_failed'
  const message = settlement && 'message' in settlement ? settlement.message : undefined
  return { type: 'error', code, message: message ?? 'the recorded call returned nothing' }
}
