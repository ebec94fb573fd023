// A format for calls in text: the marks around calls, their content, and its reader. Data and pure functions; the
// parser (answer-parser.ts) is independent of the format.
import type { JsonObject } from '@baton/core'

export interface WrittenCall {
  readonly name: string
  /** JSON text of an object. */
  readonly arguments: string
}

/** A call as it was read. */
export interface ReadCall extends WrittenCall {
  /** Names of repairs, as logged. */
  readonly repairs?: readonly string[]
  /**
   * The reason the call is invalid, as a clause without a period, such as `it has no "name"`. Such a call never runs.
   */
  readonly problem?: string
}

/** The tools of a request. */
export interface OfferedTools {
  has(name: string): boolean
  /** Whether any tool's name starts with the text. */
  hasPrefix(text: string): boolean
  schemaOf(name: string): JsonObject | undefined
}

export interface Reading {
  readonly tools: OfferedTools
  /** Whether the provider considers the answer complete, so that small mistakes may be repaired. */
  readonly mayRepair: boolean
  /** Whether the mark that ends the call is present. */
  readonly isClosed: boolean
}

/** Whether text can be the start of something; `maybe`: more text is needed. */
export type Begins = 'yes' | 'no' | 'maybe'

/** Strings inside calls, in which closing marks do not count: JSON's, Python's, or text between two marks. */
export type TextKind = 'json' | 'python' | { readonly open: string; readonly close: string }

/** Content between marks. */
export interface Body {
  /**
   * @param start the first characters, up to `START_CHARS`, without leading white space and with other white space
   * collapsed
   */
  begins(start: string, tools: OfferedTools): Begins
  readonly texts: TextKind
  /** Bracket whose match ends the body, if its mark has no closing ones. */
  readonly bracket?: '{' | '['
  /**
   * Returns `undefined` if the content is not a call and may be text, otherwise calls or an unreadable call. Never
   * throws.
   */
  read(inside: string, reading: Reading): readonly ReadCall[] | undefined
}

/** Marks around calls. */
export interface Mark {
  readonly open: string
  /** Any of these ends the call. If empty, the body's bracket or the end of the answer does. */
  readonly close: readonly string[]
  readonly bodies: readonly Body[]
  /** The end of the answer also ends the call. */
  readonly endsWithAnswer?: true
  /** Content that does not read as a call is plain text. */
  readonly mayBeText?: true
  /** The mark is a code fence: valid only at the start of a line, with nothing after it on that line. */
  readonly isFence?: true
}

/** A head that announces what follows, as in harmony: a call, a thought or text. */
export interface Head {
  readonly open: readonly string[]
  readonly until: string
  /** Marks that end what a head began. */
  readonly close: readonly string[]
  /** Returns `undefined` if this is not a head. */
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
  /** An answer that starts like this consists only of calls, if it can be read as such. */
  readonly whole?: Body
  readonly head?: Head
  /** Meaningless text that may follow a call: repeated closing marks, end-of-message tokens. */
  readonly strays?: readonly string[]
  /**
   * The marks are special tokens. Many servers strip those from the text, so this format is used only if they are
   * visible.
   */
  readonly hasTokens?: true
  /** Instructions for the model on how to write a call. */
  readonly howTo: string
  writeCall(call: WrittenCall): string
}

/** Number of leading characters that decide what a body is. */
export const START_CHARS = 160

/** Whether the text starts with this word, or may. */
export function beginsWith(text: string, word: string): Begins {
  if (text.startsWith(word)) return 'yes'
  return word.startsWith(text) ? 'maybe' : 'no'
}

export function anyBegins(each: readonly Begins[]): Begins {
  if (each.includes('yes')) return 'yes'
  return each.includes('maybe') ? 'maybe' : 'no'
}
