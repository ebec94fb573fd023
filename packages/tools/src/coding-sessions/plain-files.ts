// Files and folders that are neither links nor devices: what a link names is never read.
import type { Dirent } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { constants, lstat, open, readdir } from 'node:fs/promises'

/** A file that is not a link, pipe or device; undefined for anything else. */
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

/** The text at the beginning of a plain file, and the file's size and time; undefined for anything else. */
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

/** Files and folders; links are neither. Nothing where there is no such folder. */
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

/** Names of the plain files in a plain folder below `place` that have this form, in their order. */
export async function namesIn(place: string, way: readonly string[], form: RegExp): Promise<readonly string[]> {
  let folder = place
  for (const name of way) {
    folder = `${folder}/${name}`
    if (!(await lstat(folder).catch(() => undefined))?.isDirectory()) return []
  }
  const found = (await entries(folder)).filter(({ name, folder: isFolder }) => !isFolder && form.test(name))
  return found.map(({ name }) => name).toSorted()
}
