// Replays an exported session: today's agent gets the recorded model answers, and every difference is reported. Its
// tools return their recorded results unless they are set to run.
import type { Agent, ClientHandlers, FrontSession, JsonObject, Model, Session, Tool } from '@baton/core/internal'
import { BatonError, frontOf, isErrorCode, isJsonObject, parseJson, tool } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { createNodeEnvironment } from '../environment.ts'
import { createHost } from '../local/create-host.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import { importSession } from '../stores/transfer.ts'
import type { ReplayDifference } from './compare-outlines.ts'
import { compareTurns } from './compare-outlines.ts'
import type { OutlinedCall, OutlinedTurn, SessionOutline } from './session-outline.ts'
import { outlineSession, readInputs } from './session-outline.ts'

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
    held.session = frontOf(await host.session(session))
    for (const name of await source.blobs.names(session))
      await store.blobs.put(session, name, (await source.blobs.get(session, name)) ?? '')
    await held.session.attach(createHandlers(agent, place))
    for (const turn of outline.turns) {
      place.current = { turn, steps: 0 }
      await playTurn(held.session, place.current)
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

/** Sends the recorded inputs and repeats the recorded decisions. Never rejects: the log says how the turn ended. */
async function playTurn(session: Session, place: Place): Promise<void> {
  const { inputs } = place.turn
  const sent = session.send(readInputs(inputs), { asks: inputs.every(({ asks }) => asks !== false) })
  for await (const event of sent) {
    if (event.type === 'question-asked')
      await session.answer({ questionId: event.questionId, decline: true }).catch(ignore)
    if (event.type !== 'approval-requested') continue
    const { decision, reason, edited } = findRecorded(place, event.call.callId)?.decision ?? {
      decision: 'deny' as const,
    }
    const input = edited === undefined ? undefined : parseJson(edited.arguments)
    const decided =
      decision === 'edit' && input?.ok && isJsonObject(input.value)
        ? { decision, input: input.value }
        : { decision: decision === 'edit' ? ('approve' as const) : decision }
    // An edit may no longer fit the tool. Then the request expires, and the log says so.
    await session
      .decide({ approvalId: event.approvalId, ...decided, ...(reason !== undefined && { reason }) })
      .catch(ignore)
  }
  await sent.answer.catch(ignore)
}

function ignore(): void {}

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
    if (step.steered.length > 0)
      await held.session?.submit({
        type: 'user-input',
        inputId: `steered-${current?.turn.turn}-${current?.steps}`,
        parts: [{ type: 'text', text: readInputs(step.steered) }],
        delivery: 'steer',
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
    if (runs || !each.execute) return each
    // A recorded result was checked, and a recorded failure was retried.
    const { output: _output, retry: _retry, ...rest } = each
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

function createHandlers({ tools }: Agent, place: { readonly current: Place | undefined }): ClientHandlers {
  const client = tools.filter(({ execute }) => !execute)
  return Object.fromEntries(
    client.map(({ name }) => [
      name,
      (_: unknown, { callId }: { readonly callId: string }) => repeatResult(findRecorded(place.current, callId)),
    ]),
  )
}

/** @throws BatonError with the code of the recorded failure; `tool_failed` if the recorded call returned nothing */
function repeatResult(recorded: OutlinedCall | undefined): unknown {
  const settlement = recorded?.settlement
  if (settlement?.type === 'ok')
    return (
      settlement.value ?? {
        content: settlement.content.map((part) =>
          part.type === 'text' ? part : { type: 'text', text: `[${part.type}]` },
        ),
      }
    )
  const code = settlement?.type === 'error' ? settlement.code : 'tool_failed'
  const message = settlement && 'message' in settlement ? settlement.message : undefined
  throw new BatonError({ code, message: message ?? 'the recorded call returned nothing' })
}
