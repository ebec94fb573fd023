// A command behind bubblewrap: it sees the system's programs, which it cannot change, and one folder, which it can. It knows the
// command line of bwrap (https://github.com/containers/bubblewrap, 0.8) and nothing of tools.
import { execFile } from 'node:child_process'
import { existsSync, lstatSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from './find-program.ts'

export interface BoxedCommand {
  /** The folder that it may change. */
  readonly root: string
  /** Where it begins, in the root. */
  readonly folder: string
  readonly network: boolean
  /** Other places that it may read. */
  readonly readable: readonly string[]
}

/** These are links on systems that keep everything in /usr, and folders elsewhere. */
const SYSTEM = ['/bin', '/sbin', '/lib', '/lib32', '/lib64']

/** What programs look up; never the whole of /etc, which holds password hashes and keys of the machine. */
const SETTINGS = [
  'alternatives',
  'ca-certificates',
  'group',
  'hosts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'mime.types',
  'nsswitch.conf',
  'passwd',
  'pki',
  'protocols',
  'resolv.conf',
  'services',
  'ssl',
]

export function boxArguments({ root, folder, network, readable }: BoxedCommand): readonly string[] {
  const system = SYSTEM.flatMap((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (!stats) return []
    return stats.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
  })
  return [
    '--unshare-all',
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    ...(network ? ['--share-net'] : []),
    ...bind('--ro-bind', ['/usr']),
    ...system,
    ...bind(
      '--ro-bind-try',
      SETTINGS.map((name) => `/etc/${name}`),
    ),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--tmpfs',
    '/tmp',
    ...bind('--ro-bind', readable),
    ...bind('--bind', [root]),
    ...keepGit(join(root, '.git')),
    '--chdir',
    folder,
    '--',
  ]
}

/** What git would run later, outside the sandbox, stays as it is: hooks, and commands in its settings. */
function keepGit(path: string): readonly string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  // In a work tree it is a file that names the repository.
  if (stats?.isFile()) return bind('--ro-bind', [path])
  if (!stats?.isDirectory()) return []
  const [hooks, settings] = [join(path, 'hooks'), join(path, 'config')]
  return [
    // A mount cannot be renamed, so no other folder takes its place.
    ...bind('--bind', [path]),
    ...(existsSync(hooks) ? bind('--ro-bind', [hooks]) : ['--tmpfs', hooks, '--remount-ro', hooks]),
    ...(existsSync(settings) ? bind('--ro-bind', [settings]) : ['--ro-bind', '/dev/null', settings]),
  ]
}

/**
 * With a file `commondir`, git takes hooks and settings from another folder. The file cannot be kept out while the command runs. Call this
 * before the command, and what it gives after its end.
 */
export function watchCommonFolder(root: string): () => void {
  const path = join(root, '.git/commondir')
  const isKept = !lstatSync(join(root, '.git'), { throwIfNoEntry: false })?.isDirectory() || existsSync(path)
  return () => {
    if (!isKept) rmSync(path, { force: true, recursive: true })
  }
}

function bind(option: string, paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => [option, path, path])
}

/** Milliseconds. */
const PROBE_MS = 10_000

export type FoundBox = { readonly program: string } | { readonly problem: string }

/** The absolute path of bubblewrap, or why it does not work here. Containers often forbid it. */
export function findBox(command: BoxedCommand): Promise<FoundBox> {
  const program = findProgram('bwrap', command.root)
  if (program === undefined) return Promise.resolve({ problem: 'there is no program "bwrap"' })
  return new Promise((found) => {
    execFile(program, [...boxArguments(command), 'true'], { timeout: PROBE_MS, env: {} }, (error, _, errors) => {
      if (!error) found({ program })
      else found({ problem: errors.trim().slice(0, 500) || error.message.slice(0, 500) })
    })
  })
}
