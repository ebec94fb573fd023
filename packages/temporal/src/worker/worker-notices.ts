// The notices of a worker. All workers over a store share its outbox: the one that puts records marks them there, and one of
// all that have the destination sends them.
import type { Environment, NoticeDestination } from '@baton/core/internal'
import { Notices } from '@baton/runtime'
import { randomUUID } from 'node:crypto'
import { digest } from '../digest.ts'
import type { TemporalDirectoryOptions } from '../host/temporal-directory.ts'
import { TemporalDirectory } from '../host/temporal-directory.ts'

export type WorkerNoticesOptions = TemporalDirectoryOptions & Pick<Environment, 'clock' | 'timers'>

export function createWorkerNotices(
  init: WorkerNoticesOptions,
  destinations: readonly NoticeDestination[] = [],
): Notices {
  // The entries of the store may be outdated.
  const directory = new TemporalDirectory(init)
  return new Notices({
    ...init,
    destinations,
    digest,
    listRequests: (session) => directory.listRequests(session),
    owner: randomUUID(),
  })
}
