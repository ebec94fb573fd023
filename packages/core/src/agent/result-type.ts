// Types of a tool's result. A tool that returns what JSON cannot write does not compile; if only the value shows it, the
// result is refused after the tool has run.
import type { JsonValue } from '../json.ts'
import type { ContentPart } from '../messages.ts'

/** A result that is more than JSON: text and images for the model, and optionally the value they represent. */
export interface ToolContent {
  readonly content: readonly ContentPart[]
  /** The result's `value` for programs and fronts; the model does not read it. Dropped over `limits.resultChars`. */
  readonly value?: JsonValue
}

/** Return type of `execute` and of client handlers: any JSON without an output schema, or `ToolContent`. */
export type ToolResult<Output> = Unchanged<Output> | Promise<Unchanged<Output>>

/** Allows read-only lists and objects, since results are only read. */
type Unchanged<T> = T extends object ? { readonly [Name in keyof T]: Unchanged<T[Name]> } : T

/**
 * Values that JSON writes as `{}` or without their content. Matched by shape, because platforms have different types
 * with one name.
 */
type Lost =
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<WeakKey, unknown>
  | WeakSet<WeakKey>
  | RegExp
  | PromiseLike<unknown>
  | ArrayBufferLike
  | ArrayBufferView
  /** Response, Request, Blob. */
  | { arrayBuffer(): Promise<unknown>; text(): Promise<string> }
  /** Headers, FormData, URLSearchParams. */
  | { append(name: string, value: string): void; has(name: string): boolean; delete(name: string): void }
  | { getReader(): unknown; readonly locked: boolean }

/** An object with only a name and a message does not count. */
type LostError<T> = T extends Error ? ('stack' extends keyof T ? T : never) : never

/** The parts of a result, three levels deep, that JSON loses. A value with `toJSON` describes itself; a Buffer's lists its bytes. */
type LostIn<T, Levels extends readonly unknown[] = [3, 2, 1]> = 0 extends 1 & T
  ? never
  : T extends string | number | boolean | null | undefined | void
    ? never
    : T extends ArrayBufferView
      ? T
      : T extends { toJSON(): unknown }
        ? never
        : T extends Lost
          ? T
          : LostError<T> extends never
            ? Levels extends readonly [unknown, ...infer Rest]
              ? LostInside<T, Rest>
              : never
            : T

type LostInside<T, Levels extends readonly unknown[]> = T extends (...given: never) => unknown
  ? never // a method, which JSON omits
  : T extends readonly (infer Item)[]
    ? LostIn<Item, Levels>
    : T extends object
      ? { [Name in keyof T]-?: LostIn<T[Name], Levels> }[keyof T]
      : never

type LostResult<T> = T extends ((...given: never) => unknown) | symbol | bigint ? T : LostIn<T>

/**
 * Forbids the field of a tool whose function returns what JSON loses. The error names this type and the value's. A function with an
 * error of its own gets no second one.
 */
export type ReturnsJson<Result, Field extends 'execute' | 'fallback'> =
  LostResult<Awaited<Result>> extends never
    ? unknown
    : { readonly [Name in Field]: CannotBeWrittenAsJson<LostResult<Awaited<Result>>> }

interface CannotBeWrittenAsJson<Value> {
  readonly returnsJson: never
  readonly insteadOf: Value
}
