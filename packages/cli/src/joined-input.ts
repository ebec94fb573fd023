// Input that is piped into a command beside its question: `git diff | baton chat --once "what changed?"`.
import { BatonError } from '@baton/core'
import { fstatSync } from 'node:fs'
import type { Console } from './console.ts'

/** Bytes that join a question: more than any model's window takes. */
const BYTES_MAX = 4 * 1024 * 1024
/** Milliseconds for the first byte. A pipe that nobody writes to or closes, as some supervisors give, must not hold a command. */
const FIRST_BYTE_MS = 3000

/**
 * The question, followed by standard input. Reads files and pipes only, never a terminal.
 * @throws BatonError `input_too_large`, `invalid_option` for bytes that are not UTF-8 text
 */
export async function joinInput(question: string, terminal: Console): Promise<string> {
  const { streams } = terminal
  if (!streams || streams.input.isTTY === true || !isPiped(streams.input)) return question
  const text = await readAll(streams.input, (line) => terminal.note(line))
  return text.trim() === '' ? question : `${question}\n\n${text}`
}

/** A device such as /dev/null has nothing to say. */
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
      note(`nothing came on the standard input in ${FIRST_BYTE_MS / 1000} s: the question goes without it`)
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
    // An open pipe would keep the process.
    if ('unref' in input && typeof input.unref === 'function') input.unref()
  })
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces))
  } catch (cause) {
    throw new BatonError({ code: 'invalid_option', message: 'the standard input is not text in UTF-8', cause })
  }
}

function createSizeError(): BatonError {
  const message = `the standard input has more than ${BYTES_MAX} bytes`
  return new BatonError({
    code: 'input_too_large',
    message,
    hint: 'Pipe less, or let the agent read the file by a tool.',
  })
}
