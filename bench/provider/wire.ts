// The common part of the provider's wires: how an answer is built from events. Independent of HTTP.

/** For a binary stream: one frame. */
export type WireEvent = string | Uint8Array

export interface Wire {
  readonly name: string
  /** `text/event-stream` by default. */
  readonly contentType?: string
  /** Events before the first delta. */
  open(): readonly WireEvent[]
  delta(text: string, index: number): WireEvent
  /** Events after the last of `count` deltas. */
  close(text: string, count: number): readonly WireEvent[]
  /** An answer with `parallel` calls of `echo`, each with its arguments in three pieces. */
  calls(round: number, parallel: number): readonly WireEvent[]
  /** Number of results in a request after the newest user message. */
  resultsIn(body: unknown): number
}

/** A wire that is measured only with text. */
export type TextWire = Omit<Wire, 'calls' | 'resultsIn'>

/** Four characters each. */
const PIECES = ['abc ', 'def ', 'ghi ', 'jkl ', 'mno\n', 'pq" ', 'st. ', 'uvw '] as const
export const PIECE_CHARS = 4

export function textPiece(index: number): string {
  return PIECES[index % PIECES.length] ?? ''
}

export function textEvents(wire: TextWire, deltas: number): readonly WireEvent[] {
  const pieces = Array.from({ length: deltas }, (_, index) => textPiece(index))
  return [
    ...wire.open(),
    ...pieces.map((piece, index) => wire.delta(piece, index)),
    ...wire.close(pieces.join(''), deltas),
  ]
}

/** The arguments of a call of `echo`, as three pieces of JSON text. */
export function argumentPieces(round: number, call: number): readonly string[] {
  return ['{"text": "hel', `lo ${round}", `, `"n": ${call}}`]
}

export function serverSentEvent(event: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
