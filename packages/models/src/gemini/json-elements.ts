// The other framing of a stream: without `alt=sse` Gemini answers with one JSON array, whose elements arrive one after the other.
// Reads bytes, hands over the text of each element; a lone object is one element. It knows nothing of what they mean.
import { BatonError } from '@baton/core'

export interface JsonElementReader {
  /** @throws BatonError `model_malformed_answer` for what is neither, or an element that is larger than the bound */
  push(bytes: Uint8Array): void
}

/** The largest element that is read, in UTF-16 units: 4 MiB, as for an event. */
const ELEMENT_LENGTH_MAX = 4 * 1024 * 1024

export function createJsonElementReader(
  onElement: (text: string) => void,
  elementLengthMax = ELEMENT_LENGTH_MAX,
): JsonElementReader {
  const decoder = new TextDecoder()
  let depth = 0
  let inString = false
  let isEscaped = false
  /** Text of the element that has begun. */
  let pieces = ''
  const read = (char: string): boolean => {
    if (isEscaped) isEscaped = false
    else if (inString) {
      if (char === '\\') isEscaped = true
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    return depth === 0
  }
  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true })
      let start = 0
      for (let index = 0; index < text.length; index++) {
        const char = text.charAt(index)
        if (depth === 0) {
          start = index
          if (char === '{') depth = 1
          else if (!/[[\],\s\uFEFF]/.test(char))
            throw malformed(`${JSON.stringify(char)} stands where JSON was to begin`)
        } else if (read(char)) {
          onElement(pieces + text.slice(start, index + 1))
          pieces = ''
        }
      }
      if (depth > 0) pieces += text.slice(start)
      if (pieces.length > elementLengthMax) throw malformed(`one element is longer than ${elementLengthMax} characters`)
    },
  }
}

function malformed(what: string): BatonError {
  return new BatonError({ code: 'model_malformed_answer', message: `Gemini’s answer cannot be read: ${what}` })
}
