// Creates a folder and its parents. Node's own recursive mode never returns if the system reports an existing parent as
// missing, as in /proc.
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** @throws Error of the system. `mode` applies to new folders; the default depends on the umask */
export function makeFolders(folder: string, mode?: number): void {
  const missing: string[] = []
  for (let at = folder; !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.push(at)
  for (const at of missing.toReversed())
    try {
      mkdirSync(at, mode)
    } catch (cause) {
      // Another process was faster.
      if (statSync(at, { throwIfNoEntry: false })?.isDirectory() !== true) throw cause
    }
}
