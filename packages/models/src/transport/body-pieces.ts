// Finds the pieces of a stream sent without event framing: one per line, or all in a list.
import type { JsonValue } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'
import { parseWireJson } from './wire-json.ts'

/** Maximum pieces of one body: more than the tokens of any answer. They are read at once, so they are bounded. */
const PIECES_MAX = 200_000

/**
 * Lists the pieces of a stream sent without event framing: one per line, or all in a list.
 * @throws BatonError `model_malformed_answer` for more than 200,000
 */
export function listPieces(body: string, parsed: JsonValue | undefined, label: string): readonly string[] {
  if (parsed !== undefined && !Array.isArray(parsed)) return []
  const pieces: string[] = []
  if (parsed) {
    if (!parsed.every(isJsonObject)) return []
    if (parsed.length > PIECES_MAX) throw tooManyPieces(label)
    return parsed.map((piece) => JSON.stringify(piece))
  }
  for (let start = 0; start < body.length;) {
    const end = body.indexOf('\n', start)
    const line = body.slice(start, end === -1 ? undefined : end).trim()
    start = end === -1 ? body.length : end + 1
    if (line === '') continue
    const read = line.startsWith('{') ? parseWireJson(line) : undefined
    // The last one may be truncated.
    if (!read?.ok) return body.slice(start).trim() === '' ? pieces : []
    if (pieces.length === PIECES_MAX) throw tooManyPieces(label)
    pieces.push(line)
  }
  return pieces
}

function tooManyPieces(label: string): BatonError {
  return new BatonError({
    code: 'model_malformed_answer',
    message: `${label}’s answer has more than ${PIECES_MAX} pieces`,
    retryable: false,
  })
}
