// A session between real services: its log, its gateway, and workers and further gateways as processes that can be
// killed.
import type { SessionRecord } from '@baton/core/machine'
import type { OwnedLogStore } from '@baton/core/internal'
import { openPostgresStore } from '@baton/host/postgres'
import { createTemporalHost } from '@baton/temporal'
import type { TemporalHost } from '@baton/temporal'
import { Client, Connection } from '@temporalio/client'
import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Services } from '../components/services.ts'
import type { StartedCommand } from '../components/start-command.ts'
import { startCommand } from '../components/start-command.ts'
import type { KilledKind } from './killed-agent.ts'
import { createKilledAgent } from './killed-agent.ts'

export interface Place {
  readonly host: TemporalHost
  readonly store: OwnedLogStore
  readonly session: string
  readonly effects: string
  /** Another gateway, in this process. */
  createHost(): Promise<TemporalHost>
  startWorker(): Promise<StartedCommand>
  /** Another gateway, as a process: it sends the text, and prints what it reads. */
  startGateway(text: string, inputId: string): StartedCommand
  /** History events of its latest run. */
  countEvents(): Promise<number>
  /** Updates accepted by its latest run. */
  countUpdates(): Promise<number>
  /** Records of its session, or of another one. */
  readRecords(session?: string): Promise<readonly SessionRecord[]>
  close(): Promise<void>
}

/** `kind` chooses the agent of its gateway and workers. */
export async function createPlace(services: Services, kind: KilledKind = 'chaos'): Promise<Place> {
  const url = services.postgres.createDatabase()
  const session = `chaos-${randomUUID()}`
  const effects = join(mkdtempSync(join(tmpdir(), 'baton-chaos-')), 'effects.txt')
  const { address } = services.temporal
  const store = await openPostgresStore(url)
  const place = { address, taskQueue: session, logStore: store, redis: services.redis.url }
  const agent = createKilledAgent(kind, effects)
  const hosts: TemporalHost[] = []
  const createHost = async (): Promise<TemporalHost> => {
    const created = await createTemporalHost({ ...place, agent, clientLeaseMs: 60_000 })
    hosts.push(created)
    return created
  }
  const host = await createHost()
  const connection = await Connection.connect({ address })
  const client = new Client({ connection })
  const start = (kit: string, words: readonly string[]): StartedCommand => {
    const program = join(import.meta.dirname, `${kit}.test-kit.ts`)
    const shared = [address, session, url, services.redis.url, effects]
    return startCommand(process.execPath, { words: ['--conditions=@baton/source', program, ...shared, ...words] })
  }
  return {
    host,
    store,
    session,
    effects,
    createHost,
    startWorker: async () => {
      const worker = start('worker', [kind])
      await worker.untilLine((line) => line === 'working')
      return worker
    },
    startGateway: (text, inputId) => start('gateway', [text, inputId]),
    countEvents: async () => {
      const described = await client.workflow
        .getHandle(session)
        .describe()
        .catch(() => undefined)
      return described?.historyLength ?? 0
    },
    countUpdates: async () => {
      const { events = [] } = await client.workflow.getHandle(session).fetchHistory()
      return events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length ?? 0
    },
    readRecords: async (of = session) => {
      const records: SessionRecord[] = []
      for await (const record of store.read(of, 0)) records.push(record)
      return records
    },
    close: async () => {
      await Promise.all(hosts.map((one) => one.stop()))
      await connection.close()
      await store.close()
    },
  }
}
