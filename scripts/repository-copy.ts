// A copy of the repository in which mutants are tried: what is installed is linked, but for the packages themselves, so that
// every import of one of them finds the copy.
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from './source-files.ts'

const COPIED = ['packages', 'scripts', 'examples', 'docs', 'package.json', 'tsconfig.base.json', 'vitest.config.ts']

/** `more`: names beside those that every copy has. */
export function copyRepository(folder: string, more: readonly string[] = []): void {
  // An example has installed what it needs in its own folder, and built it there.
  const filter = (path: string): boolean => !/[\\/]examples[\\/].*[\\/](?:node_modules|\.next)$/.test(path)
  for (const name of [...COPIED, ...more])
    cpSync(join(REPOSITORY, name), join(folder, name), { recursive: true, filter })
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@baton'), { recursive: true })
  for (const name of readdirSync(join(REPOSITORY, 'node_modules')))
    if (name !== '@baton') symlinkSync(join(REPOSITORY, 'node_modules', name), join(modules, name))
  for (const name of readdirSync(join(REPOSITORY, 'packages')))
    symlinkSync(join(folder, 'packages', name), join(modules, '@baton', name))
}
