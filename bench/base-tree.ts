// The build that this one is compared with: the commit named in `bench/base-commit`, in its own folder, with the
// packages installed here.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

export interface BaseTree {
  readonly root: string
  readonly commit: string
  remove(): void
}

/** @throws Error if the commit is not in this clone, or cannot be built */
export function buildBaseTree(): BaseTree {
  const commit = readFileSync(join(import.meta.dirname, 'base-commit'), 'utf8').trim()
  const folder = mkdtempSync(join(tmpdir(), 'baton-base-'))
  const root = join(folder, 'baton')
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true })
    execFileSync('git', ['worktree', 'prune'], { cwd: ROOT })
  }
  try {
    run('git', ['worktree', 'add', '--quiet', '--detach', root, commit], ROOT)
    linkPackages(join(ROOT, 'node_modules'), join(root, 'node_modules'), root)
    symlinkSync(join(ROOT, 'bench/node_modules'), join(root, 'bench/node_modules'))
    run(process.execPath, ['scripts/build.ts'], root)
    return { root, commit, remove }
  } catch (cause) {
    remove()
    throw new Error(
      `the base ${commit} cannot be built: use a clone with its full history, after "npm ci"; if it needs a package that is no longer installed, name a newer commit in bench/base-commit`,
      { cause },
    )
  }
}

/** Installed packages are shared, except Baton's own, which come from the tree. */
function linkPackages(from: string, to: string, root: string): void {
  mkdirSync(join(to, '@baton'), { recursive: true })
  for (const name of readdirSync(from)) if (name !== '@baton') symlinkSync(join(from, name), join(to, name))
  for (const name of readdirSync(join(root, 'packages')))
    if (existsSync(join(root, 'packages', name, 'package.json')))
      symlinkSync(join(root, 'packages', name), join(to, '@baton', name))
}

function run(command: string, given: readonly string[], cwd: string): void {
  execFileSync(command, given, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
}
