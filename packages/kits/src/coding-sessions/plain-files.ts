// Access to files and folders that are neither links nor devices: link targets are never read.
import type { Dirent } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { constants, lstat, open, readdir } from 'node:fs/promises'

/** Opens a file that is not a link, pipe or device; returns `undefined` for anything else. */
export async function openPlain(path: string): Promise<FileHandle | undefined> {
  let handle: FileHandle | undefined
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    if ((await handle.stat()).isFile()) return handle
  } catch {
    return undefined
  }
  await handle.close()
  return undefined
}

/** Returns the start of a plain file's text with its size and time; `undefined` for anything else. */
export async function readStart(
  path: string,
  bytesMax: number,
): Promise<{ readonly text: string; readonly bytes: number; readonly updatedMs: number } | undefined> {
  const handle = await openPlain(path)
  if (!handle) return undefined
  try {
    const { size, mtimeMs } = await handle.stat()
    const buffer = Buffer.alloc(Math.min(size, bytesMax))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
    return { text: buffer.toString('utf8', 0, bytesRead), bytes: size, updatedMs: mtimeMs }
  } catch {
    return undefined
  } finally {
    await handle.close()
  }
}

/** Lists files and folders, without links. Empty if the folder does not exist. */
export async function entries(folder: string): Promise<readonly { readonly name: string; readonly folder: boolean }[]> {
  try {
    const found: readonly Dirent[] = await readdir(folder, { withFileTypes: true })
    return found
      .filter((entry) => entry.isDirectory() || entry.isFile())
      .map((entry) => ({ name: entry.name, folder: entry.isDirectory() }))
  } catch {
    return []
  }
}

/** Sorted names of the plain files in a plain folder below `place` that match `form`. */
export async function namesIn(place: string, way: readonly string[], form: RegExp): Promise<readonly string[]> {
  let folder = place
  for (const name of way) {
    folder = `${folder}/${name}`
    if (!(await lstat(folder).catch(() => undefined))?.isDirectory()) return []
  }
  const found = (await entries(folder)).filter(({ name, folder: isFolder }) => !isFolder && form.test(name))
  return found.map(({ name }) => name).toSorted()
}
