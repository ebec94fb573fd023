// Makes a folder with those above it. Node's own recursive way never ends where the system says that the folder above is not there
// although it is, as in /proc.
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** @throws Error of the system. `mode` is that of new folders; what the umask leaves by default */
export function makeFolders(folder: string, mode?: number): void {
  const missing: string[] = []
  for (let at = folder; !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.push(at)
  for (const at of missing.toReversed())
    try {
      mkdirSync(at, mode)
    } catch (cause) {
      // Another process was quicker.
      if (statSync(at, { throwIfNoEntry: false })?.isDirectory() !== true) throw cause
    }
}
