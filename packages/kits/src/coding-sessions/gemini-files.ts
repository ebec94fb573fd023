// Finds Gemini CLI sessions: `tmp/PROJECT/chats/session-….json` or `.jsonl` in its folder. PROJECT is the SHA-256 of
// the project's path, or a short name whose path is in `.project_root` there and in `projects.json`. Source:
// packages/core/src/config (storage.ts, projectRegistry.ts) of https://github.com/google-gemini/gemini-cli, seen
// 2026-11-28.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { parseJson } from '@baton/core/internal'
import { entries, namesIn, readStart } from './plain-files.ts'
import { isRecord } from './session-events.ts'
import type { SessionFile } from './session-events.ts'

const FILE = /^session-.+\.jsonl?$/
const HEAD_BYTES = 4096
const REGISTRY_BYTES = 4 * 1024 * 1024
/** The first members of both kinds of file. */
const ID = /"sessionId"\s*:\s*"([A-Za-z0-9][A-Za-z0-9_-]{0,99})"/
const HASH = /"projectHash"\s*:\s*"([0-9a-f]{64})"/

/**
 * @param geminiCli the folder `.gemini`
 * @param roots paths that sessions may have run in, in addition to those of `projects.json`
 * @param filesMax maximum files to read
 */
export async function listGemini(
  geminiCli: string,
  roots: readonly string[],
  filesMax: number,
): Promise<readonly SessionFile[]> {
  const registry = await readRegistry(geminiCli)
  const hashes = new Map([...roots, ...registry.values()].map((path) => [hashOf(path), path]))
  const found: SessionFile[] = []
  for (const project of (await entries(join(geminiCli, 'tmp'))).filter(({ folder }) => folder)) {
    const folder = join(geminiCli, 'tmp', project.name)
    const marker = (await readStart(join(folder, '.project_root'), HEAD_BYTES))?.text.trim()
    const cwd = marker || hashes.get(project.name) || registry.get(project.name)
    found.push(...(await listChats(join(folder, 'chats'), cwd, hashes)))
    if (found.length > filesMax) break
  }
  return found
}

async function listChats(
  folder: string,
  place: string | undefined,
  hashes: ReadonlyMap<string, string>,
): Promise<readonly SessionFile[]> {
  const names = await namesIn(folder, [], FILE)
  const all = new Set(names)
  const found: SessionFile[] = []
  for (const name of names) {
    // A continued session is rewritten as lines, and its old file remains.
    if (name.endsWith('.json') && all.has(`${name}l`)) continue
    const path = join(folder, name)
    const start = await readStart(path, HEAD_BYTES)
    const id = ID.exec(start?.text ?? '')?.[1]
    if (!start || id === undefined) continue
    const cwd = place ?? hashes.get(HASH.exec(start.text)?.[1] ?? '')
    const { bytes, updatedMs } = start
    const form = name.endsWith('l') ? 'lines' : 'members'
    found.push({ id, provider: 'gemini-cli', form, path, bytes, updatedMs, ...(cwd !== undefined && { cwd }) })
  }
  return found
}

/** Paths of projects by short name. */
async function readRegistry(geminiCli: string): Promise<ReadonlyMap<string, string>> {
  const read = parseJson((await readStart(join(geminiCli, 'projects.json'), REGISTRY_BYTES))?.text ?? '')
  const projects = read.ok && isRecord(read.value) && isRecord(read.value['projects']) ? read.value['projects'] : {}
  return new Map(Object.entries(projects).flatMap(([path, name]) => (typeof name === 'string' ? [[name, path]] : [])))
}

function hashOf(path: string): string {
  return createHash('sha256').update(path).digest('hex')
}
