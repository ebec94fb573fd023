// The folder where Node keeps the compiled code of the command, because compiling takes a quarter of a start. Code is
// run from it, so nobody else may write there. The command works without.
import { lstatSync } from 'node:fs'
import nodeModule from 'node:module'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { makeFolders } from './make-folders.ts'
import type { Variables } from '../words/words.ts'

/** Turns the cache on, unless no safe folder exists. Never throws. */
export function keepCompiledCode(variables: Variables): void {
  // Node itself reads both.
  if (variables['NODE_DISABLE_COMPILE_CACHE'] || variables['NODE_COMPILE_CACHE']) return
  try {
    const folder = join(findCaches(variables), 'baton', 'compiled')
    if (!isAbsolute(folder)) return
    makeFolders(folder, 0o700)
    if (isOwn(folder)) nodeModule.enableCompileCache(folder)
  } catch {
    // A user without a home, or a folder that cannot be made: only time is lost.
  }
}

/** The folder of all caches; env-paths would take a relative XDG_CACHE_HOME, and fail at its import without a home. */
function findCaches({ XDG_CACHE_HOME = '', LOCALAPPDATA = '' }: Variables): string {
  if (process.platform === 'win32') return isAbsolute(LOCALAPPDATA) ? LOCALAPPDATA : join(homedir(), 'AppData/Local')
  if (process.platform === 'darwin') return join(homedir(), 'Library/Caches')
  return isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache')
}

/** Whether the folder is this user's alone; a link is not. Windows has neither modes nor user ids. */
function isOwn(folder: string): boolean {
  const found = lstatSync(folder)
  if (!found.isDirectory()) return false
  return process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o777) === 0o700)
}
