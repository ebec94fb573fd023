// Writes a Claude Code session file of a given size: messages, calls and results of 2 to 5 kB.
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const ID = '00000000-0000-4000-8000-000000000001'

export function writeLargeSession(place: string, bytes: number) {
  const store = { root: join(place, 'work'), claudeCode: join(place, 'claude'), codex: join(place, 'codex') }
  const folder = join(store.claudeCode, store.root.replaceAll(/[^A-Za-z0-9]/g, '-'))
  for (const path of [store.root, store.codex, folder]) mkdirSync(path, { recursive: true })
  const file = join(folder, `${ID}.jsonl`)
  const opened = openSync(file, 'w')
  const output = 'some output of a tool, with words and numbers 0123456789\n'
  let written = 0
  for (let line = 0; written < bytes; line += 2) {
    const common = {
      sessionId: ID,
      cwd: store.root,
      timestamp: new Date(1_760_000_000_000 + line * 1000).toISOString(),
    }
    const use = { type: 'tool_use', id: `t${line}`, name: 'Read', input: { file_path: `/src/${line % 5000}.ts` } }
    const result = { type: 'tool_result', tool_use_id: use.id, content: output.repeat(40 + (line % 60)) }
    const messages = [
      { ...common, uuid: `a${line}`, type: 'assistant', message: { role: 'assistant', content: [use] } },
      { ...common, uuid: `u${line}`, type: 'user', message: { role: 'user', content: [result] } },
    ]
    for (const message of messages) written += writeSync(opened, `${JSON.stringify(message)}\n`)
  }
  closeSync(opened)
  return { store, file }
}
