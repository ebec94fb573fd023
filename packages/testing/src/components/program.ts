// Finds a program that tests need on the machine: named by a variable, or on the PATH under one of its usual names.
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { leaveOut } from './left-out.ts'

export interface Program {
  /** Display name. */
  readonly title: string
  readonly variable: string
  readonly names: readonly string[]
}

/**
 * Returns the path of the program, or `undefined` if there is none; `warn` then receives what will not be tested.
 * @throws Error if the variable does not name an executable file, or if there is none and BATON_TEST_REQUIRE is `all`
 */
export function findProgram(what: string, program: Program, warn: (message: string) => void): string | undefined {
  const { title, variable, names } = program
  const named = process.env[variable] ?? ''
  if (named !== '') {
    if (isExecutable(named)) return named
    throw new Error(`${variable} does not name an executable file: ${named}`)
  }
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const found = folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable)
  const lack = {
    why: `${title} is not installed`,
    remedy: `Install ${title}, or set ${variable} to its path, to run it.`,
  }
  return found ?? leaveOut(what, lack, warn)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
