// Runs a command in bubblewrap: it sees the system's programs read-only and may change one folder. Knows the command
// line of bwrap (https://github.com/containers/bubblewrap, 0.8) and nothing of tools.
import { execFile } from 'node:child_process'
import { lstatSync, readlinkSync } from 'node:fs'
import { findProgram } from './find-program.ts'

export interface BoxedCommand {
  /** The folder that it may change. */
  readonly root: string
  /** Working directory of the command, inside the root. */
  readonly folder: string
  readonly network: boolean
  /** Additional places that it may read. */
  readonly readable: readonly string[]
}

/** Links on systems with a merged /usr, folders elsewhere. */
const SYSTEM = ['/bin', '/sbin', '/lib', '/lib32', '/lib64']

/** Files that programs look up; never all of /etc, which contains password hashes and machine keys. */
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

/** `guards`: arguments placed after the binding of the root. */
export function boxArguments(
  { root, folder, network, readable }: BoxedCommand,
  guards: readonly string[] = [],
): readonly string[] {
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
    ...guards,
    '--chdir',
    folder,
    '--',
  ]
}

function bind(option: string, paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => [option, path, path])
}

/** Milliseconds for the probe. */
const PROBE_MS = 10_000

export type FoundBox = { readonly program: string } | { readonly problem: string }

/** Returns the absolute path of bubblewrap, or why it does not work here. Containers often forbid it. */
export function findBox(command: BoxedCommand): Promise<FoundBox> {
  const program = findProgram('bwrap', command.root)
  if (program === undefined) return Promise.resolve({ problem: 'the program "bwrap" is not installed' })
  return new Promise((found) => {
    execFile(program, [...boxArguments(command), 'true'], { timeout: PROBE_MS, env: {} }, (error, _, errors) => {
      if (!error) found({ program })
      else found({ problem: errors.trim().slice(0, 500) || error.message.slice(0, 500) })
    })
  })
}
