// The data of an event of Anthropic's stream as JSON.
import type { JsonObject } from '@baton/core'

/**
 * A piece of an answer as the API writes it: its index, what it is of, and its text with the escapes in it. Nearly all events
 * are such, and reading them so costs less than JSON.parse; everything else is left to it.
 */
const PIECE =
  // oxlint-disable-next-line no-control-regex -- JSON forbids them in a string, so JSON.parse is to refuse them
  /^\{"type":"content_block_delta","index":(0|[1-9]\d{0,8}),"delta":\{"type":"(text|thinking)_delta","\2":"([^"\\\u0000-\u001f]*(?:\\.[^"\\\u0000-\u001f]*)*)"\}[ \t\r\n]*\}$/

/** @throws SyntaxError where it is not JSON */
export function readEvent(data: string): unknown {
  const piece = PIECE.exec(data)
  return piece ? parseEvent(piece) : JSON.parse(data)
}

function parseEvent(piece: RegExpExecArray): JsonObject {
  const written = piece[3] ?? ''
  const text = written.includes('\\') ? String(JSON.parse(`"${written}"`)) : written
  const delta = piece[2] === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text }
  return { type: 'content_block_delta', index: Number(piece[1]), delta }
}
