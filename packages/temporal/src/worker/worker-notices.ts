// The notices of a worker. Workers share the outbox of their store: the worker that puts records marks the session there, and
// any worker sends the notices.
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
