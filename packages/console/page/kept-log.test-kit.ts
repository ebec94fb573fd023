// Kept logs of real sessions, for tests of what the page makes of them.
import type { SessionRecord } from '@baton/core/machine'
import { readFileSync, readdirSync } from 'node:fs'

const LOGS = new URL('../../testing/src/golden/logs/', import.meta.url)

export function keptLogs(): readonly string[] {
  return readdirSync(LOGS)
    .filter((name) => name.endsWith('.jsonl') && !name.endsWith('.events.jsonl'))
    .map((name) => name.replace('.jsonl', ''))
}

export function readLog(name: string): readonly SessionRecord[] {
  const lines = readFileSync(new URL(`${name}.jsonl`, LOGS), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map((line) => JSON.parse(line) as SessionRecord)
}
