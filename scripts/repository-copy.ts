// A copy of the repository for testing mutants: installed packages are linked, except Baton's own, so that every import
// of one of them resolves to the copy.
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from './source-files.ts'

const COPIED = ['packages', 'scripts', 'examples', 'docs', 'package.json', 'tsconfig.base.json', 'vitest.config.ts']

/** `more`: additional names to copy. */
export function copyRepository(folder: string, more: readonly string[] = []): void {
  // Examples install and build their dependencies in their own folders.
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
