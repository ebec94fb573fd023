// A kind of host, for the contract: worlds in which such a host, a scripted model and virtual time play.
import type { AgentOptions, BlobStore, Host, Session } from '@baton/core/internal'
import type { FactOf, FactType, SessionRecord } from '@baton/core/machine'
import type { ScriptedModel, ScriptedModelOptions } from '@baton/core/testing'
import type { CatalogOptions } from '@baton/runtime'
import type { VirtualTime } from '../simulator/virtual-time.ts'

export interface HostKind {
  readonly name: string
  /** Whether its sessions live in a process that may end, so that its worlds can `restart`. */
  readonly restarts: boolean
  /** Creates a world with its own host, and its own session that is not open yet. */
  createWorld(init: ContractWorldOptions): Promise<ContractWorld>
  /** Frees what all worlds share. */
  close(): Promise<void>
}

/** The agent of a world, and the options of its host. */
export interface ContractWorldOptions extends Partial<Omit<AgentOptions, 'model'>> {
  readonly steps: ScriptedModelOptions['steps']
  /** Replaces the scripted model. */
  readonly models?: AgentOptions['model']
  readonly catalog?: Partial<Pick<CatalogOptions, 'priceOf' | 'services' | 'modelOf'>>
  /** Replaces operations of the host's own store. */
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
  /** All records of a session, by default the world's own. */
  records(session?: string): Promise<readonly SessionRecord[]>
  /**
   * Stops the host and starts another one over the same records. Absent if hosts of this kind outlive their processes.
   */
  readonly restart?: (init: ContractWorldOptions) => Promise<ContractWorld>
}
