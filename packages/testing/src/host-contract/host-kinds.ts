// The kinds of hosts that the contract is played against.
import type { HostKind } from './host-kind.ts'
import { createMemoryKind, createSqliteKind } from './local-kind.ts'
import { createHostOver, createCatalog } from '@baton/runtime'
import type { BlobStore, Host } from '@baton/core/internal'
import { createHash } from 'node:crypto'
import { createVirtualTime } from '../simulator/virtual-time.ts'
import type { WorkflowEngineOptions } from '../workflow/workflow-engine.ts'
import { createWorkflowEngine } from '../workflow/workflow-engine.ts'
import { assembleWorld, createSerialIds, createWorldParts } from './world-parts.ts'

export function createHostKinds(): readonly HostKind[] {
  return [
    createMemoryKind(),
    createSqliteKind(),
    createWorkflowKind('workflow'),
    createWorkflowKind('workflow whose worker dies at every record', { killsWorker: () => true }),
  ]
}

/** Failures in its worlds; none by default. */
type WorkflowKindOptions = Pick<WorkflowEngineOptions, 'killsWorker' | 'loses'>

/** The workflow-like engine in the contract: without failures, and with a worker that dies at every record. */
export function createWorkflowKind(name: string, deaths: WorkflowKindOptions = {}): HostKind {
  return {
    name,
    restarts: false,
    createWorld: async (init) => {
      const newId = createSerialIds()
      newId() // a local host takes one for itself, so call ids match on all kinds
      const parts = createWorldParts(createVirtualTime(10 ** 12), newId, init)
      const { environment, log, agent } = parts
      const blobs: BlobStore = { ...createBlobs(), ...init.blobs }
      const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')
      const digestMedia = (base64: string): string => createHash('sha256').update(base64, 'base64').digest('hex')
      const openSession: Host['session'] = (id, options) => host.session(id, options)
      const world = { environment, blobs, log, digest, digestMedia, openSession }
      const catalog = createCatalog({ agent, ...world, ...init.catalog, runsChildren: true })
      const engine = createWorkflowEngine({ environment, catalog, ...deaths })
      const host = createHostOver({
        engine,
        newId: environment.newId,
        wallMs: () => environment.clock.nowMs(),
        catalog,
      })
      const session = 'tested'
      return assembleWorld(parts, { host, session, records: async (of = session) => engine.records(of) })
    },
    close: async () => {},
  }
}

/** The parts of a store that tools and models need. */
function createBlobs(): BlobStore {
  const texts = new Map<string, string>()
  return {
    put: async (session, name, text) => void texts.set(`${session}/${name}`, text),
    get: async (session, name) => texts.get(`${session}/${name}`),
    names: async (session) =>
      [...texts.keys()].filter((key) => key.startsWith(`${session}/`)).map((key) => key.slice(session.length + 1)),
  }
}
