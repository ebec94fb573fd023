// Marks removed sessions while their first record may still be written: an activity in progress when its workflow was
// terminated must not recreate them.
import type { BlobStore, LogStore } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { readOpening } from '@baton/runtime'
import type { PublishedUnder } from './contract.ts'
import { digest } from './digest.ts'

/** Used instead of a session's name. */
const FOLDER = 'baton-removed'

function nameRemoved(session: string, birth: string): string {
  return digest(`${session}\n${birth}`)
}

/** Called before the records are removed. The mark is a hash, so it does not reveal which session it was. */
export async function markRemoved(blobs: BlobStore, session: string, birth: string): Promise<void> {
  await blobs.put(FOLDER, nameRemoved(session, birth), 'removed')
}

/**
 * Called after records were put. Only the first record matters: the store refuses later ones without it.
 * @throws BatonError `store_conflict` if the session was removed meanwhile; its records are removed again
 */
export async function checkNotRemoved(
  store: Pick<LogStore, 'read' | 'remove'> & { readonly blobs: BlobStore },
  session: string,
  [first]: readonly SessionRecord[],
  under?: PublishedUnder,
): Promise<void> {
  const opened = first?.pos === 0 ? first.facts[0] : undefined
  if (opened?.type !== 'session-opened') return
  const mark = under ? nameRemoved(under.root, under.birth) : nameRemoved(session, opened.birth)
  if ((await store.blobs.get(FOLDER, mark)) === undefined) return
  // The record of a child stays under a later root of that name, until that is removed: a child is removed with its root alone.
  const now = under ? undefined : await readOpening(store, session)
  if (now?.birth === opened.birth) await store.remove(session)
  throw new BatonError({ code: 'store_conflict', message: `session ${session} was removed` })
}
