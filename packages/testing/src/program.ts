// Finds a program of the machine that tests need: a variable names it, or it is on the PATH under one of its usual names.
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { leaveOut } from './left-out.ts'

export interface Program {
  /** As people call it. */
  readonly title: string
  readonly variable: string
  readonly names: readonly string[]
}

/**
 * The path of the program; undefined when there is none: then `warn` is told what will not be tested.
 * @throws Error where the variable names no executable file, and where there is none but BATON_TEST_REQUIRE is `all`
 */
export function findProgram(what: string, program: Program, warn: (message: string) => void): string | undefined {
  const { title, variable, names } = program
  const named = process.env[variable] ?? ''
  if (named !== '') {
    if (isExecutable(named)) return named
    throw new Error(`${variable} names no executable file: ${named}`)
  }
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const found = folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable)
  const lack = { why: `there is no ${title}`, remedy: `Install ${title}, or set ${variable} to its path, to run it.` }
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
