// A kind of host, for the contract: worlds in which a host of that kind, a scripted model and virtual time play.
import type { AgentInit, BlobStore, Host, Session } from '@baton/core'
import type { FactOf, FactType, SessionRecord } from '@baton/core/machine'
import type { ScriptedModel, ScriptedModelInit } from '@baton/core/testing'
import type { CatalogInit } from '@baton/runtime'
import type { VirtualTime } from '../simulator/virtual-time.ts'

export interface HostKind {
  readonly name: string
  /** Whether its sessions live in a process that may end: its worlds can `restart`. */
  readonly restarts: boolean
  /** A world with a host of its own, and with a session of its own that nobody has opened yet. */
  createWorld(init: ContractWorldInit): Promise<ContractWorld>
  /** Frees what all worlds share. */
  close(): Promise<void>
}

/** The agent of a world, and what its host is given. */
export interface ContractWorldInit extends Partial<Omit<AgentInit, 'model'>> {
  readonly steps: ScriptedModelInit['steps']
  /** In place of the scripted model. */
  readonly models?: AgentInit['model']
  readonly catalog?: Partial<Pick<CatalogInit, 'priceOf' | 'services' | 'modelOf'>>
  /** In place of the operations of the host's own. */
  readonly blobs?: Partial<BlobStore>
}

export interface ContractWorld {
  readonly host: Host
  /** The name of the world's session. */
  readonly session: string
  readonly time: VirtualTime
  readonly model: ScriptedModel
  /** Warnings of the host. */
  readonly warnings: readonly string[]
  open(): Promise<Session>
  facts<Type extends FactType>(type: Type): Promise<readonly FactOf<Type>[]>
  /** All records of a session, of the world's own by default. */
  records(session?: string): Promise<readonly SessionRecord[]>
  /** Stops the host and begins another one over the same records. Absent: hosts of this kind outlive their processes. */
  readonly restart?: (init: ContractWorldInit) => Promise<ContractWorld>
}
