// Asks ripgrep, if installed, which of many files a search must examine. The walk decides which files may be searched,
// and RE2 which of their lines match. A file is skipped only if both engines must agree that it has no match.
import { execFile, spawnSync } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from './find-program.ts'
import { toRipgrepPattern } from './ripgrep-pattern.ts'

/**
 * Lines that the two engines may read differently: not UTF-8, with a NUL, which makes a file binary, with a byte order
 * mark, or with a carriage return in the middle.
 */
const ODD_LINE = String.raw`^[^\x00\r\x{FEFF}]*\r?$`
/** `--no-mmap`: a file truncated while being read must not crash the process. */
const FLAGS = '--no-config --no-ignore --hidden --text --encoding=none --no-mmap --null --files-with-matches'.split(' ')
const PROBE_MS = 5_000
/** Far below what Linux and macOS allow; Windows allows 32,767 characters. */
const ARGUMENT_BYTES = process.platform === 'win32' ? 24_000 : 120_000

/** The absolute path of `rg` on the PATH, ignoring any inside the workspace. */
export function findRipgrep(root: string, path?: string): string | undefined {
  return findProgram(process.platform === 'win32' ? 'rg.exe' : 'rg', root, path)
}

export interface RipgrepFilterOptions {
  readonly program: string
  /** The workspace; `paths` are relative to it. */
  readonly root: string
  /** A valid RE2 pattern. */
  readonly pattern: string
  /** Larger files are left to the caller. */
  readonly fileBytesMax: number
  /** Milliseconds per query. */
  readonly timeMs: number
}

export class RipgrepFilter {
  readonly #init: RipgrepFilterOptions
  readonly #pattern: string

  private constructor(init: RipgrepFilterOptions, pattern: string) {
    this.#init = init
    this.#pattern = pattern
  }

  /** Returns `undefined` if ripgrep does not support the pattern or does not run. */
  static open(init: RipgrepFilterOptions): RipgrepFilter | undefined {
    const pattern = toRipgrepPattern(init.pattern)
    if (pattern === undefined) return undefined
    const args = [...FLAGS, '--crlf', '-e', pattern, '-']
    const { status } = spawnSync(init.program, args, { input: '', env: {}, timeout: PROBE_MS, stdio: 'pipe' })
    return status === 1 ? new RipgrepFilter(init, pattern) : undefined
  }

  /** Returns the files that may match; `undefined` if ripgrep could not tell, so that all of them may. */
  async choose(paths: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
    const large = new Set(paths.filter((path) => this.#isLarge(path)))
    const asked = paths.filter((path) => !large.has(path))
    const [matching, odd] = await Promise.all([
      this.#run(['--crlf', '-e', this.#pattern], asked, signal),
      this.#run(['--invert-match', '-e', ODD_LINE], asked, signal),
    ])
    return matching && odd && new Set([...large, ...matching, ...odd])
  }

  /** Synchronous, because a thousand promises would take longer than the search. */
  #isLarge(path: string): boolean {
    const size = lstatSync(join(this.#init.root, path), { throwIfNoEntry: false })?.size
    return size === undefined || size > this.#init.fileBytesMax
  }

  async #run(
    args: readonly string[],
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[] | undefined> {
    const found: string[] = []
    for (const part of splitArguments(paths.map((path) => `./${path}`))) {
      const some = await this.#runOnce(args, part, signal)
      if (!some) return undefined
      found.push(...some)
    }
    return found
  }

  #runOnce(
    args: readonly string[],
    named: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[] | undefined> {
    const { program, root, timeMs } = this.#init
    const maxBuffer = named.reduce((bytes, path) => bytes + Buffer.byteLength(path) + 1, 1024)
    return new Promise((resolve) => {
      execFile(
        program,
        [...FLAGS, ...args, '--', ...named],
        { cwd: root, env: {}, timeout: timeMs, maxBuffer, signal, killSignal: 'SIGKILL' },
        (error, stdout) => {
          // 1: nothing found. Anything else, such as an unreadable file, leaves the files to RE2.
          const isSure = error === null || error.code === 1
          resolve(isSure ? stdout.split('\0').flatMap((path) => (path === '' ? [] : [path.slice(2)])) : undefined)
        },
      )
    })
  }
}

/** Splits arguments into command lines of legal length. */
function splitArguments(named: readonly string[]): readonly (readonly string[])[] {
  const parts: string[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const path of named) {
    bytes += Buffer.byteLength(path) + 1
    if (bytes > ARGUMENT_BYTES) {
      parts.push([])
      bytes = Buffer.byteLength(path) + 1
    }
    parts.at(-1)?.push(path)
  }
  return parts
}
