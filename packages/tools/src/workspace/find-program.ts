// Finds programs on the PATH that the workspace tools themselves use. Programs inside the workspace never count, under
// any name: its files are untrusted, and package managers add its folders to the PATH.
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, relative, sep } from 'node:path'

/** @param root path with links resolved. @returns an absolute path */
export function findProgram(name: string, root: string, path = process.env['PATH'] ?? ''): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find((program) => isProgram(program) && isOutside(root, program))
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Neither its folder nor the file itself, with links resolved, is in the workspace. */
function isOutside(root: string, program: string): boolean {
  try {
    return [realpathSync(join(program, '..')), realpathSync(program)].every((real) => {
      const way = relative(root, real)
      return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)
    })
  } catch {
    return false
  }
}
