// Reads sessions from OpenCode's older files: `storage/session/PROJECT/ses_….json`,
// `storage/message/SESSION/msg_….json` and `storage/part/MESSAGE/prt_….json`. Newer releases copy them into the
// database and leave the files in place.
import { join } from 'node:path'
import { listOpenCodeDatabase, OPENCODE_ID } from './opencode-database.ts'
import type { OpenCodeKind } from './opencode.ts'
import { wrapOpenCodeRecord } from './opencode.ts'
import { entries, namesIn, readStart } from './plain-files.ts'
import { LINE_BYTES_MAX } from './session-lines.ts'
import type { SessionLine } from './session-lines.ts'
import type { SessionFile } from './session-events.ts'

const [SESSION, MESSAGE, PART] = [
  /^ses_[A-Za-z0-9]{1,90}\.json$/,
  /^msg_[A-Za-z0-9]{1,90}\.json$/,
  /^prt_[A-Za-z0-9]{1,90}\.json$/,
]

/** @param opencode OpenCode's data folder. A session in the database takes precedence over its files. */
export async function listOpenCode(opencode: string, filesMax: number): Promise<readonly SessionFile[]> {
  const found = new Map<string, SessionFile>()
  for (const file of await listOpenCodeDatabase(join(opencode, 'opencode.db'), filesMax)) found.set(file.id, file)
  const storage = join(opencode, 'storage')
  for (const { name: project } of (await entries(join(storage, 'session'))).filter(({ folder }) => folder))
    for (const name of await namesIn(storage, ['session', project], SESSION)) {
      const id = name.slice(0, -'.json'.length)
      if (found.has(id)) continue
      if (found.size > filesMax) return [...found.values()]
      const path = join(storage, 'session', project, name)
      const start = await readStart(path, 0)
      if (start) found.set(id, { id, provider: 'opencode', form: 'files', path, updatedMs: start.updatedMs })
    }
  return [...found.values()].filter(({ id }) => OPENCODE_ID.test(id))
}

/** Yields the session, then its messages in order, each before its parts. */
export async function* readOpenCodeFiles(file: SessionFile): AsyncGenerator<SessionLine> {
  let number = 1
  const storage = join(file.path, '..', '..', '..')
  const read = async (kind: OpenCodeKind, path: string, id: string): Promise<SessionLine> => {
    const start = await readStart(path, LINE_BYTES_MAX)
    const isTooLong = start !== undefined && start.bytes > LINE_BYTES_MAX
    return { number: number++, text: isTooLong ? undefined : wrapOpenCodeRecord(kind, id, start?.text ?? '') }
  }
  yield await read('session', file.path, file.id)
  for (const message of await namesIn(storage, ['message', file.id], MESSAGE)) {
    const id = message.slice(0, -'.json'.length)
    yield await read('message', join(storage, 'message', file.id, message), id)
    for (const part of await namesIn(storage, ['part', id], PART))
      yield await read('part', join(storage, 'part', id, part), part.slice(0, -'.json'.length))
  }
}
