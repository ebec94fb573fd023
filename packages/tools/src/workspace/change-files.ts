// Atomic changes to files of the workspace. They keep the containing folder open, so swapping in a link cannot redirect
// them. Paths are checked by `Workspace.locateTarget`.
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { link, lstat, mkdir, open, rename, rm, unlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { BatonError } from '@baton/core'
import { describeSystemError, refused, systemCode } from './refused.ts'
import type { Target, Workspace } from './workspace.ts'

/** Fields that distinguish one state of a file from another. */
export interface FileVersion {
  readonly inode: bigint
  readonly bytes: bigint
  readonly changedNs: bigint
}

interface Writing {
  readonly content: Uint8Array
  /** If set, the file must still be this version. */
  readonly expected?: FileVersion
}

const NEW_FILE_MODE = 0o666

/**
 * Replaces the content, creating missing folders. The file keeps its permissions. Readers see either the old or the new
 * content, never a mix. After a failure, the old content remains.
 * @throws BatonError `tool_failed`, `path_outside_workspace`
 */
export async function replaceFile(workspace: Workspace, target: Target, writing: Writing): Promise<void> {
  await inFolderOf(workspace, target, async (folder, name) => {
    const place = join(folder, name)
    const temporary = join(folder, `.baton-${randomBytes(8).toString('hex')}.tmp`)
    const before = await lstat(place, { bigint: true }).catch(() => undefined)
    if (before && !before.isFile()) throw refused('tool_failed', `"${target.path}" is not a file`)
    try {
      const mode = before ? Number(before.mode) & 0o777 : NEW_FILE_MODE
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)
      const handle = await open(temporary, flags, mode)
      try {
        await handle.writeFile(writing.content)
        // The process's umask removed bits that the old file has.
        if (before) await handle.chmod(mode)
        await handle.datasync()
      } finally {
        await handle.close()
      }
      if (writing.expected && !isSame(writing.expected, await lstat(place, { bigint: true })))
        throw refused('tool_failed', `"${target.path}" was changed in the meantime; read it again`)
      await rename(temporary, place)
    } catch (cause) {
      await unlink(temporary).catch(() => {})
      throw cause
    }
  })
}

/**
 * Moves an entry, never onto an existing one.
 * @throws BatonError `tool_failed`, `path_outside_workspace`
 */
export async function moveEntry(workspace: Workspace, from: Target, to: Target): Promise<void> {
  if (to.exists) throw refused('tool_failed', `"${to.path}" already exists; choose another name, or delete it first`)
  if (from.isFolder && `${to.path}/`.startsWith(`${from.path}/`))
    throw refused('invalid_arguments', `"${from.path}" cannot be moved into itself`)
  await inFolderOf(workspace, from, async (oldFolder, oldName) => {
    await inFolderOf(workspace, to, async (newFolder, newName) => {
      const [source, place] = [join(oldFolder, oldName), join(newFolder, newName)]
      if (from.isFolder) await rename(source, place)
      else await moveFile(source, place)
    })
  })
}

/** A hard link never replaces a file. File systems without hard links need a check first. */
async function moveFile(source: string, place: string): Promise<void> {
  try {
    await link(source, place)
  } catch (cause) {
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'ENOSYS'].includes(systemCode(cause))) throw cause
    await rename(source, place)
    return
  }
  await unlink(source)
}

/** @throws BatonError `tool_failed`, `path_outside_workspace` */
export async function deleteEntry(workspace: Workspace, target: Target): Promise<void> {
  await inFolderOf(workspace, target, async (folder, name) => {
    if (target.isFolder) await rm(join(folder, name), { recursive: true })
    else await unlink(join(folder, name))
  })
}

export function readVersion(stats: {
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
}): FileVersion {
  return { inode: stats.ino, bytes: stats.size, changedNs: stats.mtimeNs }
}

function isSame(expected: FileVersion, stats: Parameters<typeof readVersion>[0]): boolean {
  const { inode, bytes, changedNs } = readVersion(stats)
  return inode === expected.inode && bytes === expected.bytes && changedNs === expected.changedNs
}

async function inFolderOf(
  workspace: Workspace,
  { path, folder, missing }: Target,
  use: (folder: string, name: string) => Promise<void>,
): Promise<void> {
  const [next = '', ...rest] = missing
  try {
    await workspace.useFolder(folder, async (stable) => {
      if (rest.length === 0) await use(stable, next)
      else await mkdir(join(stable, next)).catch(ignoreExisting)
    })
  } catch (cause) {
    if (cause instanceof BatonError) throw cause
    const message = `could not change "${path}" (${describeSystemError(cause)})`
    throw new BatonError({ code: 'tool_failed', message, cause })
  }
  if (rest.length > 0)
    await inFolderOf(
      workspace,
      { path, folder: posix.join(folder, next), missing: rest, exists: false, isFolder: false },
      use,
    )
}

function ignoreExisting(cause: unknown): void {
  if (systemCode(cause) !== 'EEXIST') throw cause
}
