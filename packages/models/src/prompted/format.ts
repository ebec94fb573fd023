// A format of calls in words: marks around calls, the content between them, and its reader. Data and
// pure functions; the parser (answer-parser.ts) knows no format.
import type { JsonObject } from '@baton/core'

export interface WrittenCall {
  readonly name: string
  /** JSON text of an object. */
  readonly arguments: string
}

/** A call as it was read. */
export interface ReadCall extends WrittenCall {
  /** Names of repairs, as the log has them. */
  readonly repairs?: readonly string[]
  /** Its fault: a clause without its end, such as `it has no "name"`. It never runs. */
  readonly problem?: string
}

/** The tools of a request. */
export interface OfferedTools {
  has(name: string): boolean
  /** Whether a tool's name begins so. */
  hasPrefix(text: string): boolean
  schemaOf(name: string): JsonObject | undefined
}

export interface Reading {
  readonly tools: OfferedTools
  /** The answer is whole as far as its provider knows: small mistakes may be repaired. */
  readonly mayRepair: boolean
  /** The mark that ends the call is there. */
  readonly isClosed: boolean
}

/** Whether text can be the beginning of something; `maybe`: more of it decides. */
export type Begins = 'yes' | 'no' | 'maybe'

/** Texts inside of calls, in which a closing mark is none: of JSON, of Python, or between two marks. */
export type TextKind = 'json' | 'python' | { readonly open: string; readonly close: string }

/** Content between marks. */
export interface Body {
  /** @param start the first characters, up to `START_CHARS`, without white space before them and with one space for each other */
  begins(start: string, tools: OfferedTools): Begins
  readonly texts: TextKind
  /** The body ends with the bracket that closes the first of this kind, where its mark has no closing ones. */
  readonly bracket?: '{' | '['
  /** Undefined: no call, where the body may be text; else one that cannot be read. Never throws. */
  read(inside: string, reading: Reading): readonly ReadCall[] | undefined
}

/** Marks around calls. */
export interface Mark {
  readonly open: string
  /** Any of them ends the call. Empty: the end of the answer does, or the body's bracket. */
  readonly close: readonly string[]
  readonly bodies: readonly Body[]
  /** The end of the answer ends it as well as a closing mark. */
  readonly endsWithAnswer?: true
  /** Content that does not read as a call is plain text. */
  readonly mayBeText?: true
  /** It is a code block: only at the beginning of a line, with nothing behind it on the line. */
  readonly isFence?: true
}

/** A head that tells what follows, as harmony has it: a call, a thought or text. */
export interface Head {
  readonly open: readonly string[]
  readonly until: string
  /** Marks that end what a head has begun. */
  readonly close: readonly string[]
  /** Undefined: this is no head. */
  read(
    head: string,
  ):
    | { readonly type: 'call'; readonly body: Body }
    | { readonly type: 'thought' }
    | { readonly type: 'text' }
    | undefined
}

export interface PromptedFormat {
  readonly marks: readonly Mark[]
  /** An answer that begins so is calls as a whole, if it reads as such. */
  readonly whole?: Body
  readonly head?: Head
  /** Text without meaning that may follow a call: closing marks that come twice, the tokens that end a message. */
  readonly strays?: readonly string[]
  /** Its marks are special tokens: many servers leave them out of the text, so that only who sees them may ask for them. */
  readonly hasTokens?: true
  /** Instructions for the model: how a call is written. */
  readonly howTo: string
  writeCall(call: WrittenCall): string
}

/** So many characters of a body decide what it is. */
export const START_CHARS = 160

/** Whether the text begins with this word, or may. */
export function beginsWith(text: string, word: string): Begins {
  if (text.startsWith(word)) return 'yes'
  return word.startsWith(text) ? 'maybe' : 'no'
}

export function anyBegins(each: readonly Begins[]): Begins {
  if (each.includes('yes')) return 'yes'
  return each.includes('maybe') ? 'maybe' : 'no'
}
