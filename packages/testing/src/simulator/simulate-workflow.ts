// The simulator over the workflow-like engine: instead of processes, its workers and activities die.
import { SimulationError } from './simulate.ts'
import { createSpec } from '@baton/core/internal'
import type { WorkEffect } from '@baton/runtime'
import { createCatalog, createHostOver } from '@baton/runtime'
import { createHash } from 'node:crypto'
import { createWorkflowEngine } from '../workflow/workflow-engine.ts'
import { act, healAndRest } from './actions.ts'
import { checkEnd, observeAll } from './check-world.ts'
import { noteFault } from './coverage.ts'
import { createProcess } from './process.ts'
import type { SimulatedWorld, SimulateOptions } from './simulated-world.ts'
import { createSimulatedWorld, SESSION, tell } from './simulated-world.ts'
import { createSimulatedAgent, listSimulatedAgents } from './simulated-agent.ts'

/** @throws SimulationError if an invariant is broken or the session does not come to rest */
export async function simulateWorkflow(options: SimulateOptions): Promise<SimulatedWorld> {
  const world = await openWorkflowWorld(options)
  const { time, random, observed, story } = world
  try {
    for (let action = options.actions ?? 40; action > 0; action--) {
      await act(world)
      await time.runUntil(time.nowMs() + random.below(random.chance(0.5) ? 300 : 2500))
      if (observed.failure) throw observed.failure
    }
    await healAndRest(world)
    await time.runUntil(time.nowMs() + 10 * 60_000)
    checkEnd(world)
  } catch (cause) {
    throw new SimulationError(options, story, cause)
  }
  return world
}

async function openWorkflowWorld(options: SimulateOptions): Promise<SimulatedWorld> {
  const base = createSimulatedWorld(options)
  const { time, random, coverage, effects, faults, disk, delegates, tasks } = base
  const process = createProcess({ time, random, points: coverage.points, onDeath: () => {} })
  const onFault = (fault: string): void => noteFault(coverage, fault, base.observed.state)
  const agent = createSimulatedAgent({
    process,
    random,
    effects,
    onFault,
    watch: base.watch,
    delegates,
    tasks,
    faulty: () => faults.on,
  })
  const specs = new Map(listSimulatedAgents(agent).map((one) => [one.name, createSpec(one, [])]))
  let dies = 0
  const environment = {
    clock: time.clock,
    timers: time.timers,
    newId: () => `id-${world.count()}`,
    transport: { post: () => Promise.reject(new Error('the simulation has no network')) },
  }
  const engine = createWorkflowEngine({
    environment,
    catalog: createCatalog({
      agent,
      runsChildren: true,
      environment,
      blobs: disk.blobs,
      log: SILENT,
      digest,
      digestMedia,
    }),
    onRecords: (records, session) => observeAll(world, specs, records, session),
    killsWorker: () => {
      if (!faults.on || !(dies-- > 0 || random.chance(0.1))) return false
      onFault('worker-death')
      return true
    },
    loses: (effect) => {
      if (!faults.on || !random.chance(0.15)) return undefined
      onFault(`${nameWork(effect)}-lost`)
      return random.pick(['early', 'late'])
    },
  })
  const world: SimulatedWorld = {
    ...base,
    process,
    crash: () => void (dies = 1 + random.below(4)),
    stops: false,
    host: createHostOver({
      engine,
      newId: environment.newId,
      wallMs: () => environment.clock.nowMs(),
      catalog: { find: () => agent },
    }),
  }
  tell(world, 'a workflow begins')
  world.session = await world.host?.session(SESSION, { principal: { id: 'ann' } })
  return world
}

const SILENT = { info: () => {}, warn: () => {} }

function digestMedia(base64: string): string {
  return createHash('sha256').update(base64, 'base64').digest('hex')
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

function nameWork({ type }: WorkEffect): string {
  return type === 'run-tool' ? 'tool' : 'model'
}
