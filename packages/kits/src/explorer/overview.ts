// Facts about a workspace that need no model: its name, languages with their lines, and entry points. Sees only what
// the workspace tools show.
import { readFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import type { Clock, JsonValue } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import { CallBudget } from '@baton/tools/internal'
import { walk } from '@baton/tools/internal'
import { Workspace } from '@baton/tools/internal'
import { nameLanguage } from './languages.ts'

export interface Overview {
  readonly name: string
  readonly languages: readonly { readonly language: string; readonly files: number; readonly lines: number }[]
  readonly entryPoints: readonly string[]
  /** Number of lines of each counted file. */
  readonly linesOf: ReadonlyMap<string, number>
  /** True if a limit on files or time was reached before everything was counted. */
  readonly truncated: boolean
}

/** Options of `readExploration`: the folder that was explored. */
export interface OverviewOptions {
  readonly root: string
  readonly allow?: readonly string[]
  readonly clock?: Clock
  readonly signal?: AbortSignal
}

const FILE_BYTES_MAX = 1024 * 1024
const LIMITS = { timeMs: 20_000, walkedEntriesMax: 100_000 }
const ENTRY_POINTS_MAX = 20
const MANIFEST_BYTES = 256 * 1024

/** @throws BatonError `invalid_option` if `root` is not a folder; `cancelled` */
export async function readOverview({ root, allow = [], clock, signal }: OverviewOptions): Promise<Overview> {
  const workspace = new Workspace(root, allow)
  const guard = workspace.guard()
  const time = clock ?? { nowMs: () => Date.now(), monotonicMs: () => performance.now() }
  const context = { progress: () => {}, signal: signal ?? new AbortController().signal }
  const budget = new CallBudget(time, LIMITS, context)
  const counts = new Map<string, { files: number; lines: number }>()
  const linesOf = new Map<string, number>()
  const paths = new Set<string>()
  const options = { workspace, guard, from: '', depth: Number.MAX_SAFE_INTEGER, withBytes: false, budget }
  for await (const { path, type } of walk(options)) {
    if (type !== 'file') continue
    paths.add(path)
    const language = nameLanguage(path)
    const lines = language === undefined ? undefined : await countLines(workspace, guard, path)
    if (language === undefined || lines === undefined) continue
    linesOf.set(path, lines)
    const count = counts.get(language) ?? { files: 0, lines: 0 }
    counts.set(language, { files: count.files + 1, lines: count.lines + lines })
  }
  const manifest = paths.has('package.json') ? await readManifest(workspace, guard) : undefined
  const languages = [...counts].map(([language, count]) => ({ language, ...count }))
  const declared = isJsonObject(manifest) && typeof manifest['name'] === 'string' ? manifest['name'].trim() : ''
  return {
    name: declared === '' ? basename(resolve(root)) : declared.slice(0, 200),
    languages: languages.toSorted((one, other) => other.lines - one.lines || (one.language < other.language ? -1 : 1)),
    entryPoints: findEntryPoints(paths, manifest),
    linesOf,
    truncated: budget.hasStopped,
  }
}

type Guard = ReturnType<Workspace['guard']>

/** Returns `undefined` if the file cannot be read, is binary or is too large. */
async function countLines(workspace: Workspace, guard: Guard, path: string): Promise<number | undefined> {
  try {
    return await workspace.readFile(path, guard, async ({ handle, bytes }) => {
      if (bytes > FILE_BYTES_MAX) return undefined
      const buffer = Buffer.alloc(bytes)
      const { bytesRead } = await handle.read(buffer, 0, bytes, 0)
      const read = buffer.subarray(0, bytesRead)
      if (read.includes(0)) return undefined
      let lines = 0
      for (let at = read.indexOf(10); at >= 0; at = read.indexOf(10, at + 1)) lines += 1
      return lines + (read.length > 0 && read.at(-1) !== 10 ? 1 : 0)
    })
  } catch {
    return undefined
  }
}

async function readManifest(workspace: Workspace, guard: Guard): Promise<JsonValue | undefined> {
  try {
    const text = await workspace.readFile('package.json', guard, async ({ handle, bytes }) =>
      bytes > MANIFEST_BYTES ? '' : await readFile(handle, 'utf8'),
    )
    const parsed = parseJson(text)
    return parsed.ok ? parsed.value : undefined
  } catch {
    return undefined
  }
}

/** Conventional entry points of each language, if the file exists. */
const CUSTOMS: readonly RegExp[] = [
  /^(?:src\/)?(?:main|index|app|server|cli)\.(?:ts|tsx|mts|js|mjs|cjs|py|rs|dart|swift|rb|php|zig)$/,
  /^(?:cmd\/[^/]+\/)?main\.go$/,
  /^src\/bin\/[^/]+\.rs$/,
  /(?:^|\/)__main__\.py$/,
  /^manage\.py$/,
  /^src\/main\/(?:java|kotlin)\/(?:[^/]+\/)*(?:Main|App|Application)\.(?:java|kt)$/,
  /^(?:[^/]+\/)?Program\.cs$/,
]

function findEntryPoints(paths: ReadonlySet<string>, manifest: JsonValue | undefined): readonly string[] {
  const declared = isJsonObject(manifest)
    ? [manifest['main'], manifest['module'], manifest['bin'], manifest['exports']].flatMap((one) => listTexts(one, 0))
    : []
  const known = declared.map((path) => path.replace(/^\.\//, '')).filter((path) => paths.has(path))
  const customary = [...paths].filter((path) => CUSTOMS.some((custom) => custom.test(path)))
  return [...new Set([...known, ...customary])].slice(0, ENTRY_POINTS_MAX)
}

function listTexts(value: JsonValue | undefined, depth: number): readonly string[] {
  if (typeof value === 'string') return [value]
  if (depth > 5 || typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap((one) => listTexts(one as JsonValue, depth + 1)) // JSON values
}
