// A list of sessions as a React hook.
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import type { Directory, DirectoryOptions, DirectorySnapshot } from '../session/directory.ts'
import { EMPTY_DIRECTORY, openDirectory } from '../session/directory.ts'
import { ClientHolder } from './client-holder.ts'

/** The list of `useDirectory`, and methods to change it. */
export type UsedDirectory = DirectorySnapshot & Pick<Directory, 'create' | 'rename' | 'delete'>

/** Follows the list while the component is mounted. Another `url` or `meta` opens another list. */
export function useDirectory(options: DirectoryOptions): UsedDirectory {
  // Objects are new in every render, so their content is compared.
  const key = JSON.stringify([options.url, options.meta, options.most])
  const { holder, methods } = useMemo(() => holdDirectory(options), [key])
  useEffect(holder.mount, [holder])
  const snapshot = useSyncExternalStore(holder.subscribe, holder.getSnapshot, holder.getEmpty)
  return useMemo(() => ({ ...snapshot, ...methods }), [snapshot, methods])
}

function holdDirectory(options: DirectoryOptions) {
  const holder = new ClientHolder(() => openDirectory(options), EMPTY_DIRECTORY)
  const methods: Pick<Directory, 'create' | 'rename' | 'delete'> = {
    create: (init) => holder.client.create(init),
    rename: (session, title) => holder.client.rename(session, title),
    delete: (session) => holder.client.delete(session),
  }
  return { holder, methods }
}
