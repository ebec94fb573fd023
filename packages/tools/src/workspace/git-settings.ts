// Settings of a repository: which other places in a folder they make git use, and which of them run no program.
// https://git-scm.com/docs/git-config
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { askGit } from './repository.ts'

export interface NamedPlace {
  readonly path: string
  readonly isFolder: boolean
}

const KEYS = String.raw`^(core\.hookspath|include\.path|includeif\..*\.path)$`

/** Setting files that a repository's own settings include, and its hooks folder, from all settings that apply to it. */
export async function namedPlaces(
  program: string | undefined,
  folder: string,
  top: string,
): Promise<readonly NamedPlace[]> {
  const words = ['config', '-z', '--includes', '--show-origin', '--get-regexp', KEYS]
  const parts = (await askGit(program, top, [`--git-dir=${folder}`, ...words])).split('\0')
  const places: NamedPlace[] = []
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [origin = '', entry = ''] = [parts[at], parts[at + 1]]
    const isFolder = entry.startsWith('core.hookspath\n')
    const value = entry.slice(entry.indexOf('\n') + 1)
    const base = isFolder ? top : dirname(resolve(top, origin.replace(/^file:/, '')))
    if (value !== '') places.push({ path: resolve(base, toHome(value)), isFolder })
  }
  return places
}

function toHome(value: string): string {
  return value.startsWith('~/') ? join(homedir(), value.slice(2)) : value
}

/** Lowercase; the quoted part is omitted. */
const PLAIN = new Set(
  [
    'core: repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks worktree autocrlf eol',
    'core: sparsecheckout sparsecheckoutcone',
    'extensions: objectformat compatobjectformat refstorage',
    'remote: url pushurl fetch tagopt',
    'branch: remote merge rebase',
    'submodule: url active',
    'user: name email',
    'init: defaultbranch',
  ].flatMap((line) => {
    const [section = '', keys = ''] = line.split(': ')
    return keys.split(' ').map((key) => `${section}.${key}`)
  }),
)

/**
 * Keeps settings that name no program, other file or hooks folder. Lines in a format that git does not write are
 * dropped.
 */
export function plainSettings(text: string): string {
  const kept: string[] = []
  let section = ''
  for (const line of text.split('\n').map((one) => one.replace(/\r$/, ''))) {
    const header = /^\s*\[\s*([\w-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]\s*$/.exec(line)
    if (header) section = (header[1] ?? '').toLowerCase()
    const key = /^\s*([a-z][\w-]*)\s*=(?:.*[^\\])?$/i.exec(line)?.[1]
    const isKept = header ? isPlainSection(section) : key !== undefined && PLAIN.has(`${section}.${key.toLowerCase()}`)
    if (isKept) kept.push(line)
  }
  return kept.map((line) => `${line}\n`).join('')
}

function isPlainSection(section: string): boolean {
  return [...PLAIN].some((key) => key.startsWith(`${section}.`))
}
