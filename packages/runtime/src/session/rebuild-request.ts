// Builds the request of a model's attempt again, from the log, with the code that built it for the provider. The agent is
// the one of now: the log has no instructions and no descriptions of tools.
import type { Agent, BlobStore, LogStore, RebuiltRequest } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { History, State } from '@baton/core/machine'
import { applyRecord, createHistory, followRecord, initialState, outstanding } from '@baton/core/machine'
import type { Catalog, SessionWorld } from '../catalog/catalog.ts'
import { createChildAgent, findDelegation } from '../catalog/child-agent.ts'
import { describeThrown } from '../describe-thrown.ts'
import type { CallModel } from '../work/jobs.ts'
import { createModelJob } from '../work/model-work.ts'
import { buildStep } from '../work/request.ts'

export interface RebuildOptions {
  readonly session: string
  readonly store: Pick<LogStore, 'read'> & { readonly blobs: BlobStore }
  readonly catalog?: Pick<Catalog, 'open'>
  /** The world of the session if it is open in this process. */
  readonly openWorld: SessionWorld | undefined
  /** Opens a world for an agent that is not known here. */
  readonly placeholder: (agent: string) => Promise<SessionWorld>
}

/**
 * Folds the log up to the record that begins the attempt. Costs reading that much of the log.
 * @throws BatonError `unknown_input` if the log has no such attempt of a step; `store_failed`, `log_damaged`
 */
export async function rebuildRequest(attempt: number, options: RebuildOptions): Promise<RebuiltRequest> {
  const { state, history, effect } = await foldUntil(attempt, options)
  const opened = await openWorlds(state, options)
  const { world, notes } = opened
  try {
    const context = { ...world, blobs: options.store.blobs, modelOf: opened.isKnown ? world.modelOf : describeModel }
    const job = createModelJob(state, effect)
    const { request } = await buildStep(context, { job, effect, history })
    return {
      attempt,
      step: effect.step,
      model: effect.model,
      request,
      notes: [...notes, ...findChanges(opened, state)],
    }
  } finally {
    await opened.close()
  }
}

interface Folded {
  readonly state: State
  readonly history: History
  readonly effect: CallModel
}

async function foldUntil(attempt: number, { store, session }: RebuildOptions): Promise<Folded> {
  let state = initialState(session)
  const history = createHistory({ keepAll: true })
  for await (const record of store.read(session, 0)) {
    followRecord(state, record)
    state = applyRecord(state, record)
    history.fold(record)
    if (!record.facts.some((fact) => fact.type === 'model-started' && fact.attempt === attempt)) continue
    const effect = outstanding(state).find((one) => one.type === 'call-model' && one.attempt === attempt)
    if (effect?.type === 'call-model') return { state, history, effect }
    throw createMissing(attempt, session, 'it was given up in the record that began it, so no request was sent')
  }
  throw createMissing(attempt, session, 'the log has no request of this number; summaries are not shown')
}

function createMissing(attempt: number, session: string, why: string): BatonError {
  return new BatonError({
    code: 'unknown_input',
    message: `request ${attempt} of session ${session}: ${why}`,
    hint: 'Use the number `attempt` of a "model-started" fact in the log.',
  })
}

interface OpenedWorld {
  readonly world: SessionWorld
  readonly isKnown: boolean
  readonly notes: readonly string[]
  close(): Promise<void>
}

/** Opens the world of the session's agent. That of a child is found by the tools that lead to it. */
async function openWorlds(state: State, options: RebuildOptions): Promise<OpenedWorld> {
  const { catalog, openWorld, session } = options
  const opened: SessionWorld[] = []
  const close = async (): Promise<void> => void (await Promise.all(opened.map((world) => world.dispose())))
  if (openWorld) return { world: openWorld, isKnown: true, notes: [], close }
  const identity = { id: session, principal: { id: state.principal }, meta: state.meta }
  const open = async (agent: string, given?: Agent): Promise<SessionWorld> => {
    if (!catalog) throw new BatonError({ code: 'invalid_agent', message: 'no agent is known here' })
    const world = await catalog.open({ ...identity, agent }, given)
    opened.push(world)
    return world
  }
  try {
    if (!state.parent) return { world: await open(state.agent), isKnown: true, notes: [], close }
    let world = await open(await readAgent(options, state.parent.root))
    for (const tool of state.parent.tools) {
      const rules = findDelegation(world.tools, tool)
      if (!rules) throw new BatonError({ code: 'invalid_agent', message: `no tool "${tool}" calls an agent now` })
      const agent = createChildAgent(world.agent, state.parent.callId, rules)
      world = await open(agent.name, agent)
    }
    return { world, isKnown: true, notes: [], close }
  } catch (cause) {
    const why = `The agent "${state.agent}" is not known here, so its instructions and tools are missing: ${describeThrown(cause)}`
    const world = await options.placeholder(state.agent)
    opened.push(world)
    return { world, isKnown: false, notes: [why], close }
  }
}

async function readAgent({ store }: RebuildOptions, root: string): Promise<string> {
  for await (const { facts } of store.read(root, 0)) {
    const [opened] = facts
    return opened?.type === 'session-opened' ? opened.agent : ''
  }
  return ''
}

/** Models differ in how they take an output schema. */
const describeModel: SessionWorld['modelOf'] = (model) =>
  typeof model !== 'string'
    ? model
    : {
        id: model,
        provider: 'unknown',
        capabilities: { tools: 'native', output: 'native', images: true },
        run: () => Promise.reject(new BatonError({ code: 'internal', message: 'a reader calls no models' })),
      }

function findChanges({ world: { spec, agent }, isKnown }: OpenedWorld, state: State): readonly string[] {
  const notes: string[] = []
  if (isKnown && spec.hash !== state.specHash)
    notes.push('The agent has changed since: its instructions and tools are shown as they are now.')
  if (agent.prepareStep) notes.push('prepareStep of the agent may have changed the request; it is not called again.')
  return notes
}
