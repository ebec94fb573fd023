// Errors of the workspace tools, worded so that a model can act on them.
import type { ErrorCode } from '@baton/core'
import { BatonError } from '@baton/core'

/** `errors` of the workspace tools. */
export const WORKSPACE_ERRORS: readonly ErrorCode[] = [
  'path_outside_workspace',
  'path_protected',
  'invalid_arguments',
  'tool_failed',
]

export function refused(code: ErrorCode, message: string): BatonError {
  return new BatonError({ code, message })
}

export function outside(path: string): BatonError {
  return refused(
    'path_outside_workspace',
    `"${path}" is outside the workspace; use a path relative to its root, such as "src"`,
  )
}

export function protectedPath(path: string): BatonError {
  return refused(
    'path_protected',
    `"${path}" is protected: it is ignored by git or may hold secrets, so it is not shown; continue without it`,
  )
}

export function hiddenContent(path: string): BatonError {
  return refused(
    'path_protected',
    `"${path}" is protected: it contains what looks like a private key or a token, so it is not shown; continue without it`,
  )
}

/** `ENOENT` and the like; never the message, which contains the path outside the workspace. */
export function systemCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'unknown error'
}

const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  EACCES: 'no permission',
  EBUSY: 'another program is using it',
  EDQUOT: 'the disk quota is exceeded',
  EISDIR: 'it is a folder',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'the name is too long',
  ENFILE: 'too many open files',
  ENOSPC: 'the disk is full',
  ENOTEMPTY: 'the folder is not empty',
  EPERM: 'no permission',
  EROFS: 'the file system is read-only',
}

/** Text for a message: `ENOSPC: the disk is full`. */
export function describeSystemError(error: unknown): string {
  const code = systemCode(error)
  const words = SYSTEM_WORDS[code]
  return words === undefined ? code : `${code}: ${words}`
}
