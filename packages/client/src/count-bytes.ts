// The size of a text on the wire.

interface Platform {
  readonly TextEncoder: new () => { encode(text: string): { readonly length: number } }
}

/** Bytes of the text in UTF-8. */
export function countBytes(text: string): number {
  // Browsers and Node have it, but this package loads the types of neither.
  const { TextEncoder } = globalThis as unknown as Platform
  return new TextEncoder().encode(text).length
}
