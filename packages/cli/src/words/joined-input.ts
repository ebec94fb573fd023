// Input piped into a command in addition to its question: `git diff | baton chat --once "what changed?"`.
import { BatonError } from '@baton/core'
import { fstatSync } from 'node:fs'
import type { Console } from '../console.ts'

/** Maximum bytes to add to a question: more than any model's window holds. */
const BYTES_MAX = 4 * 1024 * 1024
/**
 * Milliseconds to wait for the first byte. Some supervisors provide a pipe that is never written or closed, which must
 * not block a command.
 */
const FIRST_BYTE_MS = 3000

/**
 * Returns the question, followed by standard input. Reads files and pipes only, never a terminal.
 * @throws BatonError `input_too_large`, `invalid_option` for bytes that are not UTF-8 text
 */
export async function joinInput(question: string, terminal: Console): Promise<string> {
  const { streams } = terminal
  if (!streams || streams.input.isTTY === true || !isPiped(streams.input)) return question
  const text = await readAll(streams.input, (line) => terminal.note(line))
  return text.trim() === '' ? question : `${question}\n\n${text}`
}

/** A device such as /dev/null has no content. */
function isPiped(input: object): boolean {
  if (!('fd' in input) || typeof input.fd !== 'number') return true
  try {
    const found = fstatSync(input.fd)
    return found.isFIFO() || found.isFile() || found.isSocket()
  } catch {
    return false
  }
}

async function readAll(input: NodeJS.ReadableStream, note: (line: string) => void): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      note(`no input arrived on standard input within ${FIRST_BYTE_MS / 1000} s, so the question is sent without it`)
      resolve()
    }, FIRST_BYTE_MS)
    input.on('data', (piece: Buffer | string) => {
      clearTimeout(timer)
      bytes += pieces[pieces.push(Buffer.from(piece)) - 1]?.length ?? 0
      if (bytes > BYTES_MAX) reject(createSizeError())
    })
    input.once('end', resolve).once('error', reject)
  }).finally(() => {
    input.removeAllListeners('data')
    input.pause()
    // An open pipe would keep the process alive.
    if ('unref' in input && typeof input.unref === 'function') input.unref()
  })
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces))
  } catch (cause) {
    throw new BatonError({ code: 'invalid_option', message: 'standard input is not UTF-8 text', cause })
  }
}

function createSizeError(): BatonError {
  const message = `standard input has more than ${BYTES_MAX} bytes`
  return new BatonError({
    code: 'input_too_large',
    message,
    hint: 'Pipe less, or let the agent read the file with a tool.',
  })
}
