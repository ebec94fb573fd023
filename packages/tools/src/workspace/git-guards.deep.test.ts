// Sandboxed commands that leave something for git: a person who later works in the folder runs none of it, and the
// guards open nothing on the machine to the command.
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createToolContext } from '@baton/core/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { guardGit } from './git-guards.ts'
import { workspaceTools } from './workspace-tools.ts'
import { Workspace } from './workspace.ts'

let place = ''
let root = ''

beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'baton-git-')))
  root = join(place, 'root')
  mkdirSync(root)
})

afterEach(() => rmSync(place, { recursive: true, force: true }))

async function run(command: string): Promise<{ readonly output: string; readonly unguarded?: boolean }> {
  const tools = workspaceTools({ root, shell: { sandbox: 'required', approval: false } })
  const shell = tools.find(({ name }) => name === 'shell.run')
  const result = await shell?.execute?.({ command, folder: '.', timeoutMs: 20_000 } as never, createToolContext())
  return result as { output: string }
}

const WHO = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'safe.directory=*']

function git(folder: string, ...words: readonly string[]): string {
  try {
    return execFileSync('git', [...WHO, ...words], { cwd: join(root, folder), encoding: 'utf8', stdio: 'pipe' })
  } catch {
    return 'git failed' // the command broke it, which is allowed
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

/** Shell code that makes git run a program of the command: as the settings `$1`, or as a hook in the folder `$1`. */
const WORDS = (ran: string): string => `
  PATH=$PATH:/usr/lib/git-core
  printf '#!/bin/sh\\necho ran >> ${ran}\\nexit 1\\n' > evil; chmod +x evil
  settings() { mkdir -p $(dirname $1); printf "[core]\\n\\tfsmonitor = $PWD/evil\\n" >> $1; }
  hooks() { mkdir -p $1; cp evil $1/post-commit; }
  repository() { git -c init.defaultBranch=main init -q "$@"; }
`

const init = (): string => git('', 'init', '-q')

test.each<readonly [situation: string, before: () => unknown, command: string]>([
  [
    'settings that the settings of a repository include',
    () => [init(), git('', 'config', 'include.path', '../.gitconfig'), write('.gitconfig', '')],
    'settings .gitconfig; rm .gitconfig; settings .gitconfig',
  ],
  [
    'settings that it includes, and that are not there',
    () => [init(), git('', 'config', 'include.path', '../team/settings')],
    'settings team/settings',
  ],
  [
    'settings that it includes for some folders',
    () => [init(), git('', 'config', `includeIf.gitdir:${root}/.path`, join(root, 'mine.ini')), write('mine.ini', '')],
    'settings mine.ini',
  ],
  [
    'settings that are included by included ones',
    () => [init(), git('', 'config', 'include.path', '../one'), write('one', '[include]\npath = two\n')],
    'settings two; mkdir -p .git/x; settings .git/two',
  ],
  [
    'hooks in a folder that its settings name',
    () => [init(), git('', 'config', 'core.hooksPath', '.githooks'), write('.githooks/pre-push', '')],
    'hooks .githooks; mv .githooks old; hooks .githooks',
  ],
  [
    'hooks in a folder that they name, and that is not there',
    () => [init(), git('', 'config', 'core.hooksPath', '.githooks')],
    'hooks .githooks',
  ],
  [
    'a bare repository, whose work tree is elsewhere',
    () => [
      git('', 'init', '-q', '--bare', '.bare'),
      git('', '--git-dir=.bare', 'config', 'core.bare', 'false'),
      write('.git', 'gitdir: ./.bare\n'),
    ],
    'settings .bare/config; hooks .bare/hooks; mv .bare b; cp -r b .bare; settings .bare/config',
  ],
  [
    'a repository behind a link',
    () => [
      init(),
      execFileSync('mv', ['.git', 'repository'], { cwd: root }),
      symlinkSync('repository', join(root, '.git')),
    ],
    'settings .git/config; hooks .git/hooks; cp -r repository own; settings own/config; rm .git; ln -s own .git',
  ],
  [
    'settings behind a link',
    () => [
      init(),
      execFileSync('mv', ['.git/config', 'settings'], { cwd: root }),
      symlinkSync('../settings', join(root, '.git/config')),
    ],
    'settings settings; cp .git/config own; settings own; rm .git/config; cp own .git/config',
  ],
  ['a new repository', init, 'repository deep; settings deep/.git/config; hooks deep/.git/hooks'],
  [
    'a new repository where there was none',
    () => {},
    'repository .; settings .git/config; hooks .git/hooks; repository deep',
  ],
  [
    'a new repository that is a part of the old one',
    init,
    'repository deep; cd deep; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; cd ..; git add deep; settings deep/.git/config',
  ],
  [
    'a new repository in a folder of packages, which is a part of the old one',
    init,
    'D=node_modules/deep; repository $D; git -C $D -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; git add -f $D; settings $D/.git/config; ln -s node_modules/deep deep',
  ],
  [
    'a new bare one',
    init,
    'repository --bare deep; settings deep/config; printf "bare = false\\nworktree = .\\n" >> deep/config; hooks deep/hooks',
  ],
  [
    'a new repository whose settings are another file',
    init,
    'repository deep; settings own; cat deep/.git/config >> own; mv own deep/.git/own; ln -sf own deep/.git/config',
  ],
  [
    'a new repository that has its settings from another folder',
    init,
    'repository deep; mv deep/.git parts; mkdir deep/.git; cp parts/HEAD deep/.git; echo ../../parts > deep/.git/commondir; rm parts/HEAD; settings parts/config; hooks parts/hooks',
  ],
  [
    'settings of a new work tree',
    () => [
      init(),
      git('', 'commit', '-q', '--allow-empty', '-m', 'x'),
      git('', 'config', 'extensions.worktreeConfig', 'true'),
    ],
    'git worktree add -q deep; settings .git/worktrees/deep/config.worktree',
  ],
  [
    'settings of an old work tree',
    () => [
      init(),
      git('', 'commit', '-q', '--allow-empty', '-m', 'x'),
      git('', 'config', 'extensions.worktreeConfig', 'true'),
      git('', 'worktree', 'add', '-q', 'deep'),
    ],
    'settings .git/worktrees/deep/config.worktree; settings .git/config.worktree',
  ],
])('a person runs nothing of the command: %s', async (_, before, command) => {
  const ran = join(place, 'ran')
  before()
  expect(await run(WORDS(ran) + command)).not.toMatchObject({ unguarded: true })
  for (const folder of ['', 'deep', 'node_modules/deep'])
    if (existsSync(join(root, folder))) {
      git(folder, 'status')
      git(folder, 'commit', '-q', '--allow-empty', '-m', 'by a person')
    }
  expect(existsSync(ran)).toBe(false)
})

test('a repository that a command makes or copies works, with its remote and its branches', async () => {
  init()
  git('', 'commit', '-q', '--allow-empty', '-m', 'x')
  await run('git clone -q . deep 2>&1; git -C deep remote -v; cp -r .git copy.git')
  expect(git('deep', 'remote', '-v')).toBe(`origin\t${root}/. (fetch)\norigin\t${root}/. (push)\n`)
  expect(git('deep', 'rev-parse', '--abbrev-ref', '@{upstream}')).toMatch(/^origin\/\w+\n$/)
  expect(git('deep', 'log', '--format=%s')).toBe('x\n')
  expect(git('copy.git', 'log', '--format=%s')).toBe('x\n')
})

test.each([
  ['is not Unicode', `D=$(printf '\\377'); mkdir $D; git init -q $D`],
  [
    'is too long',
    'git init -q x; N=$(printf "d%.0s" $(seq 200)); for i in $(seq 25); do mkdir y; mv x y/$N; mv y x; done',
  ],
])('a new repository whose path %s is not passed over in silence', async (_, command) => {
  expect(await run(command)).toMatchObject({ unguarded: true })
  await run('rm -rf x $(printf "\\377")')
  expect(await run('true')).not.toMatchObject({ unguarded: true })
})

test('folders with names of git that are no repositories keep what a command writes', async () => {
  await run('mkdir -p src/objects src/refs src/hooks; echo a > src/hooks/use-a.ts; echo b > src/config')
  expect(readFileSync(join(root, 'src/hooks/use-a.ts'), 'utf8')).toBe('a\n')
  expect(readFileSync(join(root, 'src/config'), 'utf8')).toBe('b\n')
})

test.each([
  ['settings', 'mkdir -p x/.git/hooks; ln -s ../../../secret x/.git/config', 'x/.git/config'],
  ['a hook', 'mkdir -p x/.git; ln -s ../../../secret x/.git/hooks', 'x/.git/hooks'],
  [
    'settings of a work tree',
    'mkdir -p x/.git; ln -s ../../../secret x/.git/config.worktree',
    'x/.git/config.worktree',
  ],
  ['the folder itself', 'mkdir -p x; ln -s ../../other x/.git', 'x/.git/secret'],
  ['submodules', 'mkdir -p x/.git; ln -s ../../.. x/.git/modules', 'x/.git/modules/other/secret'],
  ['work trees', 'mkdir -p x/.git; ln -s ../../.. x/.git/worktrees', 'x/.git/worktrees/other/commondir'],
  ['a file that leads there', 'mkdir -p x; echo "gitdir: ../../other" > x/.git', '../other/secret'],
])('links of a command to places outside do not open these to the next command: %s', async (_, command, path) => {
  writeFileSync(join(place, 'secret'), 'of the machine')
  for (const name of ['objects', 'refs']) mkdirSync(join(place, 'other', name), { recursive: true })
  for (const name of ['HEAD', 'secret', 'commondir', 'config'])
    writeFileSync(join(place, 'other', name), 'of the machine')
  await run(command)
  const { output } = await run(`cat ${path} ../secret ../other/*; echo changed >> ${path}; true`)
  expect(output).not.toContain('of the machine')
  expect(readFileSync(join(place, 'other/secret'), 'utf8')).toBe('of the machine')
})

test('what a command that still runs could swap is not mounted for the next one', async () => {
  init()
  const workspace = new Workspace(root, [])
  const first = await guardGit(workspace)
  git('', 'init', '-q', 'made-by-the-first')
  write('made-by-the-first/.git/hooks/post-commit', '')
  const second = await guardGit(workspace, [first])
  expect(second.words).toContain(join(root, '.git/config'))
  expect(second.words.filter((word) => word.includes('made-by-the-first'))).toEqual([])
  expect(await second.cleanUp()).toBe(true)
  expect(existsSync(join(root, 'made-by-the-first/.git/hooks/post-commit'))).toBe(false)
})
