// Finds a program on the PATH for use by the workspace tools themselves. None inside of the workspace counts, under whatever name: its files
// are not trusted, and package managers put folders of it on the PATH.
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, relative, sep } from 'node:path'

/** @param root without links. @returns an absolute path */
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

/** Neither its folder nor the file itself, behind all links, lies in the workspace. */
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
