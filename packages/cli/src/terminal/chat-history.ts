// Lines typed in earlier chats, saved between runs for Arrow Up in a file that belongs to the user, like the shell's.
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolders } from '../places/make-folders.ts'

export interface ChatHistory {
  /** Newest first, as Node's line editor expects. */
  readonly lines: readonly string[]
  add(line: string): void
}

const LINES_MAX = 1000
const LINE_CHARS_MAX = 4096
/** Bytes above which the file is rewritten with the newest lines. */
const BYTES_MAX = 1024 * 1024

/** History in a file. If the file cannot be read or written, the chat continues without history. */
export function openChatHistory(file: string): ChatHistory {
  return {
    lines: readLines(file),
    add: (line) => {
      // As in a shell, a line that begins with a space is not saved.
      if (line.trim() === '' || line.startsWith(' ') || line.length > LINE_CHARS_MAX) return
      try {
        makeFolders(dirname(file), 0o700)
        appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 })
      } catch {
        // The next run has less history.
      }
    },
  }
}

function readLines(file: string): readonly string[] {
  try {
    if (!statSync(file).isFile()) return []
    const text = readFileSync(file, 'utf8')
    const written = text.split('\n').filter((line) => line !== '')
    if (text.length > BYTES_MAX) writeFileSync(file, `${written.slice(-LINES_MAX).join('\n')}\n`, { mode: 0o600 })
    return written
      .slice(-LINES_MAX)
      .map(readLine)
      .filter((line) => line !== '')
      .reverse()
  } catch {
    return []
  }
}

/** Skips entries that are not text; a message may have several lines. */
function readLine(text: string): string {
  try {
    const line: unknown = JSON.parse(text)
    // oxlint-disable-next-line no-control-regex -- matches control characters on purpose
    return typeof line === 'string' && !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(line) ? line : ''
  } catch {
    return ''
  }
}
