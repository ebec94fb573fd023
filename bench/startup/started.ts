// The measured starts, and one start in a separate process: the program reports its processor time and
// memory when its import is done, when its command ends, or when its server says that it listens.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Start {
  readonly name: string
  /** The entry that the process imports, or the arguments of Node. */
  readonly imports?: string
  readonly words?: readonly string[]
  /** Appears in the output of a server that listens, which then ends. Others end by themselves. */
  readonly until?: string
}

export interface Started {
  /** Processor time of all threads, in milliseconds; of an import, without Node's own start. */
  readonly cpuMs: number
  /** Resident memory that the import added; of a command, all of it. */
  readonly residentBytes: number
  /** Milliseconds from the start of the process to its report. */
  readonly waitMs: number
}

const ROOT = join(import.meta.dirname, '../..')
/** The built command: in the repository, the bin would take the source. */
const BATON = join(ROOT, 'packages/cli/dist/main.js')
const PROBE = join(import.meta.dirname, 'probe.mjs')
const AGENT = join(import.meta.dirname, 'agent.ts')

export const IMPORTS: readonly Start[] = [
  { name: 'ai', imports: 'ai' },
  { name: 'pi-agent-core', imports: '@earendil-works/pi-agent-core' },
  { name: 'pi-ai', imports: '@earendil-works/pi-ai' },
  { name: '@baton/host', imports: '@baton/host' },
]

export const COMMANDS: readonly Start[] = [
  { name: 'node', words: [join(import.meta.dirname, 'nothing.mjs')] },
  { name: 'baton --version', words: [BATON, '--version'] },
  {
    name: 'baton run, offline',
    words: [BATON, 'run', AGENT, 'What is the population of the city "Oslo"?', '--model', 'offline'],
  },
  {
    name: 'baton serve, memory',
    words: [BATON, 'serve', '--agent', AGENT, '--port', '0', '--store', 'memory:'],
    until: 'Baton listens',
  },
  {
    name: 'baton serve, SQLite',
    words: [BATON, 'serve', '--agent', AGENT, '--port', '0', '--store', 'sqlite:sessions.db'],
    until: 'Baton listens',
  },
]

/** @throws Error with the output of a process that fails or reports nothing */
export async function start({ name, imports, words, until }: Start): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-start-'))
  try {
    const begunMs = performance.now()
    const child = spawn(process.execPath, ['--no-warnings', ...(words ? ['--import', PROBE, ...words] : [PROBE])], {
      cwd: folder,
      env: { ...BARE, BENCH_IMPORT: imports ?? '', BENCH_UNTIL: until ?? '' },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    const ended = Promise.withResolvers<void>()
    let [output, report, waitMs] = ['', '', 0]
    child.stdout?.on('data', (text: Buffer) => (output += String(text)))
    child.stderr?.on('data', (text: Buffer) => (output += String(text)))
    child.stdio[3]?.on('data', (text: Buffer) => {
      waitMs ||= performance.now() - begunMs
      report += String(text)
      if (until !== undefined) child.kill('SIGTERM')
    })
    child.on('error', ended.reject).on('close', () => ended.resolve())
    await ended.promise
    if (report === '') throw new Error(`${name} reported nothing:\n${output}`)
    const { cpuMs, residentBytes } = JSON.parse(report) as Omit<Started, 'waitMs'>
    return { cpuMs, residentBytes, waitMs }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Files that an import loads, Node's own left out. @throws Error with the output of a failed process */
export function countFiles({ imports }: Start): number {
  const { stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', PROBE], {
    encoding: 'utf8',
    env: { ...BARE, BENCH_IMPORT: imports ?? '', BENCH_COUNT: '1' },
  })
  const [, count] = /files (\d+)/.exec(stdout) ?? []
  if (count === undefined) throw new Error(`the files of ${imports} were not counted:\n${stderr}`)
  return Number(count)
}

/** Variables of a process without this user's keys and settings. */
const BARE = { PATH: process.env['PATH'] ?? '', HOME: join(tmpdir(), 'baton-start-home'), NO_COLOR: '1' }
