// The rules compared with git's own answer (`git check-ignore`), over generated trees with generated rules of every
// kind.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { chooseCount } from '@baton/testing/depth'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { IgnoreRules } from './ignore-rules.ts'
import type { IgnoreSettings } from './repository.ts'

let root = ''

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-ignore-')))
  git('init', '--quiet')
  git('config', 'core.excludesFile', join(root, '.git', 'general'))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

function git(...words: readonly string[]): void {
  execFileSync('git', [...words], { cwd: root, stdio: 'pipe' })
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

function ignoredByGit(paths: readonly string[]): readonly string[] {
  const { stdout, status } = spawnSync('git', ['check-ignore', '-z', '--no-index', '--stdin'], {
    cwd: root,
    input: paths.join('\0'),
    encoding: 'utf8',
  })
  if (status !== 0 && status !== 1) throw new Error(`git check-ignore ended with ${status}`)
  return stdout.split('\0').filter((path) => path !== '')
}

async function ignoredByRules(tree: Tree): Promise<readonly string[]> {
  const rules = new IgnoreRules(root, new Map())
  const verdicts = await Promise.all(tree.paths.map((path) => rules.isIgnored(path, tree.folders.has(path))))
  return tree.paths.filter((_, index) => verdicts[index])
}

interface Tree {
  readonly paths: readonly string[]
  readonly folders: ReadonlySet<string>
}

// ASCII only: git's `?` and `[…]` match one byte, ours one character.
const NAMES = ['a', 'b', 'ab', 'A', 'a.log', 'b.log', 'x y', '#x', '!y', 'a[b', 'build', '.hid', 'a*', 'sp ']

const treeArbitrary: fc.Arbitrary<Tree> = fc
  .uniqueArray(fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 25,
    selector: (names) => names.join('/'),
  })
  .map((branches) => {
    const all = new Set(branches.flatMap((names) => names.map((_, end) => names.slice(0, end + 1).join('/'))))
    const folders = new Set([...all].filter((path) => [...all].some((other) => other.startsWith(`${path}/`))))
    return { paths: [...all].toSorted(), folders }
  })

// Not `a**/`: git cuts off the literal prefix first, and then reads this `**` as if it were separate.
const segment = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NAMES) },
  fc.constantFrom(
    '*',
    '**',
    '*.log',
    'a*',
    '*b*',
    '?',
    'a?',
    '[ab]',
    '[!a]',
    '[a-c]*',
    '\\#x',
    '\\!y',
    'a\\[b',
    '[[:alpha:]]',
  ),
  fc.constantFrom('***', '**b', '[', 'a\\*', '\\a', '*.*', 'sp\\ ', 'x\\ y', '[^b].log', '.*'),
)
const pattern = (mayNegate: boolean): fc.Arbitrary<string> =>
  fc
    .tuple(
      mayNegate ? fc.constantFrom('', '', '!') : fc.constant(''),
      fc.constantFrom('', '', '/', '**/'),
      fc.array(segment, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('', '', '/', '/**', '/*', ' ', '\r'),
    )
    .map(([sign, start, segments, end]) => sign + start + segments.join('/') + end)
    // A segment may itself start with the sign; a rule with more than three `**` hides more than it says.
    .filter((line) => (mayNegate || !line.startsWith('!')) && (line.match(/\*\*+/g)?.length ?? 0) <= 3)
const rulesText = (mayNegate: boolean): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof(pattern(mayNegate), fc.constantFrom('', '# words', '/')), { maxLength: 6 })
    .map((all) => all.join('\n'))

/** The file for each text of rules; `nested` ones go into the folders of the tree in turn. */
const rulesArbitrary = (nestedMayNegate: boolean) =>
  fc.record({
    general: rulesText(true),
    exclude: rulesText(true),
    root: rulesText(true),
    nested: fc.array(rulesText(nestedMayNegate), { maxLength: 3 }),
  })

async function compare(
  tree: Tree,
  rules: { general: string; exclude: string; root: string; nested: readonly string[] },
): Promise<{ readonly ours: readonly string[]; readonly gits: readonly string[] }> {
  rmSync(join(root, '.gitignore'), { force: true })
  for (const path of tree.paths) if (!tree.folders.has(path)) write(path, '')
  write('.git/general', rules.general)
  write('.git/info/exclude', rules.exclude)
  write('.gitignore', rules.root)
  const folders = [...tree.folders]
  for (const [index, text] of rules.nested.entries()) {
    const folder = folders[index % Math.max(1, folders.length)]
    if (folder !== undefined) write(`${folder}/.gitignore`, text)
  }
  const result = { ours: await ignoredByRules(tree), gits: ignoredByGit(tree.paths) }
  for (const path of tree.paths) rmSync(join(root, path), { recursive: true, force: true })
  return result
}

