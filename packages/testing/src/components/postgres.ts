// A PostgreSQL server for a test run, in a temporary folder and on a free port of the loopback interface. It belongs to
// the machine: BATON_POSTGRES names the folder of its programs, or they are where Debian, Homebrew or PATH have them.
import type { ChildProcess } from 'node:child_process'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from './free-port.ts'
import { leaveOut } from './left-out.ts'

export interface PostgresServer {
  /** Returns `postgres://baton@127.0.0.1:<port>/<name>` of a new, empty database. */
  createDatabase(): string
  /** Ends all of Baton's connections to the database, like a broken network. Returns their number. */
  cutConnections(url: string): number
  /** Kills all processes of the server, like a power cut, and restarts it over the same files. */
  crash(): Promise<void>
  /** Stops the server. `start` starts it again. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Stops the server and removes its files. */
  close(): Promise<void>
}

/**
 * Returns the folder of PostgreSQL's programs, or `undefined` if there is none; `warn` then receives what will not be
 * tested.
 * @throws Error if there is none and BATON_TEST_REQUIRE is `all`
 */
export function findPostgres(what: string, warn: (message: string) => void): string | undefined {
  const named = process.env['BATON_POSTGRES'] ?? ''
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((one, other) => Number(other) - Number(one)) : []
  const folders = [
    ...(named === '' ? [] : [named]),
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ]
  const lack = {
    why: 'PostgreSQL is not installed',
    remedy: 'Install PostgreSQL, or set BATON_POSTGRES to the folder of its programs, to run it.',
  }
  return folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? leaveOut(what, lack, warn)
}

/** `programs` comes from `findPostgres`. */
export async function startPostgres(programs: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-postgres-'))
  const user = chooseUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const port = await findFreePort()
  const init = [
    '--pgdata',
    data,
    '--username',
    'baton',
    '--auth',
    'trust',
    '--no-sync',
    '--encoding',
    'UTF8',
    '--locale',
    'C',
  ]
  execFileSync(join(programs, 'initdb'), init, { ...user, stdio: 'ignore', cwd: folder })
  const psql = (sql: string, database = 'postgres'): string =>
    execFileSync(
      join(programs, 'psql'),
      ['-qAt', '-h', '127.0.0.1', '-p', String(port), '-U', 'baton', '-d', database, '-c', sql],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    )
  let server: ChildProcess | undefined
  let databases = 0
  const start = async (): Promise<void> => {
    const words = ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-k', folder]
    server = spawn(join(programs, 'postgres'), words, { ...user, cwd: folder, stdio: 'ignore' })
    for (let tries = 0; ; tries++)
      try {
        psql('SELECT 1')
        return
      } catch (cause) {
        if (tries > 300 || server.exitCode !== null) throw new Error('PostgreSQL did not start', { cause })
        await wait(100)
      }
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await ended
  }
  await start()
  return {
    createDatabase: () => {
      databases += 1
      const name = `test_${databases}`
      psql(`CREATE DATABASE ${name}`)
      return `postgres://baton@127.0.0.1:${port}/${name}`
    },
    cutConnections: (url) => Number(psql(CUT, new URL(url).pathname.slice(1))),
    crash: async () => {
      await end('SIGQUIT') // ends immediately, without flushing to disk
      await start()
    },
    stop: () => end('SIGINT'),
    start,
    close: async () => {
      await end('SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const CUT = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
  WHERE application_name = 'baton' AND datname = current_database()`

/** PostgreSQL refuses to run as root. */
function chooseUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody'])
    try {
      const id = (flag: string): number => Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {
      continue
    }
  throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody')
}
