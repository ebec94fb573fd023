// The size of a text on the wire.

/** Browsers and Node have it, but this package loads neither's types. */
declare const TextEncoder: new () => { encode(text: string): { readonly length: number } }

/** Bytes of the text in UTF-8. */
export function countBytes(text: string): number {
  return new TextEncoder().encode(text).length
}