test('any tree with any rules: what git ignores, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(treeArbitrary, rulesArbitrary(false), async (tree, rules) => {
      const { ours, gits } = await compare(tree, rules)
      expect(ours).toEqual(gits)
    }),
    { numRuns: chooseCount({ quick: 20, landing: 60, deep: 400 }) },
  )
})

test('folders that take rules back: never less than git ignores', async () => {
  await fc.assert(
    fc.asyncProperty(treeArbitrary, rulesArbitrary(true), async (tree, rules) => {
      const { ours, gits } = await compare(tree, rules)
      expect(gits.filter((path) => !ours.includes(path))).toEqual([])
    }),
    { numRuns: chooseCount({ quick: 10, landing: 30, deep: 200 }) },
  )
})

test('a linked worktree has the rules of its repository', async () => {
  write('file', '')
  git('add', 'file')
  git('-c', 'user.name=n', '-c', 'user.email=e', 'commit', '--quiet', '--message', 'first')
  const main = root
  write('.git/info/exclude', 'private\n')
  write('.git/general', 'general\n')
  git('worktree', 'add', '--quiet', join(main, 'tree'))
  const rules = new IgnoreRules(join(main, 'tree'), new Map())
  expect(await Promise.all(['private', 'general', 'file'].map((path) => rules.isIgnored(path, false)))).toEqual([
    true,
    true,
    false,
  ])
})

test('a program git of the workspace is not started, although the PATH leads there', async () => {
  write('.git/info/exclude', 'private\n')
  write('node_modules/.bin/git', `#!/bin/sh\necho ran > ${join(root, 'ran')}\n`)
  chmodSync(join(root, 'node_modules/.bin/git'), 0o755)
  vi.stubEnv('PATH', `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`)
  const isIgnored = await new IgnoreRules(root, new Map()).isIgnored('private', false)
  vi.unstubAllEnvs()
  expect([isIgnored, existsSync(join(root, 'ran'))]).toEqual([true, false])
})

test('a repository that does not care about case', async () => {
  git('config', 'core.ignoreCase', 'true')
  write('.gitignore', 'Secret\n')
  expect(await new IgnoreRules(root, new Map()).isIgnored('SECRET', false)).toBe(true)
})

test('an ignored folder that is the workspace: only the rules in it count', async () => {
  write('.gitignore', 'build/\n*.log\n')
  write('build/inner/.gitignore', 'no\n')
  const rules = new IgnoreRules(join(root, 'build', 'inner'), new Map())
  expect(await Promise.all(['yes', 'a.log', 'no'].map((path) => rules.isIgnored(path, false)))).toEqual([
    false,
    false,
    true,
  ])
})

test('rules that would take for ever hide more instead', async () => {
  write('.gitignore', `/x/${'**/a/'.repeat(12)}b\n`)
  const deep = `x/${'a/'.repeat(60)}c`
  const rules = new IgnoreRules(root, new Map())
  expect([await rules.isIgnored(deep, false), await rules.isIgnored('y', false)]).toEqual([true, false])
})

test('more rules than are read hide everything', async () => {
  write('.gitignore', 'nothing\n'.repeat(200_000))
  expect(await new IgnoreRules(root, new Map()).isIgnored('file', false)).toBe(true)
})

test('rules that git could not name once are found by the next call', async () => {
  const programs = realpathSync(mkdtempSync(join(tmpdir(), 'baton-git-')))
  onTestFinished(() => rmSync(programs, { recursive: true, force: true }))
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const busy = join(programs, 'busy')
  writeFileSync(join(programs, 'git'), `#!/bin/sh\n[ -e '${busy}' ] && kill -9 $$\nexec '${real}' "$@"\n`, {
    mode: 0o755,
  })
  writeFileSync(busy, '')
  vi.stubEnv('PATH', `${programs}:${process.env['PATH']}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  write('.git/general', 'private\n')
  const settings = new Map<string, Promise<IgnoreSettings>>()
  const isIgnored = () => new IgnoreRules(root, settings).isIgnored('private', false)
  expect(await isIgnored()).toBe(false)
  rmSync(busy)
  expect(await isIgnored()).toBe(true)
  // Now it is known.
  writeFileSync(busy, '')
  expect(await isIgnored()).toBe(true)
})
