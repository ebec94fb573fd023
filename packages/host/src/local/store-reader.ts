// A host that only reads a store, for consoles beside the servers that write it: lists, the inbox and views. It opens no
// session and holds no lease, and its store may be open for reading alone.
import type { Host, Logger, LogStore, SessionDirectory, SessionViews } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds } from '@baton/core/internal'
import type { AgentChoice, CatalogOptions } from '@baton/runtime'
import { createCatalog, createDefaultLog, Directory, SessionViewer } from '@baton/runtime'
import { createNodeEnvironment, digest, digestMedia } from '../environment.ts'
import { foldSession } from './session-log.ts'

/** Options of `createStoreReader`. Agents are only needed to show the instructions and tools of requests. */
export interface StoreReaderOptions extends Pick<AgentChoice, 'agent' | 'agents'>, Pick<CatalogOptions, 'modelOf'> {
  /** Texts to hide from operators, such as keys. */
  readonly secrets?: readonly string[]
  readonly log?: Logger
}

/** The host of `createStoreReader`: every act is refused with `not_permitted`. */
export interface StoreReader extends Host, SessionDirectory {
  /** Reads any session, for operators. */
  readonly views: SessionViews
}

const FIELDS = new Set(['agent', 'agents', 'modelOf', 'secrets', 'log'])

/**
 * Reads a store that other processes write. `stop` ends its readers, and leaves the store open.
 * @throws BatonError `invalid_option`, `invalid_agent`
 */
export function createStoreReader(given: LogStore, options: StoreReaderOptions = {}): StoreReader {
  checkFields(options, { what: 'createStoreReader', code: 'invalid_option', fields: FIELDS })
  checkKinds(options, { what: 'createStoreReader', code: 'invalid_option', kinds: { secrets: 'an array of secrets' } })
  const { secrets, log = createDefaultLog(), ...choice } = options
  const { clock, timers, newId } = createNodeEnvironment()
  const environment = { clock, timers, newId }
  const store = withoutWriting(given)
  const { blobs } = store
  const catalog = createCatalog({ ...choice, environment, blobs, log, digest, digestMedia, runsChildren: true })
  const knowsAgents = choice.agent !== undefined || choice.agents !== undefined
  const views = new SessionViewer({
    store,
    environment,
    log,
    digest,
    digestMedia,
    secrets,
    ...(knowsAgents && { catalog }),
  })
  const fold = (session: string) => foldSession(store, session)
  const directory = new Directory({ store, log, clock, timers, findOpen: () => undefined, fold })
  return {
    ...directory.methods,
    views,
    session: refuse,
    decide: refuse,
    remove: refuse,
    stop: () => {
      directory.close()
      return Promise.resolve()
    },
  }
}

function refuse(): Promise<never> {
  const message = 'this host only reads its store'
  return Promise.reject(new BatonError({ code: 'not_permitted', message }))
}

/** Hosts that write derive entries and texts. A reader could not keep them, so it treats no entry as outdated. */
function withoutWriting(store: LogStore) {
  const { entries, blobs, snapshots } = store
  const keep = (): Promise<void> => Promise.resolve()
  return {
    read: store.read.bind(store),
    list: store.list.bind(store),
    children: store.children.bind(store),
    entries: {
      find: entries.find.bind(entries),
      get: entries.get.bind(entries),
      outdated: async function* () {},
      put: keep,
    },
    blobs: { get: blobs.get.bind(blobs), names: blobs.names.bind(blobs), put: keep },
    snapshots: { latest: snapshots.latest.bind(snapshots), put: keep },
  }
}
